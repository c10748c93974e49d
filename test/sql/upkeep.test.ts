import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../../shared/database/pool.js";
import { makeUpkeep, usualUpkeepPace } from "../../server/engine/upkeep.js";
import { makeLog } from "../../shared/log/log.js";
import { migratedDatabase } from "../support/database.js";
import { insertRaw, randomFrom, samplesWithin } from "../support/random-samples.js";
import {
  type Component,
  type RawSample,
  rollUp,
  latencyHours,
  restHours,
  streamHours,
  usualHours,
} from "../support/rollup-model.js";
import { until } from "../support/until.js";

const quiet = makeLog("test", "error");
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** `UPKEEP_REFRESHES=all`: also narrow refreshes that wide ones cover. */
const everyRefresh = process.env["UPKEEP_REFRESHES"] === "all";
const rollups = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
  "component_day",
  "venue_day",
  "latency_day",
  "venue_latency_day",
];
/** No query reads them for a day that is over, and they are dropped with raw samples. */
const addedUp = ["component_hour", "venue_hour"];
/** Of these, only closed buckets: hours, and five days. */
const overOnly = ["rest_hour", "stream_hour", "latency_hour", "usual_hour"];
const usual = "usual_hour";

void t.test("upkeep of an empty database succeeds", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  await refreshEverything(pool, now);
  t.equal(await compressNext(pool, now), null);
  t.equal(await retain(pool, now), 0);
  t.equal((await heldBy(pool)).sample_minute!.length, 0);

  await t.test("rolls up the first hours afterwards", async (t) => {
    const from = new Date(+now - 90 * minuteMs);
    const samples = samplesAround(from, 3);
    await insertRaw(pool, samples);
    await pool.query(sql`call upkeep.refresh_newest(${now})`);
    await pool.query(sql`call upkeep.refresh_open_buckets(${now})`);
    await pool.query(sql`call upkeep.refresh_late(${now})`);
    await rolledUp(t, pool, samples, now);
  });
});

void t.test("upkeep recomputes the hour before every minute, and the current hour when it is due", async (t) => {
  const { pool } = await migratedDatabase(t);
  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs - hourMs);
  const hourBefore = new Date(+hour - hourMs);
  const at = (minute: number) => new Date(+hour + minute * minuteMs);
  await insertRaw(pool, [...samplesAround(new Date(+hour - 20 * minuteMs), 3), ...samplesAround(at(20), 3)]);
  const hours = async () =>
    (await pool.query<{ hour: Date }>(sql`select distinct hour from sample_hour order by hour`)).map(
      ({ hour }) => hour,
    );
  const isDue = async (minute: number) =>
    (await pool.query<{ due: boolean }>(sql`select upkeep.current_hour_is_due(${at(minute)}) as due`))[0]!.due;

  await pool.query(sql`call upkeep.refresh_open_buckets(${at(31)}, upkeep.current_hour_is_due(${at(31)}))`);
  t.strictSame(await hours(), [hourBefore]);
  await pool.query(sql`call upkeep.refresh_open_buckets(${at(35)}, upkeep.current_hour_is_due(${at(35)}))`);
  t.strictSame(await hours(), [hourBefore, hour]);

  const dueMinutes = [];
  for (let minute = 0; minute < 60; minute++) if (await isDue(minute)) dueMinutes.push(minute);
  t.strictSame(dueMinutes, [0, 1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
});

void t.test("upkeep keeps the planner's statistics current", async (t) => {
  const { pool } = await migratedDatabase(t);
  await pool.query(sql`
    insert into component_state (component_id, state, since, reporting, quorum)
    select component_id, 'operational', now(), 3, 2 from component
  `);
  await makeUpkeep(pool, quiet, usualUpkeepPace).doWhatIsDue(() => true);
  const [row] = await pool.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    sql`explain (format json) select from component_state`,
  );
  const [there] = await pool.query<{ states: number }>(sql`select count(*) as states from component_state`);
  t.ok(there!.states > 100);
  t.equal(row!["QUERY PLAN"][0].Plan["Plan Rows"], there!.states);
});

interface PlanNode {
  "Plan Rows": number;
}

void t.test("a day's last minutes reach its roll-up", async (t) => {
  const { pool } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const samples = samplesAround(new Date(midnight - minuteMs), 1);
  await insertRaw(pool, samples);
  await pool.query(sql`call upkeep.refresh_newest(${new Date(midnight + 4_000)})`);
  await pool.query(sql`call upkeep.refresh_open_buckets(${new Date(midnight + 5 * minuteMs)})`);
  const days = await pool.query<{ day: Date }>(sql`select day from venue_day`);
  t.strictSame(
    days.map(({ day }) => +day),
    [midnight - dayMs],
    "the day is complete once its minutes are published",
  );
});

void t.test("roll-ups outlive their samples", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const old = samplesAround(new Date(+now - 20 * dayMs), 3);
  const recent = samplesAround(new Date(+now - 3 * dayMs), 3);
  await insertRaw(pool, [...old, ...recent]);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 21 * dayMs)}, ${now})`);
  const before = await heldBy(pool);
  t.ok(before[usual]!.length > 0);
  await rolledUp(t, pool, [...old, ...recent], now);

  t.ok((await retain(pool, now)) > 0);
  const [kept] = await pool.query<{ samples: number }>(sql`select count(*) as samples from sample`);
  t.equal(kept!.samples, recent.length, "only samples beyond retention are dropped");
  await refreshEverything(pool, now);
  const left = afterRetain(before, now);
  t.ok(left.rest_hour!.length > 0 && left.latency_hour!.length > 0);
  t.strictSame(await heldBy(pool), left, "a refresh over everything erases no roll-up");

  await pool.script(`select drop_chunks('sample', older_than => now())`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 21 * dayMs)}, ${new Date(+now - 8 * dayMs)})`);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  t.strictSame(await heldBy(pool), left, "a refresh without any sample erases no roll-up");
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
  const before = await heldBy(pool);

  const dropped = async (from: number, to: number) => {
    const rows = await pool.query(
      sql`select drop_chunks('sample', newer_than => ${new Date(from)}::timestamptz, older_than => ${new Date(to)}::timestamptz)`,
    );
    t.ok(rows.length > 0);
  };
  const wide = [
    () => pool.query(sql`call upkeep.refresh_all(${new Date(noon - 100 * dayMs)}, ${now})`),
    () => pool.query(sql`call upkeep.refresh_all('-infinity', ${now})`),
  ];
  const narrow = [
    () => pool.query(sql`call upkeep.refresh_newest(${now})`),
    () => pool.query(sql`call upkeep.refresh_open_buckets(${now})`),
    () => pool.query(sql`call upkeep.refresh_hours(${now})`),
    () => pool.query(sql`call upkeep.refresh_late(${now})`),
    ...days.map(
      (at) => () => pool.query(sql`call upkeep.refresh_all(${new Date(at - hourMs)}, ${new Date(at + hourMs)})`),
    ),
  ];
  // refreshes of all windows cover the others
  const all = everyRefresh ? [...narrow, ...wide] : wide;
  const random = randomFrom(3);
  const unchanged = async (t: Test, what: string) => {
    for (const refresh of shuffled(all, random)) await refresh();
    t.strictSame(await heldBy(pool), before, what);
  };

  const midnight = (at: number) => at - 12 * hourMs;
  await dropped(midnight(days[1]!), midnight(days[1]!) + dayMs);
  await dropped(midnight(days[0]!), midnight(days[0]!) + dayMs);
  await unchanged(t, "after a day in the middle and the oldest day were dropped");

  const late = samplesAround(new Date(days[1]!), 1).slice(0, 1);
  await insertRaw(pool, late);
  await unchanged(t, "after a late sample arrived for a dropped day");

  await pool.query(sql`select drop_chunks('sample', older_than => ${new Date(days[2]!)}::timestamptz)`);
  await unchanged(t, "after half a day was dropped, where chunks span an hour");
  await pool.script(`select drop_chunks('sample', older_than => now() + interval '2 days')`);
  await unchanged(t, "after everything was dropped");
  for (const at of days) await insertRaw(pool, samplesAround(new Date(at), 1).slice(0, 1));
  await unchanged(t, "after a late sample of each day arrived");
});

for (const [first, then] of [
  [12, 12],
  [16, 16],
  // as on a database whose chunks spanned half a day before
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
        await rolledUp(t, pool, samples, at);
      };
      await setMinutesChunk(pool, first);
      await comes(-6, 6);
      await setMinutesChunk(pool, then);
      await comes(14, 18);
      await comes(30, 38);

      const held = await heldBy(pool);
      const chunks = async () => (await pool.query(sql`select from show_chunks('sample_minute')`)).length;
      const before = await chunks();
      for (const hour of [12, 16, 24, 36]) {
        await pool.query(sql`select drop_chunks('sample_minute', older_than => ${instant(hour)}::timestamptz)`);
        await pool.query(sql`call upkeep.refresh('latency_day', ${instant(-24)}, ${instant(48)}, force => true)`);
        t.strictSame(
          (await heldBy(pool)).latency_day,
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

void t.test("an hour is repaired once it is over", async (t) => {
  const { pool } = await migratedDatabase(t);
  const hour = Math.floor(Date.now() / hourMs) * hourMs;
  for (const at of [hour - 90 * minuteMs, hour - minuteMs, hour]) await insertRaw(pool, samplesAround(new Date(at), 1));
  for (const level of ["rest_hour", "stream_hour", "latency_hour"]) {
    await pool.query(sql`call upkeep.mend(${level}, ${new Date(hour - 2 * hourMs)}, ${new Date(hour + hourMs)})`);
    const [row] = await pool.query<{ over: boolean; runs: boolean }>(sql`
      select
        bool_or(hour < time_bucket('1 hour', now() - upkeep.kept_after())) as over,
        bool_or(hour >= time_bucket('1 hour', now() - upkeep.kept_after())) as runs
      from ${sql.ident(level)}
    `);
    t.strictSame(row, { over: true, runs: false }, level);
  }
});

void t.test("retention drops nothing during a refresh", async (t) => {
  const { url, pool } = await migratedDatabase(t);
  const now = new Date();
  const old = [12, 11, 10, 9].flatMap((ago) => samplesAround(new Date(+now - ago * dayMs), 5));
  await insertRaw(pool, old);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 13 * dayMs)}, ${now})`);
  // on the embedded database one statement runs at a time
  if (process.env["DATABASE_URL"])
    await t.test("that was blocked after it had chosen what to refresh", async (t) => {
      const other = openPool(url, { applicationName: "test", log: quiet });
      t.teardown(() => other.close());
      const [kept] = await pool.query<{ name: string }>(sql`
        select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name) as name
        from timescaledb_information.continuous_aggregates where view_name = 'sample_minute'
      `);
      // without new samples it would not look at them at all
      const late = old.map((sample) => ({
        ...sample,
        ts: new Date(+sample.ts + 1),
      }));
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
      await rolledUp(t, pool, [...old, ...late], now);
    });

  const before = await heldBy(pool);
  await pool.query(sql`
    insert into leader (office, holder, fence, expires_at)
    values ('refresh of a test', 'test', 1, now() + interval '1 minute')`);
  await t.rejects(retain(pool, now), /a refresh is under way/);
  await pool.query(sql`update leader set expires_at = now() where holder = 'test'`);
  t.ok((await retain(pool, now)) > 0, "retention drops again once the refresh's lease has expired");
  t.strictSame(await heldBy(pool), afterRetain(before, now));
  const [left] = await pool.query<{ held: number }>(sql`
    select count(*) as held from leader where office like 'refresh of %' and expires_at > now()
  `);
  t.equal(left!.held, 0, "a refresh releases its lease");
});

void t.test("a drop of chunks and the clock never wait for each other", async (t) => {
  const { url, pool } = await migratedDatabase(t);
  const now = new Date();
  const insertOld = () =>
    insertRaw(
      pool,
      [12, 9].flatMap((ago) => samplesAround(new Date(+now - ago * dayMs), 5)),
    );
  const kept = async () => {
    const [row] = await pool.query<{ kept: number }>(sql`select count(*)::int as kept from sample`);
    return row!.kept;
  };
  await pool.query(sql`insert into engine_clock (ticked_at, version) values (${now}, 'test')`);
  const revision = async () => {
    const [row] = await pool.query<{ revision: number }>(sql`select revision from engine_clock`);
    return row!.revision;
  };
  await insertOld();
  await pool.script(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'core is gone'; end $$;
    create trigger refuse before update on engine_clock for each row execute function refuse();
  `);
  await t.rejects(retain(pool, now), /core is gone/);
  t.equal(await kept(), 0, "chunks are dropped before the clock is updated");
  await pool.script("drop trigger refuse on engine_clock");
  const before = await revision();
  t.equal(await retain(pool, now), 0);
  t.equal(await revision(), before + 1, "the next retention advances the clock's revision");

  // on the embedded database one statement runs at a time
  if (!process.env["DATABASE_URL"]) return;
  await insertOld();
  const tick = openPool(url, { applicationName: "test", log: quiet });
  t.teardown(() => tick.close());
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
  const held = await heldBy(pool);
  const daysOf = (rollup: string) =>
    new Set(held[rollup]!.map((row) => Math.round((+now - +Object.values(row)[0]!) / dayMs))).size;
  t.strictSame(
    Object.fromEntries(rollups.map((rollup) => [rollup, daysOf(rollup)])),
    {
      sample_minute: 2,
      sample_hour: 3,
      component_minute: 2,
      venue_minute: 2,
      component_day: 3,
      venue_day: 3,
      latency_day: 3,
      venue_latency_day: 3,
    },
    "minutes are kept for a hundred days, hours and days indefinitely",
  );
  t.ok(daysOf(usual) >= 2, "typical hours keep their latencies");
});

void t.test(
  "no hour is missing before those that a page takes for complete, after any order of refreshes",
  async (t) => {
    const { pool } = await migratedDatabase(t);
    const now = new Date();
    const [older, newer] = [3, 1].map((days) => samplesAround(new Date(+now - days * dayMs), 2)) as [
      RawSample[],
      RawSample[],
    ];
    await insertRaw(pool, [...older, ...newer]);
    const hours = async () => (await heldBy(pool)).latency_hour!.map((row) => JSON.stringify(row));
    const from = new Date(Math.floor(+newer[0]!.ts / hourMs) * hourMs);
    const to = new Date(+from + 2 * hourMs);
    await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
    const kept = await hours();
    const components = await pool.query<Component>(sql`select component_id, venue_id, kind from component`);
    t.strictSame(
      [...kept].sort(),
      latencyHours([...older, ...newer], components, now)
        .map((row) => JSON.stringify(row))
        .sort(),
      "a refresh of later hours also makes the earlier ones",
    );

    await pool.script(`truncate rest_hour, stream_hour, latency_hour, hours_kept`);
    const next = async () => {
      const [hour] = await pool.query<{ from_at: Date; kept_at: Date }>(
        sql`select from_at, kept_at from upkeep.hour_to_keep(${now})`,
      );
      return hour;
    };
    const first = (await next())!;
    t.ok(+first.from_at <= +older[0]!.ts);
    let lastMs = 0;
    for (let hour; (hour = await next()); lastMs = +hour.kept_at)
      await pool.query(sql`call upkeep.refresh_over_hours(${hour.from_at}, ${hour.kept_at})`);
    t.strictSame(await hours(), kept, "hours made one at a time are the same");
    t.ok(+now - lastMs < hourMs);
  },
);

void t.test("an hour is stored once its last samples have arrived, and no future hour is", async (t) => {
  const { pool } = await migratedDatabase(t);
  const hour = Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs;
  await insertRaw(pool, samplesAround(new Date(hour + 10 * minuteMs), 2));
  const due = async (at: number) =>
    (await pool.query<{ from_at: Date }>(sql`select from_at from upkeep.hour_to_keep(${new Date(at)})`)).length;
  // where a chunk spans a day, it begins with unmeasured hours
  await pool.query(sql`call upkeep.refresh_over_hours(${new Date(hour)}, ${new Date(hour + 2 * minuteMs)})`);
  t.equal(await due(hour + hourMs + minuteMs), 0);
  t.equal(await due(hour + hourMs + 2 * minuteMs), 1);
  await pool.query(sql`call upkeep.refresh_all(${new Date(hour)}, now() + interval '3 hours')`);
  const [kept] = await pool.query<{ over: boolean }>(
    sql`select kept_to <= now() - interval '2 minutes' as over from hours_kept`,
  );
  t.equal(kept!.over, true);
});

void t.test("core stores the hours that it missed, with all that a page reads of them", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const missed = [5, 4, 3].flatMap((hours) => samplesAround(new Date(+now - hours * hourMs), 3));
  await insertRaw(pool, missed);
  let passedMs = 0;
  const upkeep = makeUpkeep(pool, quiet, usualUpkeepPace, undefined, {
    now: () => Promise.resolve(now),
    passedMs: () => passedMs,
  });
  const keptTo = async () => {
    const [kept] = await pool.query<{ kept_to: Date }>(sql`select kept_to from hours_kept`);
    return +(kept?.kept_to ?? 0);
  };
  // one hour a turn, of at most two days
  while (passedMs < 48 && (await keptTo()) < +now - hourMs - 2 * minuteMs) {
    // none of the chores that follow it in a turn
    let turns = passedMs === 0 ? 4 : 1;
    await upkeep.doWhatIsDue(() => turns-- > 0);
    passedMs += 1;
  }
  await rolledUp(t, pool, missed, now, [...["sample_hour", "rest_hour", "stream_hour", "latency_hour"]]);
});

void t.test("chunks by minute are compressed once they are over, and late rows too", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const samples = [4, 3].flatMap((days) => samplesAround(new Date(+now - days * dayMs), 2));
  const fresh = samplesAround(new Date(+now - 5 * minuteMs), 1);
  await insertRaw(pool, [...samples, ...fresh]);
  await pool.query(sql`call upkeep.refresh_late(${now})`);

  const compressed = await compressAll(pool, now);
  const kinds = await hypertablesOf(pool, compressed);
  const firstRollUp = kinds.findIndex((kind) => kind !== "sample");
  t.ok(firstRollUp > 0, "samples are compressed first");
  t.notOk(kinds.includes("sample", firstRollUp), "all samples precede the roll-ups");
  const byMinute = ["component_minute", "sample_minute", "venue_minute"];
  t.strictSame(
    [...new Set(kinds.filter((kind) => kind.endsWith("_minute")))].sort(),
    byMinute,
    "every level by minute is compressed",
  );
  const [open] = await pool.query<{ compressed: boolean }>(sql`
    select bool_or(is_compressed) as compressed from timescaledb_information.chunks
    where hypertable_name = 'sample' and range_end > ${now}
  `);
  t.notOk(open!.compressed, "the current chunk is not compressed");

  // as if the ten days of a chunk of hours were over, too
  const over = new Date(+now + 11 * dayMs);
  const all = [...new Set([...kinds, ...(await hypertablesOf(pool, await compressAll(pool, over)))])].sort();
  t.strictSame(
    all,
    [...byMinute, ...["sample", "sample_hour", "stream_hour"], ...["latency_hour", "latency_day"]].sort(),
  );

  const late = samples.slice(0, 40).map((sample) => ({ ...sample, ts: new Date(+sample.ts + 1) }));
  await insertRaw(pool, late);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  await rolledUp(t, pool, [...samples, ...fresh, ...late], now);

  t.strictSame(
    [...new Set(await hypertablesOf(pool, await partlyCompressed(pool)))].sort(),
    all,
    "late rows lie uncompressed beside compressed ones",
  );
  await compressAll(pool, over);
  t.strictSame(await partlyCompressed(pool), [], "late rows are compressed, too");
  t.equal(await compressNext(pool, over), null, "once");
  await rolledUp(t, pool, [...samples, ...fresh, ...late], now);
});

async function partlyCompressed(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ chunk: string }>(sql`
    select chunk::text
    from timescaledb_information.chunks c
    cross join lateral (select format('%I.%I', c.chunk_schema, c.chunk_name)::regclass as chunk) named
    where c.is_compressed and upkeep.has_rows_beside(chunk)
  `);
  return rows.map(({ chunk }) => chunk);
}

function shuffled<One>(all: readonly One[], random: () => number): One[] {
  return all
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}

void t.test("hours and days are compressed once their chunk is over", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const old = samplesAround(new Date(+now - 45 * dayMs), 2);
  const recent = samplesAround(new Date(+now - 1 * dayMs), 2);
  await insertRaw(pool, [...old, ...recent]);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 46 * dayMs)}, ${now})`);
  const before = await heldBy(pool);
  const compressed = await hypertablesOf(pool, await compressAll(pool, now));
  for (const level of ["sample_hour", "latency_day"]) {
    t.ok(compressed.includes(level), `${level} is compressed`);
    const [open] = await pool.query<{ compressed: boolean }>(sql`
      select bool_or(is_compressed) as compressed
      from timescaledb_information.chunks c
      join timescaledb_information.continuous_aggregates a on a.materialization_hypertable_name = c.hypertable_name
      where a.view_name = ${level} and c.range_end > ${now}
    `);
    t.notOk(open!.compressed, `the current chunk of ${level} is not`);
  }
  t.strictSame(await heldBy(pool), before, "compressed roll-ups read as before");
});

/** Samples of two endpoints and two streams of one venue. */
function samplesAround(at: Date, minutes: number): RawSample[] {
  const random = randomFrom(Math.floor(+at / dayMs));
  const first = Math.floor(+at / minuteMs) * minuteMs;
  return Array.from({ length: minutes }, (_, i) =>
    samplesWithin(random, new Date(first + i * minuteMs), 5, [1, 2, 6, 8], [1, 2, 3]),
  ).flat();
}

/** Runs every procedure, over more than ever existed. */
async function refreshEverything(pool: Pool, now: Date) {
  await pool.query(sql`call upkeep.refresh_newest(${now})`);
  await pool.query(sql`call upkeep.refresh_open_buckets(${now})`);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  await pool.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 400 * dayMs)}, ${now})`);
}

async function compressNext(pool: Pool, now: Date): Promise<string | null> {
  const [row] = await pool.query<{ chunk: string | null }>(sql`select upkeep.compress_next(${now}) as chunk`);
  return row!.chunk;
}

async function compressAll(pool: Pool, now: Date): Promise<string[]> {
  const chunks: string[] = [];
  for (let chunk; (chunk = await compressNext(pool, now));) chunks.push(chunk);
  return chunks;
}

/** The table or roll-up of each chunk, in the order of the chunks. */
async function hypertablesOf(pool: Pool, chunks: string[]): Promise<string[]> {
  const rows = await pool.query<{ kind: string }>(sql`
    select coalesce(a.view_name, c.hypertable_name) as kind
    from unnest(${chunks}::text[]) with ordinality as given (chunk, place)
    join timescaledb_information.chunks c
      on format('%I.%I', c.chunk_schema, c.chunk_name)::regclass = given.chunk::regclass
    left join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_name = c.hypertable_name
    order by given.place
  `);
  return rows.map(({ kind }) => kind);
}

async function retain(pool: Pool, now: Date): Promise<number> {
  const [row] = await pool.query<{ dropped: number }>(sql`call upkeep.retain(${now})`);
  return row!.dropped;
}

async function heldBy(pool: Pool) {
  const held: Record<string, object[]> = {};
  for (const rollup of [...rollups, ...addedUp, ...overOnly])
    held[rollup] = await pool.text<object>(`select * from ${rollup} order by ${rollup}`, []);
  return held;
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

async function rolledUp(
  t: Test,
  pool: Pool,
  samples: RawSample[],
  now: Date,
  rolledUpLevels = [...rollups, ...overOnly],
) {
  const components = await pool.query<Component>(sql`select component_id, venue_id, kind from component`);
  const addedUpTo = new Date(+now - 5 * minuteMs);
  const levels = rollUp(samples, components, { regions: 3, addedUpTo });
  const keptTo = new Date(+now - 2 * minuteMs);
  const expected: Record<string, object[]> = {
    ...levels,
    rest_hour: restHours(samples, components, keptTo),
    stream_hour: streamHours(samples, components, keptTo),
    latency_hour: latencyHours(samples, components, keptTo),
    usual_hour: usualHours(levels.sample_hour, components, now),
  };
  const held = await heldBy(pool);
  const texts = (rows: object[]) =>
    rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).sort()))).sort();
  for (const rollup of rolledUpLevels)
    t.strictSame(texts(held[rollup]!), texts(expected[rollup]!), `${rollup} agrees with the model`);
}
