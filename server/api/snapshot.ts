import type { Pool } from "../db.js";
import { type Body, makeBody } from "./body.js";
import { type Clock, makeClock } from "./clock.js";

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

interface SnapshotRow {
  generated_at: Date;
  body: string;
  closed?: boolean;
}

/**
 * Answers of one engine tick are made once, by one statement each: all who ask within a tick get the same bytes, and
 * who asks while a body is being made waits for it. Whether a kept one still holds, a small statement tells. It stands
 * apart because PostgreSQL plans most of the large ones whole before it finds that there is nothing to do: 4 to 35 ms, by how
 * many chunks there are, where the small one takes 1 ms.
 *
 * @param bounds of what is kept; the least recently used goes first
 */
export function makeSnapshots(
  pool: Pick<Pool, "file">,
  bounds: Bounds,
  clock: Clock = makeClock(pool),
) {
  const kept = new Map<string, Snapshot>();
  let keptBytes = 0;
  const underWay = new Map<string, Promise<Snapshot | null>>();

  async function current(
    key: string,
    file: string,
    values: readonly unknown[],
    holdMs: number,
  ): Promise<Snapshot | null> {
    const before = kept.get(key);
    if (before && (await isCurrent(before, holdMs))) {
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

  async function isCurrent(
    { generatedAt }: Snapshot,
    holdMs: number,
  ): Promise<boolean> {
    const now = await clock.read();
    const ageMs = +now.generated_at - +generatedAt;
    if (ageMs < 0 || ageMs > holdMs) return false;
    // at its own instant, too: what an operator takes back is dated by the tick after which he does it
    return ageMs === 0 || !(now.moved_at && now.moved_at >= generatedAt);
  }

  function keep(key: string, snapshot: Snapshot): void {
    forget(key);
    kept.set(key, snapshot);
    keptBytes += weightOf(snapshot);
    while (kept.size > bounds.bodies || keptBytes > bounds.bytes)
      forget(kept.keys().next().value!);
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
    let asked = underWay.get(key);
    if (!asked) {
      asked = current(key, file, values, holdMs).finally(() =>
        underWay.delete(key),
      );
      underWay.set(key, asked);
    }
    return asked;
  };
}

/** The two compressed forms of JSON are together shorter than the plain one. */
function weightOf({ body }: Snapshot): number {
  return 2 * body.plain.length;
}

export type Snapshots = ReturnType<typeof makeSnapshots>;
