/** Compares the hosts of the catalogue's exchanges with those in ccxt, which thousands of bots use every day. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packagedFile } from "../../shared/config/package.js";
import type { Venue } from "../../shared/registry/registry.js";

export interface CcxtHosts {
  /** Of ccxt; null if the wheel's name does not say it. */
  version: string | null;
  /** By the id of the exchange; none: ccxt does not have it. */
  hosts: Record<string, string[]>;
}

/** Each list has sentences. */
export interface Comparison {
  /** Hosts that ccxt does not have and the entry does not explain, and exchanges that cannot be compared. */
  unexplained: string[];
  explained: string[];
  /** Explanations that are no longer needed, as ccxt has the host, or the entry no longer does. */
  outdated: string[];
}

export function comparedWithCcxt(venues: Venue[], { hosts }: CcxtHosts): Comparison {
  const comparison: Comparison = { unexplained: [], explained: [], outdated: [] };
  for (const venue of venues) {
    const { id, ccxt, category } = venue;
    if (ccxt === undefined) {
      if (category === "exchange") comparison.unexplained.push(`${id}: its entry does not say what it is in ccxt`);
      continue;
    }
    const theirs = hosts[ccxt.id] ?? [];
    if (theirs.length === 0) {
      comparison.unexplained.push(`${id}: ccxt has no exchange ${ccxt.id}, or no host of it; it may have ended`);
      continue;
    }
    const differs = new Map((ccxt.differs ?? []).map(({ host, why }) => [host, why]));
    const ours = measuredHosts(venue);
    for (const host of ours.filter((one) => !theirs.includes(one))) {
      const why = differs.get(host);
      if (why === undefined) comparison.unexplained.push(`${id}: ${host}; ccxt's ${ccxt.id} has ${theirs.join(", ")}`);
      else comparison.explained.push(`${id}: ${host}: ${why}`);
    }
    for (const host of differs.keys())
      if (!ours.includes(host)) comparison.outdated.push(`${id}: ${host} is not measured any more`);
      else if (theirs.includes(host)) comparison.outdated.push(`${id}: ccxt has ${host}, too`);
  }
  return comparison;
}

/** With their ports, unless those are usual: an address may stay right while its port is closed. */
function measuredHosts({ rest, socket }: Venue): string[] {
  const addresses = [
    ...rest.flatMap(({ url, alternatives = [] }) => [url, ...alternatives]),
    ...(socket === null ? [] : [socket.url, ...(socket.alternatives ?? [])]),
    ...(socket?.streams.flatMap(({ url }) => url ?? []) ?? []),
  ];
  return [...new Set(addresses.map((address) => new URL(address).host))];
}

/**
 * Reads the hosts of exchanges in a wheel of ccxt, with Python.
 *
 * @throws if it cannot be read
 */
export function hostsInWheel(wheel: string, exchanges: string[]): CcxtHosts {
  return JSON.parse(python([packagedFile("test/support/ccxt_hosts.py"), wheel, ...exchanges])) as CcxtHosts;
}

/**
 * Reads the same in the newest ccxt, which pip fetches from the package index.
 *
 * @throws if it cannot be fetched or read
 */
export function hostsInNewestCcxt(exchanges: string[]): CcxtHosts {
  const folder = mkdtempSync(join(tmpdir(), "ccxt-"));
  try {
    python(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "ccxt"]);
    return hostsInWheel(join(folder, readdirSync(folder)[0]!), exchanges);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function python(args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync("python3", args, {
    ...{ encoding: "utf8", timeout: 300_000, maxBuffer: 16 * 2 ** 20 },
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  if (status === 0) return stdout;
  throw new Error(`python3 ${args.slice(0, 3).join(" ")} failed: ${error?.message ?? stderr.trim()}`);
}
