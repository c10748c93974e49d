/** Chapter 2 of the rule book: the typical latency at a boundary, from a week of samples. */
import type { Component, Sample } from "./world.js";

const hourMs = 3_600_000;

/** The typical latency of one component in one region; null: unknown. */
export function typicalAtUs(
  component: Component,
  samples: Sample[],
  boundary: number,
  { typical_days, typical_min_hours }: Record<string, number>,
): number | null {
  if (component.kind !== "rest") return null;
  const since = boundary - typical_days! * 24 * hourMs;
  const medians: number[] = [];
  for (let hour = since; hour < boundary; hour += hourMs) {
    const latencies = samples
      .filter(({ ts, fault }) => ts >= hour && ts < hour + hourMs && !fault)
      .map(({ latencyUs }) => latencyUs)
      .filter((us) => us !== null);
    if (latencies.length > 0) medians.push(medianOf(latencies));
  }
  return medians.length < typical_min_hours! ? null : medianOf(medians);
}

/** Rounds to a whole number; a half becomes the even neighbour. */
function medianOf(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  const below = Math.floor(median);
  if (median === below || below % 2 === 0) return below;
  return below + 1;
}
