import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";

/** The oldest and newest versions of TimescaleDB and PostgreSQL on which the tests pass. */
export const tested = {
  timescaledb: { oldest: "2.23", newest: "2.29" },
  postgres: { oldest: 15, newest: 18 },
} as const;

/** The tested versions in words. */
export const testedRange =
  `TimescaleDB ${tested.timescaledb.oldest} to ${tested.timescaledb.newest} ` +
  `on PostgreSQL ${tested.postgres.oldest} to ${tested.postgres.newest}`;

/**
 * To be called outside a transaction, because TimescaleDB must be loaded before a session has done anything else with
 * it.
 *
 * @throws UserError if there is no suitable TimescaleDB
 */
export async function requireExtension(pool: Pool, log: Log): Promise<void> {
  const found = (await versionsOf(pool)) ?? (await makeExtension(pool));
  const { oldest } = tested.timescaledb;
  if (isOlder(found.timescaledb, oldest))
    throw new UserError(
      `The database must have TimescaleDB ${oldest} or newer, but it has ${found.timescaledb}. ` +
        "Install a newer one there, and run: alter extension timescaledb update",
    );
  if (!isTested(found))
    log.warn(`this build was tested with ${testedRange}; ${advice(found)}`, {
      ...found,
    });
}

export interface ServerVersions {
  /** Such as 17.11. */
  postgres: string;
  /** Such as 2.29.2. */
  timescaledb: string;
}

/** Whether these versions were tested. Patch numbers do not matter. */
export function isTested(found: ServerVersions): boolean {
  const { timescaledb, postgres } = tested;
  const major = parseInt(found.postgres);
  return (
    !isOlder(found.timescaledb, timescaledb.oldest) &&
    !isOlder(timescaledb.newest, found.timescaledb) &&
    major >= postgres.oldest &&
    major <= postgres.newest
  );
}

/** What to do about versions that are not tested. */
export function advice({ postgres, timescaledb }: ServerVersions): string {
  if (parseInt(postgres) < tested.postgres.oldest) return "upgrade PostgreSQL on the server";
  if (isOlder(timescaledb, tested.timescaledb.oldest))
    return "install a newer TimescaleDB on the server, and run: alter extension timescaledb update";
  return "look for a newer release of venuewatch";
}

/** Compares major and minor numbers. */
export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => parseInt(part));
  const [leastMajor = 0, leastMinor = 0] = than.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

async function makeExtension(pool: Pool): Promise<ServerVersions> {
  let refused = "";
  try {
    await pool.script("create extension if not exists timescaledb");
  } catch (error) {
    refused = (error as Error).message;
  }
  // a concurrent migrator may have created it when we could not
  const found = await versionsOf(pool);
  if (found === undefined)
    throw new UserError(
      `The database must have the TimescaleDB extension, but creating it failed: ${refused}. ` +
        `Install TimescaleDB ${tested.timescaledb.oldest} or newer there, or ask an administrator for: create extension timescaledb`,
    );
  return found;
}

async function versionsOf(db: Db): Promise<ServerVersions | undefined> {
  const [found] = await db.query<ServerVersions>(sql`
    select current_setting('server_version') as postgres, extversion as timescaledb
    from pg_extension
    where extname = 'timescaledb'
  `);
  return found;
}
