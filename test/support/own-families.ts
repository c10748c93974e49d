/** Reads a program's own metrics as Prometheus does. */
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { type Family, parseExposition } from "./exposition.js";

export type Families = Record<string, Family>;

/** @throws Error where the text is no valid exposition, or a name is not ours */
export async function ownFamilies(registry: OwnMetrics): Promise<Families> {
  return read(await registry.metrics());
}

/** Does the same for a running program. */
export async function scrape(address: string): Promise<Families> {
  const response = await fetch(`${address}/metrics`);
  if (response.status !== 200) throw new Error(`answered ${response.status}`);
  if (!response.headers.get("content-type")?.includes("version=0.0.4"))
    throw new Error(`came as ${response.headers.get("content-type")}`);
  return read(await response.text());
}

function read(text: string): Families {
  const families = parseExposition(text);
  for (const { name } of families) if (!name.startsWith("venuewatch_")) throw new Error(`${name} is not ours`);
  return Object.fromEntries(families.map((family) => [family.name, family]));
}

/** Returns the sum of a family's series with these labels; the name is matched by its end. */
export function total(families: Families, name: string, labels: Record<string, string> = {}, end = ""): number {
  return families[name]!.series.filter(
    (series) => series.name === name + end && Object.entries(labels).every(([k, v]) => series.labels[k] === v),
  ).reduce((sum, { value }) => sum + value, 0);
}
