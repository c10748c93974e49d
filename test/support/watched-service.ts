/** A service for clients that watch it: it has `/v1/events` and what is read besides, and misbehaves as a test says. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";

export type WordOfState = "operational" | "degraded" | "outage" | "unknown";
type Answer = (response: ServerResponse, request: IncomingMessage, url: URL) => void;

export class WatchedService {
  /** The venues of the board, and their states. */
  readonly states: Record<string, string> = { okx: "operational", kraken: "operational" };
  /** Former ids, and what they are now. */
  readonly renamed: Record<string, string> = {};
  readonly components = ["rest:ticker"];
  readonly requests: { path: string; atMs: number }[] = [];
  /** Open streams. */
  readonly streams = new Set<ServerResponse>();
  stale = false;
  /** Of the newest event. */
  id = 100;
  /** The engine's clock, in seconds. */
  now = 0;
  /** What is read is of this earlier instant, as from a cache. Null: of now. */
  asOf: number | null = null;
  /** For so long it is on its way. */
  lateMs = 0;
  readonly #history: { at: number; states: Record<string, string> }[] = [];
  readonly #log: { id: number; text: string }[] = [];

  /** How the next requests for each path are answered. Absent: well. */
  onEvents: Answer | null = null;
  onRead: Answer | null = null;

  #server: Server | null = null;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, again on the same port. */
  async start(): Promise<void> {
    this.#server = createServer((request, response) => this.#answer(request, response));
    // a client's connections must not end by themselves
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** As if its process were killed: all connections are cut, and none is accepted. */
  kill(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = null;
  }

  /** A tick of two seconds, which changes a state and says so, unless told not to. */
  change(venue: string, state: string, isTold = true): void {
    if (this.#history.length === 0) this.#history.push({ at: 0, states: { ...this.states } });
    this.now += 2;
    this.states[venue] = state;
    this.#history.push({ at: this.now, states: { ...this.states } });
    if (!isTold) return;
    const text = this.eventOf(venue, state);
    this.#log.push({ id: this.id, text });
    this.send(text);
  }

  /** The text of the next event. */
  eventOf(venue: string, state: string, at = this.now, id = ++this.id): string {
    return frame(id, "venue", { at: instant(at), venue, category: "exchange", state });
  }

  /** To all open streams. */
  send(text: string | Buffer): void {
    for (const stream of this.streams) stream.write(text);
  }

  freshness(stale: boolean): void {
    this.stale = stale;
    this.send(frame(this.id, "freshness", { stale, ageSeconds: stale ? 40 : null }));
  }

  beginning(event: "start" | "reset"): string {
    return frame(this.id, event, { at: instant(this.now), stale: this.stale, ageSeconds: null });
  }

  /** The streams that were asked for. */
  get asked(): string[] {
    return this.requests.filter(({ path }) => path.startsWith("/v1/events")).map(({ path }) => path);
  }

  openStream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    this.streams.add(response);
    response.once("close", () => this.streams.delete(response));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, this.url);
    this.requests.push({ path: request.url!, atMs: performance.now() });
    response.on("error", () => {});
    if (url.pathname === "/v1/events") return (this.onEvents ?? this.#events)(response, request, url);
    (this.onRead ?? this.#read)(response, request, url);
  }

  readonly #events: Answer = (response, _request, url) => {
    this.openStream(response);
    const last = url.searchParams.get("lastEventId");
    response.write("retry: 10\n\n");
    if (last === null) return void response.write(this.beginning("start"));
    for (const { id, text } of this.#log) if (id > Number(last)) response.write(text);
    response.write(frame(this.id, "freshness", { stale: this.stale, ageSeconds: null }));
  };

  readonly #read: Answer = (response, _request, { pathname }) => {
    const states = this.#statesRead();
    const row = (id: string) => this.#row(id, states[id]!);
    const head = { generatedAt: instant(this.asOf ?? this.now), stale: this.stale, ageSeconds: null };
    const [, asked] = /^\/v1\/targets\/([^/]+)\/state$/.exec(pathname) ?? [];
    const answer = (status: number, body: object) => void setTimeout(() => json(response, status, body), this.lateMs);
    if (pathname === "/v1/status") return answer(200, { ...head, venues: Object.keys(states).map(row) });
    const id = asked && (this.renamed[asked] ?? asked);
    if (id && id in states) return answer(200, { ...head, ...row(id) });
    answer(404, { type: "about:blank", title: "Not Found", status: 404, detail: `Unknown venue "${asked}".` });
  };

  #statesRead(): Record<string, string> {
    const asOf = this.asOf;
    return (asOf !== null && this.#history.findLast(({ at }) => at <= asOf)?.states) || this.states;
  }

  #row(id: string, state: string): object {
    const components = this.components.map((component) => ({ component, state, since: "" }));
    return { id, name: id.toUpperCase(), category: "exchange", state, components };
  }
}

export async function serveWatched(t: Test): Promise<WatchedService> {
  const service = new WatchedService();
  await service.start();
  t.teardown(() => service.kill());
  return service;
}

export function frame(id: number, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function json(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const type = status === 200 ? "application/json; charset=utf-8" : "application/problem+json";
  response.writeHead(status, { "content-type": type, ...headers }).end(JSON.stringify(body));
}

function instant(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 31) + seconds * 1000).toISOString();
}
