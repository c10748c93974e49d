import t from "tap";
import { startShip } from "../../../probe/delivery/ship.js";
import { makeLog } from "../../../shared/log/log.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { madeSample } from "../../support/made-sample.js";
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

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

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
