import { Gauge } from "prom-client";
import type { OwnMetrics } from "./own-metrics.js";

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
