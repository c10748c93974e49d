/**
 * An address may name several hosts, as one for libpq may: `postgres://user@a:5432,b:5433/database`. They are the
 * servers of one cluster, of which one is the primary. The settings refuse libpq's other form, `?host=a,b`, which
 * node-postgres looks up as one name.
 */

const address = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** The same address once for each of its hosts, in their order; an address that names one host, or none, as it is. */
export function addressesOf(url: string): string[] {
  const [, before = "", hosts = "", after = ""] = address.exec(url) ?? [];
  if (!hosts.includes(",")) return [url];
  return hosts.split(",").map((host) => `${before}${host}${after}`);
}

/** Hosts and database, without user, password and parameters: what may be shown. */
export function placeOf(url: string): string {
  const hosts = addressesOf(url).map(hostOf).join(",");
  return `${hosts}${new URL(addressesOf(url)[0]!).pathname}`;
}

/** Of an address with one host: with its port, where it names one. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** @param password is put in for all hosts; an address that has one itself keeps it */
export function withPassword(url: string, password: string | null): string {
  const { username, password: own } = new URL(addressesOf(url)[0]!);
  if (password === null || own !== "") return url;
  const user = `${username}:${encodeURIComponent(password)}`;
  return url.replace(/\/\/(?:[^/?#]*@)?/, () => `//${user}@`);
}
