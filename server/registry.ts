/** The venues and regions that the service watches: the shape of registry.json. */

export const categories = [
  "exchange",
  "rpc",
  "market-data",
  "oracle",
  "stablecoin",
  "bridge",
  "ramp",
] as const;

export type Category = (typeof categories)[number];

export interface Registry {
  /** Default cadence of a REST endpoint in each region, milliseconds. */
  probeIntervalMs: number;
  /** The first one is the primary region, the default of `region` parameters. */
  regions: Region[];
  venues: Venue[];
}

export interface Region {
  id: string;
  name: string;
}

export interface Venue {
  id: string;
  name: string;
  category: Category;
  /** The instrument probed, in the venue's own notation. */
  symbol: string | null;
  quote: string | null;
  /** The chain that this venue reads, where its category reads one. */
  chain: string | null;
  rest: RestEndpoint[];
  socket: Socket | null;
  official: Official | null;
}

export interface RestEndpoint {
  /** `[a-z]+`; the component is `rest:<name>`. */
  name: string;
  label: string;
  method: "GET" | "POST";
  url: string;
  /** Sent as JSON with POST. */
  body?: unknown;
  expectStatus: number;
  /** A path that must lead to a value that is not null: `$`, `$.a.b[0]['any key']`. `$` alone: the body is JSON. */
  proof: string;
  /** The chain head in the answer, where there is one. */
  head?: { path: string; encoding: "hex" | "integer" };
  cadenceMs: number;
  /** The whole exchange, from the start of the connection to the last byte. */
  timeoutMs: number;
}

export interface Socket {
  url: string;
  keepAlive: KeepAlive;
  /** Documented lifetime of a connection: it is renewed before. */
  maxConnectionMs: number | null;
  streams: Stream[];
}

/**
 * Who keeps the socket alive, and how it is known to be dead.
 *
 * Protocol pings of the server are always answered with a pong of the same payload.
 */
export interface KeepAlive {
  /** What we send: a protocol ping, a bare text, a JSON message, or nothing. `{unixSeconds}` in JSON stands for the time as a number. */
  send:
    | { kind: "none" }
    | { kind: "ping"; everyMs: number }
    | { kind: "text"; everyMs: number; text: string }
    | { kind: "json"; everyMs: number; message: unknown }
    /** Once, right after opening (Deribit's set_heartbeat). */
    | { kind: "once"; message: unknown };
  /** How long after our ping anything at all must have come back; null where nothing is awaited. */
  replyWithinMs: number | null;
  /** The socket counts as dead after this long without any frame, pings included; null where the venue gives no rule. */
  deadAfterMs: number | null;
  /** A frame of the server that must be answered (Deribit's test_request). */
  respond?: { when: Match; message: unknown };
}

export interface Stream {
  /** `[a-z]+`, not `conn`; the component is `ws:<name>`. */
  name: string;
  label: string;
  /** Another socket of the same venue, where one connection serves one route (Binance Futures' book). */
  url?: string;
  subscribe: unknown;
  /** A frame is data of this stream when `match` holds and `ignore` does not. */
  match: Match;
  ignore?: Match;
  /** The age of an event by the venue's clock, where frames carry one. */
  eventTime?: { path: string; unit: "ns" | "us" | "ms" | "s" | "iso" };
  /** Length of a slot, milliseconds. */
  cadenceMs: number;
  typicalPerMinute: number;
  rateBasis: "documented" | "probed" | "estimate";
  stall: StallThreshold;
}

/** Silence beyond `afterMs` is a stall. `distribution` is what it was read off; null while it is only reckoned from the typical rate. */
export interface StallThreshold {
  afterMs: number;
  distribution: null | {
    /** Quiet periods looked at, and from when to when (dates, UTC). */
    periods: number;
    from: string;
    to: string;
    p50Ms: number;
    p99Ms: number;
    p999Ms: number;
  };
}

/** `path` exists (not null), or equals `equals` when that is given. `{chanId:<channel>}` in `equals` is Bitfinex's channel number. */
export interface Match {
  path: string;
  equals?: string | number;
}

export interface Official {
  kind:
    | "statuspage"
    | "binance-system-status"
    | "okx-system-status"
    | "bybit-system-status"
    | "kucoin-service-status"
    | "betterstack"
    | "html";
  page: string | null;
  api: string | null;
}
