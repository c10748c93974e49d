/**
 * Which addresses alerts may be sent to: those of the public internet. Otherwise anybody who gives us a URL could make
 * us send requests that they cannot send themselves: to our own ports, to our neighbours, and to the services that hand
 * out the credentials of a cloud machine.
 */
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * The first matching entry gives the kind, also for IPv4 written as IPv6 (`::ffff:…`). Without a match, IPv4 is public
 * and IPv6 is reserved. The sources are IANA's registries of special-purpose addresses, and the clouds' documentation
 * of their metadata addresses.
 */
const refusedKinds = Object.entries({
  "of cloud metadata": [
    ...["169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "192.0.0.192/32"],
    // looks public, but leads to the host of a machine in that cloud
    "168.63.129.16/32",
    ...["fd00:ec2::254/128", "fd20:ce::254/128"],
  ],
  // On Linux 0.0.0.0 is the machine itself.
  "of this network": ["0.0.0.0/8", "::/128"],
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
  "shared by carriers (CGNAT)": ["100.64.0.0/10"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  "site-local": ["fec0::/10"],
  "for documentation": [...["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"], ...["2001:db8::/32", "3fff::/20"]],
  "for benchmarks": ["198.18.0.0/15", "2001:2::/48"],
  "a relay of 6to4": ["192.88.99.0/24"],
  // contains an IPv4 address, and leads there if there is a relay
  "of 6to4": ["2002::/16"],
  "of Teredo": ["2001::/32"],
  "of a local NAT64": ["64:ff9b:1::/48"],
  "IPv4-compatible": ["::/96"],
  discarded: ["100::/64"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  broadcast: ["255.255.255.255/32"],
  // 2001::/23: used by protocols such as ORCHID, never by hosts
  reserved: ["192.0.0.0/24", "240.0.0.0/4", "2001::/23"],
  public: ["::ffff:0:0/96", "2000::/3"],
}).map(([kind, subnets]) => ({ kind, list: listOf(...subnets) }));

/** An IPv6-only network reaches each IPv4 address by an address in this range. */
const nat64 = listOf("64:ff9b::/96");

/** The kind of an address, worded to follow "… is": "public", "private", "loopback". */
export function kindOfAddress(address: string): string {
  if (isIP(address) === 0) return "no address";
  // Only link-local addresses have a zone, which names one of our links.
  if (address.includes("%")) return "link-local";
  if (!nat64.check(address, familyOf(address))) return kindOf(address);
  const kind = kindOf(lastAsIPv4(address));
  return kind === "public" ? kind : `${kind}, by NAT64`;
}

/** Why nothing may be sent to an address, as a sentence; null if it is allowed. */
export function problemOfAddress(address: string, allowLoopback: boolean): string | null {
  const kind = kindOfAddress(address);
  const isAllowed = kind === "public" || (allowLoopback && kind === "loopback");
  return isAllowed ? null : `${address} is ${kind}`;
}

/** Names that always mean this machine, even if a name server says otherwise. */
export function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function kindOf(address: string): string {
  return refusedKinds.find(({ list }) => list.check(address, familyOf(address)))?.kind ?? "reserved";
}

function listOf(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address, length] = subnet.split("/") as [string, string];
    list.addSubnet(address, Number(length), familyOf(address));
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** The last 32 bits. In the WHATWG's form they are two hexadecimal groups, which are empty within a gap. */
function lastAsIPv4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(":").slice(-2);
  const bytes = groups.map((group) => parseInt(group || "0", 16)).flatMap((group) => [group >> 8, group & 0xff]);
  return bytes.join(".");
}

/** Returns all addresses of a name. @throws Error with the resolver's code */
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** The codes with which a resolver states that there is no address. With any other code it does not know. */
const plainNo: Record<string, string> = {
  ENOTFOUND: "no such name",
  ENODATA: "a name without addresses",
  EBADNAME: "an invalid name",
};

/**
 * Queries name servers itself instead of calling the system's getaddrinfo. Node runs only two of those calls at a time
 * in the whole process, so two receivers with hanging name servers would make all others wait. The resolver also
 * ignores search domains, in which a receiver's name would be looked up among our own names, and /etc/hosts.
 *
 * @param servers addresses with ports; default: those of the system
 * @param tryMs how long the first of two tries waits for each server. Both together take three times as long, which
 * leaves time for the delivery
 */
export function makeLookup(servers?: string[], tryMs = 1500): Lookup {
  return async (host) => {
    // A new resolver each time, because it reads the system's servers when it is created.
    const resolver = new Resolver({ timeout: tryMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    const both = await Promise.allSettled([
      lookupAddresses(resolver.resolve4(host), 4),
      lookupAddresses(resolver.resolve6(host), 6),
    ]);
    // IPv4 first: without an IPv4 route a connection fails at once, but on a broken IPv6 route it gets no answer.
    const found = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    // If only one family resolved, nothing is sent to the other one.
    if (found.length > 0) return found;
    const reasons = both.flatMap((one) => (one.status === "rejected" ? [one.reason as NodeJS.ErrnoException] : []));
    throw reasons.find(({ code = "" }) => !(code in plainNo)) ?? reasons[0]!;
  };
}

async function lookupAddresses(answer: Promise<string[]>, family: 4 | 6): Promise<LookupAddress[]> {
  return (await answer).map((address) => ({ address, family }));
}

/** A name with an address to which nothing may be sent. */
export class Unsafe extends Error {
  override name = "Unsafe";
}

/** A name for which the resolver gave no address. */
export class Unresolved extends Error {
  override name = "Unresolved";

  constructor(
    host: string,
    readonly code: string,
  ) {
    const said = plainNo[code] ?? "no definite answer";
    super(`expected an address of ${host}, got ${said} (${code})`);
  }

  /**
   * Whether the fault counts as ours. If there is no definite answer, either the receiver's name server or our resolver
   * is broken. It counts as ours, because a broken resolver of ours would otherwise switch off all channels within
   * minutes; a broken name server of the receiver shows in the log.
   */
  get isOurs(): boolean {
    return !(this.code in plainNo);
  }
}

const loopbackAddresses: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * A lookup function for sockets. They connect to the addresses that it returns and do not resolve the name again, so a
 * name server cannot change its answer after the check. Sockets do not call it if the host is an address.
 */
export function checkedLookup(lookup: Lookup, allowLoopback: boolean): LookupFunction {
  async function addressesOf(host: string): Promise<LookupAddress[]> {
    const addresses = isLocalhost(host)
      ? loopbackAddresses
      : await lookup(host).catch((error: unknown) => {
          throw unresolvedError(host, error);
        });
    if (addresses.length === 0) throw new Unresolved(host, "ENODATA");
    for (const { address } of addresses) {
      const problem = problemOfAddress(address, allowLoopback);
      if (problem !== null) throw new Unsafe(`expected public addresses of ${host}, but ${problem}`);
    }
    return addresses;
  }

  // Sockets with autoSelectFamily ask for all addresses.
  return (host, _options, callback) => {
    addressesOf(host).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []),
    );
  };
}

/** Bugs are passed on unchanged. */
function unresolvedError(host: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isResolvers = typeof code === "string" && !code.startsWith("ERR_");
  return isResolvers ? new Unresolved(host, code) : error;
}
