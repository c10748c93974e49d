import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { type Service, version } from "../config/package.js";
import { countsAsAway } from "../database/fault.js";
import { singleFlight } from "../process/loop.js";
import { stackOf } from "../process/user-error.js";
import type { Log } from "./log.js";

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

type Value = number | boolean;
type Series = [labels: Record<string, string | number>, value: Value][];
type Read<Got> = () => Got | Promise<Got>;

/**
 * Adds a gauge that is read at every scrape.
 *
 * @param read null: it has no value now
 */
export function addGauge(registry: OwnMetrics, name: string, help: string, read: Read<Value | null>): void {
  addLabelledGauge(registry, name, help, [], async () => {
    const value = await read();
    return value === null ? [] : [[{}, value]];
  });
}

/** @param read all series that it has now */
export function addLabelledGauge(
  registry: OwnMetrics,
  name: string,
  help: string,
  labelNames: string[],
  read: Read<Series>,
): void {
  new Gauge({
    ...{ name, help, labelNames, registers: [registry] },
    async collect() {
      const series = await read();
      this.reset();
      // without labels, that has set it to 0
      if (labelNames.length === 0) this.remove();
      for (const [labels, value] of series) this.set(labels, Number(value));
    },
  });
}

/** Scrapers wait ten seconds by default. They should get all other metrics when the database does not answer. */
const answerWithinMs = 3_000;

/**
 * Makes the query that a program's own metrics send to the database at each scrape. Concurrent callers, such as all
 * metrics of one scrape, share one query.
 *
 * @returns null if the database does not answer, or not in time: the values are unknown then
 */
export function queryAtScrape<Row>(ask: () => Promise<Row[]>, log: Log): () => Promise<Row | null> {
  return singleFlight(async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(
            Object.assign(new Error(`no answer within ${answerWithinMs} ms`), {
              code: "ETIMEDOUT",
            }),
          ),
        answerWithinMs,
      );
    });
    try {
      const [row] = await Promise.race([ask(), late]);
      return row!;
    } catch (error) {
      if (!countsAsAway(log, "scrapes", error))
        log.error("own metrics lack the values from the database", {
          stack: stackOf(error),
        });
      return null;
    } finally {
      clearTimeout(timer);
    }
  });
}
