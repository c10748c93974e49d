import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { plainNo, type Lookup } from "./lookup.js";
import { isLocalhost, problemOfAddress } from "./safe-address.js";

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

const here: LookupAddress[] = [
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
      ? here
      : await lookup(host).catch((error: unknown) => {
          throw unresolved(host, error);
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
function unresolved(host: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isResolvers = typeof code === "string" && !code.startsWith("ERR_");
  return isResolvers ? new Unresolved(host, code) : error;
}
