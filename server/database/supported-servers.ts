import { readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";

/** Releases of TimescaleDB. */
interface Releases {
  oldest: string;
  newest: string;
}

/**
 * By major version of PostgreSQL, the releases between which the tests pass: they run on the oldest and on the newest.
 * TimescaleDB drops a major version of PostgreSQL before we do, so each has its own newest release.
 */
export const supported = JSON.parse(readFileSync(packagedFile("sql/servers.json"), "utf8")) as Record<string, Releases>;

/** In words. */
export const supportedRange = inWords();

export const oldestTimescaledb = Object.values(supported)
  .map(({ oldest }) => minor(oldest))
  .reduce((one, other) => (isOlder(one, other) ? one : other));

export interface ServerVersions {
  /** Such as 17.11. */
  postgres: string;
  /** Such as 2.29.2. */
  timescaledb: string;
}

/** Whether these versions were tested. Patch numbers do not matter. */
export function isSupported({ postgres, timescaledb }: ServerVersions): boolean {
  const releases = supported[parseInt(postgres)];
  return releases !== undefined && !isOlder(timescaledb, releases.oldest) && !isOlder(releases.newest, timescaledb);
}

/** What to do about versions that are not tested. */
export function advice({ postgres, timescaledb }: ServerVersions): string {
  if (Object.keys(supported).every((major) => parseInt(postgres) < Number(major)))
    return "upgrade PostgreSQL on the server";
  if (isOlder(timescaledb, oldestTimescaledb))
    return "install a newer TimescaleDB on the server, and run: alter extension timescaledb update";
  return "look for a newer release of venuewatch";
}

/** Compares major and minor numbers. */
export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => parseInt(part));
  const [leastMajor = 0, leastMinor = 0] = than.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

function inWords(): string {
  const byReleases = new Map<string, string[]>();
  for (const [major, { oldest, newest }] of Object.entries(supported)) {
    const releases = `${minor(oldest)} to ${minor(newest)}`;
    byReleases.set(releases, [...(byReleases.get(releases) ?? []), major]);
  }
  const parts = [...byReleases].map(
    ([releases, majors]) => `${releases} on PostgreSQL ${[...new Set([majors[0], majors.at(-1)])].join(" to ")}`,
  );
  return `TimescaleDB ${parts.join(", and ")}`;
}

function minor(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
