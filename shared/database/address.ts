/**
 * An address may have several hosts, as in libpq: `postgres://user@a:5432,b:5433/database`. They are the servers of one
 * cluster with one primary. The settings refuse libpq's other form, `?host=a,b`, which node-postgres would look up as
 * one name.
 */

/** Hosts and database, which may be shown; without user, password and parameters. */
export function placeOf(url: string): string {
  const hosts = addressesOf(url).map(hostWithPort).join(",");
  return `${hosts}${new URL(addressesOf(url)[0]!).pathname}`;
}

/** None of several hosts could be used; the message has the reason for each. */
export class NoHost extends Error {}

/** The address once for each of its hosts, in order; unchanged where it has one host or none. */
export function addressesOf(url: string): string[] {
  const [, before = "", hosts = "", after = ""] = addressParts.exec(url) ?? [];
  if (!hosts.includes(",")) return [url];
  return hosts.split(",").map((host) => `${before}${host}${after}`);
}

/** The host, with its port if there is one, of an address with one host. */
export function hostWithPort(url: string): string {
  return new URL(url).host;
}

const addressParts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** @param password for all hosts; an address that has its own keeps it */
export function withPassword(url: string, password: string | null): string {
  const { username, password: own } = new URL(addressesOf(url)[0]!);
  if (password === null || own !== "") return url;
  const user = `${username}:${encodeURIComponent(password)}`;
  return url.replace(/\/\/(?:[^/?#]*@)?/, () => `//${user}@`);
}
