import { isolated } from "./isolated.js";

/** As the operator named it; null: not given. */
export interface NamedVantage {
  name: string | null;
  place: string | null;
  network: string | null;
}

/** `Frankfurt, Hetzner AS24940 (fra1)`, as far as it is known. */
export function vantageText({ name, place, network }: NamedVantage, unknown: string): string {
  const known = [place, network].filter((text) => text !== null).map(isolated);
  const where = known.length > 0 ? known.join(", ") : unknown;
  return name === null ? where : `${where} (${isolated(name)})`;
}
