/** Which errors mean that the database is away, and not that a statement was wrong. */
import type { Log } from "../log/log.js";
import { NoHost } from "./no-host.js";

/**
 * SQLSTATE classes 08 (connection), 28 (it refuses us), 53 (it lacks something; not 53200 and 53400, a limit of one
 * statement) and 57 (it was stopped, or starts; not 57014, which ends one statement), no such database, one that only
 * reads (a primary that has become a standby), and whatever the socket says. What a wrapped error was caused by counts
 * as well.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NoHost) return true;
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  return (
    /^((08(?!P01)|28|53(?![24]00)|57(?!014))...|3D000|25006)$/.test(code) ||
    (code === "08P01" && isOfPooler(error)) ||
    /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test(code) ||
    // a server on this machine, by its socket's file
    (code === "ENOENT" && syscall === "connect") ||
    // pg gives these no code
    /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect)/.test(
      error.message,
    ) ||
    isDatabaseAway(error.cause)
  );
}

/**
 * PgBouncer says by 08P01 what it has to say, except that its server is away; of PostgreSQL that code is a fault of
 * ours.
 */
function isOfPooler({ message }: Error): boolean {
  return /^(unsupported startup parameter|server |query_wait_timeout|client_login_timeout|pgbouncer |no more connections allowed|the database system is |connect failed)/.test(
    message,
  );
}

/**
 * Counts a failed task as part of the database's outage, which is logged once a minute.
 *
 * @param tasks what failed, in plural
 * @returns false where the fault is another one, which the caller logs
 */
export function countsAsAway(log: Log, tasks: string, error: unknown): boolean {
  if (!isDatabaseAway(error)) return false;
  log.database.failed(tasks, { error });
  return true;
}
