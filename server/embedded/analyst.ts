/**
 * How people query the embedded database: with a login that can read the views of schema analytics and nothing else
 * (sql/roles.sql).
 */

import { relative } from "node:path";
import { passFileOf } from "../../shared/config/embedded-passwords.js";

export const analyst = "vw_analyst";

/**
 * A command line for a shell. It names the password file and does not contain the password.
 *
 * @param url the owner's
 */
export function analystCommand(url: string, dataDir: string): string {
  const address = new URL(url);
  address.username = analyst;
  address.password = "";
  const file = relative("", passFileOf(dataDir, analyst));
  return `PGPASSFILE=${quoted(file)} psql ${address.href}`;
}

/** A path quoted for a shell, if that is necessary. */
export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
