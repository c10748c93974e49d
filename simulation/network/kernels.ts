/** The state of the kernels of all machines: listeners and connections, which end with their processes. */
import type { SeededRandom } from "../seeded-random.js";
import type { Machine, Process, VirtualTime } from "../virtual-time.js";
import { Endpoint, type Place } from "./endpoint.js";
import { type Hosts, makeHosts } from "./hosts.js";
import { type Links, makeLinks } from "./links.js";
import { type Listeners, makeListeners } from "./listeners.js";
import { makeSocketFiles, type SocketFilesOfMachines } from "./socket-files.js";

export interface Kernels {
  readonly time: VirtualTime;
  readonly hosts: Hosts;
  readonly links: Links;
  readonly listeners: Listeners;
  /** The files of Unix sockets. */
  sockets: SocketFilesOfMachines;
  /** To be called before a process gets a connection or a listener, so that both end with it. */
  watch: (process: Process) => void;
  connections: (has: (endpoint: Endpoint) => boolean) => Endpoint[];
  openEndpoint: (process: Process, to: Machine, local: Place, remote: Place) => Endpoint;
}

export function makeKernels(time: VirtualTime, random: SeededRandom): Kernels {
  const links = makeLinks(random.branch("links"));
  const listeners = makeListeners();
  const watched = new WeakSet<Process>();
  const endpoints = new Set<Endpoint>();
  const connections = (has: (endpoint: Endpoint) => boolean) => [...endpoints].filter(has);

  function watch(process: Process): void {
    if (watched.has(process)) return;
    watched.add(process);
    process.onKill(() => {
      listeners.closeAllOf(process);
      for (const endpoint of connections(({ options }) => options.process === process)) endpoint.close();
    });
  }

  return {
    ...{ time, hosts: makeHosts(), links, listeners, sockets: makeSocketFiles(), watch, connections },
    openEndpoint(process, to, local, remote) {
      watch(process);
      const endpoint = new Endpoint({
        ...{ time, process, local, remote },
        link: links.between(process.machine, to),
        back: links.between(to, process.machine),
        onGone: (gone) => endpoints.delete(gone),
      });
      endpoints.add(endpoint);
      // it may have died while the connection was made
      if (!process.isAlive()) endpoint.close();
      return endpoint;
    },
  };
}
