/**
 * Gives simulated processes a simulated network, through the names that programs use: node:net, node:dns and node:http.
 * Production code and its libraries run unchanged. Outside of simulated processes everything stays real; TLS is not
 * simulated.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Server } from "node:net";
import type { SeededRandom } from "../seeded-random.js";
import { currentProcess, type Machine, type VirtualTime } from "../virtual-time.js";
import { installNames } from "./dns-functions.js";
import { installHttp } from "./http-functions.js";
import { type Kernels, makeKernels } from "./kernels.js";
import type { LinkQuality } from "./links.js";
import { installListening } from "./listening.js";
import { makeNames, type NameService } from "./names.js";
import { type DisksWithSockets, socketFilesOn } from "./socket-files.js";
import { normalized, SimSocket, type SocketOptions } from "./socket.js";

export interface Network {
  /** A host name or an IP address is a machine. Each machine has an address of its own besides. */
  name: (host: string, machine: Machine) => void;
  addressOf: (machine: Machine) => string;
  /** How segments pass from one machine to another; the other direction has a link of its own. */
  setLink: (from: Machine, to: Machine, quality: Partial<LinkQuality>) => void;
  /** Nothing passes in either direction, until it is healed. */
  partition: (a: Machine, b: Machine) => void;
  /** Nothing passes in this direction, until it is healed. */
  partitionOneWay: (from: Machine, to: Machine) => void;
  /** Ends partitions in both directions. */
  heal: (a: Machine, b: Machine) => void;
  /** Both ends of all connections between the two get a reset, at once. */
  resetConnections: (a: Machine, b: Machine) => void;
  /** Of the next segment in this direction, only a part arrives; then the connection is reset. */
  cutNextSegment: (from: Machine, to: Machine) => void;
  /**
   * The machine has lost the state of its connections, as after a power failure: other machines learn of it when they
   * send something. To be called before its processes are killed, which would send an end otherwise.
   */
  forgetConnections: (machine: Machine) => void;
  setNameService: (machine: Machine, service: NameService) => void;
  /** Unix sockets become files of these disks. */
  useDisks: (disks: DisksWithSockets) => void;
  /** The number of connections with an end on the machine, for tests. */
  connectionsOf: (machine: Machine) => number;
}

const require = createRequire(import.meta.url);

/** To be called once in a program, before it starts a process. */
export function installVirtualNetwork(time: VirtualTime, random: SeededRandom): Network {
  const kernels = makeKernels(time, random);
  const { hosts, links } = kernels;
  const names = makeNames(time, random.branch("names"), hosts);
  installSockets(kernels);
  installNames(names);
  syncBuiltinESMExports();

  const between = (a: Machine, b: Machine) =>
    kernels.connections(
      ({ options: { link } }) => (link.from === a && link.to === b) || (link.from === b && link.to === a),
    );
  const endsOn = (machine: Machine) => kernels.connections(({ options }) => options.link.from === machine);

  return {
    name: hosts.name,
    addressOf: hosts.addressOf,
    setLink: links.set,
    partition(a, b) {
      links.cut(a, b);
      links.cut(b, a);
    },
    partitionOneWay: links.cut,
    heal(a, b) {
      links.mend(a, b);
      links.mend(b, a);
    },
    resetConnections: (a, b) => between(a, b).forEach((endpoint) => endpoint.interrupt()),
    cutNextSegment: links.cutNextSegment,
    forgetConnections: (machine) => endsOn(machine).forEach((endpoint) => endpoint.forget()),
    setNameService: names.setService,
    useDisks: (disks) => void (kernels.sockets = socketFilesOn(disks)),
    connectionsOf: (machine) => endsOn(machine).length,
  };
}

function installSockets(kernels: Kernels): void {
  const net = require("node:net") as Record<string, unknown>;
  const RealSocket = net.Socket as new (options?: object) => object;
  const realConnect = net.connect as (...values: unknown[]) => unknown;
  const connect = (values: unknown[]) => {
    const [options] = normalized(values);
    return new SimSocket(kernels, options as SocketOptions).connect(...values);
  };
  const simulated = (options?: { fd?: number; handle?: object }) =>
    currentProcess() && options?.fd === undefined && !options?.handle;
  const Socket: typeof RealSocket = new Proxy(RealSocket, {
    // a class that extends it stays real
    construct: (target, values: [object?], newTarget) =>
      newTarget === Socket && simulated(values[0])
        ? new SimSocket(kernels, values[0])
        : (Reflect.construct(target, values, newTarget === Socket ? target : newTarget) as object),
    // node's older classes, such as TLSSocket, call it on themselves
    apply: (target, self: unknown, values: [object?]): unknown =>
      self instanceof RealSocket ? Reflect.apply(target, self, values) : new Socket(...values),
    get: (target, name, receiver): unknown =>
      name === Symbol.hasInstance
        ? (value: unknown) => value instanceof SimSocket || value instanceof RealSocket
        : Reflect.get(target, name, receiver),
  });
  net.Socket = net.Stream = Socket;
  net.connect = net.createConnection = (...values: unknown[]) =>
    currentProcess() ? connect(values) : realConnect(...values);
  installListening(kernels, (net.Server as { prototype: Server }).prototype);
  installHttp(connect);
}
