/** What can go wrong in the world, for whom, and from when to when. */
/**
 * Where a kind of fault acts: on REST answers, on connections of the socket, on the streams that flow through it, on
 * the status feed.
 */
export type FaultPlace = "rest" | "connection" | "stream" | "official";

interface KindRules {
  /** Empty: the whole venue, for every region alike. */
  places: FaultPlace[];
  /** Numbers and texts that this kind takes. */
  takes: (keyof FaultDetails)[];
}

/** Every kind, and what it does. */
export const rules = {
  /** Nothing listens any more: connecting is refused. */
  refused: { places: [], takes: [] },
  /** The connection is reset (RST): at a request, at an upgrade, and sockets that are open. */
  reset: { places: ["rest", "connection", "official"], takes: [] },
  /** Accepts a request or an upgrade, and never answers. */
  timeout: { places: ["rest", "connection", "official"], takes: [] },
  /** Answers with `status` (default 503), upgrades too; a redirect goes to `location`. */
  status: {
    places: ["rest", "connection", "official"],
    takes: ["status", "location"],
  },
  /** 429 with Retry-After of `retryAfterS` (default 30), upgrades too. */
  limited: {
    places: ["rest", "connection", "official"],
    takes: ["retryAfterS"],
  },
  /** 200 with a page of HTML. */
  "wrong-body": { places: ["rest", "official"], takes: [] },
  /** 200 with the error envelope of this venue. */
  "error-inside": { places: ["rest", "official"], takes: [] },
  /** Good answers, of the chain as it was `blocks` (default 3) ago. */
  lags: { places: ["rest"], takes: ["blocks"] },
  /**
   * Good answers, every second of them of the chain as it was `blocks` (default 3) ago: two nodes take turns behind one
   * address.
   */
  "head-back": { places: ["rest"], takes: ["blocks"] },
  /** Good answers that name a head `blocks` (default 10^15) ahead of the chain. */
  "false-head": { places: ["rest"], takes: ["blocks"] },
  /** The good answer `latencyMs` later (default 3000), upgrades too. */
  slow: { places: ["rest", "connection", "official"], takes: ["latencyMs"] },
  /** A body that comes byte by byte and never ends. */
  drip: { places: ["rest", "official"], takes: [] },
  /** A body that comes as fast as the client reads and never ends. */
  endless: { places: ["rest", "official"], takes: [] },
  /** Well-formed JSON of a Statuspage that is another product's: its id, its address, its incidents. */
  "other-product": { places: ["official"], takes: [] },
  /**
   * Entries lack what they were before: status, impact, when they began and were posted; the status of what holds now
   * lacks, too.
   */
  "lost-fields": { places: ["official"], takes: [] },
  /** What the feed said `behindMs` ago (default a day): its time stamp is older, and the newest notices are missing. */
  "back-in-time": { places: ["official"], takes: ["behindMs"] },
  /** Nothing stands on the feed any more. One that keeps no list (Binance, KuCoin) says what it would say. */
  "empty-list": { places: ["official"], takes: [] },
  /**
   * Good answers and frames as of when it began: the price, the time, the newest trade and the head of the chain stand
   * still, while answers and frames go on. Trades that stand still beside a stream that is silent are a quiet market.
   */
  frozen: { places: ["rest", "stream"], takes: [] },
  /** No data, while the socket, its pings and its acknowledgements live. */
  silent: { places: ["stream"], takes: [] },
  /** Every other frame is left out, and its number with it where frames are numbered. */
  "lost-frames": { places: ["stream"], takes: [] },
  /** Open sockets are closed, new ones right after opening, with `closeCode` (default 1012). */
  "socket-closed": { places: ["connection"], takes: ["closeCode"] },
  /** Upgrades are answered with `status` (default 503); open sockets live on. */
  "handshake-refused": { places: ["connection"], takes: ["status"] },
  /** The socket stays open, and nothing comes through it any more, pongs included. */
  "dead-socket": { places: ["connection"], takes: [] },
} satisfies Record<string, KindRules>;

export type FaultKind = keyof typeof rules;
export const faultKinds = Object.keys(rules) as FaultKind[];

export interface FaultDetails {
  status?: number;
  location?: string;
  retryAfterS?: number;
  latencyMs?: number;
  closeCode?: number;
  behindMs?: number;
  blocks?: number;
}

export interface ScriptedFault extends FaultDetails {
  kind: FaultKind;
  /** Registry id, or `*`. */
  venue: string;
  /**
   * `rest:<name>`, `rest:*`, `ws:<name>`, `ws:conn`, `ws:*`, `official`. Absent: everything of the venue that this kind
   * can befall, but for its status feed: that stands elsewhere, and falls only when it is named.
   */
  component?: string;
  /** Absent: all, and clients that name no region. */
  regions?: string[];
  /** Absent: since ever. */
  from?: Date;
  /** Absent: for ever. */
  to?: Date;
  /** Comes back this long after each beginning. */
  everyMs?: number;
}

export interface Target {
  venue: string;
  component: string;
  region: string | null;
}

/** The first of `faults` that is under way and befalls the target. */
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

function befalls(fault: ScriptedFault, { venue, component, region }: Target) {
  if (fault.venue !== "*" && fault.venue !== venue) return false;
  if (fault.regions && !(region && fault.regions.includes(region))) return false;
  if (rules[fault.kind].places.length === 0) return true;
  return placesOf(component).some((place) => actsOn(fault.kind, place)) && covers(fault.component, component);
}

function covers(pattern: string | undefined, component: string): boolean {
  if (pattern === undefined) return component !== "official";
  return pattern.endsWith("*") ? component.startsWith(pattern.slice(0, -1)) : component === pattern;
}

/** `ws:*` may mean connections and streams. */
export function placesOf(component: string): FaultPlace[] {
  if (component.startsWith("rest:")) return ["rest"];
  if (component === "official") return ["official"];
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

/** When the occurrence that is under way began, Unix milliseconds; -Infinity: since ever. */
export function begunAt(fault: ScriptedFault, at: Date): number {
  return phaseOf(fault, at).from;
}

/** When a fault next begins or ends after `at`, Unix milliseconds; Infinity: never. */
export function nextChange(fault: ScriptedFault, at: Date): number {
  const { from, to, next } = phaseOf(fault, at);
  if (at.getTime() < from) return from;
  return at.getTime() < to ? to : next;
}

/**
 * Beginning and end of the occurrence that is under way or, between two, that is over; and the beginning of the next.
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
