import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { addGauge } from "../../shared/log/read-gauge.js";
import type { ReplicaState } from "../database/replica.js";

/**
 * Metrics of the lag of the replica that a web program reads from; nothing for a primary.
 *
 * @param state queried at every scrape; null while the database does not respond
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
    "Upper bound of the replica's lag: seconds since the newest transaction it replayed, or since its primary last confirmed that there is no newer one.",
    (of) => of.behind_seconds,
  ],
  [
    "lag_bytes",
    "Bytes of WAL that the primary has, as far as the replica knows, and the replica has not replayed.",
    (of) => of.behind_bytes,
  ],
  ["receiving", "1 while the replica receives WAL from the primary, else 0.", (of) => of.receiving],
];
