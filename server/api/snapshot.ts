import type { Pool } from "../db.js";

/** A finished body, and the instant that it shows. */
export interface Snapshot {
  generatedAt: Date;
  body: string;
}

interface SnapshotRow {
  generated_at: Date;
  /** Null when the snapshot that the asker has is still the current one. */
  body: string | null;
}

/** Bodies that are kept at the most; the least recently used goes first. The largest is about 120 kB. */
const keptBodies = 200;

/**
 * Answers of one engine tick are made once. Every request asks the database for the instant of the newest snapshot, and
 * only where the kept body is of another instant does the same statement make the new one: one round trip either way,
 * and all who ask within one tick get the same bytes.
 */
export function makeSnapshots(pool: Pool) {
  const kept = new Map<string, Snapshot>();
  const underWay = new Map<string, Promise<Snapshot | null>>();

  async function fresh(
    key: string,
    file: string,
    values: (known: Date | null) => unknown[],
  ): Promise<Snapshot | null> {
    const before = kept.get(key);
    const [row] = await pool.file<SnapshotRow>(
      file,
      values(before?.generatedAt ?? null),
    );
    if (!row) return null;
    const snapshot =
      row.body === null
        ? before!
        : { generatedAt: row.generated_at, body: row.body };
    keep(key, snapshot);
    return snapshot;
  }

  function keep(key: string, snapshot: Snapshot): void {
    kept.delete(key);
    kept.set(key, snapshot);
    if (kept.size > keptBodies) kept.delete(kept.keys().next().value!);
  }

  /**
   * @param file of `sql/queries`, giving one row `{generated_at, body}`, or none
   * @param parameters what the body depends on, already checked: they are the key
   * @param values of the statement; `known` is the instant that is kept, or null
   * @returns null when the statement gave no row
   */
  return function snapshot(
    file: string,
    parameters: readonly unknown[],
    values: (known: Date | null) => unknown[],
  ): Promise<Snapshot | null> {
    const key = JSON.stringify([file, parameters]);
    let asked = underWay.get(key);
    if (!asked) {
      asked = fresh(key, file, values).finally(() => underWay.delete(key));
      underWay.set(key, asked);
    }
    return asked;
  };
}

export type Snapshots = ReturnType<typeof makeSnapshots>;
