/** The open streams of `/v1/events`: who gets which change, and when a stream ends. */
import type { ServerResponse } from "node:http";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator } from "express-rate-limit";
import type { Registry } from "../../../shared/registry/registry.js";
import { ipv6Subnet, resetConnection } from "../api/client-limits.js";
import { categoryFilter, integerParameter, parameterReader, venueFilter, viewOf } from "../api/parameters.js";
import { badParameters, type SendProblem } from "../api/problem.js";
import { clientAddress, queryOf } from "../api/request.js";
import { bytes } from "../api/shapes.js";
import type { Freshness } from "../board/stale.js";
import type { ChangeEvent, ChangeLog } from "./change-log.js";

/** `/v1/events`: changes as they are decided, as Server-Sent Events. */
export function eventsRoute(
  registry: Registry,
  streams: EventStreams,
  { perAddress, total }: StreamLimits,
  sendProblem: SendProblem,
): RequestHandler {
  const read = parameterReader(eventsParameters(registry));
  const open = new Map<string, number>();

  return async (request, response) => {
    const { lastEventId, ...wanted } = read(queryOf(request));
    const after = lastEventIdOf(request) ?? lastEventId;
    const address = addressOf(request);
    const ofAddress = open.get(address) ?? 0;
    if (ofAddress >= perAddress || streams.count() >= total) {
      response.setHeader("Retry-After", "60");
      if (ofAddress >= perAddress)
        return sendProblem(response, 429, `More than ${perAddress} open streams from your address. Close one first.`);
      return sendProblem(
        response,
        503,
        `Expected at most ${total} open streams, and there are as many. Try again later.`,
      );
    }
    if (request.method === "HEAD") return void response.writeHead(200, streamHeaders).end();
    open.set(address, ofAddress + 1);
    response.once("close", () => {
      const left = open.get(address)! - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    await streams.open(response, wanted, after);
  };
}

export function eventsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category: categoryFilter,
    region: viewOf(
      registry,
      "What this region alone sees: its `venue` and `component` events, which name it in `region`. Absent: what is decided by quorum, and incidents.",
    ),
    lastEventId: integerParameter(
      "Continue after this id, as the header Last-Event-ID does, which takes precedence: for clients that cannot set headers.",
      0,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
  };
}

/** Null where there is none. EventSource sends it when it connects again. */
function lastEventIdOf(request: Request): number | null {
  const text = request.get("Last-Event-ID");
  if (text === undefined || text === "") return null;
  const id = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(id)) return id;
  throw badParameters([
    { parameter: "Last-Event-ID", message: "expected the id of an event of this stream, a whole number" },
  ]);
}

function addressOf(request: Request): string {
  return ipKeyGenerator(
    clientAddress(request, () => request.ip),
    ipv6Subnet,
  );
}

/** Twenty streams are an office behind one address. */
export const streamLimits: StreamLimits = { perAddress: 20, total: 12_000 };

/** How many event streams may be open at a time. */
export interface StreamLimits {
  /** Of one client address. */
  perAddress: number;
  /** Of this process. */
  total: number;
}

export const eventStream = bytes(
  "Server-Sent Events. `start`: the stream begins here, with `stale` and `ageSeconds` as in every body, and the instant of the newest change before it (`at`, null if there was none for a day): read the state, and again if its `generatedAt` is earlier. `reset`: the events after the given id are no longer known; the same fields, so read the state again. `venue` and `component`: a state changed; with `region` as that region sees it, which is named in `region`. `incident`: one was opened, escalated, closed or retracted (`change`). Both `venue` and `incident` have the announced `maintenance` of then, or null. `transfer`: a venue declares deposits or withdrawals (`direction`) of an asset on a network open, paused or unknown (`state`). `freshness`: `stale` changed, or the id did: it comes every five minutes. Between events, comments keep the connection open.",
  `id: 4711
event: component
data: {"at" : "2026-01-31T11:41:20.000Z", "venue" : "kraken", "category" : "exchange", "component" : "rest:ticker", "state" : "outage"}

`,
);

export function makeEventStreams(
  log: ChangeLog,
  freshness: () => Promise<Freshness>,
  heartbeatMs = usualHeartbeatMs,
): EventStreams {
  /** All streams, including those that are still catching up. */
  const open = new Set<ServerResponse>();
  /** Those that get changes as they come. */
  const streams = new Set<Stream>();
  let stop = () => {};
  let heartbeats = 0;
  let shown: Freshness = { stale: false, ageSeconds: null };

  function add(stream: Stream): void {
    if (streams.size === 0) {
      const unfollow = log.follow(broadcast);
      const timers = [setInterval(heartbeat, heartbeatMs), setInterval(() => void compareFreshness(), freshnessMs)];
      stop = () => {
        unfollow();
        timers.forEach(clearInterval);
      };
    }
    streams.add(stream);
    stream.response.once("close", () => {
      if (streams.delete(stream) && streams.size === 0) stop();
    });
  }

  function broadcast(changes: readonly ChangeEvent[] | null): void {
    const reset = changes === null && frameOf(log.newest(), "reset", beginning());
    for (const stream of streams) write(stream, reset || framesFor(stream, changes ?? []));
  }

  function write({ response }: Stream, text: string): void {
    if (text === "" || isGone(response)) return;
    response.write(text);
    if (response.writableLength > mostUnreadBytes) resetConnection(response.socket!);
  }

  /**
   * What a client needs to read the states without a gap: a body of this instant or later shows everything that the
   * stream will not send. Bodies may be older than the stream, from a cache or another process.
   */
  function beginning(): object {
    return { at: log.newestAt(), ...shown };
  }

  /**
   * A comment without the empty line that ends an event: some readers (httpx-sse) take any empty line for an event. Now
   * and then an event gives the number up to which a client has everything, even if its filter let nothing through.
   */
  function heartbeat(): void {
    const isEvent = ++heartbeats % heartbeatsPerEvent === 0;
    const text = isEvent ? frameOf(log.newest(), "freshness", shown) : ": heartbeat\n";
    for (const stream of streams) write(stream, text);
  }

  async function compareFreshness(): Promise<void> {
    const before = shown;
    shown = await freshness();
    if (shown.stale === before.stale) return;
    const text = frameOf(log.newest(), "freshness", shown);
    for (const stream of streams) write(stream, text);
  }

  /**
   * Writes the changes after `id` at the client's pace, then joins the others. Nothing awaits in between, so no change
   * is missed or sent twice.
   */
  async function resume(stream: Stream, id: number): Promise<void> {
    const { response } = stream;
    let at = id;
    while (!isGone(response)) {
      const missed = log.after(at, resumedAtOnce, stream.region !== null);
      if (missed === null) return join(stream, "reset");
      // the data may have been stale when it left and not now, or the other way round
      if (missed.length === 0) return join(stream, "freshness");
      at = missed.at(-1)!.id;
      const text = framesFor(stream, missed);
      if (text !== "" && !response.write(text)) await untilDrained(response);
    }
  }

  /** @param event that the stream gets first */
  function join(stream: Stream, event: "start" | "reset" | "freshness"): void {
    write(stream, frameOf(log.newest(), event, event === "freshness" ? shown : beginning()));
    add(stream);
  }

  return {
    async open(response, wanted, after) {
      const stream = { response, ...wanted };
      open.add(response);
      response.once("close", () => open.delete(response));
      await log.ready();
      // with open streams, it is compared regularly anyway
      if (streams.size === 0) await compareFreshness();
      // The client may come from a process that read sooner. The first reading may have begun before that, hence two.
      for (let reading = 0; reading < 2 && after !== null && after > log.newest(); reading++) await log.catchUp();
      if (isGone(response)) return;
      response.writeHead(200, streamHeaders);
      // part of the first event, for the same readers
      response.write(`retry: ${retryMs.least + Math.floor(Math.random() * (retryMs.most - retryMs.least))}\n`);
      if (after === null) join(stream, "start");
      else await resume(stream, after);
    },
    count: () => open.size,
    close() {
      for (const response of open) response.end();
    },
  };
}

export interface EventStreams {
  /**
   * Sends what the client has missed, then changes as they come, until it leaves. Null as `after`: it starts now.
   *
   * @param response whose headers are not sent yet
   */
  open(response: ServerResponse, wanted: Wanted, after: number | null): Promise<void>;
  count(): number;
  /** Ends all streams. Clients connect again, elsewhere. */
  close(): void;
}

export interface Wanted {
  /** Null: any. */
  venue: string | null;
  category: string | null;
  /** Whose view; null: what is decided by quorum. */
  region: string | null;
}

interface Stream extends Wanted {
  response: ServerResponse;
}

const streamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  // nginx would keep events back until a buffer is full
  "X-Accel-Buffering": "no",
};

/** Below the half minute after which proxies, and our own server, close a silent connection. */
const usualHeartbeatMs = 15_000;

/** Every five minutes, an event with the number of the newest change replaces a heartbeat. */
const heartbeatsPerEvent = 20;

/** How often to check whether the clients' data have become stale. */
const freshnessMs = 2_000;

/**
 * A client with more unread data than this cannot keep up and is disconnected. It may resume, and gets the rest at its
 * own pace.
 */
const mostUnreadBytes = 256 * 1024;

/** Changes that a resuming client gets at a time, 50 kB. */
const resumedAtOnce = 200;

/** Spread, so that clients that lost one process do not all reconnect at the same moment. */
const retryMs = { least: 1_000, most: 5_000 };

/** The client has left, or we are closing. */
function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

/** Not `once` of node:events, which would leave a listener of each event that did not come. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off("drain", end).off("close", end);
      resolve();
    };
    response.on("drain", end).on("close", end);
  });
}

function framesFor({ venue, category, region }: Wanted, changes: readonly ChangeEvent[]): string {
  return changes
    .filter(
      (change) =>
        change.region === region &&
        (venue ?? change.venue) === change.venue &&
        (category ?? change.category) === change.category,
    )
    .map(({ frame }) => frame)
    .join("");
}

function frameOf(id: number, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
