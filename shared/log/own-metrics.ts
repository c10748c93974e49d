import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { version } from "../config/package.js";
import type { Service } from "../config/service.js";

/**
 * What a program tells its operators of itself, at `/metrics` of its health port. Every name begins with `venuewatch_`.
 */
export type OwnMetrics = Registry;

/**
 * The lag is what passes between two looks, so a loop that is never late has one of this length. Every ten
 * milliseconds, which is the default, cost each program 0.004 of a core; so seldom they cost a tenth of that.
 */
const eventLoopLooksApartMs = 100;

/** @param labels on everything that it tells, such as the region of a probe */
export function makeOwnMetrics(service: Service, labels: Record<string, string> = {}): OwnMetrics {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  // the process, its memory, and how late its event loop is
  collectDefaultMetrics({
    register: registry,
    prefix: "venuewatch_",
    eventLoopMonitoringPrecision: eventLoopLooksApartMs,
  });
  // sums of others beside them, and gauges whose names end as counters' do
  for (const what of ["resources", "handles", "requests"])
    registry.removeSingleMetric(`venuewatch_nodejs_active_${what}_total`);
  new Gauge({
    name: "venuewatch_build_info",
    help: "1; the labels say which program and which build.",
    labelNames: ["service", "version"],
    registers: [registry],
  }).set({ service, version }, 1);
  return registry;
}
