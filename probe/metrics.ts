import { Counter, Histogram } from "prom-client";
import type { OwnMetrics } from "../shared/log/own-metrics.js";
import { addGauge, addLabelledGauge } from "../shared/log/read-gauge.js";
import { troubleKinds } from "../shared/measurement/trouble.js";
import type { ProbeStatus } from "./probe.js";
import type { RecordSamples } from "./delivery/ship.js";

export interface ProbeMetrics {
  /** @param lateMs from the scheduled instant of a slot to its turn */
  slotBegun: (lateMs: number) => void;
  /** The same, timed. */
  timed: (record: RecordSamples) => RecordSamples;
}

/**
 * Tells operators of a probe what it measures and delivers.
 *
 * @param beganAt from when on it should measure
 */
export function makeProbeMetrics(
  registry: OwnMetrics,
  beganAt: Date,
  status: () => ProbeStatus & { renewedAt: Date | null },
): ProbeMetrics {
  const registers = [registry];
  const lateness = new Histogram({
    name: "venuewatch_probe_slot_lateness_seconds",
    help: "From the scheduled instant of a slot to its turn, slots that came too late to be measured included.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  const recording = new Histogram({
    name: "venuewatch_probe_record_seconds",
    help: "Handing one batch of samples to the database, by outcome.",
    labelNames: ["outcome"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers,
  });
  const counts: [name: string, help: string, key: CountedKey][] = [
    ["taken", "Samples measured, bad ones included.", "taken"],
    ["delivered", "Samples that are in the database.", "shipped"],
    ["duplicate", "Samples delivered that were in the database already.", "duplicates"],
    [
      "restored",
      "Samples that the database had acknowledged, lost in a failover, and stored when they were sent again.",
      "restored",
    ],
    ["refused", "Samples that the database did not take.", "refused"],
    ["lost", "Samples given up, the oldest, for want of room in the spool.", "dropped"],
    ["corrupt", "Samples found broken in the spool.", "corrupt"],
  ];
  for (const [name, help, key] of counts)
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
    help: "Slots without a sample, by reason; none is a word about a venue.",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, slots] of Object.entries(status().unmeasured)) this.inc({ reason }, slots);
    },
  });
  const gauges: [name: string, help: string, value: (of: ReturnType<typeof status>) => number][] = [
    ["samples_waiting", "Samples that wait to be delivered, in the spool and in memory.", (of) => of.waiting],
    ["spool_bytes", "What waits in the files of the spool.", (of) => of.spoolBytes],
    [
      "spool_used_ratio",
      "How much of what the spool may hold is taken. At 1 the oldest samples are given up.",
      (of) => of.spoolUsed,
    ],
    [
      "newest_slot_timestamp_seconds",
      "Scheduled instant of the newest sample; before the first, when this probe began.",
      (of) => +(of.newestSlotAt ?? beganAt) / 1000,
    ],
    ["sockets_open", "WebSocket connections to venues that are open.", (of) => of.socketsOpen],
    ["venues", "Venues that this probe measures: its share of the region's.", (of) => of.watching.length],
    [
      "lease_renewed_timestamp_seconds",
      "When the database last heard that this probe lives; before the first time, when it began.",
      (of) => +(of.renewedAt ?? beganAt) / 1000,
    ],
  ];
  for (const [name, help, value] of gauges) addGauge(registry, `venuewatch_probe_${name}`, help, () => value(status()));
  addLabelledGauge(
    registry,
    "venuewatch_probe_certificate_expiry_timestamp_seconds",
    "Until when the certificate is valid that a component's server showed last, a refused one included.",
    ["venue", "component"],
    () => status().certificates.map(({ venue, component, expiresAt }) => [{ venue, component }, +expiresAt / 1000]),
  );
  addLabelledGauge(
    registry,
    "venuewatch_probe_trouble",
    "1 while this probe has trouble of its own that keeps it from measuring, or from measuring right, by kind.",
    ["kind"],
    () => {
      const lasting = new Set(status().troubles.map(({ kind }) => kind));
      return troubleKinds.map((kind) => [{ kind }, lasting.has(kind)]);
    },
  );
  addLabelledGauge(
    registry,
    "venuewatch_probe_clock_error_seconds",
    "This machine's clock less that of most venues, and the most by which that may be wrong; no value while too few venues agree.",
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

type CountedKey = "taken" | "shipped" | "duplicates" | "restored" | "refused" | "dropped" | "corrupt";
