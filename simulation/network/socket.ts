/** What a simulated process gets for a `net.Socket`. */
import type { AddressInfo, Server, SocketConstructorOpts } from "node:net";
import { isIPv6 } from "node:net";
import { Duplex, type DuplexOptions } from "node:stream";
import { currentProcess, type Process } from "../virtual-time.js";
import { connectSocket, type ConnectOptions } from "./connecting.js";
import type { Endpoint, Place } from "./endpoint.js";
import type { Kernels } from "./kernels.js";
import { connectionError } from "./network-error.js";

export type SocketOptions = SocketConstructorOpts & DuplexOptions;

type Done = (error?: Error | null) => void;

/**
 * Behaves as `net.Socket`, as far as node:http, ws, undici, pg and our own programs use it. It can connect once. The
 * differences: `onread` has no effect, and `bufferSize`, `localAddress` of `connect` and the events of single attempts
 * are missing.
 */
export class SimSocket extends Duplex {
  connecting = false;
  timeout: number | undefined;
  autoSelectFamilyAttemptedAddresses: string[] | undefined;
  bytesRead = 0;
  /** Where node keeps the server, which waits for its sockets when it closes. */
  server: Server | null = null;
  _server: (Server & { _connections: number; _emitCloseIfDrained: () => void }) | null = null;
  /** Libraries look for it; there is none. */
  readonly _handle = null;
  readonly process: Process;
  #endpoint: Endpoint | null = null;
  #dispatchedBytes = 0;
  #stopConnecting = () => {};
  #hasStarted = false;
  #keepAlive: number | null = null;
  #activeMs = 0;
  #stopTimeout = () => {};

  constructor(
    private readonly kernels: Kernels,
    options: SocketOptions = {},
  ) {
    super({ ...options, allowHalfOpen: Boolean(options.allowHalfOpen), emitClose: false, autoDestroy: true });
    const process = currentProcess();
    if (!process) throw new Error("expected to be in a simulated process");
    this.process = process;
    const { keepAlive, keepAliveInitialDelay } = options as { keepAlive?: boolean; keepAliveInitialDelay?: number };
    if (keepAlive) this.setKeepAlive(true, keepAliveInitialDelay);
    // as in node: what is written after the other side has ended is an error for those that do not expect it
    this.on("end", () => {
      if (!this.allowHalfOpen) this.write = writeAfterEnd;
    });
  }

  connect(...values: unknown[]): this {
    const [options, onConnect] = normalized(values);
    if (onConnect) this.once("connect", onConnect);
    if (this.#hasStarted) throw new Error("a simulated socket can connect only once");
    this.#hasStarted = true;
    this.connecting = true;
    if (options.timeout) this.setTimeout(options.timeout);
    this.#stopConnecting = connectSocket(this.kernels, this, options, {
      onConnected: (endpoint) => this.#onConnected(endpoint),
      onFailed: (error) => this.destroy(error),
    });
    return this;
  }

  /** An accepted connection. */
  accept(endpoint: Endpoint, isPaused: boolean): void {
    this.#hasStarted = true;
    this.#attach(endpoint);
    if (isPaused) this.pause();
    else this.read(0);
  }

  #attach(endpoint: Endpoint): void {
    this.#endpoint = endpoint;
    endpoint.setKeepAlive(this.#keepAlive);
    endpoint.attach({
      onBytes: (bytes) => {
        this.bytesRead += bytes.length;
        this._unrefTimer();
        if (!this.push(bytes)) endpoint.readStop();
      },
      onEnd: () => {
        this.push(null);
        this.read(0);
      },
      onError: (error) => this.destroy(error),
    });
  }

  #onConnected(endpoint: Endpoint): void {
    this.connecting = false;
    this.#attach(endpoint);
    this._unrefTimer();
    this.emit("connect");
    this.emit("ready");
    if (this.readable && !this.isPaused()) this.read(0);
  }

  override _read(): void {
    if (this.#endpoint) this.#endpoint.readStart();
    else this.once("connect", () => this._read());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#whenConnected(done, (endpoint) => {
      this._unrefTimer();
      this.#dispatchedBytes += chunk.length;
      endpoint.write(chunk, done);
    });
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "utf8", done);
  }

  override _final(done: Done): void {
    // never connected: there is nobody to tell
    if (!this.#hasStarted) return done();
    this.#whenConnected(done, (endpoint) => {
      endpoint.end();
      this.kernels.time.schedule(0, done, this.process);
    });
  }

  #whenConnected(done: Done, then: (endpoint: Endpoint) => void): void {
    if (this.#endpoint) return then(this.#endpoint);
    if (!this.connecting) return done(connectionError("write", "EPIPE"));
    const onClose = () => done(Object.assign(new Error("Socket closed before the connection was established"), closed));
    this.once("connect", () => {
      this.off("close", onClose);
      then(this.#endpoint!);
    });
    this.once("close", onClose);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.connecting = false;
    this.#stopConnecting();
    this.#stopTimeout();
    this.#endpoint?.close();
    done(error);
    // as in node: a socket that has never connected says nothing of errors
    process.nextTick(() => this.emit("close", this.#hasStarted ? error !== null : undefined));
    if (!this._server) return;
    this._server._connections -= 1;
    this._server._emitCloseIfDrained();
    this._server = null;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  resetAndDestroy(): this {
    this.#endpoint?.reset();
    if (this.#endpoint || !this.connecting) return this.destroy();
    return this.once("connect", () => this.resetAndDestroy());
  }

  /** Runs by virtual time. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    this.timeout = ms;
    this.#stopTimeout();
    if (ms > 0 && !this.destroyed) {
      if (onTimeout) this.once("timeout", onTimeout);
      this.#activeMs = this.process.monotonicMs();
      this.#timeOutAfter(ms);
    } else if (onTimeout) this.off("timeout", onTimeout);
    return this;
  }

  #timeOutAfter(leftMs: number): void {
    this.#stopTimeout = this.kernels.time.schedule(
      leftMs,
      () => {
        const limitMs = this.timeout ?? 0;
        const quietMs = this.process.monotonicMs() - this.#activeMs;
        // compared with a tolerance, because clocks have rates
        if (limitMs - quietMs > 0.001) return this.#timeOutAfter(limitMs - quietMs);
        this.emit("timeout");
      },
      this.process,
    );
  }

  /** Node's name for "something has happened on the socket". */
  _unrefTimer(): void {
    this.#activeMs = this.process.monotonicMs();
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(enable = false, initialDelayMs = 0): this {
    // the system's two hours, if no delay is given
    this.#keepAlive = enable ? (Math.floor(initialDelayMs / 1000) || 7_200) * 1000 : null;
    this.#endpoint?.setKeepAlive(this.#keepAlive);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): AddressInfo | Record<string, never> {
    const { localAddress: address, localPort: port, localFamily: family } = this;
    return address === undefined ? {} : { address, port: port!, family: family! };
  }

  get pending(): boolean {
    return !this.#endpoint || this.connecting;
  }

  get readyState(): "opening" | "open" | "readOnly" | "writeOnly" | "closed" {
    if (this.connecting) return "opening";
    if (this.readable) return this.writable ? "open" : "readOnly";
    return this.writable ? "writeOnly" : "closed";
  }

  get bytesWritten(): number {
    return this.#dispatchedBytes + (this.#endpoint ? 0 : this.writableLength);
  }

  get remoteAddress(): string | undefined {
    return addressOf(this.#endpoint?.options.remote);
  }

  get remotePort(): number | undefined {
    return portOf(this.#endpoint?.options.remote);
  }

  get remoteFamily(): string | undefined {
    return familyOf(this.#endpoint?.options.remote);
  }

  get localAddress(): string | undefined {
    return addressOf(this.#endpoint?.options.local);
  }

  get localPort(): number | undefined {
    return portOf(this.#endpoint?.options.local);
  }

  get localFamily(): string | undefined {
    return familyOf(this.#endpoint?.options.local);
  }
}

const closed = { code: "ERR_SOCKET_CLOSED_BEFORE_CONNECTION" };

function addressOf(place: Place | undefined): string | undefined {
  return place && "address" in place ? place.address : undefined;
}

function portOf(place: Place | undefined): number | undefined {
  return place && "address" in place ? place.port : undefined;
}

function familyOf(place: Place | undefined): string | undefined {
  const address = addressOf(place);
  return address === undefined ? undefined : isIPv6(address) ? "IPv6" : "IPv4";
}

function writeAfterEnd(this: SimSocket, ...values: unknown[]): boolean {
  if (!this.writableEnded) return Duplex.prototype.write.apply(this, values as [Buffer, BufferEncoding]);
  const done = values.find((one) => typeof one === "function") as Done | undefined;
  const message = "This socket has been ended by the other party";
  const error = Object.assign(new Error(message), { code: "EPIPE" });
  if (done) process.nextTick(done, error);
  this.destroy(error);
  return false;
}

/** The forms of arguments that node takes: (options), (path), (port, host), each with a listener at the end. */
export function normalized(values: unknown[]): [ConnectOptions, (() => void) | null] {
  // node's own callers pass them normalized already
  if (Array.isArray(values[0])) return values[0] as [ConnectOptions, (() => void) | null];
  const last = values.at(-1);
  const listener = typeof last === "function" ? (last as () => void) : null;
  const [first, second] = values;
  if (typeof first === "object" && first !== null) return [first, listener];
  if (typeof first === "string" && !/^\d+$/.test(first)) return [{ path: first }, listener];
  if (typeof first === "function" || first === undefined || first === null) return [{}, listener];
  return [{ port: Number(first), ...(typeof second === "string" && { host: second }) }, listener];
}
