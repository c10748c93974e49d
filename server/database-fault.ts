/** Why a database cannot be used, where the user can put that right. */

import { UserError } from "./user-error.js";

/**
 * The sentence for an error of connecting, or null where the error is of another kind.
 *
 * @param error as `pg` gives it
 * @param url the address that was tried; its password is not shown
 * @param setting where the user has written it
 */
export function databaseFault(
  error: unknown,
  url: string,
  setting = "DATABASE_URL",
): UserError | null {
  const { code, message } = error as { code?: string; message?: string };
  const key = keyOf(code, message);
  const advice = key === undefined ? undefined : advices[key];
  if (advice === undefined) return null;
  return new UserError(
    `the database ${placeOf(url)} cannot be used (${key}): ${advice.replaceAll("DATABASE_URL", setting)}`,
    { cause: error },
  );
}

/** Of faults that pg itself finds there is no code. */
function keyOf(code?: string, message?: string): string | undefined {
  if (message === "timeout expired") return "ETIMEDOUT";
  if (message?.includes("client password must be a")) return "no password";
  return code;
}

/** By errno or SQLSTATE. */
const advices: Record<string, string> = {
  ECONNREFUSED: "nothing listens there; start it, or correct DATABASE_URL",
  ECONNRESET:
    "what listens there hung up; correct DATABASE_URL if it is no PostgreSQL server",
  ENOTFOUND: "there is no such host; correct DATABASE_URL",
  EAI_AGAIN:
    "the host's name does not resolve now; look after the resolver, or correct DATABASE_URL",
  EHOSTUNREACH: "no route leads there; look after the network",
  ENETUNREACH: "no route leads there; look after the network",
  ETIMEDOUT:
    "it does not answer; look after the network and its firewalls, or correct DATABASE_URL",
  "28P01":
    "it refuses the password; correct DATABASE_URL, or the file that DATABASE_PASSWORD_FILE names",
  "no password":
    "it asks for a password; give one by DATABASE_URL or DATABASE_PASSWORD_FILE, or, for the embedded database, set DATA_DIR as it is set there",
  "28000": "it refuses the user; correct DATABASE_URL, or let the user in",
  "3D000":
    "it has no database of that name; create it, or correct DATABASE_URL",
  "53300": "it has no connection left; raise its max_connections",
  "42P01":
    "it lacks our tables; run venuewatch migrate, or correct DATABASE_URL",
  "42501":
    "its user may not do this; make it a member of a role that may (sql/roles.sql), or correct DATABASE_URL",
  "57P03": "it is starting up or shutting down; try again in a moment",
};

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
}
