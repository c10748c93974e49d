/**
 * Creates a database as the first release left it, with a history: the tables and roll-ups of 001 to 004, and some of
 * the objects that depend on them.
 */
import { readFile } from "node:fs/promises";
import { type Pool, sql } from "../../shared/database/pool.js";
import { readSchema, sqlFolder } from "../../shared/database/sql-files.js";

/** The roll-ups of the first release, in order of dependency. */
export const firstLevels = [
  ...["sample_minute", "sample_hour", "component_minute"],
  ...["venue_minute", "venue_day", "latency_day"],
];

const lastFile = "004-engine.sql";
const dayMs = 24 * 3_600_000;
/** It kept minutes this long, and hours and days longer. */
export const minutesKeptDays = 100;

/** Definitions in the database of the first release, shortened: views on columns that no longer exist. */
const definitions = `
  create schema upkeep;
  create schema api;
  create function upkeep.refused_after() returns interval language sql immutable return interval '7 days';
  create view api.region_state as
    select component_id, region_id, state, since, p50_us, faults from region_state;
  create view api.venue_day as
    select v.venue, d.* from venue v join venue_day d using (venue_id);
`;

const watched = `
  insert into region (region, name, position) values ('eu-central', 'Frankfurt', 1), ('us-east', 'Virginia', 2);
  insert into venue (venue, name, category, position) values ('kraken', 'Kraken', 'cex', 1), ('okx', 'OKX', 'cex', 2);
  insert into component (venue_id, component, label, cadence_ms, position)
  select venue_id, component, component, 5000, place
  from venue, (values ('rest:ticker', 1), ('rest:book', 2), ('ws:trades', 3)) as c (component, place);
  insert into region_state
  select component_id, region_id, 'degraded', now(), true, 3, 3, 3, now(), 'http', null, '{}' from component, region;
  insert into incident (
    slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, closed_at, evidence
  )
  select 'first-' || g, 1, 'outage', 'outage', at, at + interval '1 minute', at + interval '2 minutes', at + interval '3 minutes', '{}'
  from generate_series(1, 40) g, lateral (select date_trunc('second', now()) - g * interval '9 days' + interval '0.123456 s' as at) a;
`;

/** The extent of its history. */
export interface Past {
  /** One hour was measured on every nth day of a year. */
  everyDays: number;
  /** In addition, these days were measured, one sample of each series per interval; eight days at most. */
  recentDays: number;
  stepS: number;
}

/** Creates it in a database without any of our objects. */
export async function firstRelease(pool: Pool, past: Past): Promise<void> {
  await pool.script("create extension if not exists timescaledb");
  const files = (await readSchema(sqlFolder)).filter(({ name }) => name <= lastFile);
  const prelude = await readFile(new URL("prelude.sql", sqlFolder), "utf8");
  await pool.transaction(async (tx) => {
    await tx.script(prelude);
    // these came with a later release
    await tx.script("drop table definition; drop function definitions_fingerprint");
    for (const { name, text, checksum } of files) {
      await tx.script(text);
      await tx.query(sql`insert into migration (name, checksum) values (${name}, ${checksum})`);
    }
    await tx.script(watched);
    await tx.script(definitions);
  });
  await fill(pool, past);
}

async function fill(pool: Pool, { everyDays, recentDays, stepS }: Past): Promise<void> {
  const now = Date.now();
  const today = Math.floor(now / dayMs) * dayMs;
  const recentFrom = new Date(today - recentDays * dayMs);
  // all of the year's samples are dropped at the end, so they may share one chunk
  await pool.script("select set_chunk_time_interval('sample', interval '1 year')");
  for (let days = 365; days > 8; days -= everyDays) {
    const from = new Date(today - days * dayMs);
    await insert(pool, from, new Date(+from + 3_600_000), 60);
  }
  await refresh(pool, new Date(today - 366 * dayMs), recentFrom);
  await pool.query(sql`select drop_chunks('sample', older_than => now() + interval '1 year')`);
  for (const minutes of ["sample_minute", "component_minute", "venue_minute"])
    await pool.query(sql`
      select drop_chunks(${minutes}::text::regclass, older_than => now() - ${minutesKeptDays} * interval '1 day')
    `);

  await pool.script("select set_chunk_time_interval('sample', interval '1 day')");
  await insert(pool, recentFrom, new Date(now), stepS);
  await refresh(pool, recentFrom, new Date(today));
  await pool.query(sql`
    select compress_chunk(c) from show_chunks('sample', older_than => now() - interval '1 day') c
  `);
  await pool.script("analyze");
}

async function insert(pool: Pool, from: Date, to: Date, stepS: number) {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us)
    select
      ts, component_id, region_id, luck < 0.97, case when luck >= 0.97 then 'http'::fault end, (20000 + 90000 * luck)::int
    from generate_series(${from}::timestamptz, ${to}::timestamptz, ${stepS} * interval '1 s') ts, component, region,
      lateral (select random() + 0 * extract(epoch from ts) as luck) l
  `);
}

/** Refreshes each level of the first release; the current hour and day are left to upkeep. */
async function refresh(pool: Pool, from: Date, to: Date) {
  for (const rollup of firstLevels)
    await pool.query(
      sql`call refresh_continuous_aggregate(${rollup}::text::regclass, ${from}::timestamptz, ${to}::timestamptz, options => '{"buckets_per_batch": 0}')`,
    );
}
