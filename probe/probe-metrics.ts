import { Counter, Histogram } from "prom-client";
import { addGauge, addLabelledGauge, type OwnMetrics } from "../shared/log/own-metrics.js";
import { troubleKinds } from "../shared/measurement/sample.js";
import type { RecordSamples } from "./delivery/recorder.js";
import type { ProbeStatus } from "./probe.js";

export interface ProbeMetrics {
  /** @param lateMs from the scheduled instant of a slot to its turn */
  slotBegun: (lateMs: number) => void;
  /** Wraps `record` so that its duration is observed. */
  timed: (record: RecordSamples) => RecordSamples;
}

type CountedKey = "taken" | "shipped" | "duplicates" | "restored" | "refused" | "dropped" | "corrupt";

/** Counters of samples, which follow the status. */
const sampleCounts: [name: string, help: string, key: CountedKey][] = [
  ["taken", "Samples measured, including bad ones.", "taken"],
  ["delivered", "Samples delivered to the database, including duplicates.", "shipped"],
  ["duplicate", "Samples delivered that the database already had.", "duplicates"],
  [
    "restored",
    "Samples that the database had acknowledged, then lost in a failover, and stored when they were sent again.",
    "restored",
  ],
  ["refused", "Samples that the database refused for good.", "refused"],
  ["lost", "Samples dropped, oldest first, because the spool was full.", "dropped"],
  ["corrupt", "Samples found corrupt in the spool.", "corrupt"],
];

/**
 * Metrics of what a probe measures and delivers, for its operators.
 *
 * @param beganAt since when it should measure
 */
export function makeProbeMetrics(
  registry: OwnMetrics,
  beganAt: Date,
  status: () => ProbeStatus & { renewedAt: Date | null },
): ProbeMetrics {
  const registers = [registry];
  const lateness = new Histogram({
    name: "venuewatch_probe_slot_lateness_seconds",
    help: "Delay of slots after their scheduled instant, including slots that were too late to be measured.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  const recording = new Histogram({
    name: "venuewatch_probe_record_seconds",
    help: "Time to record one batch of samples in the database, by outcome.",
    labelNames: ["outcome"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers,
  });
  for (const [name, help, key] of sampleCounts)
    new Counter({
      name: `venuewatch_probe_samples_${name}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(status()[key]);
      },
    });
  new Counter({
    name: "venuewatch_probe_unmeasured_slots_total",
    help: "Slots without a sample, by reason; none of them counts against a venue.",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, slots] of Object.entries(status().unmeasured)) this.inc({ reason }, slots);
    },
  });
  const gauges: [name: string, help: string, value: (of: ReturnType<typeof status>) => number][] = [
    ["samples_waiting", "Samples waiting to be delivered, in the spool and in memory.", (of) => of.waiting],
    ["spool_bytes", "Size of the waiting samples in the files of the spool.", (of) => of.spoolBytes],
    [
      "spool_used_ratio",
      "Used share of the spool's size limit. At 1 the oldest samples are dropped.",
      (of) => of.spoolUsed,
    ],
    [
      "newest_slot_timestamp_seconds",
      "Scheduled instant of the newest sample; until the first sample, the start of this probe.",
      (of) => +(of.newestSlotAt ?? beganAt) / 1000,
    ],
    ["sockets_open", "Open WebSocket connections to venues.", (of) => of.socketsOpen],
    ["venues", "Venues that this probe measures: its share of the region's venues.", (of) => of.watching.length],
    [
      "lease_renewed_timestamp_seconds",
      "Last heartbeat that reached the database; until the first one, the start of this probe.",
      (of) => +(of.renewedAt ?? beganAt) / 1000,
    ],
  ];
  for (const [name, help, value] of gauges) addGauge(registry, `venuewatch_probe_${name}`, help, () => value(status()));
  addLabelledGauge(
    registry,
    "venuewatch_probe_certificate_expiry_timestamp_seconds",
    "Expiry of the certificate that a component's server last presented, including refused certificates.",
    ["venue", "component"],
    () => status().certificates.map(({ venue, component, expiresAt }) => [{ venue, component }, +expiresAt / 1000]),
  );
  addLabelledGauge(
    registry,
    "venuewatch_probe_trouble",
    "1 while probe trouble keeps this probe from measuring, or from measuring correctly, by kind.",
    ["kind"],
    () => {
      const lasting = new Set(status().troubles.map(({ kind }) => kind));
      return troubleKinds.map((kind) => [{ kind }, lasting.has(kind)]);
    },
  );
  addLabelledGauge(
    registry,
    "venuewatch_probe_clock_error_seconds",
    "This machine's clock minus that of most venues, and the maximum error of this difference; no value while too few venues agree.",
    ["bound"],
    () => {
      const { clock } = status();
      if (!clock) return [];
      return [
        [{ bound: "middle" }, clock.errorMs / 1000],
        [{ bound: "within" }, clock.withinMs / 1000],
      ];
    },
  );

  return {
    slotBegun: (lateMs) => lateness.observe(lateMs / 1000),
    timed: (record) => async (samples) => {
      const end = recording.startTimer();
      try {
        const recorded = await record(samples);
        end({ outcome: "recorded" });
        return recorded;
      } catch (error) {
        end({ outcome: "failed" });
        throw error;
      }
    },
  };
}
