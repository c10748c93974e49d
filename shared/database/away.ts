/** Distinguishes errors of an unavailable database from errors of a single statement. */
import type { Log } from "../log/log.js";
import { NoHost } from "./no-host.js";

/**
 * SQLSTATE classes 08 (connection), 28 (login refused), 53 (out of resources; not 53200 and 53400, which concern one
 * statement) and 57 (stopped or starting; not 57014, which cancels one statement), 3D000 (no such database), 25006
 * (read-only: a primary that has become a standby), and errors of the socket. Causes of a wrapped error count as well.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NoHost) return true;
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  return (
    /^((08(?!P01)|28|53(?![24]00)|57(?!014))...|3D000|25006)$/.test(code) ||
    (code === "08P01" && isOfPooler(error)) ||
    /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test(code) ||
    // a local server's Unix socket
    (code === "ENOENT" && syscall === "connect") ||
    // errors of pg without a code
    /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect)/.test(
      error.message,
    ) ||
    isDatabaseAway(error.cause)
  );
}

/**
 * PgBouncer reports all its errors as 08P01, except that its server is away. From PostgreSQL that code means a bug of
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
 * @returns false for any other error, which the caller logs
 */
export function countsAsAway(log: Log, tasks: string, error: unknown): boolean {
  if (!isDatabaseAway(error)) return false;
  log.database.failed(tasks, { error });
  return true;
}
