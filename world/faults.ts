/** What can go wrong in the world, where, and when. */
import type { ServerResponse } from "node:http";
import { sendHtml, sendJson } from "./listener.js";

/**
 * Where a kind of fault acts: on REST answers, on socket connections, on the streams within a socket, on the status
 * feed, on the list of deposits and withdrawals, or on one line of that.
 */
export type FaultPlace = "rest" | "connection" | "stream" | "official" | "list" | "line";

interface KindRules {
  /** Empty: the fault affects the whole venue, in every region alike. */
  places: FaultPlace[];
  /** The numbers and texts that this kind accepts. */
  takes: (keyof FaultDetails)[];
}

/** Every kind of fault and its effect. */
export const rules = {
  /** Nothing listens any more, so connections are refused. */
  refused: { places: [], takes: [] },
  /** The connection is reset (RST): at a request, at an upgrade, and on sockets that are open. */
  reset: { places: ["rest", "connection", "official", "list"], takes: [] },
  /** Accepts a request or an upgrade and never answers it. */
  timeout: { places: ["rest", "connection", "official", "list"], takes: [] },
  /**
   * Answers requests and upgrades with `status` (default 503); a redirect leads to `location`. `text` is in the page: a
   * ban (403) may say so in words.
   */
  status: {
    places: ["rest", "connection", "official", "list"],
    takes: ["status", "location", "text"],
  },
  /** Answers requests and upgrades with 429 and a Retry-After of `retryAfterS` (default 30). */
  limited: {
    places: ["rest", "connection", "official", "list"],
    takes: ["retryAfterS"],
  },
  /**
   * Answers 200 with the venue's own words for a limit, as its registry entry knows them, and says them on each socket
   * that opens. Endpoints and sockets without such words are unaffected.
   */
  "limited-inside": { places: ["rest", "connection"], takes: [] },
  /** The same with the venue's own words for refusing a country or an address. */
  "blocked-inside": { places: ["rest", "connection"], takes: [] },
  /**
   * Answers 200 with the venue's own words for not trading, and says them on open sockets, until it says on these that
   * it trades again. Endpoints and sockets without such words are unaffected.
   */
  halted: { places: ["rest", "connection"], takes: [] },
  /** Answers 200 with an HTML page. */
  "wrong-body": { places: ["rest", "official", "list"], takes: [] },
  /** Answers 200 with this venue's error envelope. */
  "error-inside": { places: ["rest", "official", "list"], takes: [] },
  /** Good answers that describe the chain as it was `blocks` (default 3) ago. */
  lags: { places: ["rest"], takes: ["blocks"] },
  /**
   * Good answers, but every second one describes the chain as it was `blocks` (default 3) ago: two nodes take turns
   * behind one address.
   */
  "head-back": { places: ["rest"], takes: ["blocks"] },
  /**
   * Good answers that describe the chain as it was when the fault began, and no new block or event of it on streams. A
   * chain stands that does so at all venues that read it (`*`); venues without a chain are unaffected.
   */
  "chain-stands": { places: ["rest", "stream"], takes: [] },
  /** Good answers, upgrades included, but `latencyMs` late (default 3000). */
  slow: { places: ["rest", "connection", "official", "list"], takes: ["latencyMs"] },
  /** A body that arrives byte by byte and never ends. */
  drip: { places: ["rest", "official", "list"], takes: [] },
  /** A body that arrives as fast as the client reads and never ends. */
  endless: { places: ["rest", "official", "list"], takes: [] },
  /** The well-formed JSON of another product's Statuspage, with its id, address and incidents. */
  "other-product": { places: ["official"], takes: [] },
  /**
   * Entries lack fields that they had: status, impact, and when they began and were posted. The status that holds now
   * is missing, too.
   */
  "lost-fields": { places: ["official"], takes: [] },
  /** The feed as it was `behindMs` ago (default a day): its time stamp is older, and the newest notices are missing. */
  "back-in-time": { places: ["official"], takes: ["behindMs"] },
  /** The feed no longer lists anything. A feed without a list (Binance, KuCoin) is unaffected. */
  "empty-list": { places: ["official"], takes: [] },
  /**
   * Answers and frames keep arriving, but the price, the time, the newest trade and the head of the chain stay as they
   * were when the fault began. Frozen trades next to a silent stream are a quiet market.
   */
  frozen: { places: ["rest", "stream"], takes: [] },
  /** No data arrives, while the socket, its pings and its acknowledgements work. */
  silent: { places: ["stream"], takes: [] },
  /** Every other frame is left out, and so is its number where frames are numbered. */
  "lost-frames": { places: ["stream"], takes: [] },
  /** Closes open sockets, and new ones right after they open, with `closeCode` (default 1012). */
  "socket-closed": { places: ["connection"], takes: ["closeCode"] },
  /** Answers upgrades with `status` (default 503); open sockets stay open. */
  "handshake-refused": { places: ["connection"], takes: ["status"] },
  /** The socket stays open, but nothing arrives through it any more, not even pongs. */
  "dead-socket": { places: ["connection"], takes: [] },
  /** The venue's list declares withdrawals paused, in the words of `text` where a list has room for words. */
  "withdrawals-paused": { places: ["line"], takes: ["text"] },
  /** The same of deposits. */
  "deposits-paused": { places: ["line"], takes: ["text"] },
} satisfies Record<string, KindRules>;

export type FaultKind = keyof typeof rules;
export const faultKinds = Object.keys(rules) as FaultKind[];

export interface FaultDetails {
  status?: number;
  location?: string;
  text?: string;
  retryAfterS?: number;
  latencyMs?: number;
  closeCode?: number;
  behindMs?: number;
  blocks?: number;
}

export interface ScriptedFault extends FaultDetails {
  kind: FaultKind;
  /** Registry id, or `*` for every venue. */
  venue: string;
  /**
   * `rest:<name>`, `rest:*`, `ws:<name>`, `ws:conn`, `ws:*`, `official`, `transfers` (the list), or a part of that such
   * as `transfers:USDT/tron`, `transfers:USDT/*` or `transfers:*`. Absent: every part of the venue that this kind can
   * affect, except its status feed and its list, which a fault must name.
   */
  component?: string;
  /** Absent: all regions, and clients that name none. */
  regions?: string[];
  /** Only at this host, with its port if the address has one: one node of several. Absent: at all of the venue. */
  host?: string;
  /** Absent: the fault has always been there. */
  from?: Date;
  /** Absent: the fault never ends. */
  to?: Date;
  /** The fault begins again this long after each beginning. */
  everyMs?: number;
}

/** Who asks, and at which of the venue's hosts. */
export interface Client {
  /** Null: the client names none. */
  region: string | null;
  /** Null: a status feed, or the venue's own listener. */
  host: string | null;
}

export interface Target extends Client {
  venue: string;
  component: string;
}

/** Returns the first of `faults` that is in progress and affects the target. */
export function faultOf(
  faults: readonly ScriptedFault[],
  target: Target,
  at: Date,
  among?: readonly FaultKind[],
): ScriptedFault | undefined {
  return faults.find(
    (fault) => (!among || among.includes(fault.kind)) && befalls(fault, target) && underWay(fault, at),
  );
}

function befalls(fault: ScriptedFault, { venue, component, region, host }: Target) {
  if (fault.venue !== "*" && fault.venue !== venue) return false;
  if (fault.host !== undefined && fault.host !== host) return false;
  if (fault.regions && !(region && fault.regions.includes(region))) return false;
  if (rules[fault.kind].places.length === 0) return true;
  return placesOf(component).some((place) => actsOn(fault.kind, place)) && covers(fault.component, component);
}

/** Whether the component of a fault, possibly with `*`, or none, means this one. */
export function covers(pattern: string | undefined, component: string): boolean {
  if (pattern === undefined) return component !== "official" && !component.startsWith("transfers");
  return pattern.endsWith("*") ? component.startsWith(pattern.slice(0, -1)) : component === pattern;
}

/** `ws:*` covers connections and streams. */
export function placesOf(component: string): FaultPlace[] {
  if (component.startsWith("rest:")) return ["rest"];
  if (component === "official") return ["official"];
  if (component === "transfers") return ["list"];
  if (component.startsWith("transfers:")) return ["line"];
  if (component === "ws:conn") return ["connection"];
  return component === "ws:*" ? ["connection", "stream"] : ["stream"];
}

export function actsOn(kind: FaultKind, place: FaultPlace): boolean {
  return (rules[kind].places as FaultPlace[]).includes(place);
}

function underWay(fault: ScriptedFault, at: Date): boolean {
  const { from, to } = phaseOf(fault, at);
  return from <= at.getTime() && at.getTime() < to;
}

/** When the occurrence in progress began, Unix milliseconds; -Infinity: it has always been in progress. */
export function startOf(fault: ScriptedFault, at: Date): number {
  return phaseOf(fault, at).from;
}

/** When a fault next begins or ends after `at`, Unix milliseconds; Infinity: never. */
export function nextChange(fault: ScriptedFault, at: Date): number {
  const { from, to, next } = phaseOf(fault, at);
  if (at.getTime() < from) return from;
  return at.getTime() < to ? to : next;
}

/**
 * Start and end of the occurrence in progress, or of the last one if none is; and the start of the next.
 */
function phaseOf({ from, to, everyMs }: ScriptedFault, at: Date) {
  const first = {
    from: from?.getTime() ?? -Infinity,
    to: to?.getTime() ?? Infinity,
  };
  if (everyMs === undefined || at.getTime() < first.from) return { ...first, next: Infinity };
  const passed = Math.floor((at.getTime() - first.from) / everyMs) * everyMs;
  return {
    from: first.from + passed,
    to: first.to + passed,
    next: first.from + passed + everyMs,
  };
}

// How a faulty request is answered, for REST and status feeds alike.

export function slowness(fault: ScriptedFault | undefined): number {
  return fault?.kind === "slow" ? (fault.latencyMs ?? 3000) : 0;
}

/**
 * The answer of each kind of fault. For a kind without an entry (`slow`, and the false content that only a feed can
 * have), the caller makes the answer.
 */
export const faultyAnswers: Partial<
  Record<
    FaultKind,
    (
      response: ServerResponse,
      fault: ScriptedFault,
      /** The venue's error envelope. */
      errorInside: unknown,
    ) => void
  >
> = {
  reset: (response) => response.socket?.resetAndDestroy(),
  timeout: () => {},
  status: (response, { status = 503, location, text = String(status) }) => {
    if (location) response.setHeader("location", location);
    sendHtml(response, status, `<h1>${text}</h1>`);
  },
  limited: (response, { retryAfterS = 30 }) => {
    response.setHeader("retry-after", Math.ceil(retryAfterS));
    sendJson(response, 429, { msg: "Too many requests" });
  },
  "wrong-body": (response) => sendHtml(response, 200, "<h1>We will be back soon</h1>"),
  "error-inside": (response, _fault, errorInside) => sendJson(response, 200, errorInside),
  drip,
  endless,
};

function drip(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  const timer = setInterval(() => response.write(" "), 100);
  response.once("close", () => clearInterval(timer));
}

const chunk = Buffer.alloc(16_384, '"0",');

/** Writes as fast as the client reads; for a client that does not read, it waits for `drain`. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  response.on("drain", pour);
  pour();

  function pour() {
    while (!response.destroyed && response.write(chunk));
  }
}
