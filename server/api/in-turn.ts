import type { Pool } from "../db.js";

type Readers = Pick<Pool, "file" | "rows">;

/**
 * Lets a pool run only one of some statements at a time, in the order in which they were asked; all others pass. They are
 * those that cost a good part of a second and that anybody can ask in hundreds of ways: running side by side they would
 * hold every connection, and the board would wait for them.
 */
export function inTurn<P extends Readers>(
  pool: P,
  files: ReadonlySet<string>,
): P {
  let last: Promise<unknown> = Promise.resolve();
  function wait<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (!files.has(name)) return run();
    const turn = last.then(run);
    // who asked is told; those who wait are not
    last = turn.catch(() => {});
    return turn;
  }
  return {
    ...pool,
    file: (name, values) => wait(name, () => pool.file(name, values)),
    rows: (name, values, holdMs) =>
      wait(name, () => pool.rows(name, values, holdMs)),
  };
}
