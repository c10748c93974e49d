import type { Pool } from "../../shared/database/pool.js";
import { type Body, makeBody } from "./body.js";
import { type DatabaseClock, type ClockRow, makeClock } from "./clock.js";

/** A finished body, the instant that it shows, and whether it can still change. */
export interface Snapshot {
  generatedAt: Date;
  body: Body;
  /** A closed incident, which no longer changes. */
  closed: boolean;
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
   * @param file in `sql/queries`, returning one row `{generated_at, body}` or none
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
