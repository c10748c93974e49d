import t from "tap";
import { makeAged, staleAfterMs } from "../../../../server/web/board/stale.js";
import { makeBody } from "../../../../server/web/api/body.js";
import { type ClockReading, makeSnapshots } from "../../../../server/web/board/snapshot.js";
import { ago } from "../../../support/fleet.js";

/** A database whose clock and results the test controls. */
function fakeDatabase() {
  const database = {
    at: new Date(0),
    movedAt: null as Date | null,
    statements: [] as string[],
    waiting: null as Promise<void> | null,
    async file(name: string, values: readonly unknown[] = []) {
      database.statements.push(`${name} ${values.join()}`.trim());
      await database.waiting;
      const made = `${name} made ${database.statements.length}`;
      return [{ generated_at: database.at, moved_at: database.movedAt, read_at: database.at, body: made }] as never[];
    },
  };
  return database;
}

const ample = { bodies: 10, bytes: 1e6 };

/** Pages of venues from a fake database. */
function venuePages(bounds = ample) {
  const database = fakeDatabase();
  const snapshots = makeSnapshots(database, bounds);
  return { database, ask: (venue: string) => snapshots("venue", [venue], [venue]) };
}

void t.test("a body is made once a tick, for all clients", async (t) => {
  const { database, ask } = venuePages();

  const first = await Promise.all([ask("a"), ask("a"), ask("b")]);
  t.strictSame(database.statements, ["venue a", "venue b"]);
  t.equal(first[0], first[1]);

  t.equal((await ask("a"))!.body, first[0]!.body, "the same bytes");
  t.strictSame(database.statements.slice(2), ["clock"]);

  database.at = new Date(5_000);
  const next = await ask("a");
  t.not(next!.body, first[0]!.body);
  t.strictSame(next!.generatedAt, database.at);
  t.strictSame(database.statements.slice(3), ["clock", "venue a"]);
});

void t.test("a body may be held beyond its tick", async (t) => {
  const database = fakeDatabase();
  const snapshots = makeSnapshots(database, ample);
  const statementsAt = async (s: number) => {
    database.at = new Date(s * 1000);
    database.statements.length = 0;
    await snapshots("week", [], [], 30_000);
    return database.statements.join();
  };
  t.equal(await statementsAt(100), "week");
  t.equal(await statementsAt(130), "clock", "held for its time");
  t.equal(await statementsAt(132), "clock,week", "made again afterwards");
  database.movedAt = new Date(130_000);
  t.equal(await statementsAt(134), "clock", "held, as it contains earlier changes");
  database.movedAt = new Date(136_000);
  t.equal(await statementsAt(136), "clock,week", "made again after a later change");
  t.equal(await statementsAt(138), "clock,week", "made again after a change that followed its tick");
  t.equal(await statementsAt(140), "clock");
  t.equal(await statementsAt(120), "clock,week", "never served for an earlier instant");
});

void t.test("a failed statement is not cached, and all waiting clients get the error", async (t) => {
  const database = fakeDatabase();
  const snapshots = makeSnapshots(database, ample);
  database.waiting = Promise.reject(new Error("gone"));
  const waiting = [1, 2].map(() => snapshots("status", [], []));
  for (const one of waiting) await t.rejects(one, { message: "gone" });
  database.waiting = null;
  t.match(await snapshots("status", [], []), { body: { plain: Buffer.from("status made 2") } });
});

/** Blocks a database until it is released, or fails it with an error. */
function keepBusy(database: ReturnType<typeof fakeDatabase>) {
  let release = () => {};
  let fail: (error: Error) => void = () => {};
  database.waiting = new Promise<void>((resolve, reject) => {
    release = () => {
      database.waiting = null;
      resolve();
    };
    fail = reject;
  });
  return { release, fail };
}

void t.test("the newest body is served while the database is busy", async (t) => {
  const database = fakeDatabase();
  const held: unknown[] = [];
  const whileBusy = { heldMs: 30_000, patienceMs: 1, onHeld: (error?: unknown) => held.push(error) };
  const snapshots = makeSnapshots(database, ample, undefined, whileBusy);
  const ask = (page: string) => snapshots("page", [page], [page]);
  const board = await ask("board");
  // reads the clock
  await ask("board");

  /** Checks that a page waits for the database while the newest one, whose patience ends later, does not. */
  async function waits(page: string, newest: string, name: string) {
    const { release } = keepBusy(database);
    let answered = false;
    const waiting = ask(page).then(() => (answered = true));
    t.ok(await ask(newest));
    t.notOk(answered, name);
    release();
    await waiting;
  }

  const { release } = keepBusy(database);
  for (const served of await Promise.all([ask("board"), ask("board")])) t.equal(served, board);
  t.equal(await ask("board"), board, "later clients get the newest board, too");
  t.strictSame(held, [undefined, undefined]);
  release();
  await waits("page", "board", "a page that is not cached waits");

  database.at = new Date(10_000);
  database.movedAt = new Date(5_000);
  await ask("other");
  await ask("other");
  await waits("board", "other", "a page that has changed since waits");

  await ask("board");
  database.at = new Date(45_000);
  await ask("other");
  await ask("other");
  await waits("board", "other", "a page that is too old waits");
});

void t.test("an error after a held response is logged", async (t) => {
  const database = fakeDatabase();
  let report: (error: unknown) => void;
  const reported = new Promise((resolve) => (report = resolve));
  const snapshots = makeSnapshots(database, ample, undefined, {
    heldMs: 30_000,
    patienceMs: 1,
    onHeld: (error) => error !== undefined && report(error),
  });
  const board = await snapshots("page", [], []);
  // reads the clock
  await snapshots("page", [], []);
  const { fail } = keepBusy(database);
  t.equal(await snapshots("page", [], []), board);
  fail(new Error("gone"));
  t.match(await reported, { message: "gone" });
});

void t.test("the number of cached bodies is bounded, and the least recently used is dropped first", async (t) => {
  const { database, ask } = venuePages({ bodies: 2, bytes: 1e6 });
  for (const venue of ["a", "b", "a", "c"]) await ask(venue);
  database.statements.length = 0;
  await ask("a");
  await ask("b");
  t.strictSame(database.statements, ["clock", "venue b"]);
});

void t.test("the bytes of cached bodies are bounded", async (t) => {
  // `venue made 1` in all its forms is 24 bytes long
  const { database, ask } = venuePages({ bodies: 100, bytes: 50 });
  for (const venue of ["a", "b", "c"]) await ask(venue);
  database.statements.length = 0;
  for (const venue of ["c", "b", "a"]) await ask(venue);
  t.strictSame(database.statements, ["clock", "clock", "venue a"]);
  t.ok(await venuePages({ bodies: 100, bytes: 10 }).ask("a"), "a body that is too large for the cache is served");
});

void t.test("while the database is away, a body still says when the engine last decided", async (t) => {
  const readBefore = 10_000;
  // seconds ago: the engine's last tick, the instants of the last reading and of the body, and what the body says
  for (const [tick, read, body, said] of [
    [400, 50, 65, 400],
    [400, 50, 45, 400],
    [90_000, 50, 3_600, 90_000],
    [100, 100, 100, 100],
    [65, 65, 35, 35],
    [null, 50, 65, null],
  ] as const) {
    const last: ClockReading = {
      ...{ generated_at: ago(read), moved_at: null, read_at: ago(readBefore / 1000) },
      ...{ ticked_at: tick === null ? null : ago(tick), askedAtMs: performance.now() - readBefore },
      starting: tick === null,
    };
    const away = () => Promise.reject(new Error("the database is away"));
    const clock = { read: away, trusted: () => null, last: () => last, expire: () => undefined };
    const snapshot = { generatedAt: ago(body), body: makeBody("{}"), closed: false };
    const aged = await makeAged(clock, staleAfterMs)(snapshot);
    const { ageSeconds, decidedAt } = JSON.parse(aged.body.plain.toString()) as {
      ageSeconds: number | null;
      decidedAt: string | null;
    };
    const what = `tick ${tick}, reading ${read}, body ${body}`;
    t.equal(ageSeconds, said === null ? null : Math.floor(said / 10) * 10, what);
    t.ok(said === null ? decidedAt === null : Math.abs(Date.parse(decidedAt!) - +ago(said)) < 1_000, what);
  }
});
