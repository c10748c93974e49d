/** What retention drops, and that no refresh erases roll-ups whose samples are gone. */
import t from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { migratedDatabase } from "../support/database.js";
import { poolOn } from "../support/pool-on.js";
import { insertRaw, randomFrom } from "../support/random-samples.js";
import type { RawSample } from "../support/rollup-model.js";
import { until } from "../support/until.js";
import {
  addedUp,
  dayMs,
  rowsOfRollups,
  hourMs,
  minuteMs,
  refreshEverything,
  retain,
  assertRolledUp,
  rollups,
  samplesAround,
} from "../support/rollup-upkeep.js";

/** `UPKEEP_REFRESHES=all`: also narrow refreshes that wide ones cover. */
const everyRefresh = process.env["UPKEEP_REFRESHES"] === "all";

void t.test("roll-ups outlive their samples", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const old = samplesAround(new Date(+now - 20 * dayMs), 12);
  const recent = samplesAround(new Date(+now - 3 * dayMs), 3);
  await insertRaw(pool, [...old, ...recent]);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 21 * dayMs)}, ${now})`);
  const before = await rowsOfRollups(pool);
  t.ok(before["usual_hour"]!.length > 0);
  await assertRolledUp(t, pool, [...old, ...recent], now);

  const days = (count: number) => new Date(+now - count * dayMs);
  for (const [component, from, to] of [
    [1, days(900), days(401)],
    [1, days(401), days(399)],
    [2, days(900), null],
  ] as const)
    await pool.query(sql`
      insert into state_change (venue_id, component_id, state, started_at, ended_at, recorded_at)
      select venue_id, component_id, 'operational', ${from}, ${to}, ${from} from component where component_id = ${component}
    `);

  t.ok((await retain(pool, now)) > 0);
  const states = await pool.query(sql`select component_id, ended_at from state_change order by component_id`);
  t.strictSame(
    states,
    [
      { component_id: 1, ended_at: days(399) },
      { component_id: 2, ended_at: null },
    ],
    "a state is kept while it lasts, and for 400 days",
  );
  const kept = await pool.query(sql`select from sample`);
  t.equal(kept.length, recent.length, "only samples beyond retention are dropped");
  await refreshEverything(pool, now);
  const left = afterRetain(before, now);
  t.ok(left.rest_hour!.length > 0 && left.latency_hour!.length > 0);
  t.strictSame(await rowsOfRollups(pool), left, "a refresh over everything erases no roll-up");

  await pool.script(`select drop_chunks('sample', older_than => now())`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 21 * dayMs)}, ${new Date(+now - 8 * dayMs)})`);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  t.strictSame(await rowsOfRollups(pool), left, "a refresh without any sample erases no roll-up");
});

void t.test("no refresh erases roll-ups whose samples are dropped", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const noon = Math.floor(+now / dayMs) * dayMs + 12 * hourMs;
  // across a chunk's edge, where chunks span an hour
  const days = [7, 5, 4].map((ago) => noon - ago * dayMs);
  await insertRaw(
    pool,
    days.flatMap((at) => samplesAround(new Date(at - 2 * minuteMs), 4)),
  );
  await pool.query(sql`call upkeep.refresh_all(${new Date(noon - 8 * dayMs)}, ${now})`);
  const before = await rowsOfRollups(pool);

  const dropped = async (from: number, to: number) => {
    const rows = await pool.query(
      sql`select drop_chunks('sample', newer_than => ${new Date(from)}::timestamptz, older_than => ${new Date(to)}::timestamptz)`,
    );
    t.ok(rows.length > 0);
  };
  const wide = [
    sql`call upkeep.refresh_all(${new Date(noon - 100 * dayMs)}, ${now})`,
    sql`call upkeep.refresh_all('-infinity', ${now})`,
  ];
  const narrow = [
    sql`call upkeep.refresh_newest(${now})`,
    sql`call upkeep.refresh_open_buckets(${now}, true)`,
    sql`call upkeep.refresh_hours(${now})`,
    sql`call upkeep.refresh_late(${now})`,
    ...days.map((at) => sql`call upkeep.refresh_all(${new Date(at - hourMs)}, ${new Date(at + hourMs)})`),
  ];
  // refreshes of all windows cover the others
  const all = everyRefresh ? [...narrow, ...wide] : wide;
  const random = randomFrom(3);
  const unchanged = async (what: string) => {
    for (const refresh of shuffled(all, random)) await pool.query(refresh);
    t.strictSame(await rowsOfRollups(pool), before, what);
  };

  const midnight = (at: number) => at - 12 * hourMs;
  await dropped(midnight(days[1]!), midnight(days[1]!) + dayMs);
  await dropped(midnight(days[0]!), midnight(days[0]!) + dayMs);
  await unchanged("after a day in the middle and the oldest day were dropped");

  const late = samplesAround(new Date(days[1]!), 1).slice(0, 1);
  await insertRaw(pool, late);
  await unchanged("after a late sample arrived for a dropped day");

  await pool.query(sql`select drop_chunks('sample', older_than => ${new Date(days[2]!)}::timestamptz)`);
  await unchanged("after half a day was dropped, where chunks span an hour");
  await pool.script(`select drop_chunks('sample', older_than => now() + interval '2 days')`);
  await unchanged("after everything was dropped");
  for (const at of days) await insertRaw(pool, samplesAround(new Date(at), 1).slice(0, 1));
  await unchanged("after a late sample of each day arrived");
});

for (const [first, then] of [
  [12, 12],
  [16, 16],
  // the length of chunks may change on a running database
  [12, 16],
] as const)
  void t.test(
    `a day is rolled up from all its minutes or not at all: chunks of ${first} hours, then of ${then}`,
    async (t) => {
      const { pool } = await migratedDatabase(t);
      // of every other day, at which a chunk of sixteen hours begins
      const midnight = (Math.floor(Date.now() / dayMs / 2) - 2) * 2 * dayMs;
      const instant = (hour: number) => new Date(midnight + hour * hourMs);
      const samples: RawSample[] = [];
      const comes = async (...hours: number[]) => {
        const more = hours.flatMap((hour) => samplesAround(instant(hour), 4));
        await insertRaw(pool, more);
        samples.push(...more);
        const at = instant(Math.max(...hours) + 0.5);
        await pool.query(sql`call upkeep.refresh_late(${at})`);
        await assertRolledUp(t, pool, samples, at);
      };
      await setMinutesChunk(pool, first);
      await comes(-6, 6);
      await setMinutesChunk(pool, then);
      await comes(14, 18);
      await comes(30, 38);

      const held = await rowsOfRollups(pool);
      const chunks = async () => (await pool.query(sql`select from show_chunks('sample_minute')`)).length;
      const before = await chunks();
      for (const hour of [12, 16, 24, 36]) {
        await pool.query(sql`select drop_chunks('sample_minute', older_than => ${instant(hour)}::timestamptz)`);
        await pool.query(sql`call upkeep.refresh('latency_day', ${instant(-24)}, ${instant(48)}, force => true)`);
        t.strictSame(
          (await rowsOfRollups(pool)).latency_day,
          held.latency_day,
          `no day is recomputed from the minutes left after ${hour} hours were dropped`,
        );
      }
      const after = await chunks();
      t.ok(after > 0 && after < before, `${after} of ${before} chunks are left`);
    },
  );

/** Sets how many hours of minutes a chunk has from now on. */
async function setMinutesChunk(pool: Pool, hours: number): Promise<void> {
  await pool.query(sql`
    select set_chunk_time_interval(
      format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, ${hours} * interval '1 hour'
    )
    from timescaledb_information.continuous_aggregates
    where view_schema = 'venuewatch' and view_name = 'sample_minute'
  `);
}

void t.test("retention drops nothing during a refresh", async (t) => {
  const { url, pool } = await migratedDatabase(t);
  const now = new Date();
  const old = [12, 11, 10, 9].flatMap((ago) => samplesAround(new Date(+now - ago * dayMs), 5));
  await insertRaw(pool, old);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 13 * dayMs)}, ${now})`);
  // on the embedded database one statement runs at a time
  if (process.env["DATABASE_URL"])
    await t.test("that was blocked after it had chosen what to refresh", async (t) => {
      const other = poolOn(t, url);
      const [kept] = await pool.query<{ name: string }>(sql`
        select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name) as name
        from timescaledb_information.continuous_aggregates where view_name = 'sample_minute'
      `);
      // without new samples it would not look at them at all
      const late = old.map((sample) => ({ ...sample, ts: new Date(+sample.ts + 1) }));
      await insertRaw(pool, late);
      let refreshing: Promise<unknown> | undefined;
      await other.transaction(async (tx) => {
        await tx.script(`lock table ${kept!.name} in access exclusive mode`);
        refreshing = pool.query(sql`call upkeep.refresh_all(${new Date(+now - 13 * dayMs)}, ${now})`);
        await until(async () => {
          const [row] = await pool.query<{ waiting: boolean }>(sql`
            select exists (
              select from pg_locks l
              where not l.granted and l.relation = ${kept!.name}::regclass and l.database = (select oid from pg_database where datname = current_database())
            ) as waiting
          `);
          return row!.waiting;
        }, 60_000);
        await t.rejects(retain(pool, now), /a refresh is under way/);
      });
      await refreshing;
      await assertRolledUp(t, pool, [...old, ...late], now);
    });

  const before = await rowsOfRollups(pool);
  await pool.query(sql`
    insert into leader (office, holder, fence, expires_at)
    values ('refresh of a test', 'test', 1, now() + interval '1 minute')`);
  await t.rejects(retain(pool, now), /a refresh is under way/);
  await pool.query(sql`update leader set expires_at = now() where holder = 'test'`);
  t.ok((await retain(pool, now)) > 0, "retention drops again once the refresh's lease has expired");
  t.strictSame(await rowsOfRollups(pool), afterRetain(before, now));
  const left = await pool.query(sql`select from leader where office like 'refresh of %' and expires_at > now()`);
  t.strictSame(left, [], "a refresh releases its lease");
});

void t.test("a drop of chunks and the clock never wait for each other", async (t) => {
  const { url, pool } = await migratedDatabase(t);
  const now = new Date();
  const old = [12, 9].flatMap((ago) => samplesAround(new Date(+now - ago * dayMs), 5));
  await pool.query(sql`insert into engine_clock (ticked_at, version) values (${now}, 'test')`);
  const revision = async () => {
    const [row] = await pool.query<{ revision: number }>(sql`select revision from engine_clock`);
    return row!.revision;
  };
  await insertRaw(pool, old);
  await pool.script(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'core is gone'; end $$;
    create trigger refuse before update on engine_clock for each row execute function refuse();
  `);
  await t.rejects(retain(pool, now), /core is gone/);
  t.strictSame(await pool.query(sql`select from sample`), [], "chunks are dropped before the clock is updated");
  await pool.script("drop trigger refuse on engine_clock");
  const before = await revision();
  t.equal(await retain(pool, now), 0);
  t.equal(await revision(), before + 1, "the next retention advances the clock's revision");

  // on the embedded database one statement runs at a time
  if (!process.env["DATABASE_URL"]) return;
  await insertRaw(pool, old);
  const tick = poolOn(t, url);
  let retaining: Promise<number> | undefined;
  await tick.transaction(async (tx) => {
    await tx.query(sql`select from engine_clock for update`);
    retaining = retain(pool, now);
    await until(async () => {
      const [row] = await tx.query<{ waiting: boolean }>(sql`
        select exists (
          select
          from pg_locks held
          join pg_locks wanted using (pid)
          where not wanted.granted and wanted.locktype in ('transactionid', 'tuple')
            and held.granted and held.relation = 'engine_clock'::regclass
            and held.database = (select oid from pg_database where datname = current_database())
        ) as waiting
      `);
      return row!.waiting;
    }, 60_000);
    await tx.query(sql`set local lock_timeout = '1 s'`);
    await tx.query(sql`select count(*) from sample where ts < now()`);
  });
  t.ok((await retaining!) > 0);
});

void t.test("samples and each roll-up are kept for their retention period", async (t) => {
  const { pool } = await migratedDatabase(t);
  // at noon: twelve minutes of samples lie in one day, and are enough for a percentile of an hour
  const now = new Date(new Date().setUTCHours(12, 0, 0, 0));
  const samples = [110, 90, 2].flatMap((days) => samplesAround(new Date(+now - days * dayMs), 12));
  await insertRaw(pool, samples);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 111 * dayMs)}, ${now})`);
  await retain(pool, now);
  await refreshEverything(pool, now);
  const held = await rowsOfRollups(pool);
  const daysOf = (rollup: string) =>
    new Set(held[rollup]!.map((row) => Math.round((+now - +Object.values(row)[0]!) / dayMs))).size;
  t.strictSame(
    Object.fromEntries(rollups.map((rollup) => [rollup, daysOf(rollup)])),
    {
      ...{ sample_minute: 2, sample_hour: 3, component_minute: 2, venue_minute: 2 },
      ...{ component_day: 3, venue_day: 3, latency_day: 3, venue_latency_day: 3 },
    },
    "minutes are kept for a hundred days, hours and days indefinitely",
  );
  t.ok(daysOf("usual_hour") >= 2, "typical hours keep their latencies");
});

function shuffled<One>(all: readonly One[], random: () => number): One[] {
  return all
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}

/** The rows that remain after old ones were dropped: of these levels, days that touch the last eight. */
function afterRetain(held: Record<string, object[]>, now: Date) {
  const left = { ...held };
  for (const rollup of ["rest_hour", "stream_hour", "latency_hour", ...addedUp])
    left[rollup] = held[rollup]!.filter((row) => {
      const { hour } = row as { hour: Date };
      const dayEnd = Math.floor(+hour / dayMs) * dayMs + dayMs;
      return dayEnd > +now - 8 * dayMs;
    });
  return left;
}
