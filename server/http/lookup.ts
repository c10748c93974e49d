import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

/** All addresses of a name. @throws Error with a resolver's code */
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** What a resolver says when it knows that there is no address; all else means that it does not know. */
export const plainNo: Record<string, string> = {
  ENOTFOUND: "no such name",
  ENODATA: "a name without one",
  EBADNAME: "no name",
};

/**
 * Asks name servers by itself instead of by the system's getaddrinfo, of which Node has two run at a time in the whole
 * process: two receivers whose name servers hang would keep all others waiting. It also knows no search domains, in
 * which a receiver's name would be looked for among ours. Nor does it read /etc/hosts.
 *
 * @param servers addresses with ports; those of the system when not given
 * @param tryMs how long the first of two tries of each server waits. Both take three times as long, which leaves time
 * for the letter.
 */
export function makeLookup(servers?: string[], tryMs = 1500): Lookup {
  return async (host) => {
    // A new one each time: the system's servers are read when it is made.
    const resolver = new Resolver({ timeout: tryMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    const both = await Promise.allSettled([
      addresses(resolver.resolve4(host), 4),
      addresses(resolver.resolve6(host), 6),
    ]);
    // IPv4 first: a machine without a way out by IPv4 says so at once, one with a broken one by IPv6 keeps silent.
    const found = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    // What is not known of one family is not sent to.
    if (found.length > 0) return found;
    const reasons = both.flatMap((one) => (one.status === "rejected" ? [one.reason as NodeJS.ErrnoException] : []));
    throw reasons.find(({ code = "" }) => !(code in plainNo)) ?? reasons[0]!;
  };
}

async function addresses(answer: Promise<string[]>, family: 4 | 6): Promise<LookupAddress[]> {
  return (await answer).map((address) => ({ address, family }));
}
