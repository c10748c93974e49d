/** What analysts read is what this process computes from samples, minutes and hours. */
import type { Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { answers, type AnalystsAsked, dayMs, numbers, type AnswerRow } from "./questions.js";
import { roundHalfEven } from "../rollup-model.js";

/** Asks the question about one venue and yesterday for every venue and day that has samples. */
export async function daysFromRaw(t: Test, { analyst, pool }: AnalystsAsked) {
  await dayByMinutes(pool);
  const kept = await pool.query<{ venue: string; back: number }>(sql`
    select v.venue, ((now() at time zone 'UTC')::date - (d.day at time zone 'UTC')::date) as back
    from venue_day d
    join venue v using (venue_id)
    where d.down_minutes > 0 or v.venue in ('okx', 'kraken') and d.day > now() - interval '3 days'
  `);
  t.ok(kept.length > 3);
  for (const { venue, back } of kept) await dayFromRaw(t, analyst, venue, back);
}

async function dayFromRaw(t: Test, analyst: AnalystsAsked["analyst"], venue: string, back: number): Promise<AnswerRow> {
  const [row] = await answers(analyst, 2, onDay(venue, back));
  const { rows } = await analyst.query<AnswerRow>(
    `select measured_minutes, down_minutes, degraded_minutes, uptime_pct, uptime_pct as told_pct
    from analytics.days where venue = $1 and day = current_date - $2::int`,
    [venue, back],
  );
  t.strictSame(numbers(row), numbers(rows[0]), `${venue}, ${back} days ago`);
  return numbers(row);
}

/** Counts the days that the demo wrote, of which few samples exist, from these samples. */
async function dayByMinutes(pool: Pool): Promise<void> {
  await pool.query(sql`update added_up set days_from = '-infinity'`);
  for (const rollup of ["component_day", "venue_day"])
    await pool.query(sql`call upkeep.mend(${rollup}, now() - upkeep.raw_kept() + interval '1 hour', now())`);
}

/** Changes the question about one venue and today to another venue and day. */
function onDay(venue: string, back: number) {
  return (statement: string): string => {
    const day = `current_date - ${back}`;
    return statement
      .replaceAll("'okx'", `'${venue}'`)
      .replace(/ts >= current_date and ts < \(.*\)/, `ts >= ${day} and ts < ${day} + 1`)
      .replace("minute >= current_date", `minute >= ${day}`)
      .replace("d.day = current_date", `d.day = ${day}`);
  };
}

/** Computes latencies by sorting, in this process, the roll-up of hours. */
export async function latencies(t: Test, { analyst, pool }: AnalystsAsked) {
  const hours = await pool.query<{ venue: string; region: string; hour: Date; ms: number }>(sql`
    select v.venue, g.region, h.hour, h.p50_us / 1000.0::float as ms
    from sample_hour h
    join component c using (component_id)
    join venue v using (venue_id)
    join region g using (region_id)
    where c.kind = 'rest' and h.p50_us is not null and h.hour >= now() - interval '7 days 1 hour'
  `);
  const hourMs = 3_600_000;
  const thisHour = Math.floor(Date.now() / hourMs) * hourMs;
  const whole = hours.filter(({ hour }) => +hour >= thisHour - 7 * dayMs && +hour < thisHour);
  const slowest = await answers(analyst, 6);
  t.equal(slowest.length, 15);
  for (const row of slowest) {
    const own = whole.filter(({ venue }) => venue === row["venue"]);
    const [slowestHour] = groups(own, ({ hour }) => String(+hour))
      .map((group) => ({ hour: group[0]!.hour, ms: median(group.map(({ ms }) => ms)) }))
      .sort((a, b) => b.ms - a.ms || +a.hour - +b.hour);
    const { hour, ms } = slowestHour!;
    t.match(row, { hour, p50_ms: roundHalfEven(ms) }, `${String(row["venue"])}: the slowest hour`);
  }

  const regions = await answers(analyst, 7);
  t.equal(regions.length, 45);
  const lastWeek = hours.filter(({ hour }) => +hour >= Date.now() - 7 * dayMs);
  for (const row of regions) {
    const own = lastWeek.filter(({ venue, region }) => venue === row["venue"] && region === row["region"]);
    const p50Ms = roundHalfEven(median(own.map(({ ms }) => ms)));
    t.equal(row["p50_ms"], p50Ms, `${String(row["venue"])} from ${String(row["region"])}`);
  }
}

/** Recomputes the answers from each bad sample and each bad minute. */
export async function troubles(t: Test, context: AnalystsAsked) {
  await failingTogether(t, context);
  const bad = await context.pool.query<BadSample>(sql`
    select v.venue, g.region, c.kind, s.fault, date_trunc('minute', s.ts) as minute
    from sample s
    join component c using (component_id)
    join venue v using (venue_id)
    join region g using (region_id)
    where not s.good
  `);
  await faultsBeforeOutages(t, context, bad);
  await refusals(t, context, bad);
}

interface BadSample {
  venue: string;
  region: string;
  kind: string;
  fault: string;
  minute: Date;
}

async function failingTogether(t: Test, { pool, answered }: AnalystsAsked) {
  const minutes = await pool.query<{ venue: string; minute: Date }>(sql`
    select v.venue, m.minute
    from venue_minute m
    join venue v using (venue_id)
    where m.bad and m.minute >= (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '29 days'
  `);
  const byMinute = groups(minutes, ({ minute }) => String(+minute));
  const together = answered.get("5")!.map(numbers);
  const names = new Set(minutes.map(({ venue }) => venue));
  t.equal(together.length, names.size);
  for (const venue of names) {
    const own = byMinute.filter((group) => group.some((one) => one.venue === venue));
    const shared = own.filter((group) => group.length > 1);
    const others = new Set(shared.flat().flatMap((one) => (one.venue === venue ? [] : [one.venue])));
    const shared_with = others.size > 0 ? [...others].sort().join(", ") : null;
    const row = together.find((row) => row["venue"] === venue);
    t.match(row, { bad_minutes: own.length, shared_minutes: shared.length, shared_with }, `${venue}: alone or not`);
  }
}

/** An outage counts if its venue had been well for ten minutes. */
async function faultsBeforeOutages(t: Test, { pool, answered }: AnalystsAsked, bad: BadSample[]) {
  const incidents = await pool.query<{ venue: string; peak: string; startedAt: Date; closedAt: Date | null }>(sql`
    select v.venue, i.peak_severity as peak, i.started_at as "startedAt", i.closed_at as "closedAt"
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    where i.retracted_at is null
    order by i.started_at, i.incident_id
  `);
  const minuteMs = 60_000;
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const outages = incidents.filter(({ venue, peak, startedAt }, place) => {
    const earlier = incidents.slice(0, place).filter((one) => one.venue === venue);
    const wasWell = earlier.every(({ closedAt }) => closedAt !== null && +closedAt <= +startedAt - 10 * minuteMs);
    return peak === "outage" && +startedAt >= today - 6 * dayMs && wasWell;
  });
  t.ok(outages.length > 1 && outages.length < incidents.length);
  const onTheMinute = outages.filter(({ startedAt }) => +startedAt % minuteMs === 0);
  t.ok(onTheMinute.length > 0, "an incident begins in its minute");
  const lately = bad.filter(({ minute }) => +minute >= today - 7 * dayMs);
  const before = outages.map(({ venue, startedAt }) => {
    const began = Math.floor(+startedAt / minuteMs);
    return lately.filter(({ minute, ...one }) => {
      const ahead = began - +minute / minuteMs;
      return one.venue === venue && ahead >= 1 && ahead <= 10;
    });
  });
  const measured = await pool.query<{ venue: string; minute: Date }>(sql`
    select distinct v.venue, m.minute
    from sample_minute m
    join component c using (component_id)
    join venue v using (venue_id)
    where m.minute >= ${new Date(today - 7 * dayMs)}
  `);
  const windows = (minutes: { venue: string; minute: Date }[]) =>
    new Set(minutes.map(({ venue, minute }) => `${venue} ${Math.floor(+minute / minuteMs / 10)}`)).size;
  const answer = answered.get("10")!.map(numbers);
  const occurred = [...new Set(lately.map(({ fault }) => fault))];
  t.strictSame(answer.map(({ fault }) => fault).sort(), occurred.sort(), "every fault that occurred");
  for (const row of answer) {
    const name = String(row["fault"]);
    const counts = before.map((samples) => samples.filter(({ fault }) => fault === name).length);
    const preceded = counts.filter((samples) => samples > 0).length;
    const badSamples = counts.reduce((sum, samples) => sum + samples, 0);
    t.match(row, { outages: preceded, of_outages: outages.length, bad_samples: badSamples }, `${name} before outages`);
    const seen = lately.filter(({ fault }) => fault === name);
    for (const [column, part, all] of [
      ["before_pct", preceded, outages.length],
      ["usual_pct", windows(seen), windows(measured)],
    ] as const) {
      const pct = row[column] as number;
      // one decimal place, however a tie is rounded
      t.ok(Math.abs(pct - (100 * part) / all) < 0.0501, `${name}: ${column} ${pct} of ${part} of ${all}`);
    }
  }
}

async function refusals(t: Test, { analyst }: AnalystsAsked, bad: BadSample[]) {
  const refused = (await answers(analyst, 12)).map(numbers);
  t.ok(refused.length >= 2);
  const dayAgo = Date.now() - dayMs;
  const lately = bad.filter(({ kind, minute }) => kind === "rest" && +minute >= dayAgo);
  for (const row of refused) {
    const own = lately.filter(({ venue, region }) => venue === row["venue"] && region === row["region"]);
    const count = (name: string) => own.filter(({ fault }) => fault === name).length;
    const where = `${String(row["venue"])} from ${String(row["region"])}`;
    t.match(row, { blocked: count("blocked"), limited: count("limited") }, where);
  }
}

/** Covers minutes in which exactly half of the samples, regions or components are good, which the demo seldom has. */
export async function ties(t: Test, { analyst, pool }: AnalystsAsked) {
  await dayByMinutes(pool);
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault)
    select minute + slot * interval '6 s', c.component_id, g.region_id, w.good, case when not w.good then 'http'::fault end
    from generate_series(
      (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '23 hours',
      (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '21 hours',
      interval '1 minute'
    ) minute
    cross join generate_series(1, 5) slot
    join component c on c.venue_id = (select venue_id from venue where venue = 'bitstamp')
    join region g on g.position <= 2
    -- a hash gives the same result each time: some minutes have four slots, others five
    cross join lateral (
      select hashint8(extract(epoch from minute)::bigint * 1000 + c.component_id * 100 + g.region_id * 10 + slot) % 10 as n,
        hashint8(extract(epoch from minute)::bigint) % 4 as mood
    ) h
    cross join lateral (select abs(h.n) >= 3 + abs(h.mood) as good) w
    where slot <= 4 or h.mood % 2 = 0
    on conflict (component_id, region_id, ts) do update set good = excluded.good, fault = excluded.fault
  `);
  await pool.script("call upkeep.refresh_all(now() - interval '3 days', now())");
  const day = await dayFromRaw(t, analyst, "bitstamp", 1);
  for (const column of ["down_minutes", "degraded_minutes"])
    t.ok((day[column] as number) > 5, `${column}: ${String(day[column])}`);
}

/** Interpolates like percentile_cont: the mean of the two middle values. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place % 1);
}

function groups<Item>(items: Item[], keyOf: (item: Item) => string): Item[][] {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const group = found.get(keyOf(item)) ?? [];
    found.set(keyOf(item), [...group, item]);
  }
  return [...found.values()];
}
