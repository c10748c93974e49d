/** The venues and regions that the service watches: the shape of registry.json. */

export const categories = ["exchange", "rpc", "market-data", "oracle", "stablecoin", "bridge", "ramp"] as const;

export type Category = (typeof categories)[number];

export interface Registry {
  /** Default cadence of a REST endpoint in each region, milliseconds. */
  probeIntervalMs: number;
  /** The first one is the primary region, the default of `region` parameters. */
  regions: Region[];
  /**
   * The rhythm of the chains that venues read, by the name in `Venue.chain`. A chain that is missing here has no known
   * rhythm: its heads are not judged by it.
   */
  chains?: Record<string, Chain>;
  venues: Venue[];
}

export interface Chain {
  /** The usual time between two heads, milliseconds. */
  blockMs: number;
  /** Where that number comes from. */
  source: string;
}

export interface Region {
  id: string;
  name: string;
}

export interface Venue {
  id: string;
  /** Ids that it had before: requests by one of them are answered, and its history goes on. */
  formerIds?: string[];
  name: string;
  category: Category;
  /** The instrument probed, in the venue's own notation. */
  symbol: string | null;
  quote: string | null;
  /** The chain that this venue reads, where its category reads one. */
  chain: string | null;
  rest: RestEndpoint[];
  socket: SocketConfig | null;
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
  proof: Proof;
  /** The chain head in the answer, where there is one. */
  head?: { path: string; encoding: "hex" | "integer" };
  newest?: Newest;
  dataTime?: DataTime;
  /** One slot in twelve asks over a connection of its own (`probe/schedule/fresh-connection-share.ts`). */
  cadenceMs: number;
  /**
   * The whole exchange, from the start of the connection to the last byte. It ends well before the next slot: a slot
   * whose predecessor is under way is not measured.
   */
  timeoutMs: number;
}

/**
 * What an answer must hold to be good: all of the conditions. A path alone is the
 * condition that it leads to a value that is not null; `$` alone asks for JSON.
 */
export type Proof = string | Condition | Condition[];

/**
 * How a time is written: a number since 1970, or the same as a decimal or (`0x…`) hexadecimal text; `iso` is an ISO
 * 8601 text.
 */
export type TimeUnit = "ns" | "us" | "ms" | "s" | "iso";

/** How many milliseconds a unit has. */
export const milliseconds = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000 };

/**
 * Where an answer names the newest thing in it, a trade. Streams whose
 * `counterpart` this endpoint is are silent for a reason while it shows nothing newer.
 */
export interface Newest {
  /** In the answer; with `list`, in each of its entries. */
  path: string;
  /** The list whose greatest value is the newest, where its order is not known or may change. Not with unit `id`. */
  list?: string;
  /** `id`: it changes with every new thing, and says no time. */
  unit: TimeUnit | "id";
}

/** The answer's own time of its data, and the age beyond which they are stale. */
export interface DataTime {
  path: string;
  /**
   * The text at the path is `0x` and hexadecimal words of 32 bytes, as a contract answers; the time is the word at this
   * place, from 0.
   */
  word?: number;
  unit: TimeUnit;
  staleAfterMs: number;
}

export interface SocketConfig {
  url: string;
  /**
   * What holds of the frame with which the venue begins. Subscriptions are sent
   * after it, or after a few seconds without it. Absent: at once.
   */
  welcome?: Condition[];
  keepAlive: KeepAlive;
  /**
   * Documented lifetime of a connection: it is renewed before. Some live for
   * months, which is more than one `setTimeout` can wait (2^31 - 1 ms).
   */
  maxConnectionMs: number | null;
  streams: Stream[];
}

/**
 * Who keeps the socket alive, and how it is known to be dead.
 *
 * Protocol pings of the server are always answered with a pong of the same payload.
 */
export interface KeepAlive {
  /**
   * What we send: a protocol ping, a bare text, a JSON message, or nothing. The text "{unixSeconds}" in a JSON message
   * stands for the time as a number.
   */
  send:
    | { kind: "none" }
    | { kind: "ping"; everyMs: number }
    | { kind: "text"; everyMs: number; text: string }
    | { kind: "json"; everyMs: number; message: unknown }
    /** Once, right after opening (Deribit's set_heartbeat). */
    | { kind: "once"; message: unknown };
  /** How long after our ping anything at all must have come back; null where nothing is awaited. */
  replyWithinMs: number | null;
  /**
   * The socket counts as dead after this long without any frame, pings and pongs included; null where the venue gives
   * no rule.
   */
  deadAfterMs: number | null;
  /** A frame of the server, none of a stream's data, that must be answered (Deribit's test_request). */
  respond?: { when: Match; message: unknown };
}

export interface Stream {
  /** `[a-z]+`, not `conn`; the component is `ws:<name>`. */
  name: string;
  label: string;
  /** Another socket of the same venue, where one connection serves one route (Binance Futures' book). */
  url?: string;
  /** Sent as JSON once the socket is open; "{unixSeconds}" in it as in `KeepAlive`. */
  subscribe: unknown;
  /**
   * What holds of the frame that acknowledges the subscription. Where it names no
   * subscription, the first one that waits for it has it. Until then, or until the
   * stream has spoken, it is not measured, and from ten seconds on its slots are
   * bad. Absent: nothing is awaited but data. A refusal never acknowledges.
   */
  acknowledge?: Condition[];
  /**
   * A frame is data of this stream when `match` holds, or all of it, and `ignore`
   * does not. A frame is looked at until that is known: that a key is absent
   * is known at its end only, so what data alone has is better in `match` than
   * what it has not in `ignore`.
   */
  match: Match | Match[];
  ignore?: Match;
  /**
   * When the venue sent the frame by its own clock, else when the event
   * happened, where frames say so: a number, the same as a decimal text, or an
   * ISO 8601 text. Not every frame of a stream need carry it.
   */
  eventTime?: { path: string; unit: TimeUnit };
  /**
   * The age of its newest event, by `eventTime`, beyond which the stream is stale. Absent: the rule for all streams
   * holds.
   */
  staleAfterMs?: number;
  /** The REST endpoint of the same venue whose `newest` shows whether there was something to say. */
  counterpart?: string;
  sequence?: Sequence;
  /** Length of a slot, milliseconds. */
  cadenceMs: number;
  typicalPerMinute: number;
  rateBasis: "documented" | "probed" | "estimate";
  stall: StallThreshold;
}

/**
 * How the venue numbers the frames of a stream. `path` leads to the number of a
 * frame, or to the last of those it covers.
 *
 * - `counter` each number is one more than the one before
 * - `range` a frame covers the numbers from `first` on, which is one more than the last of the frame before
 * - `link` `previous` is the number of the frame before
 *
 * Where `first` or `previous` is missing the numbers begin anew (a snapshot), as
 * they do on each connection.
 */
export type Sequence =
  | { kind: "counter"; path: string }
  | { kind: "range"; path: string; first: string }
  | { kind: "link"; path: string; previous: string };

/**
 * Silence beyond `afterMs` is a stall. `distribution` is what it was read off
 * by `venuewatch stalls measure` (stalls/proposal.ts says how).
 *
 * While that is null, `afterMs` is reckoned: 10 mean intervals and at least
 * 10 s where the rate is documented or probed, for such feeds tick like a
 * clock; 60 and at least 15 s where it is an estimate, for trades may come five
 * times slower in a quiet hour, and then still only six in a million random
 * gaps are longer than that; whole seconds, rounded up. Feeds of Ethereum move
 * once a block, so they have at least the 60 s after which its block heads
 * count as silent.
 */
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

/**
 * What a stream's stall threshold stands on: measured silences, or its usual rate, of which the registry says where
 * that comes from.
 */
export function stallBasis(stream: Stream): "measured" | Stream["rateBasis"] {
  return stream.stall.distribution ? "measured" : stream.rateBasis;
}

export type Plain = string | number | boolean;

/**
 * `path` exists (not null), or equals `equals` when that is given. `{chanId:<channel>}` in `equals` is Bitfinex's
 * channel number.
 */
export interface Match {
  path: string;
  equals?: Plain;
}

/** A condition on JSON that was read whole: an answer, or a frame that is no data. */
export type Condition =
  /** It exists (not null), or equals `equals`, or one of them. */
  | { path: string; equals?: Plain | Plain[] }
  /** It is a list, perhaps an empty one. */
  | { path: string; is: "list" }
  /** It is absent or null. */
  | { unless: string };

/** All that must hold. */
export function conditionsOf<T>(conditions: T | T[]): T[] {
  return Array.isArray(conditions) ? conditions : [conditions];
}

/** Where the venue itself speaks about its faults. */
export interface Official {
  /** The form of what `api` answers; `html`: a page for people, no feed that a program can read. */
  kind:
    | "statuspage"
    | "binance-system-status"
    | "okx-system-status"
    | "bybit-system-status"
    | "kucoin-service-status"
    | "betterstack"
    | "html";
  page: string | null;
  /** Null exactly with kind `html`. */
  api: string | null;
  /**
   * Where one feed serves several services: a notice is about this one when its title or a component of it contains one
   * of these words.
   */
  about?: string[];
  /**
   * Words of what such a feed tells beside what we measure (deposits, listings): a notice is not counted when each of
   * its components has one; where it names none, or says that nothing is affected, when its title has.
   */
  notAbout?: string[];
}

/** What is measured and judged by itself: an endpoint, a stream, or `ws:conn`, the socket that the streams share. */
export interface Component {
  /** `rest:<name>`, `ws:<name>` or `ws:conn`. */
  id: string;
  kind: "rest" | "ws";
  label: string;
  /** The address that is measured. */
  target: string;
  cadenceMs: number;
}

/**
 * All components of a venue: its endpoints, then the socket, then the streams, in the order of the registry. The socket
 * is sampled as often as the quickest of its streams.
 */
export function componentsOf(venue: Venue): Component[] {
  const rest = venue.rest.map(({ name, label, url, cadenceMs }): Component => ({
    id: `rest:${name}`,
    kind: "rest",
    label,
    target: url,
    cadenceMs,
  }));
  return [...rest, ...socketComponents(venue.socket)];
}

function socketComponents(socket: SocketConfig | null): Component[] {
  if (socket === null) return [];
  const connection: Component = {
    id: "ws:conn",
    kind: "ws",
    label: "Socket",
    target: socket.url,
    cadenceMs: Math.min(...socket.streams.map((stream) => stream.cadenceMs)),
  };
  const streams = socket.streams.map(({ name, label, url, cadenceMs }): Component => ({
    id: `ws:${name}`,
    kind: "ws",
    label,
    target: url ?? socket.url,
    cadenceMs,
  }));
  return [connection, ...streams];
}

/** The names or addresses of every host at which a venue is measured; one may come several times. */
export function hostsOf({ rest, socket }: Venue): string[] {
  const urls = [
    ...rest.map(({ url }) => url),
    ...(socket ? [socket.url] : []),
    ...(socket?.streams.flatMap(({ url }) => url ?? []) ?? []),
  ];
  return urls.map((url) => new URL(url).hostname);
}
