/** The latency between each region and each venue, the same in every run, so that a board shows a stable picture. */
import { createHash } from "node:crypto";

export type Latency = "none" | "plausible";

/**
 * Returns how many milliseconds an answer takes: 10–180, depending on venue and region, with a jitter of a tenth; 0 for
 * `none`.
 */
export function latencyMs(latency: Latency, venue: string, region: string | null): number {
  if (latency === "none") return 0;
  return usualLatencyMs(venue, region) * (0.95 + Math.random() * 0.1);
}

/** The value around which `plausible` latencies vary. */
export function usualLatencyMs(venue: string, region: string | null): number {
  const digest = createHash("sha256").update(`${venue} ${region}`).digest();
  return 10 + (digest.readUInt16BE(0) / 0xffff) * 170;
}
