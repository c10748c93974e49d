import type { Pool } from "../../shared/database/pool.js";
import { type Body, makeBody } from "./body.js";
import { type DatabaseClock, type ClockRow, makeClock } from "./clock.js";

/** A finished body, the instant that it shows, and what else its statement says of it. */
export interface Snapshot {
  generatedAt: Date;
  body: Body;
  /** Of an incident that has ended: it changes no more. */
  closed: boolean;
}

export interface Bounds {
  bodies: number;
  /** Of all bodies, in all their forms. */
  bytes: number;
}

/** What is answered while the database keeps everybody waiting. */
export interface WhileBusy {
  /** A body that was the newest when the database answered last is answered until it is this old; 0: never. */
  heldMs: number;
  /** How long the database may take before that. */
  patienceMs: number;
  /** Called for each such answer, and with the error where the database fails in the end. */
  onHeld: (error?: unknown) => void;
}

interface SnapshotRow {
  generated_at: Date;
  body: string;
  closed?: boolean;
}

interface UnderWay {
  made: Promise<Snapshot | null>;
  /** The kept body as soon as the database takes too long, else what was made. */
  answer: Promise<Snapshot | null>;
  isLate: boolean;
}

/**
 * Answers of one engine tick are made once, by one statement each: all who ask within a tick get the same bytes, and
 * who asks while a body is being made waits for it. Whether a kept one still holds, a small statement tells. It stands
 * apart because PostgreSQL plans most of the large ones whole before it finds that there is nothing to do: 4 to 35 ms,
 * by how many chunks there are, where the small one takes 1 ms.
 *
 * @param bounds of what is kept; the least recently used goes first
 */
export function makeSnapshots(
  pool: Pick<Pool, "file">,
  bounds: Bounds,
  clock: DatabaseClock = makeClock(pool),
  { heldMs, patienceMs, onHeld }: WhileBusy = neverHeld,
) {
  const kept = new Map<string, Snapshot>();
  let keptBytes = 0;
  const underWay = new Map<string, UnderWay>();

  function begin(key: string, make: () => Promise<Snapshot | null>): UnderWay {
    let timer: NodeJS.Timeout | undefined;
    const made = make().finally(() => {
      clearTimeout(timer);
      underWay.delete(key);
    });
    const begun: UnderWay = { made, answer: made, isLate: false };
    if (heldMs > 0) {
      const held = new Promise<Snapshot | null>((resolve) => {
        timer = setTimeout(() => {
          begun.isLate = true;
          const body = heldBody(key);
          // its readers have their answer already, and nobody else would hear of a fault
          if (body) made.catch(onHeld);
          resolve(body ?? made);
        }, patienceMs);
      });
      begun.answer = Promise.race([made, held]);
    }
    return begun;
  }

  /**
   * The kept body if nothing had moved since it when the database answered last, and it is not too old. By the
   * database's clock: this machine's may be wrong.
   */
  function heldBody(key: string): Snapshot | null {
    const before = kept.get(key);
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
    const before = kept.get(key);
    if (before && isCurrent(before, await clock.read(), holdMs)) {
      keep(key, before);
      return before;
    }
    const [row] = await pool.file<SnapshotRow>(file, values);
    if (!row) return null;
    clock.expire();
    const { generated_at: generatedAt, body, closed = false } = row;
    const made = { generatedAt, body: makeBody(body), closed };
    keep(key, made);
    return made;
  }

  /**
   * What most requests get: it needs neither the database nor a timer, which would cost as much as all else that we do
   * for one.
   */
  function atHand(key: string, holdMs: number): Snapshot | null {
    const before = kept.get(key);
    const now = clock.trusted();
    if (!before || !now || !isCurrent(before, now, holdMs)) return null;
    // the most recently used is the last
    kept.delete(key);
    kept.set(key, before);
    return before;
  }

  function keep(key: string, snapshot: Snapshot): void {
    forget(key);
    kept.set(key, snapshot);
    keptBytes += weightOf(snapshot);
    while (kept.size > bounds.bodies || keptBytes > bounds.bytes) forget(kept.keys().next().value!);
  }

  function forget(key: string): void {
    const old = kept.get(key);
    if (!old) return;
    kept.delete(key);
    keptBytes -= weightOf(old);
  }

  /**
   * @param file of `sql/queries`, giving one row `{generated_at, body}`, or none
   * @param parameters what the body depends on, already checked: they are the key
   * @param values of the statement
   * @param holdMs how long a body may be shown beyond its tick, unless a state or an incident moves before; it says
   *   itself of which instant it is
   * @returns null when the statement gave no row
   */
  return function snapshot(
    file: string,
    parameters: readonly unknown[],
    values: readonly unknown[],
    holdMs = 0,
  ): Promise<Snapshot | null> {
    const key = JSON.stringify([file, parameters]);
    const ready = atHand(key, holdMs);
    if (ready) return Promise.resolve(ready);
    let asked = underWay.get(key);
    if (!asked) {
      asked = begin(key, () => current(key, file, values, holdMs));
      underWay.set(key, asked);
    }
    if (!asked.isLate) return asked.answer;
    const held = heldBody(key);
    return held ? Promise.resolve(held) : asked.made;
  };
}

const neverHeld: WhileBusy = { heldMs: 0, patienceMs: 0, onHeld: () => {} };

function isCurrent(snapshot: Snapshot, now: ClockRow, holdMs: number): boolean {
  const ageMs = +now.generated_at - +snapshot.generatedAt;
  if (ageMs < 0 || ageMs > holdMs) return false;
  // at its own instant, too: what an operator takes back is dated by the tick after which he does it
  return ageMs === 0 || !hasMoved(snapshot, now);
}

/** Whether anything has moved since what the body shows. */
function hasMoved({ generatedAt }: Snapshot, now: ClockRow): boolean {
  return now.moved_at !== null && now.moved_at >= generatedAt;
}

/** The two compressed forms of JSON are together shorter than the plain one. */
function weightOf({ body }: Snapshot): number {
  return 2 * body.plain.length;
}

export type Snapshots = ReturnType<typeof makeSnapshots>;
