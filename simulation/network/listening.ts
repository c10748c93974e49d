/** `net.Server.prototype.listen` within a simulated process. The rest of a server is node's own. */
import { isIPv6, type Server } from "node:net";
import { currentProcess, type Process } from "../virtual-time.js";
import type { Endpoint, Place } from "./endpoint.js";
import type { Kernels } from "./kernels.js";
import type { Listener } from "./listeners.js";
import { addressError } from "./network-error.js";
import { SimSocket } from "./socket.js";

/** Fields of node's server that its types hide. */
interface NodeServer extends Server {
  _handle: Handle | null;
  _connections: number;
  _listeningId: number;
  _pipeName?: string;
  _emitCloseIfDrained: () => void;
  allowHalfOpen: boolean;
  pauseOnConnect: boolean;
  keepAlive?: boolean;
  keepAliveInitialDelay?: number;
  highWaterMark?: number;
}

/** What node's `close`, `address`, `ref` and `unref` call. */
interface Handle {
  close: () => void;
  getsockname?: (into: object) => number;
  ref: () => void;
  unref: () => void;
}

interface ListenOptions {
  port?: number | string | null;
  host?: string;
  path?: string;
  signal?: AbortSignal;
}

export function installListening(kernels: Kernels, prototype: Server): void {
  type Listen = (this: NodeServer, ...values: unknown[]) => NodeServer;
  const holder = prototype as unknown as { listen: Listen };
  const realListen = holder.listen;
  holder.listen = function (...values) {
    const process = currentProcess();
    if (!process) return realListen.apply(this, values);
    listen(kernels, process, this, values);
    return this;
  };
}

function listen(kernels: Kernels, owner: Process, server: NodeServer, values: unknown[]): void {
  if (server._handle) {
    const error = new Error("Listen method has been called more than once without closing.");
    throw Object.assign(error, { code: "ERR_SERVER_ALREADY_LISTEN" });
  }
  const [options, onListening] = listenOptions(values);
  if (onListening) server.once("listening", onListening);
  options.signal?.addEventListener("abort", () => server.close(), { once: true });
  server._listeningId += 1;
  kernels.watch(owner);
  if (!owner.isAlive()) return;
  try {
    if (options.path) listenOnPath(kernels, owner, server, options.path);
    else listenOnPort(kernels, owner, server, Number(options.port ?? 0), options.host);
  } catch (error) {
    process.nextTick(() => {
      server.emit("error", error);
      server._emitCloseIfDrained();
    });
    return;
  }
  process.nextTick(() => {
    if (server._handle) server.emit("listening");
  });
}

function listenOptions(values: unknown[]): [ListenOptions, (() => void) | null] {
  const last = values.at(-1);
  const listener = typeof last === "function" ? (last as () => void) : null;
  const [first, second] = values;
  if (typeof first === "object" && first !== null) return [first, listener];
  if (typeof first === "string" && !/^\d+$/.test(first)) return [{ path: first }, listener];
  const port = typeof first === "number" || typeof first === "string" ? first : 0;
  return [{ port, ...(typeof second === "string" && { host: second }) }, listener];
}

function listenOnPort(
  kernels: Kernels,
  process: Process,
  server: NodeServer,
  port: number,
  given: string | undefined,
): void {
  const host = given === undefined || given === "" ? "::" : given === "localhost" ? "127.0.0.1" : given;
  const { listeners, hosts } = kernels;
  if (hosts.machineAt(host, process.machine) !== process.machine)
    throw addressError("listen", "EADDRNOTAVAIL", host, port);
  const listener = listeners.listen(process.machine, port, (taken) => ({
    ...{ process, host, port: taken, path: undefined },
    accept: (endpoint) => accept(kernels, server, endpoint),
  }));
  if (!listener) throw addressError("listen", "EADDRINUSE", host, port);
  const address = { address: host, family: isIPv6(host) ? "IPv6" : "IPv4", port: listener.port };
  server._handle = handleOf(() => listeners.close(listener));
  server._handle.getsockname = (into) => {
    Object.assign(into, address);
    return 0;
  };
}

function listenOnPath(kernels: Kernels, process: Process, server: NodeServer, path: string): void {
  const { listeners } = kernels;
  const files = kernels.sockets.of(process.machine);
  const listener: Listener = {
    ...{ process, host: "", port: undefined, path },
    accept: (endpoint) => accept(kernels, server, endpoint),
  };
  listeners.listenOnSocket(files.make(path), listener);
  server._pipeName = path;
  server._handle = handleOf(() => {
    listeners.close(listener);
    // as libuv does, also if another file has the name by then
    files.remove(path);
  });
}

function handleOf(close: () => void): Handle {
  return { close, ref: () => {}, unref: () => {} };
}

function accept(kernels: Kernels, server: NodeServer, endpoint: Endpoint): void {
  if (server.maxConnections && server._connections >= server.maxConnections) {
    server.emit("drop");
    return endpoint.reset();
  }
  const { highWaterMark, keepAlive, keepAliveInitialDelay, allowHalfOpen, pauseOnConnect } = server;
  const address = server.address();
  if (address && typeof address === "object" && address.address === "::") mapToIPv6(endpoint);
  const socket = new SimSocket(kernels, {
    ...{ allowHalfOpen, readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark },
    ...{ keepAlive, keepAliveInitialDelay },
  });
  socket.accept(endpoint, pauseOnConnect);
  server._connections += 1;
  socket.server = server;
  socket._server = server;
  server.emit("connection", socket);
}

/** A server on all addresses sees those of IPv4 as a part of IPv6. */
function mapToIPv6({ options }: Endpoint): void {
  const mapped = (place: Place): Place =>
    "address" in place && !isIPv6(place.address) ? { ...place, address: `::ffff:${place.address}` } : place;
  options.local = mapped(options.local);
  options.remote = mapped(options.remote);
}
