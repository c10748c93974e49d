import { Counter, Gauge, Histogram } from "prom-client";
import type { Db } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { queryAtScrape, addGauge, addLabelledGauge, type OwnMetrics } from "../../../shared/log/own-metrics.js";
import type { Settled } from "./attempts.js";
import { type Format, alertFormats } from "./formats/webhook-request.js";
import type { DeliveryOutcome } from "./retry-rules.js";

/** Metrics of the alerts that a core sends. */
export interface AlertMetrics {
  /** One attempt. */
  sent: (format: Format, outcome: Pick<DeliveryOutcome, "result" | "durationMs">) => void;
  /** One delivery after an attempt. */
  settled: (row: Pick<Settled, "format" | "channel_off" | "first_sent_after_ms" | "delivered_after_ms">) => void;
}

/** One row of `alerts_state.sql`. */
interface AlertsState {
  events_waiting: number;
  event_age_seconds: number;
  channels: ChannelState[];
}

interface ChannelState {
  channel: number;
  format: Format;
  state: keyof typeof stateNumbers;
  waiting: number;
  age_seconds: number;
}

const attemptResults = [
  "delivered",
  "refused",
  "timeout",
  "unreachable",
  "unsafe",
  "ours",
] as const satisfies DeliveryOutcome["result"][];

const switchOffCauses = ["failures", "gone"] as const;

const stateNumbers = { on: 0, operator: 1, failures: 2, gone: 3 };

/**
 * The promise is a quarter of a second. The last of five attempts comes six to nine minutes after the first, or about
 * forty for a receiver that asks to wait.
 */
const alertBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/**
 * What this core sends, and, queried from the database at every scrape, everything that waits.
 *
 * @param db not the dispatcher's connection
 * @param hasKey whether this core can decrypt the channels' destinations
 */
export function makeAlertMetrics(registry: OwnMetrics, db: Db, log: Log, hasKey: boolean): AlertMetrics {
  const registers = [registry];
  new Gauge({
    name: "venuewatch_channel_key_present",
    help: "1 when this core has a CHANNEL_KEY. Without one it sends nothing.",
    registers,
  }).set(hasKey ? 1 : 0);
  const attempts = new Counter({
    name: "venuewatch_delivery_results_total",
    help: "Attempts of this core to deliver an alert, by result: delivered is a 2xx answer in time, ours may be a fault of our own.",
    labelNames: ["format", "result"],
    registers,
  });
  const seconds = new Histogram({
    name: "venuewatch_delivery_seconds",
    help: "Duration of an attempt, from resolving the receiver's name to the end of its answer; without attempts that sent nothing.",
    labelNames: ["format"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const firstSent = new Histogram({
    name: "venuewatch_alert_first_attempt_seconds",
    help: "From the recording of an event to the first attempt to send it to a channel.",
    labelNames: ["format"],
    buckets: alertBuckets,
    registers,
  });
  const delivered = new Histogram({
    name: "venuewatch_alert_delivered_seconds",
    help: "From the recording of an event until a channel acknowledged it.",
    labelNames: ["format"],
    buckets: alertBuckets,
    registers,
  });
  const off = new Counter({
    name: "venuewatch_channels_switched_off_total",
    help: "Channels that this core switched off, by cause: 10 failures in a row, or a receiver that is gone (410).",
    labelNames: ["cause"],
    registers,
  });
  // a counter must be scraped at 0 for its first increase to show
  for (const format of alertFormats) {
    for (const result of attemptResults) attempts.inc({ format, result }, 0);
    for (const histogram of [seconds, firstSent, delivered]) histogram.zero({ format });
  }
  for (const cause of switchOffCauses) off.inc({ cause }, 0);
  addState(registry, db, log);
  return {
    sent(format, { result, durationMs }) {
      attempts.inc({ format, result });
      // no receiver was involved, and these durations would make all receivers look faster
      if (result !== "ours" && result !== "unsafe") seconds.observe({ format }, durationMs / 1000);
    },
    settled({ format, channel_off: cause, first_sent_after_ms: firstMs, delivered_after_ms: deliveredMs }) {
      if (firstMs !== null) firstSent.observe({ format }, firstMs / 1000);
      if (deliveredMs !== null) delivered.observe({ format }, deliveredMs / 1000);
      if (cause !== null) off.inc({ cause });
    },
  };
}

/** While the database does not answer, these metrics have no values. */
function addState(registry: OwnMetrics, db: Db, log: Log): void {
  const state = queryAtScrape(() => db.file<AlertsState>("alerts_state"), log);
  const ofAll: [name: string, help: string, value: (state: AlertsState) => number][] = [
    [
      "alert_events_waiting",
      "Alerts in the outbox that no dispatcher has turned into deliveries yet.",
      (of) => of.events_waiting,
    ],
    [
      "alert_events_oldest_seconds",
      "Age of the oldest alert in the outbox; 0 where none waits.",
      (of) => of.event_age_seconds,
    ],
  ];
  for (const [name, help, value] of ofAll)
    addGauge(registry, `venuewatch_${name}`, help, async () => {
      const row = await state();
      return row && value(row);
    });
  // one for each channel that was not removed
  const ofEach: [name: string, help: string, value: (channel: ChannelState) => number][] = [
    [
      "channel_state",
      "0 on, 1 switched off by an operator, 2 by failures in a row, 3 because the receiver is gone (410).",
      (of) => stateNumbers[of.state],
    ],
    [
      "channel_deliveries_waiting",
      "Waiting deliveries of a channel, including the one in progress or due for a retry.",
      (of) => of.waiting,
    ],
    [
      "channel_deliveries_oldest_seconds",
      "How long the oldest waiting delivery has waited; 0 where none waits.",
      (of) => of.age_seconds,
    ],
  ];
  for (const [name, help, value] of ofEach)
    addLabelledGauge(registry, `venuewatch_${name}`, help, ["channel", "format"], async () =>
      ((await state())?.channels ?? []).map((one) => [{ channel: one.channel, format: one.format }, value(one)]),
    );
}
