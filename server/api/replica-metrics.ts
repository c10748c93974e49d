import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { addGauge } from "../../shared/log/read-gauge.js";
import type { ReplicaState } from "../database/replica.js";

/**
 * Tells operators of a web program how far the replica is behind from which it reads; of a primary nothing.
 *
 * @param state asked at every scrape; null while the database does not answer
 */
export function makeReplicaMetrics(registry: OwnMetrics, state: () => Promise<ReplicaState | null>): void {
  for (const [name, help, value] of gauges)
    addGauge(registry, `venuewatch_replica_${name}`, help, async () => {
      const row = await state();
      return row?.is_replica ? value(row) : null;
    });
}

const gauges: [name: string, help: string, value: (of: ReplicaState) => number | boolean | null][] = [
  [
    "lag_seconds",
    "How far the replica may be behind: since the newest transaction that it has replayed, or since its primary last said that there is no other.",
    (of) => of.behind_seconds,
  ],
  [
    "lag_bytes",
    "What the primary has, as far as the replica knows, and the replica has not replayed.",
    (of) => of.behind_bytes,
  ],
  ["receiving", "1 while the primary sends to the replica, else 0.", (of) => of.receiving],
];
