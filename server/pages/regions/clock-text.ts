import { msText } from "../format.js";
import type { RegionSummary } from "../parts/region-health.js";

/** How wrong a probe's clock is, and how well that is known. */
export function clockText({ clockErrorMs, clockErrorWithinMs }: RegionSummary["probes"][number]): string {
  if (clockErrorMs === null || clockErrorWithinMs === null) return "not known: fewer than three venues agree";
  const [by, within] = [msText(Math.abs(clockErrorMs)), msText(clockErrorWithinMs)];
  if (Math.abs(clockErrorMs) <= clockErrorWithinMs) return `right, as far as we can measure it (${by} off, ±${within})`;
  return clockErrorMs < 0 ? `${by} slow (±${within})` : `${by} fast (±${within})`;
}
