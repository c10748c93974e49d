import type { Addresses } from "../process/all-programs.js";

// The addresses that a user reads when everything is up.

/**
 * @param psql the command line for the embedded database; null where the database is on a server
 * @param more additional rows: what, where
 */
export function welcome(
  psql: string | null,
  { web, core, probes }: Addresses,
  more: readonly (readonly [string, string])[] = [],
): string {
  const rows = [
    ["board, in a browser", `${web}/`],
    ["API", `${web}/v1/status`],
    ["documentation", `${web}/docs`],
    ["how soon alerts arrive", `${web}/v1/notify`],
    ["metrics of all venues", `${web}/metrics`],
    ["readiness", `${web}/readyz`],
    ["health of core", `${core}/healthz`],
    ...[...probes].map(([region, url]) => [`health of probe ${region}`, `${url}/healthz`]),
    ["database", psql ?? 'psql "$DATABASE_URL"'],
    ...more,
  ] as const;
  const lines = rows.map(([what, where]) => `  ${what.padEnd(30)}${where}\n`);
  const note = vantageNote([...probes.keys()], psql !== null);
  return `\nvenuewatch is up\n${lines.join("")}  Ctrl-C stops it\n${note}\n`;
}

/** Regions on one machine are no quorum against trouble of its network. Empty for a single region. */
function vantageNote(regions: readonly string[], isEmbedded: boolean): string {
  if (regions.length < 2) return "";
  const first = isEmbedded ? "move to a database server (docs/moving.md), which probes elsewhere can reach; then " : "";
  return `
  These ${regions.length} regions are probed from this one machine, so they are one vantage:
  trouble of its network may look like trouble of the venues. To measure from other places, ${first}run
  REGION=${regions.at(-1)} VANTAGE="name, place, network" DATABASE_URL=… venuewatch probe
  on a machine there, and remove that region from REGIONS here.
`;
}
