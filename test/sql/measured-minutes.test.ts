/**
 * Which minutes an uptime counts, and what the response reports about it: in each case, a figure without this would be
 * false.
 */
import t, { type Test } from "tap";
import { sql, type Pool } from "../../shared/database/pool.js";
import { rulesRow } from "../../server/engine/rules.js";
import { serve } from "../support/api.js";
import { migratedDatabase, type TestDatabase } from "../support/database.js";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

interface Basis {
  uptimePct: number | null;
  measuredMinutes: number;
  scheduledMinutes: number;
  coveragePct: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
  downMinutes: number | null;
}

interface Row extends Basis {
  id: string;
  rest: Basis;
  streams: Basis;
  components: (Basis & { component: string; degradedMinutes: number | null })[];
}

interface Reliability {
  fleet: Basis;
  venues: Row[];
  ranks: { rank: number; venues: string[] }[];
  excluded: { region: string; from: string; to: string | null; minutes: number; venues: string[] }[];
}

/** Ten samples a minute of each series; the first `bad` of them have this fault. */
interface Minutes {
  from: number;
  count: number;
  venue?: string;
  kind?: "rest" | "ws";
  component?: string;
  regions?: string[];
  bad?: number;
  fault?: string;
  unserved?: boolean;
}

async function minutes(pool: Pool, what: Minutes): Promise<void> {
  const { venue, kind, component, regions } = what;
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, unserved)
    select
      ${new Date(what.from)}::timestamptz + m * interval '1 minute' + slot * interval '6 s',
      c.component_id,
      g.region_id,
      slot >= ${what.bad ?? 0}::int,
      case when slot < ${what.bad ?? 0}::int then ${what.fault ?? "http"}::fault end,
      case when slot < ${what.bad ?? 0}::int and ${what.unserved ?? false} then true end
    from generate_series(0, ${what.count - 1}::int) m
    cross join generate_series(0, 9) slot
    cross join component c
    join venue v using (venue_id)
    cross join region g
    where (${venue ?? null}::text is null or v.venue = ${venue ?? null})
      and (${kind ?? null}::text is null or c.kind = ${kind ?? null})
      and (${component ?? null}::text is null or c.component = ${component ?? null})
      and (${regions ?? null}::text[] is null or g.region = any (${regions ?? null}))
    on conflict (component_id, region_id, ts) do update set
      good = excluded.good, fault = excluded.fault, unserved = excluded.unserved
  `);
}

/** An hour ago, so that all minutes are published; `from` is the first. */
async function begun(t: Test): Promise<TestDatabase & { from: number }> {
  const database = await migratedDatabase(t);
  const from = Math.floor(Date.now() / minuteMs) * minuteMs - 60 * minuteMs;
  await watchedSince(database.pool, from);
  return { ...database, from };
}

async function watchedSince(pool: Pool, from: number): Promise<void> {
  await pool.query(sql`update venue set watched_from = ${new Date(from)}`);
  await pool.query(sql`update component set watched_from = ${new Date(from)}`);
}

/** As of this many minutes, which are published by then. */
async function compared(
  t: Test,
  { pool, registry }: TestDatabase,
  publishedTo: number,
  days = 2,
): Promise<Reliability> {
  await decided(pool, publishedTo + 4 * minuteMs);
  await pool.query(sql`call upkeep.refresh_all(${new Date(publishedTo - 10 * dayMs)}, now())`);
  await excludeAll(pool);
  const api = await serve(t, { pool, registry });
  return (await api.ask<Reliability>(`/v1/reliability?days=${days}`)).body;
}

function of({ venues }: Reliability, id: string): Row {
  return venues.find((row) => row.id === id)!;
}

void t.test("a region's own trouble counts against no venue, even where it measured alone", async (t) => {
  const database = await begun(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  await minutes(pool, { ...{ from: from + 10 * minuteMs, count: 2, bad: 10 }, regions: ["us-east"] });
  const to = from + 12 * minuteMs;
  const before = await compared(t, database, to);
  for (const { measuredMinutes, downMinutes, scheduledMinutes } of before.venues)
    t.strictSame(
      [measuredMinutes, downMinutes, scheduledMinutes],
      [10, 0, 12],
      "a minute that only one region sampled is not measured",
    );

  await minutes(pool, {
    ...{ from: from + 10 * minuteMs, count: 2 },
    regions: ["eu-central", "ap-southeast"],
    ...{ bad: 5 },
  });
  await minutes(pool, { ...{ from: from + 10 * minuteMs, count: 2 }, regions: ["eu-central"] });
  const torn = await compared(t, database, to);
  t.equal(of(torn, "okx").downMinutes, 2, "down by two regions of three");
  await pool.query(sql`
      insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured)
      select region_id, ${new Date(from + 10.5 * minuteMs)}, ${new Date(from + 11 * minuteMs)}, ${new Date(from + 11.5 * minuteMs)}, '{okx,kraken}', 15
      from region where region = 'us-east'
    `);
  const after = await compared(t, database, to);
  t.match(of(after, "okx"), { measuredMinutes: 12, downMinutes: 0 });
  t.match(after.excluded, [
    {
      region: "us-east",
      from: new Date(from + 10 * minuteMs).toISOString(),
      to: new Date(to).toISOString(),
      minutes: 2,
      venues: ["okx", "kraken"],
    },
  ]);
});

void t.test("a minute with half of its samples bad is down, as a state is", async (t) => {
  const database = await begun(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  await minutes(pool, { from, count: 3, venue: "okx", bad: 5 });
  await minutes(pool, { from, count: 3, venue: "kraken", bad: 4 });
  const told = await compared(t, database, from + 10 * minuteMs);
  t.match(of(told, "okx"), { downMinutes: 3, uptimePct: 70 });
  t.strictSame(told.ranks.at(-1), { rank: 15, venues: ["okx"] }, "all other venues were certainly better");
  t.match(of(told, "kraken"), { downMinutes: 0, uptimePct: 100 });
});

void t.test("an outage of one component is no downtime of its venue, and the row names the component", async (t) => {
  const database = await begun(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  await minutes(pool, { ...{ from, count: 4, bad: 10 }, ...{ venue: "bybit", component: "rest:ticker" } });
  const row = of(await compared(t, database, from + 10 * minuteMs), "bybit");
  t.match(row, { uptimePct: 100, downMinutes: 0, degradedMinutes: 4 });
  for (const { component, ...is } of row.components)
    t.match(
      is,
      component === "rest:ticker"
        ? { uptimePct: 60, downMinutes: 4, measuredMinutes: 10 }
        : { uptimePct: 100, downMinutes: 0, coveragePct: 100 },
      component,
    );
});

void t.test("unserved slots count against the venue", async (t) => {
  const database = await begun(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  // every stream of a socket that is down
  await minutes(pool, {
    ...{ from, count: 10, venue: "bitfinex", kind: "ws", bad: 10 },
    ...{ fault: "closed", unserved: true },
  });
  // rate-limited
  await minutes(pool, {
    ...{ from, count: 10, venue: "coinbase", kind: "rest", bad: 10 },
    ...{ fault: "limited", unserved: true },
  });
  const told = await compared(t, database, from + 10 * minuteMs);
  t.match(of(told, "bitfinex"), {
    streams: { uptimePct: 0, downMinutes: 10, measuredMinutes: 10 },
    rest: { uptimePct: 100, downMinutes: 0 },
  });
  t.match(of(told, "coinbase"), {
    rest: { uptimePct: 0, downMinutes: 10 },
    streams: { uptimePct: 100, downMinutes: 0 },
  });
});

void t.test("three measured minutes a day are no proof of a day's uptime", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  await watchedSince(pool, midnight - 5 * dayMs);
  for (const back of [5, 4, 3, 2, 1])
    await minutes(pool, { ...{ from: midnight - back * dayMs, count: 3 }, venue: "okx" });
  // enough minutes of one venue for a bound
  await minutes(pool, { ...{ from: midnight - dayMs, count: 1 }, venue: "kraken" });
  await pool.query(sql`
    insert into venue_day_former
    select day, venue_id, 1000, 1000, 0, 30000, 180000, 0, 0, 0, 0, 0, 0, 0, 0
    from venue, generate_series(${new Date(midnight - 5 * dayMs)}::timestamptz, ${new Date(midnight - dayMs)}::timestamptz, interval '1 day') day
    where venue = 'gemini'
  `);
  const told = await compared(t, database, midnight, 6);
  const okx = of(told, "okx");
  t.match(okx, { uptimePct: null, measuredMinutes: 15, coveragePct: 0.208 });
  t.equal(okx.scheduledMinutes, 5 * 1440);
  t.ok(okx.uptimePctLow! < 99, `lower bound ${okx.uptimePctLow}`);
  t.equal(okx.uptimePctHigh, 100);
  t.equal(of(told, "bybit").uptimePctLow, null, "no bound where nothing was measured");
  t.strictSame(told.ranks, [{ rank: 1, venues: ["kraken", "okx"] }], "venues whose bounds overlap share a rank");
  t.equal(of(told, "gemini").measuredMinutes, 0, "a venue's days are not read where all are made");

  await pool.query(sql`update rollups_made set made_from = ${new Date(midnight)}`);
  const former = await compared(t, database, midnight, 6);
  t.strictSame(former.ranks, [{ rank: 1, venues: ["gemini"] }]);
  t.match(of(former, "gemini"), {
    measuredMinutes: 5_000,
    uptimePct: 0,
    rest: { measuredMinutes: 0, uptimePct: null },
  });
});

/** Decides nothing; only sets the rules in force and the newest instant. */
async function decided(pool: Pool, at: number): Promise<void> {
  await pool.query(sql`
    insert into rules_in_force (holds_from, version, rules) values ('-infinity', 'test', ${JSON.stringify(rulesRow)})
    on conflict do nothing
  `);
  await pool.query(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms) values (${new Date(at)}, 'test', 86400000)
    on conflict (only_row) do update set ticked_at = excluded.ticked_at
  `);
}

/** An hour at a time, as upkeep does. */
async function excludeAll(pool: Pool): Promise<void> {
  for (let more = true; more;) {
    const [row] = await pool.query<{ more: boolean }>(sql`call upkeep.exclude_next()`);
    more = row!.more;
  }
}

void t.test(
  "faults that other regions saw count too, and a minute is excluded only once the trouble proves the region's own",
  async (t) => {
    const database = await begun(t);
    const { pool, from } = database;
    const at = (minute: number) => from + minute * minuteMs;
    await minutes(pool, { from, count: 10 });
    // which two regions saw a little earlier than the third
    await minutes(pool, { from: at(2), count: 3, venue: "okx", bad: 10 });
    await pool.query(sql`
      insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured, seen_elsewhere)
      select region_id, ${new Date(at(2))}, ${new Date(at(2.5))}, ${new Date(at(3))}, '{okx,kraken}', 15, true
      from region where region in ('us-east', 'eu-central')
    `);
    const seen = await compared(t, database, at(10));
    t.match(of(seen, "okx"), { measuredMinutes: 10, downMinutes: 3 });
    t.strictSame(seen.excluded, []);

    // another one, which no other region has seen yet
    const left = () =>
      pool.query<{ region: string; minute: Date }>(sql`
        select distinct region, minute from excluded_minute join region using (region_id) order by minute
      `);
    await pool.query(sql`
      insert into impairment (region_id, started_at, recognised_at, venues, measured)
      select region_id, ${new Date(at(6))}, ${new Date(at(6.5))}, '{okx,kraken}', 15
      from region where region = 'us-east'
    `);
    await decided(pool, at(8.5) - 2_000);
    await excludeAll(pool);
    t.strictSame(await left(), [], "other regions may still see the same");
    await decided(pool, at(8.5));
    await excludeAll(pool);
    t.strictSame(
      await left(),
      [6, 7, 8].map((minute) => ({ region: "us-east", minute: new Date(at(minute)) })),
      "no other region saw it within two minutes",
    );
    const [clock] = await pool.query<{ published_to: Date }>(sql`select published_to from api.clock`);
    t.ok(+clock!.published_to < at(6), "excluded before any of these minutes is published");
    const own = await compared(t, database, at(8));
    t.match(own.excluded, [{ region: "us-east", from: new Date(at(6)).toISOString(), minutes: 2 }]);

    await pool.query(sql`
      update impairment set ended_at = k.generated_at from api.clock k where ended_at is null
    `);
    const [ended] = await pool.query<{ to: string; generated_at: Date }>(
      sql`select api.excluded(7) -> 0 ->> 'to' as to, generated_at from api.clock`,
    );
    t.equal(ended!.to, ended!.generated_at.toISOString(), "the minute in which it ended is not over");
  },
);

/** An impairment that is recognised as soon as it begins. */
async function impaired(pool: Pool, from: number, to: number | null) {
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured)
    select region_id, ${new Date(from)}, ${new Date(from)}, ${to && new Date(to)}, '{okx,kraken}', 15
    from region where region = 'us-east'
  `);
}

void t.test("the exclusions listed with the figures are those that the figures leave out", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  await watchedSince(pool, midnight - 9 * dayMs);
  const over = (back: number) => midnight - back * dayMs;
  for (const back of [5, 3]) await impaired(pool, over(back) - 5 * minuteMs, over(back) + 5 * minuteMs);
  const listed = async (days: number) =>
    (await compared(t, database, midnight, days)).excluded.map(({ from, to, minutes }) => [
      Date.parse(from),
      Date.parse(to!),
      minutes,
    ]);
  const [third, fifth] = [3, 5].map((back) => [over(back) - 5 * minuteMs, over(back) + 6 * minuteMs, 11]);
  t.strictSame(await listed(9), [third, fifth]);
  t.strictSame(await listed(4), [[over(3), over(3) + 6 * minuteMs, 6]], "the list starts at the window's first day");
  await pool.query(sql`
      update rollups_made set complete = false, made_from = ${new Date(over(3) - 3_600_000)}
    `);
  t.strictSame(
    await listed(9),
    [[over(3), over(3) + 6 * minuteMs, 6]],
    "days counted by an earlier release include those minutes, so none are listed",
  );
});

void t.test("each excluded minute of a long impairment is written once", async (t) => {
  const { pool, from } = await begun(t);
  const clock = (minute: number) => decided(pool, from + minute * minuteMs);
  const left = async () => {
    const [row] = await pool.query<{ minutes: number; tried: number }>(sql`
      select (select count(*)::int from excluded_minute) as minutes, (select (last_value - 1)::int from tried) as tried
    `);
    return row!;
  };
  const exclude = async () => {
    await pool.query(sql`select setval('tried', 1)`);
    await excludeAll(pool);
    return left();
  };
  await pool.script(`
    create sequence tried;
    create function note_try() returns trigger language plpgsql as 'begin perform nextval(''tried''); return new; end';
    create trigger note_try before insert on excluded_minute for each row execute function note_try();
  `);
  await impaired(pool, from - 2_880 * minuteMs, null);
  await clock(0);
  t.strictSame(await exclude(), { minutes: 2_881, tried: 2_881 });
  t.strictSame(await exclude(), { minutes: 2_881, tried: 0 });
  await clock(2);
  t.strictSame(await exclude(), { minutes: 2_883, tried: 2 });
  // of the same region, recognised in hindsight, and from earlier
  await impaired(pool, from - 2_890 * minuteMs, from - 2_880 * minuteMs);
  t.equal((await exclude()).minutes, 2_893);
  await pool.query(sql`delete from excluded_minute where minute = ${new Date(from - 100 * minuteMs)}`);
  t.equal((await exclude()).minutes, 2_893, "missing minutes are written again");
});
