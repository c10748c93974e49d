/**
 * Which minutes an uptime counts, and what the response reports about it: in each case, a figure without this would be
 * false.
 */
import t, { type Test } from "tap";
import { sql, type Pool } from "../../shared/database/pool.js";
import { serve } from "../support/api.js";
import { migratedDatabase, type TestDatabase } from "../support/database.js";
import { dayMs, excludeAll, minuteMs, setClock, watchedSince } from "../support/rollup-upkeep.js";

interface Row {
  id: string;
  measuredMinutes: number;
  downMinutes: number | null;
  uptimePctLow: number | null;
  components: { component: string }[];
}

interface Reliability {
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
async function startHourAgo(t: Test): Promise<TestDatabase & { from: number }> {
  const database = await migratedDatabase(t);
  const from = Math.floor(Date.now() / minuteMs) * minuteMs - 60 * minuteMs;
  await watchedSince(database.pool, new Date(from));
  return { ...database, from };
}

/** As of this many minutes, which are published by then. */
async function reliabilityOf(
  t: Test,
  { pool, registry }: TestDatabase,
  publishedTo: number,
  days = 2,
): Promise<Reliability> {
  await setClock(pool, new Date(publishedTo + 4 * minuteMs));
  await pool.query(sql`call upkeep.refresh_all(${new Date(publishedTo - 10 * dayMs)}, now())`);
  await excludeAll(pool);
  const api = await serve(t, { pool, registry });
  return (await api.ask<Reliability>(`/v1/reliability?days=${days}`)).body;
}

interface Impaired {
  from: number;
  /** Absent: as soon as it begins. */
  recognisedAt?: number;
  /** Absent: it continues. */
  to?: number;
  regions?: string[];
  seenElsewhere?: boolean;
}

async function impaired(pool: Pool, { from, recognisedAt = from, to, ...other }: Impaired): Promise<void> {
  const { regions = ["us-east"], seenElsewhere = false } = other;
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured, seen_elsewhere)
    select region_id, ${new Date(from)}, ${new Date(recognisedAt)}, ${to ? new Date(to) : null}, '{okx,kraken}', 15, ${seenElsewhere}
    from region where region = any (${regions})
  `);
}

function of({ venues }: Reliability, id: string): Row {
  return venues.find((row) => row.id === id)!;
}

void t.test("a region's own trouble counts against no venue, even where it measured alone", async (t) => {
  const database = await startHourAgo(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  const two = { from: from + 10 * minuteMs, count: 2 };
  await minutes(pool, { ...two, bad: 10, regions: ["us-east"] });
  const to = from + 12 * minuteMs;
  const before = await reliabilityOf(t, database, to);
  const row = { measuredMinutes: 10, downMinutes: 0, scheduledMinutes: 12 };
  for (const venue of before.venues) t.match(venue, row, "a minute that only one region sampled is not measured");

  await minutes(pool, { ...two, regions: ["eu-central", "ap-southeast"], bad: 5 });
  await minutes(pool, { ...two, regions: ["eu-central"] });
  const torn = await reliabilityOf(t, database, to);
  t.equal(of(torn, "okx").downMinutes, 2, "down by two regions of three");
  const at = (minute: number) => from + minute * minuteMs;
  await impaired(pool, { from: at(10.5), recognisedAt: at(11), to: at(11.5) });
  const after = await reliabilityOf(t, database, to);
  t.match(of(after, "okx"), { measuredMinutes: 12, downMinutes: 0 });
  t.match(after.excluded, [
    {
      ...{ region: "us-east", from: new Date(at(10)).toISOString(), to: new Date(to).toISOString() },
      ...{ minutes: 2, venues: ["okx", "kraken"] },
    },
  ]);
});

void t.test("a minute with half of its samples bad is down, as a state is", async (t) => {
  const database = await startHourAgo(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  await minutes(pool, { from, count: 3, venue: "okx", bad: 5 });
  await minutes(pool, { from, count: 3, venue: "kraken", bad: 4 });
  const reliability = await reliabilityOf(t, database, from + 10 * minuteMs);
  t.match(of(reliability, "okx"), { downMinutes: 3, uptimePct: 70 });
  t.strictSame(reliability.ranks.at(-1), { rank: 15, venues: ["okx"] }, "all other venues were better in any case");
  t.match(of(reliability, "kraken"), { downMinutes: 0, uptimePct: 100 });
});

void t.test(
  "a minute says nothing about a venue of which fewer than half of the components were measured",
  async (t) => {
    const database = await startHourAgo(t);
    const { pool, from } = database;
    const at = (minute: number) => from + minute * minuteMs;
    await minutes(pool, { from, count: 10 });
    const okx = await pool.query<{ component: string; kind: string }>(
      sql`select component, kind from component join venue using (venue_id) where venue = 'okx' order by kind, component`,
    );
    const rest = okx.filter(({ kind }) => kind === "rest");
    t.strictSame([rest.length, okx.length], [4, 8]);
    const measure = async (minute: number, some: typeof okx, bad: number) => {
      for (const { component } of some)
        await minutes(pool, { from: at(minute), count: 1, venue: "okx", component, bad });
    };
    await measure(10, rest.slice(0, 3), 10);
    await measure(11, rest, 10);
    // one of two known endpoints is a quarter of its REST
    await measure(12, okx.slice(2), 0);
    await measure(12, rest.slice(3), 10);
    // two of two are half of it
    await measure(13, okx.slice(2), 0);
    await measure(13, rest.slice(2), 10);
    const figures = async () => of(await reliabilityOf(t, database, at(14)), "okx");
    const right = {
      ...{ measuredMinutes: 13, downMinutes: 2, degradedMinutes: 1, scheduledMinutes: 14 },
      rest: { measuredMinutes: 13, downMinutes: 2 },
      streams: { measuredMinutes: 12, downMinutes: 0 },
    };
    t.match(await figures(), right);

    await pool.query(sql`
    update component set ends_at = now() + interval '1 hour' where component = 'rest:ticker'
  `);
    await pool.query(sql`
    update component c set unwatched = tstzmultirange(tstzrange(now(), null))
    from venue v
    where v.venue_id = c.venue_id and v.venue = 'okx' and c.kind = 'ws'
  `);
    for (let twice = 0; twice < 2; twice++) await pool.query(sql`call upkeep.store_components_published()`);
    const kept = await pool.query<{ holds_from: Date; holds_to: Date; rest: number; streams: number }>(sql`
    select holds_from, holds_to, rest, streams
    from components_published join venue using (venue_id)
    where venue = 'okx'
    order by holds_from
  `);
    t.strictSame(
      kept.map(({ rest, streams }) => [rest, streams]),
      [
        [4, 4],
        [4, 0],
        [3, 0],
      ],
      "the numbers of components from now on, and from the day on at which an entry ends",
    );
    t.ok(
      kept.slice(1).every(({ holds_from }, i) => +holds_from === +kept[i]!.holds_to),
      "without a gap",
    );
    await pool.query(sql`call upkeep.mend('venue_minute', ${new Date(from)}, ${new Date(at(14))})`);
    t.match(await figures(), right, "minutes that are over stay as they were");
  },
);

void t.test("an outage of one component is no downtime of its venue, and the row names the component", async (t) => {
  const database = await startHourAgo(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  await minutes(pool, { ...{ from, count: 4, bad: 10 }, ...{ venue: "bybit", component: "rest:ticker" } });
  const row = of(await reliabilityOf(t, database, from + 10 * minuteMs), "bybit");
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

void t.test("unserved slots count against the venue, and a rate limit makes it degraded, not down", async (t) => {
  const database = await startHourAgo(t);
  const { pool, from } = database;
  await minutes(pool, { from, count: 10 });
  const unserved = { from, count: 10, bad: 10, unserved: true };
  // every stream of a socket that is down
  await minutes(pool, { ...unserved, venue: "bitfinex", kind: "ws", fault: "closed" });
  // rate-limited
  await minutes(pool, { ...unserved, venue: "coinbase", kind: "rest", fault: "limited" });
  const reliability = await reliabilityOf(t, database, from + 10 * minuteMs);
  t.match(of(reliability, "bitfinex"), {
    streams: { uptimePct: 0, downMinutes: 10, measuredMinutes: 10 },
    rest: { uptimePct: 100, downMinutes: 0 },
  });
  t.match(of(reliability, "coinbase"), {
    ...{ measuredMinutes: 10, degradedMinutes: 10 },
    rest: { uptimePct: 100, downMinutes: 0 },
    streams: { uptimePct: 100, downMinutes: 0 },
  });
});

void t.test("three measured minutes a day are no proof of a day's uptime", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  await watchedSince(pool, new Date(midnight - 5 * dayMs));
  for (const back of [5, 4, 3, 2, 1])
    await minutes(pool, { ...{ from: midnight - back * dayMs, count: 3 }, venue: "okx" });
  // enough minutes of one venue for a bound
  await minutes(pool, { ...{ from: midnight - dayMs, count: 1 }, venue: "kraken" });
  const reliability = await reliabilityOf(t, database, midnight, 6);
  const okx = of(reliability, "okx");
  t.match(okx, { measuredMinutes: 15, scheduledMinutes: 5 * 1440, coveragePct: 0.208 });
  t.match(okx, { uptimePct: null, uptimePctLow: 0.208, uptimePctHigh: 100 });
  t.equal(of(reliability, "bybit").uptimePctLow, null, "no bound where nothing was measured");
  t.strictSame(reliability.ranks, [{ rank: 1, venues: ["kraken", "okx"] }], "venues whose bounds overlap share a rank");
});

void t.test(
  "faults that other regions saw count too, and a minute is excluded only once the trouble proves the region's own",
  async (t) => {
    const database = await startHourAgo(t);
    const { pool, from } = database;
    const at = (minute: number) => from + minute * minuteMs;
    await minutes(pool, { from, count: 10 });
    // which two regions saw a little earlier than the third
    await minutes(pool, { from: at(2), count: 3, venue: "okx", bad: 10 });
    const regions = ["us-east", "eu-central"];
    await impaired(pool, { from: at(2), recognisedAt: at(2.5), to: at(3), regions, seenElsewhere: true });
    const seen = await reliabilityOf(t, database, at(10));
    t.match(of(seen, "okx"), { measuredMinutes: 10, downMinutes: 3 });
    t.strictSame(seen.excluded, []);

    // another one, which no other region has seen yet
    const left = () =>
      pool.query<{ region: string; minute: Date }>(sql`
        select distinct region, minute from excluded_minute join region using (region_id) order by minute
      `);
    await impaired(pool, { from: at(6), recognisedAt: at(6.5) });
    await setClock(pool, new Date(at(8.5) - 2_000));
    await excludeAll(pool);
    t.strictSame(await left(), [], "other regions may still see the same");
    await setClock(pool, new Date(at(8.5)));
    await excludeAll(pool);
    t.strictSame(
      await left(),
      [6, 7, 8].map((minute) => ({ region: "us-east", minute: new Date(at(minute)) })),
      "no other region saw it within two minutes",
    );
    const [clock] = await pool.query<{ published_to: Date }>(sql`select published_to from api.clock`);
    t.ok(+clock!.published_to < at(6), "excluded before any of these minutes is published");
    const own = await reliabilityOf(t, database, at(8));
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

void t.test("the exclusions listed with the figures are those that the figures leave out", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  await watchedSince(pool, new Date(midnight - 9 * dayMs));
  const over = (back: number) => midnight - back * dayMs;
  for (const back of [5, 3]) await impaired(pool, { from: over(back) - 5 * minuteMs, to: over(back) + 5 * minuteMs });
  const listed = async (days: number) =>
    (await reliabilityOf(t, database, midnight, days)).excluded.map(({ from, to, minutes }) => [
      Date.parse(from),
      Date.parse(to!),
      minutes,
    ]);
  const [third, fifth] = [3, 5].map((back) => [over(back) - 5 * minuteMs, over(back) + 6 * minuteMs, 11]);
  t.strictSame(await listed(9), [third, fifth]);
  t.strictSame(await listed(4), [[over(3), over(3) + 6 * minuteMs, 6]], "the list starts at the window's first day");
  await pool.query(sql`update added_up set days_from = ${new Date(over(3))}`);
  t.strictSame(
    await listed(9),
    [[over(3), over(3) + 6 * minuteMs, 6]],
    "days that were written as days include those minutes, so none are listed",
  );
});

void t.test("each excluded minute of a long impairment is written once", async (t) => {
  const { pool, from } = await startHourAgo(t);
  const clock = (minute: number) => setClock(pool, new Date(from + minute * minuteMs));
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
  await impaired(pool, { from: from - 2_880 * minuteMs });
  await clock(0);
  t.strictSame(await exclude(), { minutes: 2_881, tried: 2_881 });
  t.strictSame(await exclude(), { minutes: 2_881, tried: 0 });
  await clock(2);
  t.strictSame(await exclude(), { minutes: 2_883, tried: 2 });
  // of the same region, recognised in hindsight, and from earlier
  await impaired(pool, { from: from - 2_890 * minuteMs, to: from - 2_880 * minuteMs });
  t.equal((await exclude()).minutes, 2_893);
  await pool.query(sql`delete from excluded_minute where minute = ${new Date(from - 100 * minuteMs)}`);
  t.equal((await exclude()).minutes, 2_893, "missing minutes are written again");
});
