/**
 * One end of a connection, as the kernel of a machine keeps it. It buffers bytes while its process is paused or does
 * not read, and it outlives its process: bytes that were written before a kill still leave, followed by the end.
 */
import type { Process, VirtualTime } from "../virtual-time.js";
import { makeKeepAlive } from "./keep-alive.js";
import type { Link } from "./links.js";
import { connectionError } from "./network-error.js";
import { makePipe, type Pipe } from "./pipe.js";

/** Where an end of a connection is: an address with a port, or the path of a Unix socket. */
export type Place = { address: string; port: number } | { path: string | undefined };

/** The events that a socket receives. Called in its process. */
export interface Receiver {
  onBytes: (bytes: Buffer) => void;
  onEnd: () => void;
  onError: (error: Error) => void;
}

export interface EndpointOptions {
  time: VirtualTime;
  process: Process;
  /** To the other end. */
  link: Link;
  back: Link;
  local: Place;
  remote: Place;
  /** The kernel no longer needs it. */
  onGone: (endpoint: Endpoint) => void;
}

/** Bytes that are on their way, or that the receiver has not read. The sender waits when it has sent this many. */
export const windowBytes = 64 * 1024;
/** Bytes that the kernel takes from a writer beyond those. A write of more ends when the rest has found room. */
export const sendBufferBytes = 64 * 1024;
/** The most that one read returns. */
const readBytes = 64 * 1024;

type Written = (error?: Error | null) => void;

export class Endpoint {
  /** Set before anything is sent. */
  peer!: Endpoint;
  /** `closed`: by its process; what is left to send still leaves. `gone`: the kernel no longer knows of it. */
  #state: "open" | "closed" | "gone" = "open";
  #receiver: Receiver | null = null;
  #isReading = false;
  #isWaking = false;
  #inbox: Buffer[] = [];
  #unreadBytes = 0;
  #readSinceUpdate = 0;
  #end: "none" | "arrived" | "read" = "none";
  #failure: string | null = null;
  #outbox: Buffer[] = [];
  #outboxBytes = 0;
  #inFlightBytes = 0;
  #blocked: Written | null = null;
  #own: "open" | "ending" | "ended" = "open";
  readonly #out: Pipe;
  readonly #updates: Pipe;
  readonly #keepAlive;

  constructor(readonly options: EndpointOptions) {
    const { time, link, back } = options;
    this.#out = makePipe({ time, link, back, onGiveUp: () => this.fail("ETIMEDOUT") });
    const blockedPeer = () => this.peer.#outbox.length > 0 && this.peer.fail("ETIMEDOUT");
    this.#updates = makePipe({ time, link, back, onGiveUp: blockedPeer });
    this.#keepAlive = makeKeepAlive({
      ...{ time, link, back, isPeerGone: () => this.peer.isGone(), isOpen: () => this.#state === "open" },
      isWaiting: () => this.#out.isWaiting(),
      onReset: () => this.#receiveReset(),
      onSilence: () => this.fail("ETIMEDOUT"),
    });
  }

  isGone(): boolean {
    return this.#state === "gone";
  }

  /** The last message of the handshake, which precedes all bytes. */
  sayHello(arrive: () => void): void {
    this.#out.send(arrive);
  }

  /** To be called by the socket, once. */
  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  readStart(): void {
    this.#isReading = true;
    this.#wake();
  }

  readStop(): void {
    this.#isReading = false;
  }

  /** @param written called when the kernel has taken all bytes */
  write(bytes: Buffer, written: Written): void {
    if (this.#failure !== null || this.#state !== "open") return written(this.#writeError());
    if (bytes.length > 0) this.#outbox.push(bytes);
    this.#outboxBytes += bytes.length;
    this.#pump();
    if (this.#outboxBytes <= sendBufferBytes) written();
    else this.#blocked = written;
  }

  /** Sends the end after everything else. */
  end(): void {
    if (this.#own !== "open") return;
    this.#own = "ending";
    this.#pump();
  }

  /** The process closes the socket, or has died. As in Linux, unread bytes turn the end into a reset. */
  close(): void {
    if (this.#state !== "open") return;
    if (this.#unreadBytes > 0 || !this.#receiver) return this.reset();
    this.#state = "closed";
    this.#receiver = null;
    // bytes that the kernel had not taken yet are lost
    if (this.#blocked) this.#keepBytes(sendBufferBytes);
    this.#blocked = null;
    this.end();
    this.#forgetIfOver();
  }

  /** Sends a reset, which is lost if the link is cut. */
  reset(): void {
    if (this.#state === "gone") return;
    this.#leave(() => {
      if (!this.options.link.isCut()) this.#out.send(() => this.peer.#receiveReset());
    });
  }

  /** The kernel has lost it: nothing is sent, and what arrives later is answered by a reset. */
  forget(): void {
    this.fail("ECONNABORTED");
  }

  /** The connection is broken for this end, and the other one does not know. */
  fail(code: string): void {
    if (this.#state === "gone") return;
    this.#failure = code;
    this.#leave(() => this.#out.close());
    const blocked = this.#blocked;
    this.#blocked = null;
    if (blocked) this.#inProcess(() => blocked(this.#writeError()));
    else this.#wake();
  }

  /** Something between the two ends resets the connection. */
  interrupt(): void {
    this.#receiveReset();
  }

  setKeepAlive(idleMs: number | null): void {
    this.#keepAlive.set(idleMs);
  }

  #writeError(): Error {
    const code = this.#failure ?? "EPIPE";
    // the first failed write gets the failure, later ones know that the pipe is broken
    this.#failure = "EPIPE";
    return connectionError("write", code);
  }

  #leave(farewell: () => void): void {
    this.#outbox = [];
    this.#outboxBytes = 0;
    farewell();
    this.#state = "gone";
    this.#updates.close();
    this.options.onGone(this);
  }

  #keepBytes(most: number): void {
    while (this.#outboxBytes > most) {
      const last = this.#outbox.pop()!;
      const kept = last.subarray(0, Math.max(0, last.length - (this.#outboxBytes - most)));
      if (kept.length > 0) this.#outbox.push(kept);
      this.#outboxBytes -= last.length - kept.length;
    }
  }

  #pump(): void {
    while (this.#outbox.length > 0 && this.#inFlightBytes < windowBytes) {
      const [first] = this.#outbox as [Buffer];
      const segment = first.subarray(0, windowBytes - this.#inFlightBytes);
      if (segment.length === first.length) this.#outbox.shift();
      else this.#outbox[0] = first.subarray(segment.length);
      this.#outboxBytes -= segment.length;
      this.#inFlightBytes += segment.length;
      this.#transmit(segment);
    }
    if (this.#own === "ending" && this.#outbox.length === 0) {
      this.#own = "ended";
      this.#out.send(() => this.peer.#receiveEnd());
      this.#forgetIfOver();
    }
    if (!this.#blocked || this.#outboxBytes > sendBufferBytes) return;
    const written = this.#blocked;
    this.#blocked = null;
    this.#inProcess(() => written());
  }

  #transmit(segment: Buffer): void {
    const division = this.options.link.nextDivision(segment.length);
    const parts = division ? [segment.subarray(0, division.at), segment.subarray(division.at)] : [segment];
    if (division?.thenReset) parts.pop();
    for (const part of parts)
      this.#out.send(() => {
        if (!this.options.back.isCut()) this.#keepAlive.onHeard();
        this.peer.#receive(part);
      });
    if (!division?.thenReset) return;
    this.#out.send(() => {
      this.peer.interrupt();
      this.interrupt();
    });
  }

  #receive(bytes: Buffer): void {
    if (this.#state !== "open") return this.#refuse();
    this.#keepAlive.onHeard();
    this.#inbox.push(bytes);
    this.#unreadBytes += bytes.length;
    this.#wake();
  }

  #receiveEnd(): void {
    if (this.#state === "gone") return this.#refuse();
    this.#end = "arrived";
    this.#wake();
    this.#forgetIfOver();
  }

  #receiveReset(): void {
    this.fail(this.#end === "none" ? "ECONNRESET" : "EPIPE");
  }

  /** There is no such connection here: answered by a reset, which nobody sends again. */
  #refuse(): void {
    const { time, link } = this.options;
    const arrive = () => link.isCut() || this.peer.#receiveReset();
    if (this.#state === "closed") this.#leave(() => this.#out.close());
    time.schedule(link.nextDelayMs(), arrive, null);
  }

  #receiveUpdate(bytes: number): void {
    if (this.#state === "gone") return;
    this.#inFlightBytes -= bytes;
    this.#pump();
  }

  #forgetIfOver(): void {
    if (this.#state === "closed" && this.#own === "ended" && this.#end !== "none") this.options.onGone(this);
  }

  #inProcess(work: () => void): void {
    this.options.time.schedule(0, work, this.options.process);
  }

  #wake(): void {
    if (this.#isWaking || !this.#isReading || !this.#receiver) return;
    if (this.#inbox.length === 0 && this.#end !== "arrived" && this.#failure === null) return;
    this.#isWaking = true;
    this.#inProcess(() => {
      this.#isWaking = false;
      if (this.#isReading && this.#receiver) this.#read(this.#receiver);
      this.#wake();
    });
  }

  /** One read of the system. */
  #read(receiver: Receiver): void {
    if (this.#inbox.length > 0) {
      const bytes = this.#takeInbox();
      this.#noteRead(bytes.length);
      receiver.onBytes(bytes);
    } else if (this.#end === "arrived") {
      this.#end = "read";
      receiver.onEnd();
    } else if (this.#failure !== null) {
      this.#receiver = null;
      if (this.#end === "none") receiver.onError(connectionError("read", this.#failure));
    }
  }

  #takeInbox(): Buffer {
    let bytes = 0;
    let count = 0;
    while (count < this.#inbox.length && (count === 0 || bytes + this.#inbox[count]!.length <= readBytes))
      bytes += this.#inbox[count++]!.length;
    const taken = this.#inbox.splice(0, count);
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }

  /** The sender learns that there is room once half of the window is free. */
  #noteRead(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.#readSinceUpdate += bytes;
    if (this.#readSinceUpdate < windowBytes / 2) return;
    const read = this.#readSinceUpdate;
    this.#readSinceUpdate = 0;
    this.#updates.send(() => this.peer.#receiveUpdate(read));
  }
}
