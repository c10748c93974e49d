import type { reliabilityResponse } from "../../api/schemas/reliability.js";
import type { TypeOf } from "../../api/schemas/shapes.js";

export type ReliabilityData = TypeOf<typeof reliabilityResponse>;
export type ReliabilityRow = ReliabilityData["venues"][number];

export interface RankGroup {
  /** Null: not measured enough for an uptime. */
  rank: number | null;
  rows: ReliabilityRow[];
}

/** Venues that share a rank, first rank first. Those without an uptime are last, even if their bounds rank them. */
export function rankGroups({ venues, ranks }: ReliabilityData): RankGroup[] {
  const groups: RankGroup[] = ranks.map(({ rank, venues: ids }) => ({
    rank,
    rows: venues.filter(({ id, uptimePct }) => uptimePct !== null && ids.includes(id)),
  }));
  groups.push({ rank: null, rows: venues.filter(({ uptimePct }) => uptimePct === null) });
  return groups.filter(({ rows }) => rows.length > 0);
}
