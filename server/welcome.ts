/** What a user reads when everything is up: where to look. */

import type { Addresses } from "./all-programs.js";

/** @param more rows of what and where, besides those that every user has */
export function welcome(
  embedded: string | null,
  { web, core, probes }: Addresses,
  more: readonly (readonly [string, string])[] = [],
): string {
  const rows = [
    ["board", `${web}/v1/status`],
    ["how soon alerts arrive", `${web}/v1/notify`],
    ["metrics of all venues", `${web}/metrics`],
    ["readiness", `${web}/readyz`],
    ["health of core", `${core}/healthz`],
    ...[...probes].map(([region, url]) => [
      `health of probe ${region}`,
      `${url}/healthz`,
    ]),
    ["database", `psql "${embedded ?? "$DATABASE_URL"}"`],
    ...more,
  ] as const;
  const lines = rows.map(([what, where]) => `  ${what.padEnd(30)}${where}\n`);
  return `\nvenuewatch is up\n${lines.join("")}  Ctrl-C stops it\n\n`;
}
