import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

/** Returns all addresses of a name. @throws Error with the resolver's code */
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** The codes with which a resolver states that there is no address. With any other code it does not know. */
export const plainNo: Record<string, string> = {
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
      addresses(resolver.resolve4(host), 4),
      addresses(resolver.resolve6(host), 6),
    ]);
    // IPv4 first: without an IPv4 route a connection fails at once, but on a broken IPv6 route it gets no answer.
    const found = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    // If only one family resolved, nothing is sent to the other one.
    if (found.length > 0) return found;
    const reasons = both.flatMap((one) => (one.status === "rejected" ? [one.reason as NodeJS.ErrnoException] : []));
    throw reasons.find(({ code = "" }) => !(code in plainNo)) ?? reasons[0]!;
  };
}

async function addresses(answer: Promise<string[]>, family: 4 | 6): Promise<LookupAddress[]> {
  return (await answer).map((address) => ({ address, family }));
}
