import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import {
  type AnswerBody,
  makeAnswerBody,
  maxHeadBytes,
  maxInterim,
  wireBytesFor,
} from "../../../shared/http/limits.js";
import { abortListenersOf } from "../../network/abort-listeners.js";
import { type Connection, openConnection, type ConnectionOptions } from "../connection.js";

export type RestRequest = Pick<Dispatcher.DispatchOptions, "method" | "path" | "body"> & {
  headers: Record<string, string>;
};

export interface ExchangeLimits {
  /** From before connecting to the last byte. */
  timeoutMs: number;
  maxBodyBytes: number;
}

/** The result of a request. Times are by `performance.now()`, and null if it did not get that far. */
export interface RestExchange {
  startMs: number;
  /** The connection opened for it; null if it used an existing one. */
  connection: Connection | null;
  /** How long the TCP handshake of the connection took, even if it was opened earlier. */
  roundTripMs: number;
  /** Just before the request's first byte was handed to the system. */
  sentMs: number | null;
  /** When the first byte of the answer, or of an interim answer, was read. */
  firstByteMs: number | null;
  /** When the last byte had arrived. */
  endedMs: number | null;
  failedMs: number | null;
  failure: RequestFailure | null;
  status: number | null;
  headers: Record<string, string | string[] | undefined>;
  body: AnswerBody;
}

export type RequestFailure = { kind: "deadline" } | { kind: "oversize" } | { kind: "error"; error: Error };

/**
 * A lane is a client with at most one connection, for one request at a time.
 *
 * Lanes replace undici's Pool: a pool does not show for which request it opened a connection, so the phases could not
 * be attributed to a request.
 */
export interface Lane {
  exchange(request: RestRequest, limits: ExchangeLimits, signal: AbortSignal): Promise<RestExchange>;
  /** Ends the connection in any phase. */
  close(): Promise<void>;
}

/** Shorter than the usual idle timeout of load balancers (60 s), to lose few races against it. */
const idleMs = 20_000;

/** @param onAnswered called when something sent at `sentMs` was answered, or a connection was established */
export function makeLane(
  origin: string,
  way: Pick<ConnectionOptions, "lookup" | "ca">,
  onAnswered: (sentMs: number) => void,
): Lane {
  let connection: Connection | null = null;
  let opened = false;
  let onWire: ((socketBytes: number) => void) | null = null;
  let onFirstByte: (() => void) | null = null;
  let expectHead: (() => void) | null = null;

  const client = new Client(origin, {
    connect({ hostname, protocol, port }, callback) {
      opened = true;
      const openedMs = performance.now();
      const secure = protocol === "https:";
      connection = openConnection({
        host: hostname,
        port: Number(port) || (secure ? 443 : 80),
        secure,
        ...way,
      });
      const { socket } = connection;
      const onError = (error: Error) => callback(error, null);
      socket.once("error", onError);
      socket.once("connect", () => onAnswered(openedMs));
      socket.once(secure ? "secureConnect" : "connect", () => {
        socket.off("error", onError);
        // Undici limits only bodies and headers: a reason phrase or a chunk extension may be endless.
        socket.on("readable", () => onWire?.(socket.bytesRead));
        expectHead = readHeadsLeniently(socket, () => onFirstByte?.());
        callback(null, socket);
      });
    },
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    // The deadline of the whole exchange applies instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async exchange(request, limits, signal) {
      opened = false;
      const heldBytes = connection?.socket.bytesRead ?? 0;
      const maxWireBytes = wireBytesFor(limits.maxBodyBytes);
      const watchWire = (tooMuch: () => void) => {
        onWire = (socketBytes) => {
          const beforeBytes = opened ? 0 : heldBytes;
          if (socketBytes - beforeBytes > maxWireBytes) tooMuch();
        };
      };
      const watchFirstByte = (came: () => void) => (onFirstByte = came);
      const hooks = { watchWire, watchFirstByte, onSent: () => expectHead?.(), onAnswered };
      const exchange = await runRequest(client, request, limits, signal, hooks);
      onWire = null;
      onFirstByte = null;
      if (opened) exchange.connection = connection;
      exchange.roundTripMs = (connection?.connectUs ?? 0) / 1000;
      return exchange;
    },
    async close() {
      // Without this, undici would wait for a socket that is still connecting.
      connection?.socket.destroy();
      await client.destroy();
    },
  };
}

interface Hooks {
  watchWire: (tooMuch: () => void) => void;
  watchFirstByte: (came: () => void) => void;
  onSent: () => void;
  onAnswered: (sentMs: number) => void;
}

function runRequest(
  client: Client,
  request: RestRequest,
  { timeoutMs, maxBodyBytes }: ExchangeLimits,
  signal: AbortSignal,
  { watchWire, watchFirstByte, onSent, onAnswered }: Hooks,
): Promise<RestExchange> {
  const exchange: RestExchange = {
    startMs: performance.now(),
    connection: null,
    roundTripMs: 0,
    sentMs: null,
    firstByteMs: null,
    endedMs: null,
    failedMs: null,
    failure: null,
    status: null,
    headers: {},
    body: makeAnswerBody(maxBodyBytes),
  };
  let interim = 0;
  let settled = false;

  return new Promise((resolve) => {
    const deadline = setTimeout(onDeadline, timeoutMs);
    const stops = abortListenersOf(signal);
    stops.add(onDeadline);
    watchWire(onOversize);
    watchFirstByte(onFirstByte);

    function settle() {
      settled = true;
      clearTimeout(deadline);
      stops.delete(onDeadline);
      resolve(exchange);
    }

    function fail(failure: RequestFailure) {
      if (settled) return;
      exchange.failure = failure;
      exchange.failedMs = performance.now();
      settle();
    }

    function onFirstByte() {
      if (exchange.firstByteMs !== null || exchange.sentMs === null) return;
      exchange.firstByteMs = performance.now();
      onAnswered(exchange.sentMs);
    }

    function onDeadline() {
      fail({ kind: "deadline" });
    }

    // The caller closes the lane, and so the connection, after every failure.
    function onOversize() {
      fail({ kind: "oversize" });
    }

    client.dispatch(request, {
      onRequestStart() {
        exchange.sentMs = performance.now();
        // Not before: earlier bytes answer no request, and undici ends the connection when it reads them.
        onSent();
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) {
          interim += 1;
          if (interim > maxInterim) onOversize();
          return;
        }
        exchange.status = status;
        exchange.headers = headers;
      },
      onResponseData(_controller, chunk) {
        if (settled) return;
        if (!exchange.body.add(chunk)) onOversize();
      },
      onResponseEnd() {
        // When we end the connection, a body without a length ends as well.
        if (settled) return;
        exchange.endedMs = performance.now();
        settle();
      },
      onResponseError(_controller, error) {
        fail({ kind: "error", error });
      },
    });
  });
}

// Heads of answers as other clients read them: undici refuses some that browsers, curl, Python and Go accept.

const httpOne = "HTTP/1.";

/**
 * Hides each `100 Continue`, which no request of ours asks for, from the reader of a socket, and completes bare line
 * feeds in heads. Clients should accept both (RFC 9110, 15.2; RFC 9112, 2.2); undici ends the connection.
 *
 * @param onFirstByte called when the first byte of an answer was read, or of an interim answer
 * @returns a function to call before each request: the next bytes are the head of its answer
 */
function readHeadsLeniently(socket: Socket, onFirstByte: () => void): () => void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held = Buffer.alloc(0);
  let searchedTo = 0;
  let isHead = false;
  let continues = 0;

  function passOn(bytes: Buffer): Buffer {
    held = Buffer.alloc(0);
    searchedTo = 0;
    isHead = false;
    return bytes;
  }

  /** The next head, with what follows if it is the final one; null while it is not complete. */
  function nextHead(): Buffer | null {
    while (held.length > 0) {
      const start = held.toString("latin1", 0, httpOne.length);
      if (!httpOne.startsWith(start)) return passOn(held);
      const end = endOfHead(held, searchedTo);
      searchedTo = held.length;
      if (end === null) return held.length >= maxHeadBytes ? passOn(held) : null;
      searchedTo = 0;
      const text = held.toString("latin1", 0, end);
      const head = Buffer.from(text.replace(/\r?\n/g, "\r\n"), "latin1");
      const rest = held.subarray(end);
      const status = text.slice("HTTP/1.1 ".length, "HTTP/1.1 100".length);
      if (!status.startsWith("1") || status === "101") return passOn(Buffer.concat([head, rest]));
      held = rest;
      if (status !== "100" || ++continues > maxInterim) return head;
    }
    return null;
  }

  socket.read = (size?: number) => {
    // Node itself calls `read(0)`, and drops the result
    if (!isHead || size === 0) return read(size);
    for (;;) {
      const head = nextHead();
      if (head) return head;
      const bytes = read(size);
      if (bytes === null) return null;
      onFirstByte();
      held = Buffer.concat([held, bytes]);
    }
  };

  return () => {
    held = Buffer.alloc(0);
    searchedTo = 0;
    isHead = true;
    continues = 0;
  };
}

const [carriageReturn, lineFeed] = [13, 10];

/** After the empty line that ends a head; null if it has none yet. A server may send byte by byte: searches once. */
function endOfHead(bytes: Buffer, searchedTo: number): number | null {
  let at = bytes.indexOf(lineFeed, Math.max(0, searchedTo - 2));
  while (at >= 0) {
    if (bytes[at + 1] === lineFeed) return at + 2;
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
    at = bytes.indexOf(lineFeed, at + 1);
  }
  return null;
}
