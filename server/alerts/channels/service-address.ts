/**
 * Where readers find the service. Core keeps it in the database, for the commands that send alerts from an operator's
 * shell.
 */
import { countsAsAway } from "../../../shared/database/away.js";
import { type Db, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { type Loop, startLoop } from "../../../shared/process/loop.js";
import { stackOf, UserError } from "../../../shared/process/user-error.js";

export interface ServiceAddress {
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Of the site about the service, without a slash at the end. */
  siteUrl: string;
}

/** A database that is away or not migrated yet is what it waits for. */
const retryMs = 5_000;
/** One that was restored from a backup may have lost it. */
const againMs = 3_600_000;

/**
 * Keeps the address in the database for as long as core runs. Where cores were started with different ones, the newest
 * counts.
 */
export function startKeepingAddress(db: Db, address: ServiceAddress, log: Log): Loop {
  return startLoop(async () => {
    try {
      await keepServiceAddress(db, address, log);
      return againMs;
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
  const [kept] = await db.file<{ replaced: string | null }>("keep_service_address", [baseUrl, siteUrl]);
  if (kept && kept.replaced !== null && kept.replaced !== baseUrl)
    log.warn("links in alerts have another address from now on; all cores need the same BASE_URL", {
      baseUrl,
      replaced: kept.replaced,
    });
}

/** @throws UserError when no core has started on this database */
export async function serviceAddress(db: Db): Promise<ServiceAddress> {
  const [address] = await db.query<ServiceAddress>(
    sql`select base_url as "baseUrl", site_url as "siteUrl" from service_address`,
  );
  if (address) return address;
  throw new UserError(
    "the public address that alerts link to is not known: core keeps its BASE_URL in the database when it starts, and none has started on this one since it was migrated; start core, then send again",
  );
}
