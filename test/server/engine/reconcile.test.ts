import t, { type Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import {
  type RollupDifference,
  makeReconciler,
  reconcile,
  rollupsOfDays,
  rollupsOfHours,
  type ReconciledWindow,
} from "../../../server/engine/reconcile.js";
import { largest } from "../../../server/engine/reconcile-all.js";
import { underWayElsewhere } from "../../../server/engine/under-way.js";
import { makeLog } from "../../../shared/log/log.js";
import { migratedDatabase } from "../../support/database.js";
import { insertRaw, randomFrom, samplesWithin } from "../../support/random-samples.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** `RECONCILE_BATCHES`: batches that arrive during reconciliation. */
const lateBatches = Number(process.env["RECONCILE_BATCHES"] ?? 12);
const rollups = [...rollupsOfHours, ...rollupsOfDays];
/** Two independent levels at a time, the lower one first. */
const pairs = [
  ["sample_minute", "sample_hour"],
  ["component_minute", "latency_day"],
  ["venue_minute", "usual_hour"],
  ["rest_hour", "venue_day"],
  ["stream_hour", "venue_latency_day"],
  ["latency_hour", "venue_latency_day"],
  ["component_hour", "component_day"],
  ["venue_hour", "usual_hour"],
];
const places = Object.fromEntries(rollups.map((rollup, i) => [rollup, i]));

/** The newest closed bucket of five days: TimescaleDB counts them from a Monday. */
const firstMs = Date.UTC(2000, 0, 3);
const bucketMs = firstMs + Math.floor((Date.now() - hourMs - firstMs) / (5 * dayMs) - 1) * 5 * dayMs;
/** Soon after it: reconciliation then begins up to eight days earlier. */
const at = new Date(bucketMs + 5 * dayMs + 30 * minuteMs);
const measuredHours = [2, 26, 71].map((hours) => bucketMs + hours * hourMs);

void t.test("damaged roll-ups are recomputed from samples", async (t) => {
  const { pool } = await migratedDatabase(t);
  await makePast(pool);
  await damagesAreFound(t, pool);
  await lostSamplesAreTold(t, pool);
  await noHourIsHungAt(t, pool);
  await everyWindowHasItsTurn(t, pool);
  await nothingElseIsTold(t, pool);
});

async function damagesAreFound(t: Test, pool: Pool): Promise<void> {
  const whole = await held(pool);
  const window = await fiveDaysOf(pool, 1);
  t.strictSame((await watched(pool, window)).told, [], "an undamaged roll-up is not reported");

  for (const pair of pairs) {
    // any refresh recomputes what is recorded as due, and would repair some of the damage
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
    for (const rollup of pair) await damage(pool, rollup);
    const damaged = await held(pool);
    const { told, logged, compared } = await watched(pool, window);
    const rows = new Map<string, number>();
    for (const one of told) rows.set(one.rollup, (rows.get(one.rollup) ?? 0) + one.rows);
    for (const rollup of pair) {
      t.not(damaged[rollup], whole[rollup], `${rollup} is damaged`);
      // its rows are of three days: when one is recomputed TimescaleDB records that the next is due, and an ordinary
      // refresh repairs it
      const own = rollup === "venue_day" ? [2, 3] : [3];
      t.ok(own.includes(rows.get(rollup)!), "one row is missing, one is surplus, and one has a wrong value");
      t.match(logged, new RegExp(`differs from its samples.*${rollup}`));
      t.ok(compared.includes(rollup));
    }
    t.ok(
      [...rows.keys()].every((one) => places[one]! >= places[pair[0]!]!),
      "levels computed from it meanwhile are reported too, and no lower level",
    );
    t.strictSame(await held(pool), whole, `${pair.join(", ")} are repaired`);
  }

  await t.test("all levels are repaired at the same time", async (t) => {
    for (const rollup of rollups) await damage(pool, rollup);
    const { told } = await watched(pool, window);
    t.ok(told.length >= rollupsOfHours.length);
    t.strictSame(await held(pool), whole);
    t.strictSame((await watched(pool, window)).told, []);
  });
}

async function nothingElseIsTold(t: Test, pool: Pool): Promise<void> {
  const window = await fiveDaysOf(pool, 1);

  await t.test("late samples that are not rolled up yet are no damage", async (t) => {
    await insertLate(pool, 1);
    const { told, compared } = await watched(pool, window);
    t.strictSame(told, []);
    t.strictSame([...new Set(compared)].sort(), [...rollups].sort());
  });

  await t.test("samples that arrive meanwhile are no damage", async (t) => {
    let writing = true;
    let batches = 1;
    const writers = (async () => {
      while (writing) {
        await insertLate(pool, ++batches);
        // as another core that led before may do
        if (batches % 5 === 0)
          await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`).catch((error: unknown) => {
            if (!underWayElsewhere(error)) throw error;
          });
      }
    })();
    const told: RollupDifference[] = [];
    let looks = 0;
    for (; batches < lateBatches; looks++) told.push(...(await watched(pool, window)).told);
    writing = false;
    await writers;
    t.strictSame(told, [], `${batches} batches, ${looks} looks`);
    t.strictSame((await watched(pool, window)).told, []);
  });

  await t.test("roll-ups without samples are kept", async (t) => {
    await pool.query(sql`select drop_chunks('sample', older_than => ${new Date(bucketMs + dayMs)}::timestamptz)`);
    const before = await held(pool);
    const left = await fiveDaysOf(pool, 1);
    t.ok(left.hours.every((hour) => +hour >= bucketMs + dayMs));
    t.notOk(
      left.sums.some(({ from }) => Date.parse(from) <= bucketMs),
      "its day and its five days can no longer be added up",
    );
    t.strictSame((await watched(pool, left)).told, []);
    t.strictSame(
      (await watched(pool, { ...left, hours: window.hours })).told,
      [],
      "they are kept even if the hour was chosen before",
    );
    t.strictSame(await held(pool), before);

    await insertLate(pool, 1000, measuredHours.slice(0, 1));
    t.strictSame((await fiveDaysOf(pool, 1)).hours, left.hours, "they are kept even if a few late samples arrive");
    t.strictSame((await watched(pool, window)).told, []);
    t.strictSame(await held(pool), before);
  });
}

async function lostSamplesAreTold(t: Test, pool: Pool): Promise<void> {
  await t.test("roll-ups of samples deleted by hand are reported and kept", async (t) => {
    const window = await fiveDaysOf(pool, 1);
    const whole = await held(pool);
    // not most of them: a chunk younger than its retention, as all here are, would then count as dropped
    const to = new Date(measuredHours[1]! + minuteMs);
    const where = sql`where ts >= ${new Date(measuredHours[1]!)} and ts < ${to}`;
    await pool.query(sql`create table deleted as select * from sample ${where}`);
    await pool.query(sql`delete from sample ${where}`);
    const { told, logged } = await watched(pool, window);
    t.match(told, [{ rollup: "sample", from: String }]);
    t.equal(told.length, 1, "reported once");
    t.match(logged, /raw samples are missing/);
    t.strictSame(await held(pool), whole, "the roll-ups are unchanged");
    await pool.query(sql`insert into sample select * from deleted`);
    t.strictSame((await watched(pool, window)).told, []);
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
  });
}

async function noHourIsHungAt(t: Test, pool: Pool): Promise<void> {
  await t.test("an hour that cannot be repaired is skipped", async (t) => {
    const windows = await pool.file<ReconciledWindow>("reconcile_window", [at, null]);
    const place = windows.findIndex(({ venue_id, from }) => venue_id === 1 && +from === bucketMs);
    const { hours } = windows[place]!;
    const whole = await held(pool);
    await damage(pool, "sample_minute");
    await pool.script("alter procedure upkeep.mend rename to hidden");
    const told: RollupDifference[] = [];
    const reconciler = makeReconciler(
      pool,
      silent(),
      { compared: () => {}, differs: (one) => told.push(one) },
      () => (place + 0.5) / windows.length,
    );
    let failures = 0;
    for (let step = 0; step < hours.length + 2; step++) await reconciler.step(at).catch(() => failures++);
    const perWindow = told.filter(({ rollup }) => rollup === "sample_minute");
    // choosing it, the hours before, and two attempts: then it is chosen again
    const takes = 1 + hours.findIndex((one) => +one === measuredHours[0]) + 2;
    const times = Math.floor((hours.length + 2) / takes);
    t.equal(failures, 2 * times, "attempted twice, and given up");
    t.equal(perWindow.length, times, "counted once");
    await pool.script("alter procedure upkeep.hidden rename to mend");
    const window = await fiveDaysOf(pool, 1);
    await watched(pool, window);
    t.strictSame(await held(pool), whole);
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
  });
}

/** Reconciles hour by hour. */
async function everyWindowHasItsTurn(t: Test, pool: Pool): Promise<void> {
  const whole = await held(pool);
  await damage(pool, "component_minute");
  const windows = await pool.file<ReconciledWindow>("reconcile_window", [at, null]);
  const place = windows.findIndex(
    ({ venue_id, hours }) => venue_id === 1 && hours.some((hour) => +hour === measuredHours[0]),
  );
  const told: RollupDifference[] = [];
  const reconciler = makeReconciler(
    pool,
    silent(),
    { compared: () => {}, differs: (one) => told.push(one) },
    () => (place + 0.5) / windows.length,
  );
  const { hours } = windows[place]!;
  for (let step = 0; step < hours.length + 2; step++) await reconciler.step(at);
  t.ok(told.some(({ rollup }) => rollup === "component_minute"));
  t.strictSame(await held(pool), whole);
}

/** Some minutes of two venues, rolled up and compressed. */
async function makePast(pool: Pool): Promise<void> {
  const ids = await componentsOfTwo(pool);
  const random = randomFrom(5);
  for (const hour of measuredHours)
    for (const minute of [0, 8, 17, 41, 59])
      await insertRaw(pool, samplesWithin(random, new Date(hour + minute * minuteMs), 6, ids, [1, 2]));
  await pool.query(sql`call upkeep.refresh_all(${new Date(bucketMs)}, ${new Date(bucketMs + 5 * dayMs)})`);
  for (;;) {
    const [row] = await pool.query<{ chunk: string | null }>(
      sql`select upkeep.compress_next(${new Date(bucketMs + 30 * dayMs)}) as chunk`,
    );
    if (!row!.chunk) break;
  }
}

async function componentsOfTwo(pool: Pool): Promise<number[]> {
  const rows = await pool.query<{ component_id: number }>(
    sql`select component_id from component where venue_id in (1, 2) order by 1`,
  );
  return rows.map(({ component_id }) => component_id);
}

/** Samples at separate instants in every measured hour. */
async function insertLate(pool: Pool, batch: number, hours: number[] = measuredHours): Promise<void> {
  const ids = await componentsOfTwo(pool);
  const random = randomFrom(batch);
  await insertRaw(
    pool,
    hours.flatMap((hour) => samplesWithin(random, new Date(hour + minuteMs + batch), 1, ids.slice(0, 4), [1])),
  );
}

async function windowsOf(pool: Pool, venueId: number): Promise<ReconciledWindow[]> {
  const windows = await pool.file<ReconciledWindow>("reconcile_window", [at, null]);
  return windows.filter(({ venue_id }) => venue_id === venueId);
}

/** Only its measured hours: more would take long on a server, where chunks span a day. */
async function fiveDaysOf(pool: Pool, venueId: number): Promise<ReconciledWindow> {
  const windows = largest(await windowsOf(pool, venueId));
  const window = windows.find(({ from, to }) => +to - +from === 5 * dayMs)!;
  const hours = window.hours.filter((hour) => measuredHours.includes(+hour));
  return { ...window, hours };
}

function silent() {
  return makeLog("test", "error", () => {});
}

/** The reports of one look at a window. */
async function watched(pool: Pool, window: ReconciledWindow) {
  const told: RollupDifference[] = [];
  const compared: string[] = [];
  let logged = "";
  const log = makeLog("test", "error", (line) => (logged += line));
  await reconcile(pool, log, window, {
    compared: (rollups) => compared.push(...rollups),
    differs: (difference) => told.push(difference),
  });
  return { told, logged, compared };
}

async function held(pool: Pool): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const rollup of rollups) {
    const rows = await pool.text<{ row: string }>(`select r::text as row from ${rollup} r order by 1`, []);
    all[rollup] = rows.map(({ row }) => row).join("\n");
  }
  return all;
}

/** What is counted in each roll-up. */
const counted: Record<string, string> = {
  sample_minute: "samples",
  sample_hour: "samples",
  rest_hour: "samples",
  stream_hour: "samples",
  latency_hour: "samples",
  component_minute: "regions",
  venue_minute: "components",
  component_hour: "measured_minutes",
  venue_hour: "measured_minutes",
  component_day: "measured_minutes",
  venue_day: "measured_minutes",
  latency_day: "minutes",
  venue_latency_day: "minutes",
  usual_hour: "hours",
};

/** Deletes one of the first venue's rows, alters one, and duplicates one, in TimescaleDB's own tables. */
async function damage(pool: Pool, rollup: string): Promise<void> {
  const [kept] = await pool.query<{ kept: string }>(sql`
    select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name) as kept
    from timescaledb_information.continuous_aggregates
    where view_name = ${rollup}
  `);
  const isByVenue = rollup.startsWith("venue") || ["usual_hour", "rest_hour"].includes(rollup);
  const own = isByVenue ? "venue_id = 1" : "component_id in (select component_id from component where venue_id = 1)";
  const rows = await pool.text<{ row: object }>(
    // other hours than minutes: damage that both levels share would count as true
    `select to_jsonb(r) as row from ${rollup} r where ${own} order by r::text ${rollup === "sample_hour" ? "desc" : ""} limit 3`,
    [],
  );
  const [first, second, third] = rows.map(({ row }) => JSON.stringify(row));
  const table = kept!.kept;
  await pool.text(`delete from ${table} r where to_jsonb(r) = $1`, [first]);
  await pool.text(`update ${table} r set ${counted[rollup]} = ${counted[rollup]} + 1 where to_jsonb(r) = $1`, [second]);
  await pool.text(`insert into ${table} select r.* from ${table} r where to_jsonb(r) = $1`, [third]);
}
