import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { version } from "../config/package.js";
import type { Service } from "../config/service.js";

/**
 * A program's own metrics for operators, at `/metrics` of its health port. Every name begins with `venuewatch_`.
 */
export type OwnMetrics = Registry;

/**
 * The event loop's lag is the time between two timers, so a loop that is never late shows this value. The default of
 * ten milliseconds costs each program 0.004 of a core; this interval costs a tenth of that.
 */
const eventLoopIntervalMs = 100;

/** @param labels on every metric, such as the region of a probe */
export function makeOwnMetrics(service: Service, labels: Record<string, string> = {}): OwnMetrics {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  // process, memory and event loop lag
  collectDefaultMetrics({
    register: registry,
    prefix: "venuewatch_",
    eventLoopMonitoringPrecision: eventLoopIntervalMs,
  });
  // each is a sum of other metrics, and a gauge with a counter's suffix
  for (const what of ["resources", "handles", "requests"])
    registry.removeSingleMetric(`venuewatch_nodejs_active_${what}_total`);
  new Gauge({
    name: "venuewatch_build_info",
    help: "1; the labels have the program and its version.",
    labelNames: ["service", "version"],
    registers: [registry],
  }).set({ service, version }, 1);
  return registry;
}
