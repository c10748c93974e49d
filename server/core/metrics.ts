import { Counter, Gauge, Histogram } from "prom-client";
import type { Db } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { addGauge, addLabelledGauge, type OwnMetrics, queryAtScrape } from "../../shared/log/own-metrics.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import type { Decided } from "./engine/tick.js";
import { type ReconcileMetrics, rollupsOf } from "./rollups/reconcile.js";

/** Metrics that a core records as it works. */
export interface EngineMetrics extends ReconcileMetrics {
  leads: (leads: boolean) => void;
  /** @param tookMs from the query for due instants, or the previous instant, until the commit */
  decided: (decided: Decided, tookMs: number) => void;
  /** Chores that this core has begun to run, with their intervals. */
  choresBegin: (chores: { name: string; everyMs: number }[]) => void;
  choreDone: (chore: string, failed: boolean, tookMs: number) => void;
}

/** One row of `engine_state.sql`. */
interface EngineState {
  behind_seconds: number;
  instants_behind: number;
  incidents_open: number;
  feeds: { kind: string; api: string; readable: boolean }[];
}

/**
 * Metrics of what a core decides and, queried from the database at every scrape, of how far the engine as a whole is.
 *
 * @param db separate from the engine's connections
 */
export function makeEngineMetrics(registry: OwnMetrics, db: Db, log: Log): EngineMetrics {
  const registers = [registry];
  const leading = new Gauge({
    name: "venuewatch_engine_leading",
    help: "1 while this core is the leader, 0 while it is on standby.",
    registers,
  });
  const ticks = new Histogram({
    name: "venuewatch_engine_tick_seconds",
    help: "Duration of deciding one instant, including the query for due instants.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
    registers,
  });
  const incidents = new Counter({
    name: "venuewatch_engine_incidents_total",
    help: "Incident events decided by this core, by event.",
    labelNames: ["event"],
    registers,
  });
  for (const event of incidentEvents) incidents.inc({ event }, 0);
  const chores = new Histogram({
    name: "venuewatch_upkeep_seconds",
    help: "Duration of one upkeep chore, including failed ones.",
    labelNames: ["chore"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers,
  });
  const failures = new Counter({
    name: "venuewatch_upkeep_failures_total",
    help: "Upkeep chores that failed.",
    labelNames: ["chore"],
    registers,
  });
  const successes = new Gauge({
    name: "venuewatch_upkeep_newest_success_timestamp_seconds",
    help: "When a chore last succeeded; before its first success, when this core became the leader.",
    labelNames: ["chore"],
    registers,
  });
  const intervals = new Gauge({
    name: "venuewatch_upkeep_interval_seconds",
    help: "Interval at which a chore is due.",
    labelNames: ["chore"],
    registers,
  });
  const compared = new Counter({
    name: "venuewatch_reconciled_windows_total",
    help: "Hours and days of a venue in which a roll-up was recomputed and compared: an hour of a venue from its samples, a day from its minutes.",
    labelNames: ["rollup"],
    registers,
  });
  const differences = new Counter({
    name: "venuewatch_reconcile_differences_total",
    help: "Rows of a roll-up that differed from its samples, including missing and surplus ones; each was repaired. For sample: raw samples that are lost; roll-ups are left unchanged.",
    labelNames: ["rollup"],
    registers,
  });
  const rollups = [...rollupsOf.hour, ...rollupsOf.day];
  for (const rollup of rollups) compared.inc({ rollup }, 0);
  for (const rollup of ["sample", ...rollups]) differences.inc({ rollup }, 0);
  addState(registry, db, log);

  return {
    leads: (leads) => leading.set(leads ? 1 : 0),
    decided(decided, tookMs) {
      ticks.observe(tookMs / 1000);
      for (const event of incidentEvents) incidents.inc({ event }, decided[event].length);
    },
    choresBegin(started) {
      for (const { name: chore, everyMs } of started) {
        intervals.set({ chore }, everyMs / 1000);
        successes.setToCurrentTime({ chore });
      }
    },
    choreDone(chore, failed, tookMs) {
      chores.observe({ chore }, tookMs / 1000);
      if (!failed) successes.setToCurrentTime({ chore });
      // also for successes: a counter must be seen at 0 before its first increase shows
      failures.inc({ chore }, failed ? 1 : 0);
    },
    compared(rollups) {
      for (const rollup of rollups) compared.inc({ rollup });
    },
    differs({ rollup, rows }) {
      differences.inc({ rollup }, rows);
    },
  };
}

const incidentEvents = ["opened", "escalated", "closed", "retracted"] as const;

/** While the database does not respond, only `venuewatch_database_up` has a value. */
function addState(registry: OwnMetrics, db: Db, log: Log): void {
  const state = queryAtScrape(() => db.file<EngineState>("engine_state", [rulesRow.step_ms]), log);
  const gauges: [name: string, help: string, value: (state: EngineState) => number][] = [
    [
      "engine_behind_seconds",
      "Seconds since the newest instant decided by any core; before the first, since the database was created.",
      (of) => of.behind_seconds,
    ],
    [
      "engine_instants_behind",
      "Instants that have passed since the newest one decided by any core.",
      (of) => of.instants_behind,
    ],
    ["incidents_open", "Open incidents.", (of) => of.incidents_open],
  ];
  addGauge(
    registry,
    "venuewatch_database_up",
    "1 when the database responded to this scrape.",
    async () => (await state()) !== null,
  );
  addLabelledGauge(
    registry,
    "venuewatch_feed_readable",
    "1 when the newest reading of a venue's feed, within the last quarter of an hour, was read and understood; else 0.",
    ["kind", "host", "path"],
    async () =>
      ((await state())?.feeds ?? []).map(({ kind, api, readable }) => {
        const { host, pathname } = new URL(api);
        return [{ kind, host, path: decodeURI(pathname) }, readable];
      }),
  );
  for (const [name, help, value] of gauges)
    addGauge(registry, `venuewatch_${name}`, help, async () => {
      const row = await state();
      return row && value(row);
    });
}
