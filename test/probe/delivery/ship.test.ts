import t from "tap";
import { makeAcknowledged } from "../../../probe/delivery/recorder.js";
import { startShip } from "../../../probe/delivery/ship.js";
import { makeLog } from "../../../shared/log/log.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { madeSample } from "../../support/made-sample.js";
import { numberedSample } from "../../support/numbered-sample.js";
import { someSpool, spoolDirectory } from "../../support/spool.js";
import { until } from "../../support/until.js";

const quiet = makeLog("test", "error", () => {});

const sampleOf = (number: number) => madeSample({ slotAt: new Date(number) });

/** A database that can be away; `rows` are the numbers that it stored, in order of arrival. */
function makeDatabase() {
  const database = { rows: [] as number[], away: false, error: new Error("the database is away"), calls: 0, atOnce: 0 };
  let inFlight = 0;

  async function record(samples: readonly Sample[]) {
    database.calls += 1;
    inFlight += 1;
    database.atOnce = Math.max(database.atOnce, inFlight);
    await new Promise(setImmediate);
    inFlight -= 1;
    if (database.away) throw database.error;
    database.rows.push(...samples.map(({ slotAt }) => slotAt.getTime()));
    return { stored: samples.length, duplicates: 0, refused: 0 };
  }

  return { database, record };
}

const numbers = (count: number) => numbersBetween(0, count);

void t.test("samples are sent within a second, or as soon as a batch is full", async (t) => {
  const { database, record } = makeDatabase();
  const ship = startShip({ spool: await someSpool(t, { writeEveryMs: 10 }), record, log: quiet, flushEveryMs: 100 });
  ship.add(sampleOf(0));
  t.equal(database.calls, 0, "a single sample waits for others");
  await until(() => database.rows.length === 1);
  await ship.close();

  const spool = await someSpool(t, { writeEveryMs: 10 });
  const patient = startShip({ spool, record, log: quiet, flushEveryMs: 600_000 });
  numbers(1000).forEach((n) => patient.add(sampleOf(n + 1)));
  await until(() => database.rows.length === 1001);
  await patient.close();
  t.same(database.rows, numbers(1001));
});

const unmigrated = Object.assign(new Error('column "late_ms" of relation "sample" does not exist'), { code: "42703" });
for (const [what, error] of [
  ["was away", new Error("the database is away")],
  ["had not been migrated to this build", unmigrated],
] as const)
  void t.test(`a database that ${what} receives every sample once, in order`, async (t) => {
    const { database, record } = makeDatabase();
    Object.assign(database, { away: true, error });
    const ship = startShip({ spool: await someSpool(t), record, log: quiet, flushEveryMs: 10 });
    numbers(1200).forEach((n) => ship.add(sampleOf(n)));
    await until(() => database.calls >= 2);
    t.equal(ship.status().waiting, 1200);
    database.away = false;
    ship.add(sampleOf(1200));
    await until(() => ship.status().waiting === 0);
    t.same(database.rows, numbers(1201));
    t.match(ship.status(), { shipped: 1201, dropped: 0 });
    t.equal(database.atOnce, 1, "one flush at a time");
    await ship.close();
  });

void t.test("closing ends in time when the database hangs, and a restart delivers what waits", async (t) => {
  const directory = await spoolDirectory(t);
  const never = () => new Promise<never>(() => {});
  const hanging = startShip({ spool: await someSpool(t, { directory }), record: never, log: quiet });
  numbers(700).forEach((n) => hanging.add(sampleOf(n)));
  await hanging.close(50);
  t.match(hanging.status(), { waiting: 700, dropped: 0 });

  const { database, record } = makeDatabase();
  const spool = await someSpool(t, { directory });
  const ship = startShip({ spool, record, log: quiet });
  ship.add(sampleOf(700));
  await ship.close();
  t.same(database.rows, numbers(701));
});

void t.test("duplicates and rejections are counted separately", async (t) => {
  const record = () => Promise.resolve({ stored: 1, duplicates: 1, refused: 1 });
  const ship = startShip({ spool: await someSpool(t), record, log: quiet });
  numbers(3).forEach((n) => ship.add(sampleOf(n)));
  await ship.close();
  t.match(ship.status(), { shipped: 2, duplicates: 1, refused: 1, waiting: 0 });
});

// What a probe keeps until the database is known to have it, whatever its timeline.

const numbersBetween = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const samples = (from: number, to: number) => numbersBetween(from, to).map((n) => numberedSample(n, 0));

void t.test("samples acknowledged on an earlier timeline are delivered again, once", (t) => {
  const acknowledged = makeAcknowledged();
  t.equal(acknowledged.add(samples(0, 2), "1"), 0);
  t.equal(acknowledged.add(samples(2, 3), "1"), 0);
  t.equal(acknowledged.next(9), null, "nothing was lost");
  t.equal(acknowledged.add(samples(3, 4), "2"), 3);
  const first = acknowledged.next(2)!;
  t.same(first.samples, samples(0, 2));
  t.same(acknowledged.next(2)!.samples, samples(0, 2), "the batch is given again until it is stored");
  first.done();
  t.equal(acknowledged.add(samples(0, 2), "3"), 1, "another failover repeats what the last timeline acknowledged");
  const rest = acknowledged.next(9)!;
  t.same(rest.samples, samples(2, 4));
  rest.done();
  t.equal(acknowledged.next(9), null);
  t.end();
});

void t.test("acknowledged samples are kept up to a limit", (t) => {
  const few = makeAcknowledged({ keepAtMost: 4 });
  for (const n of numbersBetween(0, 5)) few.add(samples(2 * n, 2 * n + 2), "1");
  t.equal(few.add([], "2"), 4);
  t.same(few.next(9)!.samples, samples(6, 10), "only the newest are kept");

  const brief = makeAcknowledged({ keepMs: -1 });
  brief.add(samples(0, 2), "1");
  brief.add(samples(2, 3), "1");
  t.equal(brief.add([], "2"), 1, "the last acknowledged batch is kept at any age");
  t.end();
});

void t.test("a ship restores samples that a failover lost, and counts them separately", async (t) => {
  let rows = new Set<number>();
  let timeline = "1";
  const record = (batch: readonly Sample[]) => {
    const before = rows.size;
    for (const { slotAt } of batch) rows.add(+slotAt);
    const stored = rows.size - before;
    const duplicates = batch.length - stored;
    return Promise.resolve({ stored, duplicates, refused: 0, timeline });
  };
  const ship = startShip({ spool: await someSpool(t), record, log: quiet, flushEveryMs: 10 });
  for (const sample of samples(0, 2500)) ship.add(sample);
  await until(() => rows.size === 2500);
  // the standby had half of it
  rows = new Set([...rows].slice(0, 1250));
  timeline = "2";
  ship.add(numberedSample(2500, 0));
  await until(() => rows.size === 2501);
  t.match(ship.status(), { shipped: 2501, duplicates: 0, restored: 1250, refused: 0, waiting: 0 });
  await ship.close();
});
