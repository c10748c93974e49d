import type { LookupFunction } from "node:net";
import { Client, type Dispatcher } from "undici";
import { openConnection, type Connection } from "./connection.js";

export type Request = Pick<
  Dispatcher.DispatchOptions,
  "method" | "path" | "body"
> & { headers: Record<string, string> };

export interface ExchangeLimits {
  /** From before connecting to the last byte. */
  timeoutMs: number;
  maxBodyBytes: number;
}

/** What came of a request. Times are `performance.now()`, null where it did not come that far. */
export interface Exchange {
  /** The connection opened for it; null when one from earlier was used. */
  connection: Connection | null;
  /** How long the TCP handshake of the connection took, whenever that was. */
  roundTripMs: number;
  sentMs: number | null;
  firstByteMs: number | null;
  /** When the last byte had come. */
  endedMs: number | null;
  failedMs: number | null;
  failure: Failure | null;
  status: number | null;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer[];
}

export type Failure =
  { kind: "deadline" } | { kind: "oversize" } | { kind: "error"; error: Error };

/**
 * A lane is a client with at most one connection, for one request at a time.
 *
 * Lanes take the place of undici's Pool: a pool does not tell for which request
 * it opened a connection, and so the phases could not be booked on one.
 */
export interface Lane {
  exchange(
    request: Request,
    limits: ExchangeLimits,
    signal: AbortSignal,
  ): Promise<Exchange>;
  /** Ends the connection, wherever it is. */
  close(): Promise<void>;
}

/** Shorter than the idle limits that are common on load balancers (60 s), so as to lose few races against them. */
const idleMs = 20_000;

export function makeLane(origin: string, lookup: LookupFunction): Lane {
  let connection: Connection | null = null;
  let opened = false;

  const client = new Client(origin, {
    connect({ hostname, protocol, port }, callback) {
      opened = true;
      const secure = protocol === "https:";
      connection = openConnection({
        host: hostname,
        port: Number(port) || (secure ? 443 : 80),
        secure,
        lookup,
      });
      const { socket } = connection;
      const onError = (error: Error) => callback(error, null);
      socket.once("error", onError);
      socket.once(secure ? "secureConnect" : "connect", () => {
        socket.off("error", onError);
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
      const exchange = await run(client, request, limits, signal);
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

function run(
  client: Client,
  request: Request,
  { timeoutMs, maxBodyBytes }: ExchangeLimits,
  signal: AbortSignal,
): Promise<Exchange> {
  const exchange: Exchange = {
    connection: null,
    roundTripMs: 0,
    sentMs: null,
    firstByteMs: null,
    endedMs: null,
    failedMs: null,
    failure: null,
    status: null,
    headers: {},
    body: [],
  };
  let bytes = 0;
  let settled = false;

  return new Promise((resolve) => {
    const deadline = setTimeout(onDeadline, timeoutMs);
    signal.addEventListener("abort", onDeadline, { once: true });

    function settle() {
      settled = true;
      clearTimeout(deadline);
      signal.removeEventListener("abort", onDeadline);
      resolve(exchange);
    }

    function fail(failure: Failure) {
      if (settled) return;
      exchange.failure = failure;
      exchange.failedMs = performance.now();
      settle();
    }

    function onDeadline() {
      fail({ kind: "deadline" });
    }

    client.dispatch(request, {
      onRequestStart() {
        exchange.sentMs = performance.now();
      },
      onResponseStart(_controller, status, headers) {
        exchange.firstByteMs ??= performance.now();
        exchange.status = status;
        exchange.headers = headers;
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        // The lane is closed on every failure, and the connection with it.
        if (bytes > maxBodyBytes) fail({ kind: "oversize" });
        else exchange.body.push(chunk);
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
