import t, { type Test } from "tap";
import { type Db, type Pool, sql } from "../server/db.js";
import { migratedDatabase } from "./database.js";
import { insertRaw, randomFrom, samplesWithin } from "./random-samples.js";
import { type Component, type RawSample, rollUp } from "./rollup-model.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

void t.test("roll-ups are what their samples say", async (t) => {
  const { pool } = await migratedDatabase(t);
  const watched = await watchedBy(pool);
  const ids = watched.map(({ component_id }) => component_id);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs;
  const minutes = [
    ...Array.from({ length: 6 }, (_, i) => midnight + (i - 3) * minuteMs),
    ...[midnight + 59 * minuteMs, midnight + hourMs, midnight + 13 * hourMs],
    ...Array.from(
      { length: 3 },
      (_, i) => midnight + dayMs - minuteMs + i * minuteMs,
    ),
  ];
  const random = randomFrom(7);
  const samplesOf = (at: number, slots: number) =>
    samplesWithin(random, new Date(at), slots, ids, [1, 2, 3]);

  const samples = minutes.flatMap((at) => samplesOf(at, 7));
  await insertRaw(pool, samples);
  await pool.query(
    sql`call upkeep.refresh_all(${new Date(minutes[0]!)}, ${new Date(minutes.at(-1)!)})`,
  );
  await agree(t, pool, watched, samples, "rolled up");

  const late = minutes
    .filter((_, i) => i % 3 === 0)
    .flatMap((at) => samplesOf(at, 11))
    .filter((sample) => !samples.some((s) => sameSlot(s, sample)));
  await insertRaw(pool, late);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await agree(
    t,
    pool,
    watched,
    [...samples, ...late],
    "corrected by late samples",
  );
});

void t.test("the newest minutes are always right", async (t) => {
  const { pool } = await migratedDatabase(t);
  const watched = await watchedBy(pool);
  const ids = watched.map(({ component_id }) => component_id);
  const random = randomFrom(11);
  // any instant will do, and this one is the first of an hour, of a day, and of the database
  const start = Math.floor(Date.now() / dayMs) * dayMs;
  const samples: RawSample[] = [];

  for (let tick = 0; tick < 12; tick++) {
    const atMs = start + tick * 20_000;
    const of = samplesWithin(random, new Date(atMs), 9, ids, [1, 2, 3]);
    // what this tick can know, and what came three minutes late
    const known = of.filter(({ ts }) => +ts < atMs + 20_000);
    const behind = known.map((sample) => ({
      ...sample,
      ts: new Date(+sample.ts - 3 * minuteMs + 1),
    }));
    await insertRaw(pool, [...known, ...behind]);
    samples.push(...known, ...behind);
    await pool.query(
      sql`call upkeep.refresh_newest(${new Date(atMs + 19_999)})`,
    );
    const { sample_minute, component_minute, venue_minute } = rollUp(
      samples,
      watched,
    );
    await same(t, pool, { sample_minute, component_minute, venue_minute });
  }
});

async function watchedBy(pool: Pool) {
  return pool.query<Component>(sql`
    select component_id, venue_id, kind from component where venue_id in (1, 2) order by 1
  `);
}

function sameSlot(a: RawSample, b: RawSample): boolean {
  return (
    +a.ts === +b.ts &&
    a.component_id === b.component_id &&
    a.region_id === b.region_id
  );
}

async function agree(
  t: Test,
  db: Db,
  components: Component[],
  samples: RawSample[],
  how: string,
) {
  const expected = rollUp(samples, components);
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

/** Rows as texts, since neither their order nor that of their columns matters. */
function sorted(rows: object[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row).sort(([a], [b]) => a.localeCompare(b)),
      ),
    )
    .sort();
}
