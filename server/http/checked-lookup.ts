import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { plainNo, type Lookup } from "./lookup.js";
import { isLocalhost, problemOfAddress } from "./safe-address.js";

/** A name with an address that nothing may be sent to. */
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
    const said = plainNo[code] ?? "no answer that says whether there is one";
    super(`expected an address of ${host}, got ${said} (${code})`);
  }

  /**
   * Whether it is the receiver's name server that is broken, or our own resolver, cannot be told. The second would
   * switch off all channels within minutes; the first shows in the log.
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
 * For sockets: what it gives them is what they connect to, with no further question in which a name server could change
 * its mind. Sockets do not ask it for what is an address already.
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

  // Sockets that choose between families ask for all.
  return (host, _options, callback) => {
    addressesOf(host).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []),
    );
  };
}

/** Bugs stay what they are. */
function unresolved(host: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isResolvers = typeof code === "string" && !code.startsWith("ERR_");
  return isResolvers ? new Unresolved(host, code) : error;
}
