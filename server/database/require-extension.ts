import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import {
  advice,
  isOlder,
  isSupported,
  oldestTimescaledb,
  type ServerVersions,
  supportedRange,
} from "./supported-servers.js";

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
    log.warn(`this build was tested with ${supportedRange}; ${advice(found)}`, { postgres, timescaledb });
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
