import t from "tap";
import { queuedPool, QueueTimeout } from "../../../../server/web/api/query-queue.js";

/** A pool that records the statements that begin, and ends each only on demand. */
function waitingPool() {
  const begun: string[] = [];
  const endings: ((error?: Error) => void)[] = [];
  return {
    begun,
    /** Ends the statement that began as the `index`-th, and lets the following one begin. */
    async end(index: number, error?: Error) {
      endings[index]!(error);
      await settled();
    },
    file<Row>(name: string) {
      begun.push(name);
      return new Promise<Row[]>((resolve, reject) => {
        endings.push((error) => (error ? reject(error) : resolve([name] as Row[])));
      });
    },
  };
}

const settled = () => new Promise(setImmediate);

void t.test("expensive statements run one at a time in order, and others do not wait", async (t) => {
  const pool = waitingPool();
  const turns = queuedPool(pool, new Set(["year", "year_csv"]));
  const year = turns.file("year");
  const table = turns.file("year_csv");
  const another = turns.file("year");
  await settled();
  t.strictSame(pool.begun, ["year"]);
  const board = turns.file("board");
  t.strictSame(pool.begun, ["year", "board"]);
  await pool.end(1);
  t.strictSame(await board, ["board"]);

  const failing = t.rejects(year, { message: "too slow" });
  await pool.end(0, new Error("too slow"));
  await failing;
  t.strictSame(pool.begun.slice(2), ["year_csv"], "a failed statement is not repeated");
  await pool.end(2);
  t.strictSame(await table, ["year_csv"]);
  t.strictSame(pool.begun.slice(3), ["year"]);
  await pool.end(3);
  t.strictSame(await another, ["year"]);
});

void t.test("a statement that waits too long in the queue is given up", async (t) => {
  const pool = waitingPool();
  const turns = queuedPool(pool, new Set(["year"]), 20);
  const hanging = turns.file("year");
  await t.rejects(turns.file("year"), { constructor: QueueTimeout, message: "year was still queued after 20 ms" });
  await pool.end(0);
  t.strictSame(await hanging, ["year"], "a statement that has begun may take longer");
  const next = turns.file("year");
  await settled();
  t.equal(pool.begun.length, 2, "a statement that was given up never runs");
  await pool.end(1);
  t.strictSame(await next, ["year"]);
});
