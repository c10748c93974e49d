/** Ninety days as bars, and what happened on those with trouble. */
import type { ComponentChildren } from "preact";
import type { TypeOf } from "../api/shapes.js";
import type { uptimeDay } from "../board/status.js";
import { dayText, durationText } from "./format.js";
import { plural, t } from "./language.js";

export type Day = TypeOf<typeof uptimeDay>;

type Kind = "operational" | "degraded" | "outage" | "partly" | "unmeasured";

const dayStep = 4;
const dayHeight = 24;

/** Trouble stands out by height as well as by colour; an unmeasured day is a gap above the baseline. */
const dayTops: Record<Exclude<Kind, "unmeasured">, number> = { operational: 9, partly: 9, degraded: 4, outage: 0 };

/** The comparison of venues asks for as much. */
const leastCoveragePct = 50;

/** One path for each kind of day instead of ninety elements: a fifth of the bytes. */
export function DayBars({ days }: { days: readonly Day[] }) {
  const kinds = days.map(kindOf);
  const count = { operational: 0, degraded: 0, outage: 0, partly: 0, unmeasured: 0 };
  for (const kind of kinds) count[kind] += 1;
  return (
    <svg class="days" viewBox={viewBoxOf(days)} role="img" aria-label={daysText(count)}>
      <path class="baseline" d={`M0 ${dayHeight + 1.5}h${days.length * dayStep}`} />
      {(["operational", "partly", "degraded", "outage"] as const).map(
        (kind) => kinds.includes(kind) && <path key={kind} class={kind} d={pathOf(kinds, kind)} />,
      )}
    </svg>
  );
}

export interface DayHintsProps {
  days: readonly Day[];
  now: string;
  /** Only later days; empty: all. */
  after?: string;
  /** Where a click on a day leads; null: nowhere. */
  hrefOf: (day: Day) => string | null;
}

/**
 * What happened on each day with trouble, for those who point at its bar: areas of full height over DayBars. Hidden
 * from screen readers and keyboards, which would have ninety stops: they have the words of the bars, and a venue's page
 * lists such days.
 */
export function DayHints({ days, now, after = "", hrefOf }: DayHintsProps) {
  const hints = days.flatMap((day, at) =>
    day.date > after && hasTrouble(day) ? [{ day, at, href: hrefOf(day) }] : [],
  );
  if (hints.length === 0) return null;
  const groups: { href: string | null; areas: ComponentChildren[] }[] = [];
  for (const { day, at, href } of hints) {
    const area = (
      <path key={day.date} d={`M${at * dayStep} 0h${dayStep}v${dayHeight + 2}h-${dayStep}`}>
        <title>{`${dayText(day.date, now)}: ${troubleText(day)}`}</title>
      </path>
    );
    const last = groups.at(-1);
    if (last?.href === href) last.areas.push(area);
    else groups.push({ href, areas: [area] });
  }
  return (
    <svg class="days hints" viewBox={viewBoxOf(days)} aria-hidden="true">
      {groups.map(({ href, areas }) =>
        href === null ? (
          areas
        ) : (
          <a href={href} tabIndex={-1}>
            {areas}
          </a>
        ),
      )}
    </svg>
  );
}

/** The day after which all of these together have at most so many hints: a page of many venues stays small. */
export function hintsAfter(all: readonly (readonly Day[])[], most: number): string {
  const dates = all.flatMap((days) => days.filter(hasTrouble).map(({ date }) => date));
  return dates.sort().at(-1 - most) ?? "";
}

export function hasTrouble(day: Day): boolean {
  return ["outage", "degraded"].includes(kindOf(day));
}

/** `down 12 min, 2 incidents` */
export function troubleText({ downMinutes, degradedMinutes, incidents }: Day): string {
  const parts = [
    downMinutes! > 0 && t`down ${durationText(downMinutes! * 60_000)}`,
    degradedMinutes! > 0 && t`degraded ${durationText(degradedMinutes! * 60_000)}`,
    incidents > 0 && plural(incidents, "{0} incident", "{0} incidents"),
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** By the worst that was measured on that day. Little without trouble does not make a day without trouble. */
function kindOf({ measuredMinutes, coveragePct, downMinutes, degradedMinutes, incidents }: Day): Kind {
  if (measuredMinutes === 0) return "unmeasured";
  if (downMinutes! > 0) return "outage";
  if (degradedMinutes! > 0 || incidents > 0) return "degraded";
  return coveragePct! < leastCoveragePct ? "partly" : "operational";
}

function viewBoxOf(days: readonly Day[]): string {
  return `0 0 ${days.length * dayStep} ${dayHeight + 2}`;
}

/** Relative moves: equal neighbours have equal texts, which compress well. */
function pathOf(kinds: readonly Kind[], kind: keyof typeof dayTops): string {
  // a hollow bar has its outline within the same three units
  const bar = kind === "partly" ? `h2v${dayHeight - dayTops[kind] - 1}h-2z` : `h3v${dayHeight - dayTops[kind]}h-3z`;
  const [x, y] = kind === "partly" ? [0.5, dayTops[kind] + 0.5] : [0, dayTops[kind]];
  let path = "";
  let last = 0;
  for (const [at, other] of kinds.entries()) {
    if (other !== kind) continue;
    path += path === "" ? `M${at * dayStep + x} ${y}${bar}` : `m${(at - last) * dayStep} 0${bar}`;
    last = at;
  }
  return path;
}

function daysText(count: Record<"operational" | "degraded" | "outage" | "partly" | "unmeasured", number>): string {
  const parts = [
    [count.operational, t`${count.operational} without trouble`],
    [count.degraded, t`${count.degraded} degraded`],
    [count.outage, t`${count.outage} with down minutes`],
    [count.partly, t`${count.partly} measured less than half without trouble`],
    [count.unmeasured, t`${count.unmeasured} not measured`],
  ] as const;
  const said = parts.flatMap(([days, text]) => (days > 0 ? [text] : []));
  return t`90 days: ${said.join(", ")}`;
}
