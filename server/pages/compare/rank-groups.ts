import type { reliabilityResponse } from "../../api/schemas/reliability.js";
import type { TypeOf } from "../../api/schemas/shapes.js";

export type ReliabilityData = TypeOf<typeof reliabilityResponse>;
export type ReliabilityRow = ReliabilityData["venues"][number];

export interface RankGroup {
  /** Null: not measured enough for an uptime. */
  rank: number | null;
  rows: ReliabilityRow[];
}

/** The venues that share a rank, first rank first; those without an uptime last, even if their bounds give them a rank. */
export function rankGroups({ venues, ranks }: ReliabilityData): RankGroup[] {
  const groups: RankGroup[] = ranks.map(({ rank, venues: ids }) => ({
    rank,
    rows: venues.filter(({ id, uptimePct }) => uptimePct !== null && ids.includes(id)),
  }));
  groups.push({ rank: null, rows: venues.filter(({ uptimePct }) => uptimePct === null) });
  return groups.filter(({ rows }) => rows.length > 0);
}
