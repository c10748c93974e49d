/**
 * To what addresses alerts may go: those of the public internet. Whoever gives us a URL could otherwise have us ask,
 * from where we stand, what he cannot ask himself: our own ports, our neighbours, and the services that hand out a
 * cloud machine's credentials.
 */

import { isIPv4, isIPv6 } from "node:net";

interface Block {
  first: bigint;
  /** How many of the 128 bits tell addresses within the block apart. */
  bitsWithin: bigint;
  kind: string;
}

/**
 * The first that fits says the kind. All of them are forbidden; IPv4 has the rest of its addresses in public, IPv6 only
 * 2000::/3. After IANA's registries of special-purpose addresses, and clouds' own documentation of the addresses of
 * their metadata.
 */
const blocks: Block[] = (
  [
    ["169.254.169.254/32", "of cloud metadata"],
    ["169.254.170.2/32", "of cloud metadata"],
    ["100.100.100.200/32", "of cloud metadata"],
    ["192.0.0.192/32", "of cloud metadata"],
    // looks public, and leads to the host that a machine of that cloud runs on
    ["168.63.129.16/32", "of cloud metadata"],
    ["fd00:ec2::254/128", "of cloud metadata"],
    ["fd20:ce::254/128", "of cloud metadata"],

    // Linux takes the first of them for itself.
    ["0.0.0.0/8", "of this network"],
    ["10.0.0.0/8", "private"],
    ["100.64.0.0/10", "shared by carriers (CGNAT)"],
    ["127.0.0.0/8", "loopback"],
    ["169.254.0.0/16", "link-local"],
    ["172.16.0.0/12", "private"],
    ["192.0.0.0/24", "reserved"],
    ["192.0.2.0/24", "for documentation"],
    ["192.88.99.0/24", "a relay of 6to4"],
    ["192.168.0.0/16", "private"],
    ["198.18.0.0/15", "for benchmarks"],
    ["198.51.100.0/24", "for documentation"],
    ["203.0.113.0/24", "for documentation"],
    ["224.0.0.0/4", "multicast"],
    ["255.255.255.255/32", "broadcast"],
    ["240.0.0.0/4", "reserved"],
    ["::ffff:0:0/96", "public"],

    ["::/128", "of this network"],
    ["::1/128", "loopback"],
    ["::/96", "IPv4-compatible"],
    ["64:ff9b:1::/48", "of a local NAT64"],
    ["100::/64", "discarded"],
    // Teredo, ORCHID, benchmarks: protocols' own, none of hosts
    ["2001::/32", "of Teredo"],
    ["2001:2::/48", "for benchmarks"],
    ["2001::/23", "reserved"],
    ["2001:db8::/32", "for documentation"],
    ["3fff::/20", "for documentation"],
    // has an IPv4 address in it, and leads there where a relay stands
    ["2002::/16", "of 6to4"],
    ["2000::/3", "public"],
    ["fc00::/7", "private"],
    ["fe80::/10", "link-local"],
    ["fec0::/10", "site-local"],
    ["ff00::/8", "multicast"],
    ["::/0", "reserved"],
  ] as const
).map(([block, kind]) => {
  const [address, length] = block.split("/") as [string, string];
  const bits = isIPv4(address) ? 32 : 128;
  const bitsWithin = BigInt(bits - Number(length));
  return { first: numberOf(address), bitsWithin, kind };
});

/** An IPv6 network that reaches IPv4 gives each address there one of these. */
const nat64 = numberOf("64:ff9b::") >> 32n;

/** What an address is, as the end of "… is": "public", "private", "loopback". */
export function kindOfAddress(address: string): string {
  if (!isIPv4(address) && !isIPv6(address)) return "no address";
  // Only what is local has to say on which of our links it is.
  if (address.includes("%")) return "link-local";
  const number = numberOf(address);
  if (number >> 32n !== nat64) return kindOfNumber(number);
  const kind = kindOfNumber(inIPv4(number & 0xffff_ffffn));
  return kind === "public" ? kind : `${kind}, by NAT64`;
}

function kindOfNumber(number: bigint): string {
  return blocks.find(({ first, bitsWithin }) => number >> bitsWithin === first >> bitsWithin)!.kind;
}

/** Why nothing may be sent to an address, as a sentence; null where it may. */
export function problemOfAddress(address: string, allowLoopback: boolean): string | null {
  const kind = kindOfAddress(address);
  const isAllowed = kind === "public" || (allowLoopback && kind === "loopback");
  return isAllowed ? null : `${address} is ${kind}`;
}

/** Of 128 bits. Those of IPv4 are what they are written as within IPv6, so that both spellings are one. */
function numberOf(address: string): bigint {
  if (isIPv4(address)) return inIPv4(joined(address.split(".").map(Number), 8));
  // as the WHATWG writes it: groups in hexadecimal, and at most one gap
  const { hostname } = new URL(`http://[${address}]`);
  const [head, tail] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => parseInt(group, 16)))) as [number[], number[]?];
  if (tail === undefined) return joined(head, 16);
  const gap = new Array<number>(8 - head.length - tail.length).fill(0);
  return joined([...head, ...gap, ...tail], 16);
}

function inIPv4(number: bigint): bigint {
  return (0xffffn << 32n) | number;
}

function joined(parts: number[], bitsEach: number): bigint {
  return parts.reduce((number, part) => (number << BigInt(bitsEach)) | BigInt(part), 0n);
}
