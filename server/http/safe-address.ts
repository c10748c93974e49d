/**
 * Which addresses alerts may be sent to: those of the public internet. Otherwise anybody who gives us a URL could make
 * us send requests that they cannot send themselves: to our own ports, to our neighbours, and to the services that hand
 * out the credentials of a cloud machine.
 */

import { BlockList, isIP } from "node:net";

/**
 * The first matching entry gives the kind, also for IPv4 written as IPv6 (`::ffff:…`). Without a match, IPv4 is public
 * and IPv6 is reserved. The sources are IANA's registries of special-purpose addresses, and the clouds' documentation
 * of their metadata addresses.
 */
const kinds = Object.entries({
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
  return kinds.find(({ list }) => list.check(address, familyOf(address)))?.kind ?? "reserved";
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
