import { Client, type Dispatcher } from "undici";
import { makeBody, type AnswerBody } from "./body.js";
import { openConnection, type Connection, type ConnectionOptions } from "./connection.js";
import { abortListenersOf } from "../schedule/abort-listeners.js";

export type RestRequest = Pick<Dispatcher.DispatchOptions, "method" | "path" | "body"> & {
  headers: Record<string, string>;
};

export interface ExchangeLimits {
  /** From before connecting to the last byte. */
  timeoutMs: number;
  maxBodyBytes: number;
}

/** What came of a request. Times are `performance.now()`, null where it did not come that far. */
export interface RestExchange {
  begunMs: number;
  /** The connection opened for it; null when one from earlier was used. */
  connection: Connection | null;
  /** How long the TCP handshake of the connection took, whenever that was. */
  roundTripMs: number;
  /** Just before the request's first byte was handed to the system. */
  sentMs: number | null;
  /** When the first byte of the answer was read, an interim one's included. */
  firstByteMs: number | null;
  /** When the last byte had come. */
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
 * Lanes take the place of undici's Pool: a pool does not tell for which request it opened a connection, and so the
 * phases could not be booked on one.
 */
export interface Lane {
  exchange(request: RestRequest, limits: ExchangeLimits, signal: AbortSignal): Promise<RestExchange>;
  /** Ends the connection, wherever it is. */
  close(): Promise<void>;
}

/** Shorter than the idle limits that are common on load balancers (60 s), so as to lose few races against them. */
const idleMs = 20_000;

/** Headers and framing of an honest answer are far less than its largest body. */
const wireShare = 2;

/** More interim answers (103 and kin) before the real one are a flood. */
const maxInterim = 8;

/** @param onAnswered something that was sent at `sentMs` was answered, if only by a connection */
export function makeLane(
  origin: string,
  way: Pick<ConnectionOptions, "lookup" | "ca">,
  onAnswered: (sentMs: number) => void,
): Lane {
  let connection: Connection | null = null;
  let opened = false;
  let onWire: ((socketBytes: number) => void) | null = null;

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
        // Undici does not count what is no body and no header: a reason phrase or a chunk's extension may be without
        // end.
        socket.on("readable", () => onWire?.(socket.bytesRead));
        callback(null, socket);
      });
    },
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    // The deadline of the whole exchange stands above these.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async exchange(request, limits, signal) {
      opened = false;
      const heldBytes = connection?.socket.bytesRead ?? 0;
      const maxWireBytes = wireShare * limits.maxBodyBytes;
      const watchWire = (tooMuch: () => void) => {
        onWire = (socketBytes) => {
          const beforeBytes = opened ? 0 : heldBytes;
          if (socketBytes - beforeBytes > maxWireBytes) tooMuch();
        };
      };
      const hooks = { watchWire, onAnswered };
      const exchange = await run(client, request, limits, signal, hooks);
      onWire = null;
      if (opened) exchange.connection = connection;
      exchange.roundTripMs = (connection?.connectUs ?? 0) / 1000;
      return exchange;
    },
    async close() {
      // Undici waits for a socket that is still connecting.
      connection?.socket.destroy();
      await client.destroy();
    },
  };
}

interface Hooks {
  watchWire: (tooMuch: () => void) => void;
  onAnswered: (sentMs: number) => void;
}

function run(
  client: Client,
  request: RestRequest,
  { timeoutMs, maxBodyBytes }: ExchangeLimits,
  signal: AbortSignal,
  { watchWire, onAnswered }: Hooks,
): Promise<RestExchange> {
  const exchange: RestExchange = {
    begunMs: performance.now(),
    connection: null,
    roundTripMs: 0,
    sentMs: null,
    firstByteMs: null,
    endedMs: null,
    failedMs: null,
    failure: null,
    status: null,
    headers: {},
    body: makeBody(),
  };
  let bytes = 0;
  let interim = 0;
  let settled = false;

  return new Promise((resolve) => {
    const deadline = setTimeout(onDeadline, timeoutMs);
    const stops = abortListenersOf(signal);
    stops.add(onDeadline);
    watchWire(onOversize);

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

    function onDeadline() {
      fail({ kind: "deadline" });
    }

    // The lane is closed on every failure, and the connection with it.
    function onOversize() {
      fail({ kind: "oversize" });
    }

    client.dispatch(request, {
      onRequestStart() {
        exchange.sentMs = performance.now();
      },
      onResponseStarted() {
        if (exchange.firstByteMs !== null) return;
        exchange.firstByteMs = performance.now();
        if (exchange.sentMs !== null) onAnswered(exchange.sentMs);
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
        bytes += chunk.length;
        if (bytes > maxBodyBytes) onOversize();
        else exchange.body.add(chunk);
      },
      onResponseEnd() {
        // Ending a connection by ourselves ends a body that has no length, too.
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
