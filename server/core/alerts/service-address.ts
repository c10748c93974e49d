import { countsAsAway } from "../../../shared/database/fault.js";
import { type Db, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { type Loop, startLoop } from "../../../shared/process/loop.js";
import { stackOf, UserError } from "../../../shared/process/user-error.js";

// The service's public address. Core stores it in the database for commands that send alerts from an operator's shell.

export interface ServiceAddress {
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Address of the site about the service, without a slash at the end. */
  siteUrl: string;
}

/** After a failure: the database is unreachable, or not migrated yet. */
const retryMs = 5_000;

/** After a success: a database that was restored from a backup may have lost the address. */
const refreshMs = 3_600_000;

/**
 * Keeps the address stored in the database while core runs. If cores have different addresses, the latest write wins.
 */
export function startKeepingAddress(db: Db, address: ServiceAddress, log: Log): Loop {
  return startLoop(async () => {
    try {
      await keepServiceAddress(db, address, log);
      return refreshMs;
    } catch (error) {
      if (!countsAsAway(log, "writes of the service's address", error))
        log.error("writing the service's address to the database failed", {
          stack: stackOf(error),
        });
      return retryMs;
    }
  });
}

export async function keepServiceAddress(db: Db, { baseUrl, siteUrl }: ServiceAddress, log: Log): Promise<void> {
  const [kept] = await db.file<{ replaced: string | null }>("store_service_address", [baseUrl, siteUrl]);
  if (kept && kept.replaced !== null && kept.replaced !== baseUrl)
    log.warn("BASE_URL in alert links changed; all cores need the same BASE_URL", {
      baseUrl,
      replaced: kept.replaced,
    });
}

/** @throws UserError when no core has stored its address in this database */
export async function serviceAddress(db: Db): Promise<ServiceAddress> {
  const [address] = await db.query<ServiceAddress>(
    sql`select base_url as "baseUrl", site_url as "siteUrl" from service_address`,
  );
  if (address) return address;
  throw new UserError(
    "the public address for alert links is unknown: core stores its BASE_URL in the database when it starts, and no core has started on this database yet; start core, then send again",
  );
}
