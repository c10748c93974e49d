import t, { type Test } from "tap";
import { accepted, tick } from "../../server/core/engine/tick.js";
import { rollupsOf, spansToReconcile } from "../../server/core/rollups/reconcile.js";
import { migrate } from "../../server/database/migrate.js";
import { syncRegistry } from "../../server/database/sync-registry.js";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { migratedDatabase } from "../support/database.js";
import { emptied } from "../support/emptied.js";
import { insertRaw, randomFrom, samplesWithin } from "../support/random-samples.js";
import { type Circumstances, type Component, type RawSample, rollUp } from "../support/rollup-model.js";
import {
  compressAll,
  dayMs,
  excludeAll,
  hourMs,
  minuteMs,
  refreshEverything,
  rowsOfRollups,
  samplesAround,
  setClock,
} from "../support/rollup-upkeep.js";

const database = await migratedDatabase(t);

void t.test("roll-ups agree with their samples", async (t) => {
  const { pool } = await emptied(database);
  const watched = await watchedBy(pool);
  const ids = watched.map(({ component_id }) => component_id);
  // three days ago: yesterday is added up only once its last minutes are published, minutes after it is over
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs;
  const minutes = [
    ...Array.from({ length: 6 }, (_, i) => midnight + (i - 3) * minuteMs),
    ...[midnight + 59 * minuteMs, midnight + hourMs, midnight + 13 * hourMs],
    ...Array.from({ length: 3 }, (_, i) => midnight + dayMs - minuteMs + i * minuteMs),
  ];
  const random = randomFrom(7);
  const samplesOf = (at: number, slots: number) => samplesWithin(random, new Date(at), slots, ids, [1, 2, 3]);

  const samples = minutes.flatMap((at) => samplesOf(at, 7));
  await insertRaw(pool, samples);
  await pool.query(sql`call upkeep.refresh_all(${new Date(minutes[0]!)}, ${new Date(minutes.at(-1)!)})`);
  await agree(t, pool, watched, samples, "rolled up", {
    regions: 3,
    addedUpTo: new Date(minutes.at(-1)! - 5 * minuteMs),
  });

  const late = minutes
    .filter((_, i) => i % 3 === 0)
    .flatMap((at) => samplesOf(at, 11))
    .filter((sample) => !samples.some((s) => sameSlot(s, sample)));
  await insertRaw(pool, late);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await agree(t, pool, watched, [...samples, ...late], "late samples correct them");
});

void t.test("roll-ups leave out minutes of impaired regions", async (t) => {
  const { pool } = await emptied(database);
  const watched = await watchedBy(pool);
  const ids = watched.map(({ component_id }) => component_id);
  const random = randomFrom(5);
  const from = Math.floor(Date.now() / dayMs) * dayMs - 30 * hourMs;
  const minutes = Array.from({ length: 90 }, (_, i) => from + i * minuteMs);
  const samples = minutes.flatMap((at) => samplesWithin(random, new Date(at), 5, ids.slice(0, 6), [1, 2, 3]));
  await insertRaw(pool, samples);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await agree(t, pool, watched, samples, "rolled up");
  await compressAll(pool, new Date());

  const excluded: { region_id: number; minute: Date }[] = [];
  const leavesOut = (region_id: number, first: number, last: number) => {
    for (let i = first; i <= last; i++) excluded.push({ region_id, minute: new Date(minutes[i]!) });
  };
  const agreed = (how: string) => agree(t, pool, watched, samples, how, { regions: 3, excluded });

  await setClock(pool, new Date(minutes[50]! + 30_000));
  await impaired(pool, 2, minutes[41]! + 59_000, minutes[42]! + 20_000);
  await excludeAll(pool);
  leavesOut(2, 41, 50);
  await agreed("an impairment found in hindsight corrects compressed minutes");

  await setClock(pool, new Date(minutes[62]!));
  await excludeAll(pool);
  leavesOut(2, 51, 62);
  await agreed("a continuing impairment corrects minutes across the end of an hour");

  await setClock(pool, new Date(minutes[80]!));
  await pool.query(sql`update impairment set ended_at = ${new Date(minutes[63]! + 1_000)} where ended_at is null`);
  await impaired(pool, 1, minutes[60]!, minutes[60]! + 10_000);
  await excludeAll(pool);
  leavesOut(2, 63, 63);
  leavesOut(1, 60, 80);
  await agreed("its end corrects minutes while another region is impaired too");
  const [thin] = await pool.query<{ thin: number }>(
    sql`select count(*) as thin from component_minute where not measured`,
  );
  t.ok(thin!.thin > 0, "a minute with only one region is not measured");

  const late = samplesWithin(random, new Date(minutes[61]! + 7), 3, ids, [2]);
  await insertRaw(pool, late);
  samples.push(...late);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await agreed("late samples of an impaired region are left out");
});

async function impaired(pool: Pool, region: number, startedMs: number, recognisedMs: number) {
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, venues, measured)
    values (${region}, ${new Date(startedMs)}, ${new Date(recognisedMs)}, '{}', 15)
  `);
}

void t.test(
  "minutes that say nothing about the venue are left out, and limits of our requests are no downtime",
  async (t) => {
    const { pool } = await emptied(database);
    const watched = await watchedBy(pool);
    const [first, second] = watched.map(({ component_id }) => component_id);
    const minute = Math.floor(Date.now() / minuteMs) * minuteMs - 20 * minuteMs;
    const at = (minutes: number) => new Date(minute + minutes * minuteMs);
    const unjudged = [
      // ends within a minute, and begins within another
      { component_id: first!, started_at: at(2), ended_at: at(4.5) },
      { component_id: first!, started_at: at(8.5), ended_at: null },
      { component_id: second!, started_at: at(0), ended_at: at(1) },
    ];
    for (const { component_id, started_at, ended_at } of unjudged)
      await pool.query(sql`
      insert into unjudged (component_id, started_at, reason, ended_at)
      values (${component_id}, ${started_at}, 'blocked', ${ended_at})
    `);
    const random = randomFrom(5);
    const bad = Array.from({ length: 12 }, (_, i) =>
      samplesWithin(random, at(i), 12, [first!, second!], [1, 2, 3]),
    ).flat();
    const samples = bad.map((sample) => ({ ...sample, fault: sample.fault && ("limited" as const) }));
    await insertRaw(pool, samples);
    await pool.query(sql`call upkeep.refresh_late(now())`);
    const { component_minute, venue_minute } = rollUp(samples, watched, { regions: 3, unjudged });
    await same(t, pool, { component_minute, venue_minute });
    t.ok(component_minute.some((row) => row.bad) && component_minute.every((row) => !row.down), "limited is not down");
    const minutesOf = (id: number) =>
      component_minute.filter((row) => row.component_id === id).map((row) => +row.minute);
    t.notOk(minutesOf(first!).includes(+at(4)) || minutesOf(first!).includes(+at(8)), "minutes that it touches");
    t.ok(minutesOf(first!).includes(+at(5)) && minutesOf(second!).includes(+at(1)), "and no others");
  },
);

void t.test("one region is enough where only one is published", async (t) => {
  const { pool, registry } = await emptied(database);
  const watched = await watchedBy(pool);
  const minute = Math.floor(Date.now() / minuteMs) * minuteMs - 20 * minuteMs;
  const before = samplesWithin(randomFrom(3), new Date(minute), 6, [1, 2, 3, 4, 5, 6, 7, 8, 9], [1]);
  await insertRaw(pool, before);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await same(t, pool, { component_minute: rollUp(before, watched).component_minute, venue_minute: [] });

  await pool.transaction((tx) => syncRegistry(tx, { ...registry, regions: registry.regions.slice(0, 1) }));
  const after = before.map((sample) => ({ ...sample, ts: new Date(+sample.ts + 30 * minuteMs) }));
  await insertRaw(pool, after);
  await pool.query(sql`call upkeep.refresh_all(${new Date(minute)}, ${new Date(minute + hourMs)})`);
  const alone = rollUp(after, watched, { regions: 1 });
  await same(t, pool, {
    component_minute: [...rollUp(before, watched).component_minute, ...alone.component_minute],
    venue_minute: alone.venue_minute,
  });
  t.ok(alone.venue_minute.length > 0);
});

void t.test("the newest minutes are always right", async (t) => {
  const { pool } = await emptied(database);
  const watched = await watchedBy(pool);
  const ids = watched.map(({ component_id }) => component_id);
  const random = randomFrom(11);
  // any instant works; this one begins an hour, a day and the database
  const start = Math.floor(Date.now() / dayMs) * dayMs;
  const samples: RawSample[] = [];

  for (let tick = 0; tick < 12; tick++) {
    const atMs = start + tick * 20_000;
    const of = samplesWithin(random, new Date(atMs), 9, ids, [1, 2, 3]);
    // the samples that this tick can know, and those that arrived three minutes late
    const known = of.filter(({ ts }) => +ts < atMs + 20_000);
    const behind = known.map((sample) => ({ ...sample, ts: new Date(+sample.ts - 3 * minuteMs + 1) }));
    await insertRaw(pool, [...known, ...behind]);
    samples.push(...known, ...behind);
    await pool.query(sql`call upkeep.refresh_newest(${new Date(atMs + 19_999)})`);
    const { sample_minute, component_minute, venue_minute } = rollUp(samples, watched);
    await same(t, pool, { sample_minute, component_minute, venue_minute });
  }
});

async function watchedBy(pool: Pool) {
  return pool.query<Component>(sql`
    select component_id, venue_id, kind from component where venue_id in (1, 2) order by 1
  `);
}

function sameSlot(a: RawSample, b: RawSample): boolean {
  return +a.ts === +b.ts && a.component_id === b.component_id && a.region_id === b.region_id;
}

async function agree(
  t: Test,
  db: Db,
  components: Component[],
  samples: RawSample[],
  how: string,
  circumstances?: Circumstances,
) {
  const expected = rollUp(samples, components, circumstances);
  t.ok(samples.length > 500, `${samples.length} samples are ${how}`);
  t.ok(expected.venue_day.some(({ down_minutes }) => down_minutes > 0));
  t.ok(expected.venue_day.some(({ degraded_minutes }) => degraded_minutes > 0));
  t.ok(expected.sample_minute.some(({ p50_us }) => p50_us === null));
  await same(t, db, expected);
}

async function same(t: Test, db: Db, expected: Record<string, object[]>) {
  for (const [rollup, rows] of Object.entries(expected)) {
    const found = await db.text<object>(`select * from ${rollup}`, []);
    t.strictSame(sorted(found), sorted(rows), rollup);
  }
}

/** Rows as text, since neither their order nor that of their columns matters. */
function sorted(rows: object[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => a.localeCompare(b)))).sort();
}

// Typical latencies of a week.

/** Whole milliseconds, for a number of days ago and a number of minutes. */
const taken: [venue: string, daysAgo: number, minutes: number, ms: number][] = [
  // the seven days include today, so the one seven days ago is not among them; the median lies between two middle
  // values
  ["okx", 7, 20, 70],
  ["okx", 6, 2, 31],
  ["okx", 1, 2, 10],
  ["kraken", 1, 6, 50],
];

void t.test("typical latencies are percentiles of the last seven days, counted once a day", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  for (const [venue, daysAgo, minutes, ms] of taken)
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, latency_us)
      select ${new Date(midnight - daysAgo * dayMs)}::timestamptz + i * interval '1 minute', component_id, 1, true, ${1000 * ms}
      from generate_series(0, ${minutes - 1}::int) i, component join venue using (venue_id)
      where venue = ${venue} and component = 'rest:ticker'
    `);
  const typical = async () => {
    const rows = await pool.query<{ what: string; ms: number }>(sql`
      select coalesce(v.venue, t.category, 'all') as what, t.p50_ms as ms
      from api.typical t left join venue v using (venue_id)
    `);
    return Object.fromEntries(rows.map(({ what, ms }) => [what, ms]));
  };
  // 20.5; a half rounds to the even neighbour
  const expected = { okx: 20, kraken: 50, exchange: 50, all: 50 };
  const now = new Date();
  const from = new Date(+now - 8 * dayMs);

  const nextTick = async () => accepted(await tick(pool, new Date()));
  await nextTick();
  t.strictSame(await typical(), {}, "no roll-up exists yet");
  await pool.query(sql`call upkeep.refresh_all(${from}, ${now})`);
  t.strictSame(await typical(), {}, "a version counted later is not shown");
  await nextTick();
  t.strictSame(await typical(), expected);

  await Promise.all(Array.from({ length: 4 }, () => pool.query(sql`call upkeep.store_typical()`)));
  await pool.query(
    sql`update typical_week set p50_ms = p50_ms + 1 where holds_from = (select max(holds_from) from typical_week)`,
  );
  t.strictSame(await typical(), expected, "the earlier version is still shown");
  await nextTick();
  t.strictSame(
    await typical(),
    { okx: 21, kraken: 51, exchange: 51, all: 51 },
    "the newest version applies from then on, and concurrent counts store it once",
  );
  await pool.query(sql`update typical_week set holds_from = holds_from - interval '1 day'`);
  await pool.query(sql`call upkeep.store_typical()`);
  const versions = await pool.query(sql`select distinct holds_from from typical_week`);
  t.equal(versions.length, 2, "two versions are kept: the newest and one that may still be shown");

  const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "kraken") };
  await migrate(pool, without, makeLog("test", "error"));
  await nextTick();
  t.strictSame(
    await typical(),
    { okx: 20, exchange: 20, all: 20 },
    "no version contains a venue that is no longer watched",
  );
});

// Callers round the ends of a window and limit them to the time already rolled up, so it may end before it begins.

const { pool } = await migratedDatabase(t);
const now = new Date();

void t.test("a window that ends before it begins, or at once, has no parts and refreshes nothing", async (t) => {
  await insertRaw(pool, samplesAround(new Date(+now - 90 * minuteMs), 3));
  await refreshEverything(pool, now);
  const before = await rowsOfRollups(pool);
  t.ok(before.sample_minute!.length > 0);
  // a refresh of anything would find no samples, and erase rows
  await pool.script("truncate sample");
  for (const rollup of [...rollupsOf.hour, ...rollupsOf.day])
    for (const span of ["0", "1 microsecond", "1 hour", "40 days"]) {
      const [parts] = await pool.query(sql`
        select upkeep.backed(${rollup}, ${now}, ${now}::timestamptz - ${span}::interval) = '{}' as none
      `);
      t.strictSame(parts, { none: true }, `${rollup}, ${span}`);
      for (const unasked of [true, false])
        await pool.query(sql`
          call upkeep.refresh(${rollup}, ${now}, ${now}::timestamptz - ${span}::interval, force => true, unasked => ${unasked})
        `);
    }
  t.strictSame(await rowsOfRollups(pool), before);
});

void t.test("days that were written as days are not reconciled", async (t) => {
  await insertRaw(pool, samplesAround(new Date(+now - 90 * minuteMs), 3));
  const daysFrom = async (from: string) => {
    await pool.query(sql`update added_up set days_from = ${from}::timestamptz`);
    const spans = await spansToReconcile(pool, new Date(+now + 2 * 24 * 60 * minuteMs), { expiring: false });
    return spans.filter(({ level }) => level === "day");
  };
  await pool.query(sql`update added_up set days_to = now() + interval '1 day'`);
  t.ok((await daysFrom("-infinity")).length > 0, "there is something to reconcile");
  t.strictSame(await daysFrom(new Date(+now + 5 * 24 * 60 * minuteMs).toISOString()), []);
});
