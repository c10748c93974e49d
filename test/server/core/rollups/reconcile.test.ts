import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import {
  reconcile,
  type ReconcileMetrics,
  type RollupDifference,
  rollupsOf,
  type Span,
  spansToReconcile,
  underWayElsewhere,
} from "../../../../server/core/rollups/reconcile.js";
import { makeUpkeep, usualUpkeepPace } from "../../../../server/core/rollups/upkeep.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migratedDatabase } from "../../../support/database.js";
import { insertRaw, randomFrom, samplesWithin } from "../../../support/random-samples.js";
import { compressAll, dayMs, hourMs, minuteMs } from "../../../support/rollup-upkeep.js";

/** `RECONCILE_BATCHES`: batches that arrive during reconciliation. */
const lateBatches = Number(process.env["RECONCILE_BATCHES"] ?? 12);
const rollups = [...rollupsOf.hour, ...rollupsOf.day];
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
/** Older than raw samples are kept, and earlier than the others. */
const expiredMs = Math.floor(Date.now() / dayMs) * dayMs - 12 * dayMs + 5 * hourMs;

void t.test("damaged roll-ups are recomputed from samples", async (t) => {
  const { pool } = await migratedDatabase(t);
  await makePast(pool);
  await damagesAreFound(t, pool);
  await lostSamplesAreReported(t, pool);
  await nothingElseIsReported(t, pool);
  await expiringSamplesAreCompared(t, pool);
});

async function damagesAreFound(t: Test, pool: Pool): Promise<void> {
  const whole = await rowsOfRollups(pool);
  t.strictSame((await reconcileOnce(pool)).reported, [], "an undamaged roll-up is not reported");

  for (const pair of pairs) {
    // any refresh recomputes what is recorded as due, and would repair some of the damage
    await refreshAll(pool);
    for (const rollup of pair) await damage(pool, rollup);
    const damaged = await rowsOfRollups(pool);
    const { reported, logged, compared } = await reconcileOnce(pool);
    const rows = new Map<string, number>();
    for (const one of reported) rows.set(one.rollup, (rows.get(one.rollup) ?? 0) + one.rows);
    for (const rollup of pair) {
      t.not(damaged[rollup], whole[rollup], `${rollup} is damaged`);
      // days of which one is recomputed: TimescaleDB records that the next is due, and an ordinary refresh repairs it
      const own = rollupsOf.day.includes(rollup) ? [1, 2, 3] : [3];
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
    const { reported } = await reconcileOnce(pool);
    t.ok(reported.length >= rollupsOf.hour.length);
    t.strictSame(await rowsOfRollups(pool), whole);
    t.strictSame((await reconcileOnce(pool)).reported, []);
  });
}

async function nothingElseIsReported(t: Test, pool: Pool): Promise<void> {
  await t.test("late samples that are not rolled up yet are no damage", async (t) => {
    await insertLate(pool, 1);
    const { reported, compared } = await reconcileOnce(pool);
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
          await refreshAll(pool).catch((error: unknown) => {
            if (!underWayElsewhere(error)) throw error;
          });
      }
    })();
    const reported: RollupDifference[] = [];
    let looks = 0;
    for (; batches < lateBatches; looks++) reported.push(...(await reconcileOnce(pool)).reported);
    writing = false;
    await writers;
    t.strictSame(reported, [], `${batches} batches, ${looks} looks`);
    t.strictSame((await reconcileOnce(pool)).reported, []);
  });
}

async function lostSamplesAreReported(t: Test, pool: Pool): Promise<void> {
  await t.test("roll-ups of samples deleted by hand are reported and kept", async (t) => {
    const whole = await rowsOfRollups(pool);
    // not most of them: a chunk younger than its retention, as all here are, would then count as dropped
    const to = new Date(measuredHours[1]! + minuteMs);
    const where = sql`where ts >= ${new Date(measuredHours[1]!)} and ts < ${to}`;
    await pool.query(sql`create table deleted as select * from sample ${where}`);
    await pool.query(sql`delete from sample ${where}`);
    const { reported, logged } = await reconcileOnce(pool);
    t.match(reported, [{ rollup: "sample", from: String }]);
    t.equal(reported.length, 1, "reported once");
    t.match(logged, /raw samples are missing/);
    t.strictSame(await rowsOfRollups(pool), whole, "the roll-ups are unchanged");
    await pool.query(sql`insert into sample select * from deleted`);
    t.strictSame((await reconcileOnce(pool)).reported, []);
    await refreshAll(pool);
  });
}

async function expiringSamplesAreCompared(t: Test, pool: Pool): Promise<void> {
  await t.test("core compares samples with their roll-ups before it drops them", async (t) => {
    const ids = await componentsOfTwo(pool);
    await insertRaw(pool, samplesWithin(randomFrom(9), new Date(expiredMs), 6, ids, [1, 2]));
    await pool.query(sql`call upkeep.refresh_all(${new Date(expiredMs)}, ${new Date(expiredMs + hourMs)})`);
    const whole = await rowsOfRollups(pool);
    // the earliest rows, which are of the hour that has expired
    for (const rollup of ["sample_minute", "component_day"]) await damage(pool, rollup);
    const { reported, log, metrics } = collecting();
    let passedMs = 0;
    const clock = { now: () => Promise.resolve(new Date()), passedMs: () => passedMs };
    const upkeep = makeUpkeep(pool, log, usualUpkeepPace, { ...unmeasured, ...metrics }, clock);
    for (let passes = 0; passes < 1000 && (await samplesAt(pool, expiredMs)) > 0; passes++)
      passedMs += 1 + (await upkeep.doWhatIsDue(() => true));
    t.equal(await samplesAt(pool, expiredMs), 0, "they are dropped");
    t.ok(reported.some(({ rollup }) => rollup === "sample_minute"));
    const { sample_minute, component_day } = await rowsOfRollups(pool);
    t.strictSame(
      { sample_minute, component_day },
      { sample_minute: whole.sample_minute, component_day: whole.component_day },
    );
  });

  await t.test("roll-ups whose samples were dropped are kept", async (t) => {
    const before = await rowsOfRollups(pool);
    await insertLate(pool, 1000, [expiredMs]);
    const [venue] = await spansToReconcile(pool, at, { expiring: false });
    const dropped: Span = { ...venue!, level: "hour", from: new Date(expiredMs) };
    const { reported, log, metrics } = collecting();
    await reconcile(pool, log, dropped, metrics);
    t.strictSame(reported, [], "also if the hour was chosen before, and a few late samples arrived");
    t.strictSame(await rowsOfRollups(pool), before);
  });
}

const unmeasured = { leads() {}, decided() {}, choresBegin() {}, choreDone() {} };

async function samplesAt(pool: Pool, hour: number): Promise<number> {
  const [row] = await pool.query<{ samples: number }>(sql`
    select count(*)::int as samples from sample where ts >= ${new Date(hour)} and ts < ${new Date(hour + hourMs)}
  `);
  return row!.samples;
}

function refreshAll(pool: Pool) {
  return pool.query(sql`call upkeep.refresh_all(${new Date(bucketMs)}, ${new Date(bucketMs + 5 * dayMs)})`);
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

/** What is compared and reported when the first venue's measured hours and their days are looked at once. */
async function reconcileOnce(pool: Pool) {
  const spans = await spansToReconcile(pool, at, { expiring: false });
  const { reported, compared, logged, log, metrics } = collecting();
  for (const span of spans)
    if (span.venue_id === 1 && (span.level === "day" || measuredHours.includes(+span.from)))
      await reconcile(pool, log, span, metrics);
  return { reported, compared, logged: logged.join("") };
}

function collecting() {
  const reported: RollupDifference[] = [];
  const compared: string[] = [];
  const logged: string[] = [];
  const metrics: ReconcileMetrics = {
    compared: (of) => compared.push(...of),
    differs: (difference) => reported.push(difference),
  };
  return { reported, compared, logged, metrics, log: makeLog("test", "error", (line) => logged.push(line)) };
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
