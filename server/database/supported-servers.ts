import { readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";

/** Releases of TimescaleDB. */
interface Releases {
  oldest: string;
  newest: string;
}

/**
 * By major version of PostgreSQL, the releases between which the tests pass: they run on the oldest and on the newest.
 * TimescaleDB drops a major version of PostgreSQL before we do, so each has its own newest release.
 */
export const supportedServers = JSON.parse(readFileSync(packagedFile("sql/servers.json"), "utf8")) as Record<
  string,
  Releases
>;

/** In words. */
export const supportedRange = inWords();

export const oldestTimescaledb = Object.values(supportedServers)
  .map(({ oldest }) => minorVersion(oldest))
  .reduce((one, other) => (isOlder(one, other) ? one : other));

interface ServerVersions {
  /** Such as 17.11. */
  postgres: string;
  /** Such as 2.29.2. */
  timescaledb: string;
}

/** Whether these versions were tested. Patch numbers do not matter. */
export function isSupported({ postgres, timescaledb }: ServerVersions): boolean {
  const releases = supportedServers[parseInt(postgres)];
  return releases !== undefined && !isOlder(timescaledb, releases.oldest) && !isOlder(releases.newest, timescaledb);
}

/** What to do about versions that are not tested. */
export function adviceOnServer({ postgres, timescaledb }: ServerVersions): string {
  if (Object.keys(supportedServers).every((major) => parseInt(postgres) < Number(major)))
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
  for (const [major, { oldest, newest }] of Object.entries(supportedServers)) {
    const releases = `${minorVersion(oldest)} to ${minorVersion(newest)}`;
    byReleases.set(releases, [...(byReleases.get(releases) ?? []), major]);
  }
  const parts = [...byReleases].map(
    ([releases, majors]) => `${releases} on PostgreSQL ${[...new Set([majors[0], majors.at(-1)])].join(" to ")}`,
  );
  return `TimescaleDB ${parts.join(", and ")}`;
}

function minorVersion(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** What to do about a server that has only the part of TimescaleDB that is under the Apache licence. */
export const communityAdvice =
  "install Timescale's own packages there (those of Debian and Ubuntu lack the rest), or remove timescaledb.license " +
  "from postgresql.conf where it is set, and restart the server";

/**
 * Call it outside a transaction, because TimescaleDB must be loaded before a session has done anything else with it.
 *
 * @throws UserError if there is no suitable TimescaleDB; then nothing was created
 */
export async function requireExtension(pool: Pool, log: Log): Promise<void> {
  const found = (await extensionOf(pool)) ?? (await makeExtension(pool));
  refuseUnsuitable(found);
  const { postgres, timescaledb } = found;
  if (!isSupported(found))
    log.warn(`this build was tested with ${supportedRange}; ${adviceOnServer(found)}`, { postgres, timescaledb });
}

interface Extension extends ServerVersions {
  /** `timescale`, or `apache`. */
  license: string | null;
}

function refuseUnsuitable({ timescaledb, license }: Extension): void {
  if (isOlder(timescaledb, oldestTimescaledb))
    throw new UserError(
      `The database must have TimescaleDB ${oldestTimescaledb} or newer, but it has ${timescaledb}. ` +
        "Install a newer one there, and run: alter extension timescaledb update",
    );
  if (license === "apache")
    throw new UserError(
      "The database must have the community edition of TimescaleDB, for compression and continuous aggregates, but " +
        `its timescaledb.license is ${license}: ${communityAdvice}`,
    );
}

async function makeExtension(pool: Pool): Promise<Extension> {
  let refused = "";
  try {
    await pool.transaction(async (tx) => {
      await tx.script("create extension if not exists timescaledb");
      // its library is loaded, and its licence known, only once the extension exists
      refuseUnsuitable((await extensionOf(tx))!);
    });
  } catch (error) {
    if (error instanceof UserError) throw error;
    refused = (error as Error).message;
  }
  // a concurrent migrator may have created it when we could not
  const found = await extensionOf(pool);
  if (found === undefined)
    throw new UserError(
      `The database must have the TimescaleDB extension, but creating it failed: ${refused}. ` +
        `Install TimescaleDB ${oldestTimescaledb} or newer there, or ask an administrator for: create extension timescaledb`,
    );
  return found;
}

async function extensionOf(db: Db): Promise<Extension | undefined> {
  const [found] = await db.query<Extension>(sql`
    select
      current_setting('server_version') as postgres,
      extversion as timescaledb,
      current_setting('timescaledb.license', true) as license
    from pg_extension
    where extname = 'timescaledb'
  `);
  return found;
}
