/** Which machine an address or a host name is, and which ports of a machine are free. */
import { isIP } from "node:net";
import type { Machine } from "../virtual-time.js";

export interface Hosts {
  /** Each machine has one, given when it is first seen. */
  addressOf: (machine: Machine) => string;
  /** Null: no machine has it, or one has no address of that kind. */
  machineAt: (address: string, asker: Machine) => Machine | null;
  name: (host: string, machine: Machine) => void;
  /** Null: there is no such name. */
  machineOf: (host: string, asker: Machine) => Machine | null;
  /** The next port from which a machine connects. */
  nextClientPort: (machine: Machine) => number;
}

const firstClientPort = 49_152;
const ports = 65_536;

export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address === "0.0.0.0" || address === "::";
}

export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

export function makeHosts(): Hosts {
  const addresses = new Map<Machine, string>();
  const machines = new Map<string, Machine>();
  const names = new Map<string, Machine>();
  const clientPorts = new Map<Machine, number>();

  function addressOf(machine: Machine): string {
    const known = addresses.get(machine);
    if (known !== undefined) return known;
    const number = addresses.size + 1;
    const address = `10.0.${Math.floor(number / 250)}.${(number % 250) + 1}`;
    addresses.set(machine, address);
    machines.set(address, machine);
    return address;
  }

  return {
    addressOf,
    machineAt(address, asker) {
      const plain = address.replace(/^::ffff:/i, "");
      return isLoopback(plain) ? asker : (machines.get(plain) ?? null);
    },
    name(host, machine) {
      if (isIP(host)) machines.set(host, machine);
      else names.set(host.toLowerCase(), machine);
      // an address that is named first becomes the machine's own
      if (isIP(host) && !addresses.has(machine)) addresses.set(machine, host);
      addressOf(machine);
    },
    machineOf(host, asker) {
      const plain = host.toLowerCase().replace(/\.$/, "");
      return isLocalName(plain) ? asker : (names.get(plain) ?? null);
    },
    nextClientPort(machine) {
      const port = clientPorts.get(machine) ?? firstClientPort;
      clientPorts.set(machine, port + 1 < ports ? port + 1 : firstClientPort);
      return port;
    },
  };
}
