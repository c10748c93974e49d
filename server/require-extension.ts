import { type Db, type Pool, sql } from "./db.js";
import { UserError } from "./user-error.js";

/**
 * Outside any transaction, because TimescaleDB wants to be loaded before a session has done anything else with it.
 *
 * @throws UserError when there is no TimescaleDB that serves
 */
export async function requireExtension(pool: Pool): Promise<void> {
  const version = (await extensionVersion(pool)) ?? (await makeExtension(pool));
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 2 || (major === 2 && minor < 23))
    throw new UserError(
      `The database must have TimescaleDB 2.23 or newer, but it has ${version}. ` +
        "Install a newer one there, and run: alter extension timescaledb update",
    );
}

async function makeExtension(pool: Pool): Promise<string> {
  let refused = "";
  try {
    await pool.script("create extension if not exists timescaledb");
  } catch (error) {
    refused = (error as Error).message;
  }
  // a racing migrator may have made it when we could not
  const version = await extensionVersion(pool);
  if (version === undefined)
    throw new UserError(
      `The database must have the TimescaleDB extension, but creating it failed: ${refused}. ` +
        "Install TimescaleDB 2.23 or newer there.",
    );
  return version;
}

async function extensionVersion(db: Db): Promise<string | undefined> {
  const [extension] = await db.query<{ version: string }>(
    sql`select extversion as version from pg_extension where extname = 'timescaledb'`,
  );
  return extension?.version;
}
