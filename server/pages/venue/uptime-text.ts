import { durationText, percentText } from "../format.js";

export interface UptimeBounds {
  uptimePct: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
}

export function uptimeText({ uptimePct }: UptimeBounds): string {
  return uptimePct === null ? "unknown" : percentText(uptimePct);
}

/** The uptime if all that was not measured had been down, and if none had. */
export function boundsText({ uptimePctLow: low, uptimePctHigh: high }: UptimeBounds): string {
  if (low === null || high === null) return "unknown";
  return low === high ? percentText(low) : `${String(low)} to ${percentText(high)}`;
}

/** Null is not zero: nothing was measured then. */
export function minutesText(minutes: number | null): string {
  if (minutes === null) return "not measured";
  return minutes === 0 ? "none" : durationText(minutes * 60_000);
}

export function coverageText(coveragePct: number | null): string {
  return coveragePct === null ? "not measured" : percentText(coveragePct);
}
