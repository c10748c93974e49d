import { durationText, percentText } from "../format.js";
import { unknownWords, uptimeWords } from "../words.js";

export interface UptimeBounds {
  uptimePct: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
}

export function uptimeText({ uptimePct }: UptimeBounds): string {
  return uptimePct === null ? unknownWords.unknown : percentText(uptimePct);
}

/** The uptime if all that was not measured had been down, and if none had. */
export function boundsText({ uptimePctLow: low, uptimePctHigh: high }: UptimeBounds): string {
  if (low === null || high === null) return unknownWords.unknown;
  return low === high ? percentText(low) : uptimeWords.between(String(low), percentText(high));
}

/** Null is not zero: nothing was measured then. */
export function minutesText(minutes: number | null): string {
  if (minutes === null) return unknownWords.notMeasured;
  return minutes === 0 ? uptimeWords.noMinutes : durationText(minutes * 60_000);
}

export function coverageText(coveragePct: number | null): string {
  return coveragePct === null ? unknownWords.notMeasured : percentText(coveragePct);
}
