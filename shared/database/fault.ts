/** Explains why a database cannot be used, where the user can correct that. */
import type { Log } from "../log/log.js";
import { UserError } from "../process/user-error.js";
import { placeOf, NoHost } from "./address.js";

/**
 * The UserError for an error of connecting, or null for any other error.
 *
 * @param error as thrown by `pg`
 * @param url the address that was tried; its password is not shown
 * @param setting the setting or option that has the address
 */
export function databaseFault(error: unknown, url: string, setting = "DATABASE_URL"): UserError | null {
  if (error instanceof NoHost)
    return new UserError(
      `none of the hosts of the database ${placeOf(url)} can be used (${error.message}); start or promote one, or correct ${setting}`,
      { cause: error },
    );
  const { code, message } = error as { code?: string; message?: string };
  const key = code ?? withoutCode(message);
  const advice = key && (ofPooler(key, message) ?? faultAdvices[key]);
  if (!advice) return null;
  return new UserError(
    `the database ${placeOf(url)} cannot be used (${key}): ${advice.replaceAll("DATABASE_URL", setting)}`,
    { cause: error },
  );
}

/** For errors of pg without a code. PgBouncer keeps a connection waiting while its server is away. */
function withoutCode(message = ""): string | undefined {
  const timedOut =
    /^(timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout)/;
  if (timedOut.test(message)) return "ETIMEDOUT";
  if (message.includes("client password must be a")) return "no password";
  return message === "Connection terminated unexpectedly" ? "ECONNRESET" : undefined;
}

/** PgBouncer refuses a connection with a startup parameter that it does not know; it names only the first. */
function ofPooler(code: string, message = ""): string | undefined {
  const refused = /^unsupported startup parameter(?: in options)?: (\S+)/.exec(message);
  if (code !== "08P01") return undefined;
  if (/^(server |query_wait_timeout|client_login_timeout)/.test(message))
    return `PgBouncer cannot reach its server (${message}); start the server, or see PgBouncer's log`;
  if (!refused) return undefined;
  return (
    `PgBouncer refuses the startup parameter ${refused[1]}; add this line to the section [pgbouncer] of pgbouncer.ini, and reload it: ` +
    "ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout (docs/scaling.md)"
  );
}

/** By errno or SQLSTATE. */
const faultAdvices: Record<string, string> = {
  ECONNREFUSED: "nothing listens there; start it, or correct DATABASE_URL",
  ECONNRESET: "the connection was reset; correct DATABASE_URL if that is not a PostgreSQL server",
  ENOTFOUND: "there is no such host; correct DATABASE_URL",
  EAI_AGAIN: "the host's name does not resolve now; check the resolver, or correct DATABASE_URL",
  EHOSTUNREACH: "there is no route to it; check the network",
  ENETUNREACH: "there is no route to it; check the network",
  ETIMEDOUT:
    "it does not answer; check the network, its firewalls and the server behind a pooler, or correct DATABASE_URL",
  "28P01": "it refuses the password; correct DATABASE_URL, or the file in DATABASE_PASSWORD_FILE",
  "no password":
    "it asks for a password; set one in DATABASE_URL or DATABASE_PASSWORD_FILE, or, for the embedded database, set the same DATA_DIR as there",
  "28000": "it refuses the user; correct DATABASE_URL, or allow the user (pg_hba.conf)",
  "3D000": "it has no database of that name; create it, or correct DATABASE_URL",
  "53300": "it has no connection left; raise its max_connections",
  "42P01": "venuewatch's tables are missing; run venuewatch migrate, or correct DATABASE_URL",
  "42501":
    "its user lacks a right for this; make it a member of a role that has it (sql/database/roles.sql), or correct DATABASE_URL",
  "57P03": "it is starting up or shutting down; try again in a moment",
};

// Distinguishes errors of an unavailable database from errors of a single statement.

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
