import type { Pool } from "../../../shared/database/pool.js";

/** Equals the pool's own timeout for a connection. */
const patienceMs = 10_000;

/** The database is available, but busy with similar requests. */
export class QueueTimeout extends Error {}

/**
 * Makes a pool run only one of the given statements at a time, first come, first served; others pass. They take a good
 * part of a second and have hundreds of variants: run concurrently, they would hold every connection and delay the
 * board.
 *
 * @throws (the pool's `file`) QueueTimeout when a statement has not started within `waitMs`; it is then abandoned
 */
export function queuedPool<P extends Pick<Pool, "file">>(pool: P, files: ReadonlySet<string>, waitMs = patienceMs): P {
  let last: Promise<void> = Promise.resolve();
  function wait<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (!files.has(name)) return run();
    return new Promise<T>((resolve, reject) => {
      let abandoned = false;
      const deadline = setTimeout(() => {
        abandoned = true;
        reject(new QueueTimeout(`${name} was still queued after ${waitMs} ms`));
      }, waitMs);
      last = last.then(async () => {
        if (abandoned) return;
        clearTimeout(deadline);
        // the outcome goes to the caller, not to those that are queued
        await run().then(resolve, reject);
      });
    });
  }
  return { ...pool, file: (name, values) => wait(name, () => pool.file(name, values)) };
}
