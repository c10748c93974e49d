import { Counter, Histogram } from "prom-client";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";

/** Metrics of a core's readings of venues' feeds. */
export interface NoticesMetrics {
  /** @param tookMs from the first request until the result was stored, including pauses between documents */
  read: (readable: boolean, tookMs: number, added: number) => void;
}

export function makeNoticesMetrics(registry: OwnMetrics): NoticesMetrics {
  const registers = [registry];
  const readings = new Counter({
    name: "venuewatch_feed_readings_total",
    help: "Readings of venues' own feeds, by whether the feed could be read.",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["readable", "unreadable"]) readings.inc({ result }, 0);
  const seconds = new Histogram({
    name: "venuewatch_feed_reading_seconds",
    help: "One reading of a feed, with the pauses between its documents.",
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers,
  });
  const notices = new Counter({
    name: "venuewatch_notices_total",
    help: "Notices of venues that were new.",
    registers,
  });
  return {
    read(readable, tookMs, added) {
      readings.inc({ result: readable ? "readable" : "unreadable" });
      seconds.observe(tookMs / 1000);
      notices.inc(added);
    },
  };
}
