/** Explains why a database cannot be used, where the user can correct that. */

import { placeOf } from "./hosts.js";
import { NoHost } from "./no-host.js";
import { UserError } from "../process/user-error.js";

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
  const advice = key && (ofPooler(key, message) ?? advices[key]);
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
const advices: Record<string, string> = {
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
    "its user lacks a right for this; make it a member of a role that has it (sql/roles.sql), or correct DATABASE_URL",
  "57P03": "it is starting up or shutting down; try again in a moment",
};
