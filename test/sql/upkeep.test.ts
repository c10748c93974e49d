/** What upkeep refreshes when, which hours it stores, and which chunks it compresses. */
import t from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { makeUpkeep, usualUpkeepPace } from "../../server/core/rollups/upkeep.js";
import { migratedDatabase } from "../support/database.js";
import { holdRetention } from "../../world/history.js";
import { ago } from "../support/fleet.js";
import { insertRaw } from "../support/random-samples.js";
import { type Component, latencyHours } from "../support/rollup-model.js";
import {
  compressAll,
  dayMs,
  rowsOfRollups,
  hourMs,
  minuteMs,
  quiet,
  refreshEverything,
  retain,
  assertRolledUp,
  samplesAround,
  setClock,
} from "../support/rollup-upkeep.js";

void t.test("upkeep of an empty database succeeds", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  await refreshEverything(pool, now);
  t.strictSame(await compressAll(pool, now), []);
  t.equal(await retain(pool, now), 0);
  t.equal((await rowsOfRollups(pool)).sample_minute!.length, 0);

  await t.test("rolls up the first hours afterwards", async (t) => {
    const from = new Date(+now - 90 * minuteMs);
    const samples = samplesAround(from, 3);
    await insertRaw(pool, samples);
    await pool.query(sql`call upkeep.refresh_newest(${now})`);
    await pool.query(sql`call upkeep.refresh_open_buckets(${now}, true)`);
    await pool.query(sql`call upkeep.refresh_late(${now})`);
    await assertRolledUp(t, pool, samples, now);
  });
});

void t.test("the current hour is due every minute while it is young, then every five minutes", async (t) => {
  const { pool } = await migratedDatabase(t);
  const instant = (time: string | null) => time && new Date(`2026-01-01T${time}Z`);
  const isDue = async (at: string, lastAt: string | null) => {
    const [row] = await pool.query<{ due: boolean }>(
      sql`select upkeep.current_hour_is_due(${instant(at)}, ${instant(lastAt)}::timestamptz) as due`,
    );
    return row!.due;
  };
  t.equal(await isDue("10:07:00", null), true, "after a start");
  t.equal(await isDue("10:04:59", "10:03:59"), true, "young");
  t.equal(await isDue("10:06:00", "10:04:59"), false);
  t.equal(await isDue("10:09:40", "10:04:59"), true);
  t.equal(await isDue("11:00:01", "10:59:01"), true, "the next hour");
  t.equal(await isDue("10:20:00", "10:30:00"), true, "after the clock went back");
  // five minutes past the hour there begin at another minute of UTC's
  await pool.script("set timezone = 'Asia/Kolkata'");
  t.equal(await isDue("10:32:00", "10:31:00"), false, "in any time zone");
});

void t.test(
  "core recomputes the current hour every five minutes, from its first, though its chores drift",
  async (t) => {
    const { pool } = await migratedDatabase(t);
    const clock = { at: new Date(Math.floor(Date.now() / hourMs) * hourMs - hourMs + 7 * minuteMs), passedMs: 0 };
    const upkeep = upkeepBy(pool, clock);
    const counted = async () => {
      const [row] = await pool.query<{ samples: number }>(
        sql`select coalesce(sum(samples), 0) as samples from sample_hour`,
      );
      return row!.samples;
    };
    const recomputedAt = [];
    for (let turn = 0; turn < 16; turn++) {
      await insertRaw(pool, samplesAround(clock.at, 1));
      const before = await counted();
      // the hour's is the third chore
      let turns = 3;
      await upkeep.doWhatIsDue(() => turns-- > 0);
      if ((await counted()) > before) recomputedAt.push(turn);
      const driftedMs = minuteMs + 400;
      clock.at = new Date(+clock.at + driftedMs);
      clock.passedMs += driftedMs;
    }
    t.strictSame(recomputedAt, [0, 5, 10, 15]);
  },
);

void t.test("a roll-up without the current hour leaves it alone, and writes no figures again", async (t) => {
  const { pool } = await migratedDatabase(t);
  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs);
  const now = new Date(+hour + 31 * minuteMs);
  await insertRaw(pool, [...samplesAround(new Date(+hour - 20 * minuteMs), 3), ...samplesAround(hour, 3)]);
  const hours = () => pool.query(sql`select distinct hour from sample_hour order by hour`);
  const versions = async () => (await pool.query(sql`select from open_hour`)).length;
  const last = { hour: new Date(+hour - hourMs) };
  await pool.query(sql`call upkeep.refresh_open_buckets(${now}, false)`);
  t.strictSame(await hours(), [last]);
  await pool.query(sql`call upkeep.refresh_open_buckets(${now}, true)`);
  t.strictSame(await hours(), [last, { hour }]);
  const before = await versions();
  t.ok(before > 0);
  await pool.query(sql`call upkeep.refresh_open_buckets(${now}, false)`);
  t.equal(await versions(), before);
});

void t.test(
  "each change of the published past has an instant of its own, also while the engine is silent",
  async (t) => {
    const { pool } = await migratedDatabase(t);
    await setClock(pool, ago(100_000));
    await pool.script("update engine_clock set silent_after_ms = 300000");
    await pool.script("create table published_at (nth serial, at timestamptz)");
    await pool.script(`
    do $$ begin
      for i in 1..1500 loop
        call upkeep.published_past_changed();
        commit;
        insert into published_at (at) select generated_at from api.clock;
        commit;
      end loop;
    end $$
  `);
    const [row] = await pool.query(sql`
    select
      count(*)::int as changes, count(distinct date_trunc('milliseconds', at))::int as instants,
      (select count(*)::int from (select at - lag(at) over (order by nth) as step from published_at) s where step <= interval '0') as back,
      max(at) <= clock_timestamp() as is_past
    from published_at
  `);
    t.strictSame(row, { changes: 1500, instants: 1500, back: 0, is_past: true });

    // made at any time, and committed at any time within half a minute
    const [late] = await pool.query(sql`
    with made as (
      select
        at, ticked_at + revision * interval '1 millisecond' as before,
        ticked_at + revision_after(ticked_at, revision, 300000, ticked_at, at) * interval '1 millisecond' as after
      from
        generate_series(now(), now() + interval '20 seconds', interval '77 milliseconds') at,
        unnest(array[at - interval '271 seconds', at - interval '40 days', at - interval '10 minutes']) ticked_at,
        unnest(array[0, 5]::bigint[]) revision
    )
    select
      count(*)::int > 1000 as many, bool_and(after > before) as moves,
      bool_and(after > date_bin('10 seconds', at + interval '30 seconds' - interval '32 seconds', 'epoch')) as is_after_silence,
      bool_and(after < at - interval '1 second') as is_past
    from made
  `);
    t.strictSame(late, { many: true, moves: true, is_after_silence: true, is_past: true });
  },
);

void t.test("upkeep keeps the planner's statistics current", async (t) => {
  const { pool } = await migratedDatabase(t);
  await pool.query(sql`
    insert into component_state (component_id, state, since, reporting, quorum)
    select component_id, 'operational', now(), 3, 2 from component
  `);
  await makeUpkeep(pool, quiet, usualUpkeepPace).doWhatIsDue(() => true);
  const states = await pool.query(sql`select from component_state`);
  t.ok(states.length > 100);
  t.match(await pool.query(sql`explain (format json) select from component_state`), [
    { "QUERY PLAN": [{ Plan: { "Plan Rows": states.length } }] },
  ]);
});

void t.test("the embedded database's statistics follow a table that grows", async (t) => {
  const { pool } = await migratedDatabase(t);
  const [row] = await pool.query<{ embedded: boolean }>(sql`select is_embedded() as embedded`);
  if (!row!.embedded) return t.pass("a server has autovacuum");
  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs - hourMs);
  const clock = { at: new Date(), passedMs: 0 };
  const upkeep = upkeepBy(pool, clock);
  const samples = samplesAround(hour, 30);
  const estimated = async () => {
    const [row] = await pool.query<{ rows: number }>(sql`
      select sum(c.reltuples)::int as rows
      from show_chunks('sample') ch
      join pg_class c on c.oid = ch
    `);
    return row!.rows;
  };
  await insertRaw(pool, samples.slice(0, 10));
  await upkeep.doWhatIsDue(() => true);
  t.equal(await estimated(), 10);
  await insertRaw(pool, samples.slice(10));
  clock.passedMs += usualUpkeepPace.newestMs;
  await upkeep.doWhatIsDue(() => true);
  t.equal(await estimated(), samples.length);
});

void t.test("a day's last minutes reach its roll-up", async (t) => {
  const { pool } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const samples = samplesAround(new Date(midnight - minuteMs), 1);
  await insertRaw(pool, samples);
  await pool.query(sql`call upkeep.refresh_newest(${new Date(midnight + 4_000)})`);
  await pool.query(sql`call upkeep.refresh_open_buckets(${new Date(midnight + 5 * minuteMs)}, true)`);
  t.strictSame(
    await pool.query(sql`select day from venue_day`),
    [{ day: new Date(midnight - dayMs) }],
    "the day is complete once its minutes are published",
  );
});

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

void t.test("five days whose history begins within them are repaired", async (t) => {
  const { pool } = await migratedDatabase(t);
  const oldest = async () => {
    const [row] = await pool.query<{ chunk: Date; bucket: Date }>(sql`
      select at as chunk, time_bucket('5 days', at) as bucket from upkeep.oldest_source_at('usual_hour') as at
    `);
    return row!;
  };
  let at = Date.now() - 20 * dayMs;
  let first: { chunk: Date; bucket: Date };
  // on some days the oldest chunk begins with its five days: then an older one is made
  do {
    at -= 8 * dayMs;
    await insertRaw(pool, samplesAround(new Date(at), 1));
    await pool.query(sql`call upkeep.refresh('sample_hour', null, now())`);
    first = await oldest();
  } while (+first.chunk === +first.bucket);
  const begin = new Date(+first.chunk + hourMs);
  await insertRaw(pool, samplesAround(begin, 30));
  await pool.query(sql`call upkeep.refresh('sample_hour', null, now())`);
  await pool.query(sql`call upkeep.mend('usual_hour', ${begin}, ${new Date(+begin + hourMs)})`);
  const buckets = await pool.query(sql`select distinct bucket from usual_hour where bucket = ${first.bucket}`);
  t.strictSame(buckets, [{ bucket: first.bucket }]);
});

void t.test(
  "no hour is missing before those that a page takes for complete, after any order of refreshes",
  async (t) => {
    const { pool } = await migratedDatabase(t);
    const now = new Date();
    const older = samplesAround(new Date(+now - 3 * dayMs), 2);
    const newer = samplesAround(new Date(+now - dayMs), 2);
    await insertRaw(pool, [...older, ...newer]);
    const hours = async () => (await rowsOfRollups(pool)).latency_hour!.map((row) => JSON.stringify(row));
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
  const clock = { at: now, passedMs: 0 };
  const upkeep = upkeepBy(pool, clock);
  const keptTo = async () => {
    const [kept] = await pool.query<{ kept_to: Date }>(sql`select kept_to from hours_kept`);
    return +(kept?.kept_to ?? 0);
  };
  // one hour a turn, of at most two days
  while (clock.passedMs < 48 && (await keptTo()) < +now - hourMs - 2 * minuteMs) {
    // none of the chores that follow it in a turn
    let turns = clock.passedMs === 0 ? 4 : 1;
    await upkeep.doWhatIsDue(() => turns-- > 0);
    clock.passedMs += 1;
  }
  await assertRolledUp(t, pool, missed, now, ["sample_hour", "rest_hour", "stream_hour", "latency_hour"]);
});

void t.test("the embedded database serves others while late samples are rolled up", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const late = [100, 50, 3].flatMap((hours) => samplesAround(new Date(+now - hours * hourMs), 3));
  await insertRaw(pool, late);
  const clock = { at: now, passedMs: 0 };
  const upkeep = upkeepBy(pool, clock);
  await upkeep.doWhatIsDue(() => true);
  clock.passedMs += usualUpkeepPace.openBucketsMs;
  let working = true;
  const work = upkeep.doWhatIsDue(() => true).finally(() => (working = false));
  let servedBetweenLevels = 0;
  while (working) {
    const [row] = await pool.query<{ between: boolean }>(sql`
      select exists (select from sample_minute) and not exists (select from venue_minute) as between
    `);
    if (row!.between) servedBetweenLevels++;
  }
  await work;
  const [row] = await pool.query<{ embedded: boolean }>(sql`select is_embedded() as embedded`);
  // a server commits and shows each level anyway
  if (row!.embedded) t.ok(servedBetweenLevels > 0, "a reader has an answer before the highest level is done");
  await assertRolledUp(t, pool, late, now, ["sample_minute", "sample_hour", "component_minute", "venue_minute"]);
});

void t.test("late samples wait while a history is written, which rolls them up in pieces", async (t) => {
  const { pool } = await migratedDatabase(t);
  const now = new Date();
  const late = samplesAround(new Date(+now - 50 * hourMs), 3);
  await insertRaw(pool, late);
  const clock = { at: now, passedMs: 0 };
  const upkeep = upkeepBy(pool, clock);
  await holdRetention(pool);
  const minutes = () => pool.query(sql`select from sample_minute`);
  await upkeep.doWhatIsDue(() => true);
  clock.passedMs += usualUpkeepPace.openBucketsMs;
  await upkeep.doWhatIsDue(() => true);
  t.equal((await minutes()).length, 0);
  await pool.script("update leader set expires_at = '-infinity' where office like 'refresh of %'");
  clock.passedMs += 2_000;
  await upkeep.doWhatIsDue(() => true);
  t.ok((await minutes()).length > 0);
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
  const open = await pool.query(sql`
    select chunk_name from timescaledb_information.chunks where is_compressed and range_end > ${now}
  `);
  t.strictSame(open, [], "no current chunk is compressed, of no level");

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
  await assertRolledUp(t, pool, [...samples, ...fresh, ...late], now);

  t.strictSame(
    [...new Set(await hypertablesOf(pool, await partlyCompressed(pool)))].sort(),
    all,
    "late rows lie uncompressed beside compressed ones",
  );
  await compressAll(pool, over);
  t.strictSame(await partlyCompressed(pool), [], "late rows are compressed, too");
  t.strictSame(await compressAll(pool, over), [], "once");
  await assertRolledUp(t, pool, [...samples, ...fresh, ...late], now);
});

/** Core's upkeep, by this clock. */
function upkeepBy(pool: Pool, clock: { at: Date; passedMs: number }) {
  return makeUpkeep(pool, quiet, usualUpkeepPace, undefined, {
    now: () => Promise.resolve(clock.at),
    passedMs: () => clock.passedMs,
  });
}

async function partlyCompressed(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ chunk: string }>(sql`
    select chunk::text
    from timescaledb_information.chunks c
    cross join lateral (select format('%I.%I', c.chunk_schema, c.chunk_name)::regclass as chunk) named
    where c.is_compressed and upkeep.has_rows_beside(chunk)
  `);
  return rows.map(({ chunk }) => chunk);
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
