/** How host names become addresses, as the resolvers of a machine answer. */
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { SeededRandom } from "../seeded-random.js";
import type { Machine, Process, VirtualTime } from "../virtual-time.js";
import { type Hosts, isLocalName } from "./hosts.js";
import { lookupError, queryError } from "./network-error.js";

/** `fails`: the name server answers with an error. `silent`: it does not answer. */
export type NameService = "works" | "fails" | "silent";

export interface Names {
  setService: (machine: Machine, service: NameService) => void;
  /** As getaddrinfo. Calls back in the process. */
  lookup: (process: Process, host: string, family: number, then: Found) => void;
  /** As a resolver that asks name servers itself. Calls back in the process. @returns a function that stops waiting */
  query: (process: Process, host: string, family: 4 | 6, patienceMs: number, then: Found) => () => void;
}

export type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** As in a usual resolv.conf: two tries of five seconds. */
const systemPatienceMs = 10_000;

export function makeNames(time: VirtualTime, random: SeededRandom, hosts: Hosts): Names {
  const services = new Map<Machine, NameService>();
  const serviceOf = (machine: Machine) => services.get(machine) ?? "works";
  const answerMs = () => 0.2 + random.next() * 2;

  function addresses(process: Process, host: string, family: number): LookupAddress[] {
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    const machine = hosts.machineOf(host, process.machine);
    if (!machine) return [];
    const local: LookupAddress = family === 6 ? { address: "::1", family: 6 } : { address: "127.0.0.1", family: 4 };
    if (isLocalName(host.toLowerCase())) return [local];
    const address = hosts.addressOf(machine);
    return family === 0 || family === isIP(address) ? [{ address, family: isIP(address) }] : [];
  }

  return {
    setService: (machine, service) => void services.set(machine, service),
    lookup(process, host, family, then) {
      const isLocal = isIP(host) !== 0 || isLocalName(host.toLowerCase());
      const service = isLocal ? "works" : serviceOf(process.machine);
      const answer = () => {
        if (service !== "works") return then(lookupError("EAI_AGAIN", host), []);
        const found = addresses(process, host, family);
        then(found.length > 0 ? null : lookupError("ENOTFOUND", host), found);
      };
      const afterMs = isLocal ? 0.05 : service === "silent" ? systemPatienceMs : answerMs();
      time.schedule(afterMs, answer, process);
    },
    query(process, host, family, patienceMs, then) {
      const service = serviceOf(process.machine);
      const answer = () => {
        if (service === "silent") return then(queryError("ETIMEOUT", family, host), []);
        if (service === "fails") return then(queryError("ESERVFAIL", family, host), []);
        const found = addresses(process, host, family);
        if (found.length > 0) return then(null, found);
        const isKnown = hosts.machineOf(host, process.machine) !== null;
        then(queryError(isKnown ? "ENODATA" : "ENOTFOUND", family, host), []);
      };
      return time.schedule(service === "silent" ? patienceMs : answerMs(), answer, process);
    },
  };
}
