/**
 * The venues and regions that the service watches, as `loadRegistry` returns them: every venue is a whole entry, and
 * every cadence respects the limits of its origin.
 */

export const categories = ["exchange", "rpc", "market-data", "oracle", "stablecoin", "bridge", "ramp"] as const;

export type Category = (typeof categories)[number];

export interface Registry {
  /** Default cadence of a REST endpoint in each region, milliseconds. */
  probeIntervalMs: number;
  /** The first one is the primary region, the default of `region` parameters. */
  regions: Region[];
  /**
   * What is known of chains, by the name in `Venue.chain`. The heads of a chain that is missing here are not checked
   * for their age.
   */
  chains?: Record<string, Chain>;
  /** The assets whose deposits and withdrawals are read, by symbol, in the order of the board. */
  assets?: Record<string, SpelledName>;
  /** The networks on which assets are transferred, by id. */
  networks?: Record<string, SpelledName>;
  venues: Venue[];
}

/** An asset or a network, and how venues spell it: in capitals or not. */
export interface SpelledName {
  name: string;
  /** At every venue, besides its id. */
  names?: string[];
  /** At one venue only, by the venue's id. These win over the names of every venue. */
  venues?: Record<string, string[]>;
}

export interface Chain {
  /** How people call it; default: its name in `Venue.chain`, with a capital. */
  name?: string;
  /** The usual time between two heads, milliseconds. */
  blockMs: number;
  /** The source of `blockMs`. */
  source: string;
}

export interface Region {
  id: string;
  name: string;
  /**
   * Other hosts for probes of this region, by the host in the entry, with a port where the address has one: for venues
   * that serve public data elsewhere to countries that they block.
   */
  hosts?: Record<string, string>;
}

export interface Venue {
  id: string;
  /** Previous ids: requests with one of them are answered, and the history continues. */
  formerIds?: string[];
  name: string;
  category: Category;
  /** The instrument probed, in the venue's own notation. */
  symbol: string | null;
  quote: string | null;
  /** The chain that this venue reads, if its category reads one. */
  chain: string | null;
  /** Set on a chain, which no registry file lists as a venue: `watchedVenues` adds it. */
  heads?: ChainReading;
  rest: RestEndpoint[];
  socket: SocketConfig | null;
  official: Official | null;
  /** Absent: nothing can be deposited there, or nobody has looked. */
  transfers?: Transfers;
  /** For every endpoint that has none of its own. */
  limited?: AnyOf;
  /** For every endpoint that has none of its own. */
  blocked?: AnyOf;
  /** Addresses of the venue's documentation and changelog. */
  sources?: string[];
  /** The day on which the entry was last compared with its sources. */
  checkedAt?: string;
  until?: VenueEnding;
  endedAt?: VenueEnd;
  limits?: Limit[];
  blockedIn?: Block;
  /** How long an edge in front of the venue may repeat an answer. A shorter outage behind it is invisible. */
  edgeCacheMs?: number;
  /** The same venue in ccxt, whose hosts are compared with these every night (test/registry-check.ts). */
  ccxt?: CcxtExchange;
}

export interface CcxtExchange {
  /** Id of an exchange in ccxt's newest version. */
  id: string;
  /** Hosts that ccxt does not have, and why the entry is right. */
  differs?: { host: string; why: string }[];
}

/** How a chain is measured: by the heads that its providers report anyway. */
export interface ChainReading {
  /** Ids of the venues. */
  providers: string[];
  cadenceMs: number;
  /** A chain without a new block for longer than this stands. */
  standsAfterMs: number;
}

/** What ends on a day. Its components are unknown from then on, and never down. */
export interface VenueEnding {
  /** The first day without it, UTC. */
  date: string;
  /** A sentence for readers. */
  what: string;
  source: string;
  /** Ids of the components that end; default: all. */
  components?: string[];
}

/** The venue itself ends: it is not measured from then on, and only its history is shown. */
export interface VenueEnd {
  /** The first day without it, UTC. */
  date: string;
  /** A sentence for readers. */
  what: string;
  source: string;
}

/** How many requests a venue accepts. */
export interface Limit {
  /** `https://api.example.com` */
  origin: string;
  requests: number;
  periodMs: number;
  /** What is counted: requests from one address, or those of one account, which a probe does not have. */
  per: "address" | "account";
  /** Names of the endpoints that it covers; default: all of the origin. */
  endpoints?: string[];
  source: string;
}

/** Countries that the venue does not serve. */
export interface Block {
  /** ISO 3166-1 alpha-2 codes. */
  countries: string[];
  source: string;
}

export interface RestEndpoint {
  /** `[a-z]+`; the component is `rest:<name>`. */
  name: string;
  label: string;
  method: "GET" | "POST";
  url: string;
  /** Sent to the origin of `url` only. */
  headers?: Record<string, string>;
  /** Sent as JSON with POST. */
  body?: unknown;
  expectStatus: number;
  proof: Proof;
  /** The answer, of any status, refuses our country or address, as 403 and 451 do. Checked first. */
  blocked?: AnyOf;
  /** The answer, of any status, asks us to wait, as 429 does. Checked before `proof`. */
  limited?: AnyOf;
  /** The answer, of any status, says that the venue does not trade. Checked before `proof`. */
  halted?: AnyOf;
  /**
   * Other addresses that give the same answer, asked in turn when the one before fails. Then none of the hosts is the
   * venue's own: if all of them fail, that says nothing about the venue.
   */
  alternatives?: string[];
  /** The chain head in the answer, if there is one. */
  head?: { path: string; encoding: "hex" | "integer" };
  newest?: Newest;
  dataTime?: DataTime;
  /** One slot in twelve uses a fresh connection (`probe/schedule/tasks.ts`). */
  cadenceMs: number;
  /**
   * For the whole exchange, from the start of the connection to the last byte. It must end well before the next slot: a
   * slot is not measured while the previous one is running.
   */
  timeoutMs: number;
}

/**
 * The conditions that an answer must all meet to be good. A path alone is the condition that its value is not null; `$`
 * alone requires only JSON.
 */
export type Proof = string | Condition | Condition[];

/** A condition; a list of conditions that must all hold; or a list of such lists, of which one must hold. */
export type AnyOf = Condition | Condition[] | Condition[][];

/**
 * The format of a time: a number since 1970, or the same as a decimal or (`0x…`) hexadecimal text; `iso` is an ISO 8601
 * text.
 */
export type TimeUnit = "ns" | "us" | "ms" | "s" | "iso";

/** Milliseconds per unit. */
export const msPerUnit = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000 };

/**
 * Where an answer has its newest item, such as a trade. A stream with this endpoint as `counterpart` may be silent
 * while the answers show nothing newer.
 */
export interface Newest {
  /** Path in the answer; with `list`, in each of its entries. */
  path: string;
  /** A list of unknown or changing order, whose maximum is the newest. Not with unit `id`. */
  list?: string;
  /** `id`: it changes with every new item, but is not a time. */
  unit: TimeUnit | "id";
}

/** The time of an answer's data, and the age beyond which they are stale. */
export interface DataTime {
  path: string;
  /**
   * For the answer of a contract: the text at the path is `0x` and hexadecimal words of 32 bytes, and the time is the
   * word at this index, from 0.
   */
  word?: number;
  unit: TimeUnit;
  staleAfterMs: number;
}

export interface SocketConfig {
  url: string;
  /**
   * Headers of the request that opens it. Sent to the origin of `url` only, also for streams with an address of their
   * own.
   */
  headers?: Record<string, string>;
  /**
   * Conditions on the venue's first frame. Subscriptions are sent after it, or after a few seconds without it. Absent:
   * at once.
   */
  welcome?: Condition[];
  /** A frame that refuses our country or address, like 403 does. The socket is closed. */
  blocked?: AnyOf;
  /** A frame that asks us to wait, like 429 does. The socket is closed, and opened again after the pause. */
  limited?: AnyOf;
  /**
   * A frame that says that the venue does not trade. It holds until a frame has values at all paths of the conditions
   * that it fulfilled, without fulfilling them, or the socket ends.
   */
  halted?: AnyOf;
  /** As `RestEndpoint.alternatives`. */
  alternatives?: string[];
  /** How the venue compresses each binary frame, apart from the WebSocket's own compression. Absent: it does not. */
  compression?: FrameCompression;
  keepAlive: KeepAlive;
  /**
   * Documented lifetime of a connection, which is renewed before it ends. Some are months, longer than one `setTimeout`
   * can wait (2^31 - 1 ms).
   */
  maxConnectionMs: number | null;
  streams: Stream[];
}

/** `deflate`: with zlib's header, as HTTP's encoding of that name; `deflate-raw`: without. */
export type FrameCompression = "gzip" | "deflate" | "deflate-raw";

/**
 * How the socket is kept alive, and when it counts as dead.
 *
 * Protocol pings of the server are always answered with a pong of the same payload.
 */
export interface KeepAlive {
  /**
   * What we send: a protocol ping, a plain text, a JSON message, or nothing. The text "{unixSeconds}" in a JSON message
   * is replaced by the time as a number.
   */
  send:
    | { kind: "none" }
    | { kind: "ping"; everyMs: number }
    | { kind: "text"; everyMs: number; text: string }
    | { kind: "json"; everyMs: number; message: unknown }
    /** Once, right after opening (Deribit's set_heartbeat). */
    | { kind: "once"; message: unknown };
  /** The time after our ping within which any frame must arrive; null where none is expected. */
  replyWithinMs: number | null;
  /**
   * The socket counts as dead after this long without any frame, including pings and pongs; null where the venue
   * documents no limit.
   */
  deadAfterMs: number | null;
  /**
   * A frame of the server, not of a stream's data, that must be answered (Deribit's test_request). The text
   * "{frame:$.path}" in the message is replaced by the value at that path of the frame (HTX's ping).
   */
  respond?: { when: Match; message: unknown };
}

export interface Stream {
  /** `[a-z]+`, not `conn`; the component is `ws:<name>`. */
  name: string;
  label: string;
  /** Address of another socket of the venue, where each connection serves one route (Binance Futures' book). */
  url?: string;
  /** Sent as JSON once the socket is open; "{unixSeconds}" in it as in `KeepAlive`. */
  subscribe: unknown;
  /**
   * Conditions on the frame that acknowledges the subscription. A frame that names no subscription acknowledges the
   * first that waits. Until the acknowledgement, or the stream's first data, the stream is not measured, and after ten
   * seconds its slots are bad. Absent: only data are awaited. A refusal never acknowledges.
   */
  acknowledge?: Condition[];
  /**
   * A frame is data of this stream when `match` (if a list, all of it) holds and `ignore` does not. A frame is parsed
   * only until that is known. That a key is absent is known only at the frame's end, so prefer a `match` on a key that
   * only data have to an `ignore` on one that they lack.
   */
  match: Match | Match[];
  ignore?: Match;
  /**
   * The time in a frame at which the venue sent it, by its own clock, or else the time of the event: a number, the same
   * as a decimal text, or an ISO 8601 text. Frames may lack it.
   */
  eventTime?: { path: string; unit: TimeUnit };
  /**
   * The age of the newest event, by `eventTime`, beyond which the stream is stale. Absent: the rule for all streams.
   */
  staleAfterMs?: number;
  /** The REST endpoint of the same venue whose `newest` shows whether there was something to send. */
  counterpart?: string;
  sequence?: Sequence;
  /** Length of a slot, milliseconds. */
  cadenceMs: number;
  typicalPerMinute: number;
  rateBasis: "documented" | "probed" | "estimate";
  stall: StallThreshold;
}

/**
 * How the venue numbers the frames of a stream. `path` has the number of a frame, or the last of those that it covers.
 *
 * - `counter` each number is one more than the one before
 * - `range` a frame covers the numbers from `first` on, which is one more than the last of the frame before
 * - `link` `previous` is the number of the frame before
 *
 * The numbers restart where `first` or `previous` is missing (a snapshot), and on each connection.
 */
export type Sequence =
  | { kind: "counter"; path: string }
  | { kind: "range"; path: string; first: string }
  | { kind: "link"; path: string; previous: string };

/**
 * Silence beyond `afterMs` is a stall. `distribution` is what `venuewatch stalls measure` derived it from
 * (server/cli/stalls.ts).
 *
 * Without it, `afterMs` is computed, in whole seconds, rounded up. Where the rate is documented or probed: 10 mean
 * intervals and at least 10 s, since such streams are regular. Where the rate is an estimate: 60 mean intervals and at
 * least 15 s, since trades may be five times slower in a quiet hour, and even then only six in a million random gaps
 * are longer. Streams of Ethereum change once per block, so they have at least 60 s, after which its block heads count
 * as silent.
 */
export interface StallThreshold {
  afterMs: number;
  distribution: null | {
    /** Number of quiet periods measured, and their first and last date (UTC). */
    periods: number;
    from: string;
    to: string;
    p50Ms: number;
    p99Ms: number;
    p999Ms: number;
  };
}

/**
 * What a stream's stall threshold is based on: measured silences, or its usual rate with the registry's source for
 * that.
 */
export function stallBasis(stream: Stream): "measured" | Stream["rateBasis"] {
  return stream.stall.distribution ? "measured" : stream.rateBasis;
}

export type Plain = string | number | boolean;

/**
 * The value at `path` is not null, or equals `equals` if that is given. `{chanId:<channel>}` in `equals` is Bitfinex's
 * channel number.
 */
export interface Match {
  path: string;
  equals?: Plain;
}

/** A condition on completely parsed JSON: an answer, or a frame that is not data. */
export type Condition =
  /** The value is not null, or equals `equals`, or one of them. */
  | { path: string; equals?: Plain | Plain[] }
  /** The value is a text that contains this one, in any case. A body that is not JSON is a text at `$`. */
  | { path: string; includes: string }
  /** The value is a list, which may be empty. */
  | { path: string; is: "list" }
  /** The value is absent or null. */
  | { unless: string };

/** A single condition or a list, as a list. */
export function conditionsOf<T>(conditions: T | T[]): T[] {
  return Array.isArray(conditions) ? conditions : [conditions];
}

/** Lists of deposits and withdrawals, each with a format in server/core/transfers/formats. */
export type TransferKind =
  | "gate-currencies"
  | "kucoin-currencies"
  | "bitget-coins"
  | "coinbase-currencies"
  | "bitfinex-methods"
  | "kraken-assets"
  | "bitstamp-currencies"
  | "htx-currencies";

/** Where the venue says which deposits and withdrawals are open; or why nobody can read that. */
export type Transfers = { kind: TransferKind; api: string } | { kind: null; because: string };

/** The venue's own status feed. */
export interface Official {
  /** The format of `api`; `html`: only a page for people, no feed that a program can read. */
  kind:
    | "statuspage"
    | "binance-system-status"
    | "okx-system-status"
    | "bybit-system-status"
    | "kucoin-service-status"
    | "betterstack"
    | "instatus"
    | "bitget-announcements"
    | "gate-announcements"
    | "html";
  page: string | null;
  /** Null exactly for kind `html`. For kind `gate-announcements` the address of a WebSocket. */
  api: string | null;
  /**
   * For a feed of several services: a notice is about this venue when its title or one of its components contains one
   * of these words.
   */
  about?: string[];
  /**
   * Words for subjects that we do not measure (deposits, listings): a notice does not count when each of its components
   * contains one. If it has no components, or says that nothing is affected, its title decides.
   */
  notAbout?: string[];
}
