/**
 * How people look into the embedded database: by a login that reads the views of schema analytics and nothing else
 * (sql/roles.sql).
 */

import { relative } from "node:path";
import { passFileOf } from "../../shared/config/embedded-passwords.js";

export const analyst = "vw_analyst";

/**
 * A line for a shell. It names the file with the password, and does not show it.
 *
 * @param url of the owner
 */
export function analystCommand(url: string, dataDir: string): string {
  const address = new URL(url);
  address.username = analyst;
  address.password = "";
  const file = relative("", passFileOf(dataDir, analyst));
  return `PGPASSFILE=${quoted(file)} psql ${address.href}`;
}

/** A path as a shell takes it for one word. */
export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
