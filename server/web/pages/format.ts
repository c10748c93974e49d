/** Instants, durations and figures as the pages write them. */
import { language, type Language, locale, numberText, plural, t } from "./language.js";

const unitTexts = {
  second: (count: number) => plural(count, "{0} second", "{0} seconds"),
  minute: (count: number) => plural(count, "{0} minute", "{0} minutes"),
  hour: (count: number) => plural(count, "{0} hour", "{0} hours"),
  day: (count: number) => plural(count, "{0} day", "{0} days"),
};

const dayMs = 86_400_000;

/** `21:04 UTC`, with the day if it is another than that of `now`, and with the year if that is another. */
export function instantText(iso: string, now: string): string {
  const day = iso.slice(0, 10);
  const time = `${iso.slice(11, 16)} UTC`;
  return day === now.slice(0, 10) ? time : datedText(iso, now);
}

/** Always with the day: `28 Nov, 21:04 UTC`. */
export function datedText(iso: string, now: string): string {
  return `${dayText(iso, now)}, ${iso.slice(11, 16)} UTC`;
}

/** With seconds. */
export function exactText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `25 Nov`, with the year if it is another than that of `now`. */
export function dayText(day: string, now: string): string {
  const form = day.slice(0, 4) === now.slice(0, 4) ? "dayAndMonth" : "dayMonthYear";
  return formats()[form].format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

/** `Sat 28 Nov` */
export function weekdayText(day: string, now: string): string {
  return t`${formats().weekday.format(new Date(`${day.slice(0, 10)}T00:00:00Z`))} ${dayText(day, now)}`;
}

type Formats = ReturnType<typeof makeFormats>;

const known = new Map<Language, Formats>();

function formats(): Formats {
  const made = known.get(language()) ?? makeFormats();
  known.set(language(), made);
  return made;
}

function makeFormats() {
  const formatOf = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale(), { ...options, timeZone: "UTC" });
  return {
    weekday: formatOf({ weekday: "short" }),
    dayAndMonth: formatOf({ day: "numeric", month: "short" }),
    dayMonthYear: formatOf({ day: "numeric", month: "short", year: "numeric" }),
    list: new Intl.ListFormat(locale(), { type: "conjunction" }),
  };
}

const durationUnits = [
  ["d", dayMs],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/**
 * In its two largest units, without parts that are zero: `3 d 4 h`, `12 min`, `1 min 55 s`, `0 s`. The symbols of units
 * are those of all languages.
 */
export function durationText(ms: number): string {
  const largest = durationUnits.findIndex(([, unitMs]) => ms >= unitMs);
  const shown = largest === -1 ? [] : durationUnits.slice(largest, largest + 2);
  const parts: string[] = [];
  let leftMs = ms;
  for (const [unit, unitMs] of shown) {
    const count = Math.floor(leftMs / unitMs);
    leftMs -= count * unitMs;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(" ") || "0 s";
}

/** A short time exactly: `500 ms`, `12.5 s`, `3 min`. */
export function spanText(ms: number): string {
  if (ms < 1_000) return msText(ms);
  return ms < 120_000 ? `${numberText(Math.round(ms / 100) / 10)}\u00a0s` : durationText(ms);
}

export function counted(count: number, unit: keyof typeof unitTexts): string {
  return unitTexts[unit](count);
}

export function sinceMs(iso: string, now: string): number {
  return Math.max(0, Date.parse(now) - Date.parse(iso));
}

/** Digits as published, never rounded up: 99.9996 must not read 100. */
export function percentText(percent: number): string {
  return `${numberText(percent)}\u00a0%`;
}

export function msText(ms: number): string {
  return ms >= 10_000 ? `${Math.round(ms / 1000)}\u00a0s` : `${numberText(ms)}\u00a0ms`;
}

/** `2.8 s` */
export function secondsText(ms: number): string {
  return `${numberText((ms / 1000).toFixed(1))}\u00a0s`;
}

/**
 * A name may hold letters that run from right to left; the isolate keeps them from changing what follows. Characters
 * that control the direction are removed, because they could end the isolate.
 */
export function isolated(name: string): string {
  return /^[\x20-\u058f]*$/.test(name) ? name : `\u2068${name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
}

/** `OKX, Kraken and 13 more`. */
export function nameList(names: readonly string[], most = 5): string {
  const shown = names.length > most + 1 ? names.slice(0, most) : [...names];
  const more = names.length - shown.length;
  return formats().list.format([...shown.map(isolated), ...(more > 0 ? [moreText(more)] : [])]);
}

/** The end of a list that is cut short. */
export function moreText(count: number): string {
  return t`${count} more`;
}

/** `in all 3 regions`, of those whose votes count */
export function whereText({ saw, of }: { saw: number; of: number }): string {
  if (saw === of)
    return of === 1 ? t`in the only region that counts` : of === 2 ? t`in both regions` : t`in all ${of} regions`;
  return t`in ${saw} of ${of} regions`;
}

/** `first seen in 2 of 3 regions`: by the votes that opened an incident. Others may see it later. */
export function firstSeenText(opening: { saw: number; of: number }): string {
  return t`first seen ${whereText(opening)}`;
}

/** `announced maintenance until 09:00 UTC`; if our incident went on after it, that this overran it. */
export function maintenanceText({ until, overran }: MaintenanceTimes, now: string): string {
  if (until === null)
    return overran
      ? t`announced maintenance with no stated end, which it overran`
      : t`announced maintenance with no stated end`;
  const end = instantText(until, now);
  return overran ? t`announced maintenance until ${end}, which it overran` : t`announced maintenance until ${end}`;
}

/** `99.98 % without 90 minutes of announced maintenance` */
export function withoutMaintenanceText({ uptimePct, maintenanceMinutes }: UptimeOutside): string {
  const minutes = counted(maintenanceMinutes, "minute");
  return uptimePct === null
    ? t`not enough measured without ${minutes} of announced maintenance`
    : t`${percentText(uptimePct)} without ${minutes} of announced maintenance`;
}

interface UptimeOutside {
  uptimePct: number | null;
  maintenanceMinutes: number;
}

/** Times of an AnnouncedMaintenance object. */
export interface MaintenanceTimes {
  /** Null: the venue names no end. */
  until: string | null;
  overran: boolean;
}

/** The age of stale data's newest decision; null while it is not stale, and before the first decision. */
export function ageText({ ageSeconds }: { ageSeconds: number | null }): string | null {
  if (ageSeconds === null) return null;
  // a sentence of a page should not change with every second
  const stepSeconds = ageSeconds < 120 ? 1 : ageSeconds < 7_200 ? 60 : 3_600;
  return durationText(Math.floor(ageSeconds / stepSeconds) * stepSeconds * 1_000);
}

/** The same in words, for badges and other people's status pages. */
export function ageInWords({ ageSeconds }: { ageSeconds: number | null }): string | null {
  if (ageSeconds === null) return null;
  if (ageSeconds < 120) return counted(ageSeconds, "second");
  if (ageSeconds < 7_200) return counted(Math.floor(ageSeconds / 60), "minute");
  return counted(Math.floor(ageSeconds / 3_600), "hour");
}
