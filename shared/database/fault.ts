/** Why a database cannot be used, where the user can put that right. */

import { placeOf } from "./hosts.js";
import { NoHost } from "./no-host.js";
import { UserError } from "../process/user-error.js";

/**
 * The sentence for an error of connecting, or null where the error is of another kind.
 *
 * @param error as `pg` gives it
 * @param url the address that was tried; its password is not shown
 * @param setting where the user has written it
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

/** pg gives these no code; PgBouncer keeps a connection waiting while its server is away. */
function withoutCode(message = ""): string | undefined {
  const isLate =
    /^(timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout)/;
  if (isLate.test(message)) return "ETIMEDOUT";
  if (message.includes("client password must be a")) return "no password";
  return message === "Connection terminated unexpectedly" ? "ECONNRESET" : undefined;
}

/** PgBouncer refuses a connection that sets what it does not know; it names the first such parameter only. */
function ofPooler(code: string, message = ""): string | undefined {
  const refused = /^unsupported startup parameter(?: in options)?: (\S+)/.exec(message);
  if (code !== "08P01") return undefined;
  if (/^(server |query_wait_timeout|client_login_timeout)/.test(message))
    return `PgBouncer does not reach the server behind it (${message}); start that, or look at PgBouncer's log`;
  if (!refused) return undefined;
  return (
    `PgBouncer refuses the startup parameter ${refused[1]}; write this line into the section [pgbouncer] of pgbouncer.ini, and reload it: ` +
    "ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout (docs/scaling.md)"
  );
}

/** By errno or SQLSTATE. */
const advices: Record<string, string> = {
  ECONNREFUSED: "nothing listens there; start it, or correct DATABASE_URL",
  ECONNRESET: "what listens there hung up; correct DATABASE_URL if it is no PostgreSQL server",
  ENOTFOUND: "there is no such host; correct DATABASE_URL",
  EAI_AGAIN: "the host's name does not resolve now; look after the resolver, or correct DATABASE_URL",
  EHOSTUNREACH: "no route leads there; look after the network",
  ENETUNREACH: "no route leads there; look after the network",
  ETIMEDOUT:
    "it does not answer; look after the network and its firewalls, or the server behind a pooler, or correct DATABASE_URL",
  "28P01": "it refuses the password; correct DATABASE_URL, or the file that DATABASE_PASSWORD_FILE names",
  "no password":
    "it asks for a password; give one by DATABASE_URL or DATABASE_PASSWORD_FILE, or, for the embedded database, set DATA_DIR as it is set there",
  "28000": "it refuses the user; correct DATABASE_URL, or let the user in",
  "3D000": "it has no database of that name; create it, or correct DATABASE_URL",
  "53300": "it has no connection left; raise its max_connections",
  "42P01": "it lacks our tables; run venuewatch migrate, or correct DATABASE_URL",
  "42501": "its user may not do this; make it a member of a role that may (sql/roles.sql), or correct DATABASE_URL",
  "57P03": "it is starting up or shutting down; try again in a moment",
};
