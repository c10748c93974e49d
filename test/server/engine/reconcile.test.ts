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
import { compressAll, dayMs, hourMs, minuteMs } from "../../support/rollup-upkeep.js";

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
  await lostSamplesAreReported(t, pool);
  await noHourIsHungAt(t, pool);
  await everyWindowHasItsTurn(t, pool);
  await nothingElseIsReported(t, pool);
});

async function damagesAreFound(t: Test, pool: Pool): Promise<void> {
  const whole = await rowsOfRollups(pool);
  const window = await firstWindow(pool);
  t.strictSame((await reconcileOnce(pool, window)).reported, [], "an undamaged roll-up is not reported");

  for (const pair of pairs) {
    // any refresh recomputes what is recorded as due, and would repair some of the damage
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
    for (const rollup of pair) await damage(pool, rollup);
    const damaged = await rowsOfRollups(pool);
    const { reported, logged, compared } = await reconcileOnce(pool, window);
    const rows = new Map<string, number>();
    for (const one of reported) rows.set(one.rollup, (rows.get(one.rollup) ?? 0) + one.rows);
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
    t.strictSame(await rowsOfRollups(pool), whole, `${pair.join(", ")} are repaired`);
  }

  await t.test("all levels are repaired at the same time", async (t) => {
    for (const rollup of rollups) await damage(pool, rollup);
    const { reported } = await reconcileOnce(pool, window);
    t.ok(reported.length >= rollupsOfHours.length);
    t.strictSame(await rowsOfRollups(pool), whole);
    t.strictSame((await reconcileOnce(pool, window)).reported, []);
  });
}

async function nothingElseIsReported(t: Test, pool: Pool): Promise<void> {
  const window = await firstWindow(pool);

  await t.test("late samples that are not rolled up yet are no damage", async (t) => {
    await insertLate(pool, 1);
    const { reported, compared } = await reconcileOnce(pool, window);
    t.strictSame(reported, []);
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
    const reported: RollupDifference[] = [];
    let looks = 0;
    for (; batches < lateBatches; looks++) reported.push(...(await reconcileOnce(pool, window)).reported);
    writing = false;
    await writers;
    t.strictSame(reported, [], `${batches} batches, ${looks} looks`);
    t.strictSame((await reconcileOnce(pool, window)).reported, []);
  });

  await t.test("roll-ups without samples are kept", async (t) => {
    await pool.query(sql`select drop_chunks('sample', older_than => ${new Date(bucketMs + dayMs)}::timestamptz)`);
    const before = await rowsOfRollups(pool);
    const left = await firstWindow(pool);
    t.ok(left.hours.every((hour) => +hour >= bucketMs + dayMs));
    t.notOk(
      left.sums.some(({ from }) => Date.parse(from) <= bucketMs),
      "its day and its five days can no longer be added up",
    );
    t.strictSame((await reconcileOnce(pool, left)).reported, []);
    t.strictSame(
      (await reconcileOnce(pool, { ...left, hours: window.hours })).reported,
      [],
      "they are kept even if the hour was chosen before",
    );
    t.strictSame(await rowsOfRollups(pool), before);

    await insertLate(pool, 1000, measuredHours.slice(0, 1));
    t.strictSame((await firstWindow(pool)).hours, left.hours, "they are kept even if a few late samples arrive");
    t.strictSame((await reconcileOnce(pool, window)).reported, []);
    t.strictSame(await rowsOfRollups(pool), before);
  });
}

async function lostSamplesAreReported(t: Test, pool: Pool): Promise<void> {
  await t.test("roll-ups of samples deleted by hand are reported and kept", async (t) => {
    const window = await firstWindow(pool);
    const whole = await rowsOfRollups(pool);
    // not most of them: a chunk younger than its retention, as all here are, would then count as dropped
    const to = new Date(measuredHours[1]! + minuteMs);
    const where = sql`where ts >= ${new Date(measuredHours[1]!)} and ts < ${to}`;
    await pool.query(sql`create table deleted as select * from sample ${where}`);
    await pool.query(sql`delete from sample ${where}`);
    const { reported, logged } = await reconcileOnce(pool, window);
    t.match(reported, [{ rollup: "sample", from: String }]);
    t.equal(reported.length, 1, "reported once");
    t.match(logged, /raw samples are missing/);
    t.strictSame(await rowsOfRollups(pool), whole, "the roll-ups are unchanged");
    await pool.query(sql`insert into sample select * from deleted`);
    t.strictSame((await reconcileOnce(pool, window)).reported, []);
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
  });
}

async function noHourIsHungAt(t: Test, pool: Pool): Promise<void> {
  await t.test("an hour that cannot be repaired is skipped", async (t) => {
    const whole = await rowsOfRollups(pool);
    await damage(pool, "sample_minute");
    await pool.script("alter procedure upkeep.mend rename to hidden");
    const { reported, failures, hours } = await reconcileByHours(pool, ({ from }) => +from === bucketMs);
    // choosing it, the hours before, and two attempts: then it is chosen again
    const takes = 1 + hours.findIndex((one) => +one === measuredHours[0]) + 2;
    const times = Math.floor((hours.length + 2) / takes);
    t.equal(failures, 2 * times, "attempted twice, and given up");
    t.equal(reported.filter((rollup) => rollup === "sample_minute").length, times, "counted once");
    await pool.script("alter procedure upkeep.hidden rename to mend");
    const window = await firstWindow(pool);
    await reconcileOnce(pool, window);
    t.strictSame(await rowsOfRollups(pool), whole);
    await pool.query(sql`call upkeep.refresh_all(${window.from}, ${window.to})`);
  });
}

async function everyWindowHasItsTurn(t: Test, pool: Pool): Promise<void> {
  const whole = await rowsOfRollups(pool);
  await damage(pool, "component_minute");
  const isMeasured = ({ hours }: ReconciledWindow) => hours.some((hour) => +hour === measuredHours[0]);
  const { reported, failures } = await reconcileByHours(pool, isMeasured);
  t.equal(failures, 0);
  t.ok(reported.includes("component_minute"));
  t.strictSame(await rowsOfRollups(pool), whole);
}

/** Reconciles hour by hour, as core does, from such a window of the first venue on. */
async function reconcileByHours(pool: Pool, isIt: (window: ReconciledWindow) => boolean) {
  const windows = await pool.file<ReconciledWindow>("reconcile_window", [at, null]);
  const place = windows.findIndex((window) => window.venue_id === 1 && isIt(window));
  const { hours } = windows[place]!;
  const reported: string[] = [];
  const reconciler = makeReconciler(
    pool,
    makeLog("test", "error", () => {}),
    { compared: () => {}, differs: ({ rollup }) => reported.push(rollup) },
    () => (place + 0.5) / windows.length,
  );
  let failures = 0;
  for (let step = 0; step < hours.length + 2; step++) await reconciler.step(at).catch(() => failures++);
  return { reported, failures, hours };
}

/** Some minutes of two venues, rolled up and compressed. */
async function makePast(pool: Pool): Promise<void> {
  const ids = await componentsOfTwo(pool);
  const random = randomFrom(5);
  for (const hour of measuredHours)
    for (const minute of [0, 8, 17, 41, 59])
      await insertRaw(pool, samplesWithin(random, new Date(hour + minute * minuteMs), 6, ids, [1, 2]));
  await pool.query(sql`call upkeep.refresh_all(${new Date(bucketMs)}, ${new Date(bucketMs + 5 * dayMs)})`);
  await compressAll(pool, new Date(bucketMs + 30 * dayMs));
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

/** The first venue's five days, with only the measured hours: on a server, where chunks span a day, more takes long. */
async function firstWindow(pool: Pool): Promise<ReconciledWindow> {
  const windows = await pool.file<ReconciledWindow>("reconcile_window", [at, null]);
  const its = largest(windows.filter(({ venue_id }) => venue_id === 1));
  const window = its.find(({ from, to }) => +to - +from === 5 * dayMs)!;
  const hours = window.hours.filter((hour) => measuredHours.includes(+hour));
  return { ...window, hours };
}

/** The reports of one look at a window. */
async function reconcileOnce(pool: Pool, window: ReconciledWindow) {
  const reported: RollupDifference[] = [];
  const compared: string[] = [];
  let logged = "";
  const log = makeLog("test", "error", (line) => (logged += line));
  await reconcile(pool, log, window, {
    compared: (rollups) => compared.push(...rollups),
    differs: (difference) => reported.push(difference),
  });
  return { reported, logged, compared };
}

async function rowsOfRollups(pool: Pool): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const rollup of rollups) {
    const rows = await pool.text<{ row: string }>(`select r::text as row from ${rollup} r order by 1`, []);
    all[rollup] = rows.map(({ row }) => row).join("\n");
  }
  return all;
}

/** What is counted in a roll-up. */
function countedIn(rollup: string): string {
  if (["sample_minute", "sample_hour", "rest_hour", "stream_hour", "latency_hour"].includes(rollup)) return "samples";
  if (rollup === "component_minute") return "regions";
  if (rollup === "venue_minute") return "components";
  if (rollup === "usual_hour") return "hours";
  return rollup.includes("latency") ? "minutes" : "measured_minutes";
}

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
  const counted = countedIn(rollup);
  await pool.text(`delete from ${table} r where to_jsonb(r) = $1`, [first]);
  await pool.text(`update ${table} r set ${counted} = ${counted} + 1 where to_jsonb(r) = $1`, [second]);
  await pool.text(`insert into ${table} select r.* from ${table} r where to_jsonb(r) = $1`, [third]);
}
