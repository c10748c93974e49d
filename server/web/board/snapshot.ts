import { mebibyte } from "../../../shared/config/byte-units.js";
import type { Pool } from "../../../shared/database/pool.js";
import { singleFlight } from "../../../shared/process/loop.js";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import { categories, type Category, type Registry } from "../../../shared/registry/registry.js";
import { rulesRow } from "../../../shared/rules/engine-rules.js";
import { type Body, makeBody } from "../api/body.js";
import type { Schema, TypeOf } from "../api/shapes.js";

/** A finished body, the instant that it shows, and whether it can still change. */
export interface Snapshot {
  generatedAt: Date;
  body: Body;
  /** A closed incident, which no longer changes. */
  closed: boolean;
  /** Set while the service is starting. */
  start?: Start;
}

/** A service that has decided nothing of its own yet. */
export interface Start {
  /** How far the history that is written first has come; null: there is none. */
  writtenTo: Date | null;
  /** The database's time. */
  now: Date;
}

export interface Bounds {
  bodies: number;
  /** Of all bodies, in all encodings. */
  bytes: number;
}

/** Responses while the database is slow. */
export interface WhileBusy {
  /** A body that was current at the database's last response is sent until it is this old; 0: never. */
  heldMs: number;
  /** How long to wait for the database first. */
  patienceMs: number;
  /** Called for each such response, and with the error if the query fails in the end. */
  onHeld: (error?: unknown) => void;
}

/** Marks the body of a stale snapshot as stale; returns a fresh snapshot unchanged. */
export type Aged = (snapshot: Snapshot) => Snapshot | Promise<Snapshot>;

interface SnapshotRow {
  generated_at: Date;
  body: string;
  closed?: boolean;
}

interface Pending {
  fresh: Promise<Snapshot | null>;
  /** The cached body once the database takes too long, else the new one. */
  answer: Promise<Snapshot | null>;
  isLate: boolean;
}

/**
 * Makes each response once per engine tick, with one statement: all requests within a tick get the same bytes, and
 * requests during the statement wait for it. A small separate statement checks whether a cached body is current.
 * It is separate because PostgreSQL plans most of the large ones fully before it finds that nothing needs doing: 4 to
 * 35 ms, depending on the number of chunks, where the small one takes 1 ms.
 *
 * @param bounds of the cache; the least recently used body is evicted first
 * @param aged says in a body that it is stale. Absent: bodies do not say it
 */
export function makeSnapshots(
  pool: Pick<Pool, "file">,
  bounds: Bounds,
  clock: DatabaseClock = makeClock(pool),
  { heldMs, patienceMs, onHeld }: WhileBusy = neverHeld,
  aged: Aged = (snapshot) => snapshot,
) {
  const cached = makeCache(bounds);
  const pending = new Map<string, Pending>();

  function start(key: string, make: () => Promise<Snapshot | null>): Pending {
    let timer: NodeJS.Timeout | undefined;
    const fresh = make().finally(() => {
      clearTimeout(timer);
      pending.delete(key);
    });
    const flight: Pending = { fresh, answer: fresh, isLate: false };
    if (heldMs > 0) {
      const held = new Promise<Snapshot | null>((resolve) => {
        timer = setTimeout(() => {
          flight.isLate = true;
          const body = heldBody(key);
          // its readers already have the cached body, so only this reports an error
          if (body) fresh.catch(onHeld);
          resolve(body ?? fresh);
        }, patienceMs);
      });
      flight.answer = Promise.race([fresh, held]);
    }
    return flight;
  }

  /**
   * The cached body if nothing had changed since it was made when the database last responded, and it is not too old.
   * By the database's clock, since this machine's may be wrong.
   */
  function heldBody(key: string): Snapshot | null {
    const before = cached.get(key);
    const last = clock.last();
    if (!before || !last) return null;
    const sinceMs = performance.now() - last.askedAtMs;
    const ageMs = +last.read_at - +before.generatedAt + sinceMs;
    const isOld = before.generatedAt < last.generated_at;
    if (ageMs > heldMs || (isOld && hasMoved(before, last))) return null;
    onHeld();
    return before;
  }

  async function current(
    key: string,
    file: string,
    values: readonly unknown[],
    holdMs: number,
  ): Promise<Snapshot | null> {
    const before = cached.get(key);
    if (before && isCurrent(before, await clock.read(), holdMs)) {
      cached.keep(key, before);
      return before;
    }
    const [row] = await pool.file<SnapshotRow>(file, values);
    if (!row) return null;
    clock.expire();
    const { generated_at: generatedAt, body, closed = false } = row;
    const fresh = { generatedAt, body: makeBody(body), closed };
    cached.keep(key, fresh);
    return fresh;
  }

  /**
   * The cached body if it is current: the path of most requests. It needs neither the database nor a timer, which would
   * cost as much as everything else per request.
   */
  function atHand(key: string, holdMs: number): Snapshot | null {
    const before = cached.get(key);
    const now = clock.trusted();
    if (!before || !now || !isCurrent(before, now, holdMs)) return null;
    cached.use(key, before);
    return before;
  }

  /**
   * @param file name of a statement, returning one row `{generated_at, body}` or none
   * @param parameters validated parameters that determine the body: the cache key
   * @param values of the statement
   * @param holdMs how long a body may be used beyond its tick unless a state or an incident changes; its generatedAt
   * says which instant it shows
   * @returns null when the statement returned no row
   */
  return function snapshot(
    file: string,
    parameters: readonly unknown[],
    values: readonly unknown[],
    holdMs = 0,
  ): Promise<Snapshot | null> {
    const key = JSON.stringify([file, parameters]);
    const ready = atHand(key, holdMs);
    if (ready) return Promise.resolve(aged(ready));
    let asked = pending.get(key);
    if (!asked) {
      asked = start(key, () => current(key, file, values, holdMs));
      pending.set(key, asked);
    }
    const held = asked.isLate ? heldBody(key) : null;
    const answer = held ? Promise.resolve(held) : asked.isLate ? asked.fresh : asked.answer;
    return answer.then((made) => made && aged(made));
  };
}

const neverHeld: WhileBusy = { heldMs: 0, patienceMs: 0, onHeld: () => {} };

function isCurrent(snapshot: Snapshot, now: ClockRow, holdMs: number): boolean {
  const ageMs = +now.generated_at - +snapshot.generatedAt;
  if (ageMs < 0 || ageMs > holdMs) return false;
  // also at its own instant: a retraction by an operator is dated by the tick after which it is made
  return ageMs === 0 || !hasMoved(snapshot, now);
}

/** Whether anything has changed since the instant of the body. */
function hasMoved({ generatedAt }: Snapshot, now: ClockRow): boolean {
  return now.moved_at !== null && now.moved_at >= generatedAt;
}

/** Cached bodies by key, within their bounds. */
function makeCache(bounds: Bounds) {
  /** The most recently used is last. */
  const cached = new Map<string, Snapshot>();
  let bytes = 0;

  function forget(key: string): void {
    const old = cached.get(key);
    if (!old) return;
    cached.delete(key);
    bytes -= weightOf(old);
  }

  return {
    get: (key: string) => cached.get(key),
    /** Marks a cached body as used. */
    use(key: string, snapshot: Snapshot): void {
      cached.delete(key);
      cached.set(key, snapshot);
    },
    /** Adds or replaces a body, and evicts the least recently used ones beyond the bounds. */
    keep(key: string, snapshot: Snapshot): void {
      forget(key);
      cached.set(key, snapshot);
      bytes += weightOf(snapshot);
      while (cached.size > bounds.bodies || bytes > bounds.bytes) forget(cached.keys().next().value!);
    },
  };
}

/** Both compressed forms of JSON together are smaller than the plain one. */
function weightOf({ body }: Snapshot): number {
  return 2 * body.plain.length;
}

export type Snapshots = ReturnType<typeof makeSnapshots>;

/** The most requested pages, which change with each tick: each is made once a tick. */
export interface Boards {
  /** @param category null: all venues */
  status(category: Category | null): Promise<Snapshot | null>;
  /** @returns null if the database does not have the venue */
  venue(id: string, range: "24h" | "7d", region: string | null): Promise<Snapshot | null>;
  /**
   * The state of a venue and of its components, in few bytes; null as above.
   *
   * @param region as it alone sees them; null: by quorum
   */
  state(id: string, region: string | null): Promise<Snapshot | null>;
  /** How each region sees each component of a venue; null as above. */
  matrix(id: string): Promise<Snapshot | null>;
  /** The default region of a page; null if there are no regions. */
  usualRegion: string | null;
  regions(): Promise<Snapshot | null>;
  notify(): Promise<Snapshot | null>;
  /** Deposits and withdrawals of every venue. */
  transfers(): Promise<Snapshot | null>;
}

export function makeBoards(
  pool: Pick<Pool, "file">,
  registry: Registry,
  clock: DatabaseClock,
  whileBusy: WhileBusy,
  aged: Aged,
): Boards {
  const bodies = keptBodies(registry);
  const snapshots = makeSnapshots(pool, bodies, clock, whileBusy, aged);
  return {
    usualRegion: registry.regions[0]?.id ?? null,
    status: (category) => snapshots("status", [category], [category, categories, registry.probeIntervalMs]),
    venue: (id, range, region) =>
      snapshots("venue", [id, range, region], [id, range, region], range === "7d" ? weekHeldMs : 0),
    state: (id, region) => snapshots("venue_state", [id, region], [id, region]),
    matrix: (id) => snapshots("venue_matrix", [id], [id]),
    regions: () => snapshots("regions", [], [rulesRow.quorum_min_regions]),
    notify: () => snapshots("notify", [], []),
    transfers: () => snapshots("transfers", [], [null, null, false, 0]),
  };
}

/** Buckets of an hour change slowly: one open page must not load the embedded database at every tick. */
const weekHeldMs = 30_000;

/**
 * A board for each category and for all, every venue in both ranges from every region, its matrix, its state by quorum
 * and as each region sees it, the regions, the alerts, and the transfers: 100 kB each.
 */
function keptBodies(registry: Registry) {
  const { regions } = registry;
  const bodies = categories.length + 1 + watchedVenues(registry).length * (regions.length * 3 + 2) + 3;
  return { bodies, bytes: 64 * mebibyte };
}

/** The instant that all bodies show, and the time of the latest change; see `clock.sql`. */
interface ClockRow {
  generated_at: Date;
  moved_at: Date | null;
  /** The database's time at this reading. */
  read_at: Date;
  /** The engine's last tick; null before the first. */
  ticked_at: Date | null;
  /** Whether there was none, or only those of a history that is written before the service begins. */
  starting: boolean;
}

export interface ClockReading extends ClockRow {
  /** When the reading was requested, by `performance.now()`. */
  askedAtMs: number;
}

export interface DatabaseClock {
  read(): Promise<ClockRow>;
  /** The reading that may be used now without a query; null when the database must be queried. */
  trusted(): ClockRow | null;
  /** The newest successful reading, however old; null when there is none. */
  last(): ClockReading | null;
  /** Forces the next read to query the database: this process has seen a later instant than the clock shows. */
  expire(): void;
}

/**
 * The database's clock. Concurrent readers share one query.
 *
 * @param trustedMs how long later readers may reuse a reading. 0: only readers that asked while it was read share it
 */
export function makeClock(pool: Pick<Pool, "file">, trustedMs = 0): DatabaseClock {
  let last: ClockReading | null = null;
  const ask = singleFlight(async () => {
    const askedAtMs = performance.now();
    const [row] = await pool.file<ClockRow>("clock");
    last = { ...row!, askedAtMs };
    return last;
  });
  let kept: ClockRow | null = null;
  let trustedUntilMs = -Infinity;
  /** A reading that began before an expiry is used only by those already waiting for it. */
  let expirations = 0;

  const trusted = () => (performance.now() < trustedUntilMs ? kept : null);

  return {
    async read() {
      const now = trusted();
      if (now) return now;
      const before = expirations;
      const row = await ask();
      if (trustedMs > 0 && before === expirations) {
        kept = row;
        trustedUntilMs = performance.now() + trustedMs;
      }
      return row;
    },
    trusted,
    last: () => last,
    expire() {
      kept = null;
      expirations += 1;
    },
  };
}

/** Bodies by key, each with what it was made from. */
export type Derived = ReturnType<typeof makeDerived>;

/** Null: without it. */
export type Shown = Pick<Snapshot, "body" | "start"> | null;

/**
 * Makes a body from snapshots, and again only when one of them has changed: all requests within a tick get the same
 * bytes. The least recently made bodies are evicted first.
 *
 * @param limit of all bodies kept, in bytes; in all encodings they take up to twice that
 */
export function makeDerived(limit: number) {
  const kept = new Map<string, { from: string; body: Body }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= kept.get(key)?.body.plain.length ?? 0;
    kept.delete(key);
  }

  /**
   * @param key from validated parameters
   * @param shown what the text is made from. Only digests are kept, since snapshots hold whole bodies
   */
  return function derived(key: string, shown: readonly Shown[], text: () => string): Body {
    const from = shown.map((snapshot) => snapshot?.body.digest).join(" ");
    const before = kept.get(key);
    if (before?.from === from) return before.body;
    const body = makeBody(text());
    forget(key);
    kept.set(key, { from, body });
    bytes += body.plain.length;
    for (const oldest of kept.keys()) {
      if (bytes <= limit || oldest === key) break;
      forget(oldest);
    }
    return body;
  };
}

/** Figures over windows of days: the same bodies for programs and for pages. */
export interface Windows {
  /** @param category null: all venues */
  reliability(days: number, category: Category | null): Promise<Snapshot>;
  detection(days: number): Promise<Snapshot>;
}

/**
 * With every hour measured, this takes 50 ms on a server and 90 ms on the embedded database, and the result changes
 * hourly.
 */
export const reliabilityHeldMs = 30_000;

export function makeWindows(snapshots: Snapshots): Windows {
  return {
    async reliability(days, category) {
      const values = [days, category];
      return (await snapshots("reliability", values, values, reliabilityHeldMs))!;
    },
    detection: async (days) => (await snapshots("detection", [days], [days]))!,
  };
}

const parsedBodies = new WeakMap<Body, unknown>();

/** The data of a snapshot, parsed once. The schema only gives its type: our own statements made the text. */
export function dataOf<Described extends Schema>(_schema: Described, { body }: Snapshot): TypeOf<Described> {
  let data = parsedBodies.get(body);
  if (data === undefined) parsedBodies.set(body, (data = JSON.parse(body.plain.toString())));
  return data as TypeOf<Described>;
}
