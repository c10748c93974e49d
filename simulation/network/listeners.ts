/** What accepts connections: ports of machines, and Unix sockets. */
import type { Machine, Process } from "../virtual-time.js";
import type { Endpoint } from "./endpoint.js";

export interface Listener {
  readonly process: Process;
  /**
   * As given to `listen`; `::` if none was given. It does not restrict who can connect, because the embedded database
   * listens on the loopback address only, and is to be reached from other machines, too.
   */
  readonly host: string;
  /** Undefined for a Unix socket. */
  readonly port: number | undefined;
  /** The path of a Unix socket; undefined for a port. */
  readonly path: string | undefined;
  /** Called in the process. */
  accept: (endpoint: Endpoint) => void;
}

export interface Listeners {
  /** @returns the port, which is the next free one for 0; null: it is in use */
  listen: (machine: Machine, port: number, make: (port: number) => Listener) => Listener | null;
  at: (machine: Machine, port: number) => Listener | null;
  /** @param socket what stands for the file of the socket, whatever its name becomes */
  listenOnSocket: (socket: object, listener: Listener) => void;
  onSocket: (socket: object) => Listener | null;
  isOpen: (listener: Listener) => boolean;
  close: (listener: Listener) => void;
  closeAllOf: (process: Process) => void;
}

const firstFreePort = 32_768;

export function makeListeners(): Listeners {
  const open = new Set<Listener>();
  const byPort = new Map<Machine, Map<number, Listener>>();
  const bySocket = new WeakMap<object, Listener>();

  function portsOf(machine: Machine): Map<number, Listener> {
    let ports = byPort.get(machine);
    if (!ports) byPort.set(machine, (ports = new Map<number, Listener>()));
    return ports;
  }

  function close(listener: Listener): void {
    if (!open.delete(listener) || listener.port === undefined) return;
    portsOf(listener.process.machine).delete(listener.port);
  }

  return {
    listen(machine, port, make) {
      const ports = portsOf(machine);
      let taken = port;
      if (port === 0) for (taken = firstFreePort; ports.has(taken);) taken += 1;
      if (ports.has(taken)) return null;
      const listener = make(taken);
      ports.set(taken, listener);
      open.add(listener);
      return listener;
    },
    at: (machine, port) => portsOf(machine).get(port) ?? null,
    listenOnSocket(socket, listener) {
      bySocket.set(socket, listener);
      open.add(listener);
    },
    onSocket(socket) {
      const listener = bySocket.get(socket);
      return listener && open.has(listener) ? listener : null;
    },
    isOpen: (listener) => open.has(listener),
    close,
    closeAllOf(process) {
      for (const listener of [...open]) if (listener.process === process) close(listener);
    },
  };
}
