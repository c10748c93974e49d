import type { Pool } from "../../shared/database/pool.js";

type Readers = Pick<Pool, "file" | "rows">;

/** As long as the pool lets somebody wait for a connection. */
const patienceMs = 10_000;

/** The database is not away, but busy with others who asked the like. */
export class QueueTimeout extends Error {}

/**
 * Lets a pool run only one of some statements at a time, in the order in which they were asked; all others pass. They
 * are those that cost a good part of a second and that anybody can ask in hundreds of ways: running side by side they
 * would hold every connection, and the board would wait for them.
 *
 * @throws (the pool's methods) TurnTooLate where a turn has not come within `waitMs`; it is then given up
 */
export function queued<P extends Readers>(pool: P, files: ReadonlySet<string>, waitMs = patienceMs): P {
  let last: Promise<void> = Promise.resolve();
  function wait<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (!files.has(name)) return run();
    return new Promise<T>((resolve, reject) => {
      let givenUp = false;
      const impatient = setTimeout(() => {
        givenUp = true;
        reject(new QueueTimeout(`${name} had no turn within ${waitMs} ms`));
      }, waitMs);
      last = last.then(async () => {
        if (givenUp) return;
        clearTimeout(impatient);
        // who asked is told how it ends; those who wait are not
        await run().then(resolve, reject);
      });
    });
  }
  return {
    ...pool,
    file: (name, values) => wait(name, () => pool.file(name, values)),
    rows: (name, values, reading) => wait(name, () => pool.rows(name, values, reading)),
  };
}
