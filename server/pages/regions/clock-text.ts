import { msText } from "../format.js";
import type { RegionSummary } from "../parts/region-health.js";
import { regionsWords } from "../words.js";

/** How wrong a probe's clock is, and how well that is known. */
export function clockText({ clockErrorMs, clockErrorWithinMs }: RegionSummary["probes"][number]): string {
  if (clockErrorMs === null || clockErrorWithinMs === null) return regionsWords.clockUnknown;
  const [by, within] = [msText(Math.abs(clockErrorMs)), msText(clockErrorWithinMs)];
  if (Math.abs(clockErrorMs) <= clockErrorWithinMs) return regionsWords.clockRight(by, within);
  return clockErrorMs < 0 ? regionsWords.clockSlow(by, within) : regionsWords.clockFast(by, within);
}
