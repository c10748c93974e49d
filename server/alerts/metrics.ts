import { Counter, Gauge, Histogram } from "prom-client";
import { askedAtScrape } from "../asked-at-scrape.js";
import type { Db } from "../db.js";
import type { Log } from "../log.js";
import type { OwnMetrics } from "../own-metrics.js";
import type { Destination } from "./letter.js";
import type { Outcome } from "./post.js";

/** What a core tells of the alerts that it sends. */
export interface AlertMetrics {
  /** One attempt. */
  sent: (format: Destination["format"], outcome: Outcome) => void;
  switchedOff: (cause: "failures" | "gone") => void;
}

/** One row of `alerts_state.sql`. */
interface AlertsState {
  events_waiting: number;
  event_age_seconds: number | null;
  deliveries_waiting: number;
  delivery_age_seconds: number | null;
  channels: { format: string; state: string; channels: number }[];
}

const formats = ["native", "chat", "paging"] as const;

const results = [
  "delivered",
  "refused",
  "timeout",
  "unreachable",
  "unsafe",
  "ours",
] as const satisfies Outcome["result"][];

const channelStates = ["on", "operator", "failures", "gone"];

/**
 * Tells operators of a core what it sends, and, asking the database at every scrape, what waits in all.
 *
 * @param db apart from the connections of the dispatcher
 */
export function makeAlertMetrics(
  registry: OwnMetrics,
  db: Db,
  log: Log,
): AlertMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: "venuewatch_delivery_results_total",
    help: "Attempts to deliver an alert, by what became of them: delivered is an answer of 2xx in time, ours a fault of our own.",
    labelNames: ["format", "result"],
    registers,
  });
  const seconds = new Histogram({
    name: "venuewatch_delivery_seconds",
    help: "One attempt, from resolving the receiver's name to the end of its answer.",
    labelNames: ["format"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const off = new Counter({
    name: "venuewatch_channels_switched_off_total",
    help: "Channels that this core has switched off, by why: 10 failures in a row, or a receiver that is gone (410).",
    labelNames: ["cause"],
    registers,
  });
  // a counter must be seen at 0 before its first increase shows
  for (const format of formats)
    for (const result of results) attempts.inc({ format, result }, 0);
  for (const cause of ["failures", "gone"]) off.inc({ cause }, 0);
  addState(registry, db, log);
  return {
    sent(format, { result, durationMs }) {
      attempts.inc({ format, result });
      seconds.observe({ format }, durationMs / 1000);
    },
    switchedOff: (cause) => off.inc({ cause }),
  };
}

/** While the database does not answer, nothing is known of it. */
function addState(registry: OwnMetrics, db: Db, log: Log): void {
  const state = askedAtScrape(() => db.file<AlertsState>("alerts_state"), log);
  const gauges: [
    name: string,
    help: string,
    value: (state: AlertsState) => number,
  ][] = [
    [
      "alert_events_waiting",
      "Alerts in the outbox, which no dispatcher has put in line for its channels yet.",
      (of) => of.events_waiting,
    ],
    [
      "alert_events_oldest_seconds",
      "Age of the oldest of them, 0 where none waits.",
      (of) => of.event_age_seconds ?? 0,
    ],
    [
      "deliveries_waiting",
      "Alerts in line for channels, those included that a receiver has failed and that are tried again.",
      (of) => of.deliveries_waiting,
    ],
    [
      "deliveries_oldest_seconds",
      "Age of the oldest of them, 0 where none waits.",
      (of) => of.delivery_age_seconds ?? 0,
    ],
  ];
  for (const [name, help, value] of gauges)
    new Gauge({
      name: `venuewatch_${name}`,
      help,
      registers: [registry],
      async collect() {
        const row = await state();
        this.remove();
        if (row) this.set(value(row));
      },
    });
  new Gauge({
    name: "venuewatch_channels",
    help: "Channels by state: on, or off by the operator, by failures or because the receiver is gone.",
    labelNames: ["format", "state"],
    registers: [registry],
    async collect() {
      const row = await state();
      this.reset();
      if (!row) return;
      for (const format of formats)
        for (const state of channelStates) this.set({ format, state }, 0);
      for (const { format, state, channels } of row.channels)
        this.set({ format, state }, channels);
    },
  });
}
