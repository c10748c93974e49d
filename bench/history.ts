/**
 * Measures what history costs: the bytes of kept data, and the time to read, refresh and open it. The history has
 * HISTORY_DAYS whole days of raw samples of the registry's venues, plus today so far, and core's own procedures
 * maintain it. The default is eight days, or one on the embedded database, and one more where whole chunks take two
 * days.
 */
import { readFile } from "node:fs/promises";
import { type Pool, sql } from "../shared/database/pool.js";
import { startWeb } from "../server/web/web.js";
import { tick } from "../server/core/engine/tick.js";
import { packagedFile } from "../shared/config/package.js";
import { type Figure, spreadOf, timesMs } from "./figure.js";
import { bytesOfRow, compressedSize, openDaysOf, runningSize, tableOf, uncompressedSize } from "./level-size.js";
import { log, openStage, type Stage } from "./stage.js";
import { withoutClock } from "./web.js";

const isServer = Boolean(process.env.DATABASE_URL);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * Sizes are measured on whole chunks. A chunk of minutes is a day long, or sixteen hours on the embedded database,
 * where three chunks are two days.
 */
const alignedDays = isServer ? 1 : 2;
const today = Math.floor(Date.now() / dayMs);
const leastDays = Number(process.env.HISTORY_DAYS ?? (isServer ? 8 : 1));
const firstDay = Math.floor((today - leastDays) / alignedDays) * alignedDays;
const wholeDays = today - firstDay;
const keptDays = 100;
/** How long samples are kept; whole days are dropped. */
const weekDays = 9;
/** More than two chunks of hours. */
const filledDays = 30;
const levelsByMinute = ["sample_minute", "component_minute", "venue_minute"];
const smallLevels = [
  ...["sample_hour", "component_day", "venue_day", "latency_day"],
  ...["venue_latency_day", "usual_hour"],
];

/** What the project promises. */
const promised = {
  sampleBytes: 9,
  minuteBytes: 8,
  venueBytes: 30e6,
  boardMs: 20,
  weekMs: 100,
  refreshMs: 100,
  startMs: 3_000,
};

export async function benchHistory(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    const { pool } = stage;
    const to = new Date();
    const samples = await keepHistory(pool, firstDay * dayMs, to);
    // in the order that core uses
    await pool.script("analyze");
    await pool.script("vacuum");
    return [
      { what: "raw samples", value: samples / 1e6, unit: "million" },
      ...(await sizes(pool)),
      ...(await reading(stage)),
      ...(await refreshing(pool)),
      ...(await ofAVenue(pool)),
      ...(await opening(stage)),
    ];
  } finally {
    await stage.close();
  }
}

/**
 * Builds the history as it happens in production: a stretch of samples arrives and is rolled up, and old enough data is
 * compressed. Resolves with the number of samples.
 */
export async function keepHistory(pool: Pool, from: number, to: Date): Promise<number> {
  const insert = await readFile(packagedFile("bench/history.sql"), "utf8");
  const stretchMs = isServer ? dayMs / 4 : hourMs / 4;
  for (let atMs = from; atMs < +to; atMs += stretchMs) {
    const span = [new Date(atMs), new Date(Math.min(atMs + stretchMs, +to))] as const;
    await pool.text(insert, span);
    await pool.query(sql`call upkeep.refresh_all(${span[0]}, ${span[1]})`);
    while (await compressed(pool, span[1])) await pool.script("checkpoint");
    for (const { name } of await pool.query<{ name: string }>(sql`select upkeep.rewritten() as name`))
      await pool.script(`vacuum ${name}`);
  }
  await pool.query(sql`call upkeep.refresh_hours(${to})`);
  const [row] = await pool.query<{ samples: number }>(sql`select count(*) as samples from sample`);
  return row!.samples;
}

async function compressed(pool: Pool, at: Date): Promise<boolean> {
  const [row] = await pool.query<{ chunk: string | null }>(sql`select upkeep.compress_next(${at}) as chunk`);
  return row!.chunk !== null;
}

async function sizes(pool: Pool): Promise<Figure[]> {
  const figures: Figure[] = [];
  const levels = [
    { level: "sample", most: promised.sampleBytes },
    ...levelsByMinute.map((level) => ({ level, most: promised.minuteBytes })),
  ];
  for (const { level, most } of levels) {
    const { rows, bytes } = await compressedSize(pool, level);
    figures.push({
      what: `${level}, compressed, a row`,
      value: bytes / rows,
      unit: "bytes",
      floor: { value: most, what: "promised" },
    });
  }
  figures.push({
    what: "sample, in uncompressed chunks, a row",
    value: await bytesOfRow(runningSize(pool, "sample", "ts")),
    unit: "bytes",
  });
  for (const level of smallLevels) {
    const { rows, bytes } = await uncompressedSize(pool, level);
    if (rows === 0) continue;
    figures.push({ what: `${level}, a row`, value: bytes / rows, unit: "bytes" });
  }
  return figures;
}

/**
 * Repeats the days of this history before it, so that there are whole chunks of hours and days. They have as many rows
 * as in production, and no leftovers of how the history was made.
 */
async function fillChunks(pool: Pool): Promise<void> {
  const hours = (await tableOf(pool, "sample_hour")).ident;
  const latencies = (await tableOf(pool, "latency_day")).ident;
  const days = (await tableOf(pool, "venue_day")).ident;
  const copies = sql`
    generate_series(1, ceil(${filledDays}::float / ${wholeDays})::int) as copy
    cross join lateral (select copy * ${wholeDays} * interval '24 hours' as earlier) shift
  `;
  await pool.query(sql`
    insert into ${hours} (hour, component_id, region_id, samples, good, p50_us, p95_us)
    select hour - earlier, component_id, region_id, samples, good, p50_us, p95_us
    from sample_hour cross join ${copies}
    where hour < date_trunc('day', now())
  `);
  await pool.query(sql`
    insert into ${latencies} (day, component_id, region_id, p50_ms, minutes)
    select day - earlier, component_id, region_id, p50_ms, minutes
    from latency_day cross join ${copies}
    where day < date_trunc('day', now())
  `);
  await pool.query(sql`
    insert into ${days}
    select (jsonb_populate_record(d, jsonb_build_object('day', d.day - earlier))).*
    from venue_day d cross join ${copies}
    where day < date_trunc('day', now())
  `);
}

/**
 * Computes all data that is kept of a venue over a hundred days, except its raw samples, from the sizes of rows: for
 * the mean venue and for the largest.
 */
async function ofAVenue(pool: Pool): Promise<Figure[]> {
  const venues = await pool.query<VenueRows>(sql`
    with region_count as (select count(*) as regions from region where published),
    counted as (
      select component_id, count(*)::float / ${wholeDays} as milliseconds
      from latency_hour
      where hour < date_trunc('day', now())
      group by 1
    ),
    heard as (
      select component_id, count(*)::float / ${wholeDays} as "streamHours"
      from stream_hour
      where hour < date_trunc('day', now())
      group by 1
    ),
    a_day as (
      select c.venue_id, c.component_id, count(d.p50_ms)::float / ${wholeDays} as distribution
      from component c
      left join latency_day d on d.component_id = c.component_id and d.day < date_trunc('day', now())
      where c.published
      group by 1, 2
    )
    select
      v.venue, count(*) as components, count(*) * r.regions as series, sum(a.distribution) as distribution, sum(m.milliseconds) as milliseconds,
      sum(s."streamHours") as "streamHours"
    from a_day a
    join venue v using (venue_id)
    left join counted m using (component_id)
    left join heard s using (component_id)
    cross join region_count r
    where v.published
    group by v.venue, r.regions
    order by count(*) desc, v.venue
  `);
  await fillChunks(pool);
  const bytes = {
    sample_minute: await bytesOfRow(compressedSize(pool, "sample_minute")),
    component_minute: await bytesOfRow(compressedSize(pool, "component_minute")),
    venue_minute: await bytesOfRow(compressedSize(pool, "venue_minute")),
    venue_day: await bytesOfRow(uncompressedSize(pool, "venue_day")),
    sample_hour: await bytesOfRow(uncompressedSize(pool, "sample_hour")),
    latency_day: await bytesOfRow(uncompressedSize(pool, "latency_day")),
    latency_hour: await bytesOfRow(compressedSize(pool, "latency_hour")),
    stream_hour: await bytesOfRow(compressedSize(pool, "stream_hour")),
  };
  const openDays = {
    sample_hour: await openDaysOf(pool, "sample_hour"),
    latency_day: await openDaysOf(pool, "latency_day"),
  };
  const openMinutes = {
    bytes: await bytesOfRow(runningSize(pool, "sample_minute", "minute")),
    days: await openDaysOf(pool, "sample_minute"),
  };
  // as compressed when their chunks are over
  const over = Math.max(...Object.values(openDays));
  while (await compressed(pool, new Date(Date.now() + over * dayMs)));
  const later = {
    sample_hour: await bytesOfRow(compressedSize(pool, "sample_hour")),
    latency_day: await bytesOfRow(compressedSize(pool, "latency_day")),
  };
  const megabytes = ({ components, series, distribution, milliseconds, streamHours }: VenueRows) =>
    (keptDays *
      (1440 * series * bytes.sample_minute +
        1440 * components * bytes.component_minute +
        1440 * bytes.venue_minute +
        bytes.venue_day) +
      weekDays * (milliseconds * bytes.latency_hour + streamHours * bytes.stream_hour) +
      24 * series * (openDays.sample_hour * bytes.sample_hour + (keptDays - openDays.sample_hour) * later.sample_hour) +
      distribution *
        (openDays.latency_day * bytes.latency_day + (keptDays - openDays.latency_day) * later.latency_day)) /
    1e6;
  const all = venues.map(megabytes);
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
  const floor = { value: promised.venueBytes / 1e6, what: "promised" };
  const { venue, components } = venues[0]!;
  const meanSeries = venues.reduce((sum, { series }) => sum + series, 0) / venues.length;
  return [
    { what: "latency_hour, compressed, a row", value: bytes.latency_hour, unit: "bytes" },
    { what: "sample_hour, compressed, a row", value: later.sample_hour, unit: "bytes" },
    { what: "latency_day, compressed, a row", value: later.latency_day, unit: "bytes" },
    {
      what: `a venue's roll-ups of ${keptDays} days, the mean of ${venues.length}, computed`,
      value: mean,
      unit: "MB",
      floor,
    },
    { what: `of ${venue}, ${components} components`, value: all[0]!, unit: "MB", floor },
    {
      what: "additional for the mean venue, for minutes not compressed yet, at most",
      value: (1440 * meanSeries * openMinutes.days * (openMinutes.bytes - bytes.sample_minute)) / 1e6,
      unit: "MB",
    },
  ];
}

interface VenueRows {
  venue: string;
  components: number;
  /** Components times regions. */
  series: number;
  /** Rows of latency_day per day. */
  distribution: number;
  /** Rows of latency_hour per day. */
  milliseconds: number;
  /** Rows of stream_hour per day. */
  streamHours: number;
}

async function reading({ pool, registry }: Stage): Promise<Figure[]> {
  const web = await startWeb({
    // a page of seven days is cached for half a minute, but must be recomputed here
    pool: withoutClock(pool).counted,
    registry,
    port: 0,
    host: "127.0.0.1",
    rateLimit: 0,
    trustProxy: [],
    siteUrl: "http://localhost",
    baseUrl: "http://localhost",
    log,
  });
  const base = `http://127.0.0.1:${web.port}`;
  let at = Date.now();
  const nextTick = () => tick(pool, new Date((at += 10)));
  const figures: Figure[] = [];
  const pages = [
    { path: "/v1/status", mostMs: promised.boardMs },
    { path: `/v1/targets/${registry.venues[0]!.id}`, mostMs: null },
    { path: `/v1/targets/${registry.venues[0]!.id}?range=7d`, mostMs: promised.weekMs },
  ];
  try {
    for (const { path, mostMs } of pages) {
      const ask = async () => {
        const answer = await fetch(`${base}${path}`);
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
        await answer.arrayBuffer();
      };
      await timesMs(5, ask, nextTick);
      figures.push({
        what: `${path} recomputed, p50`,
        value: spreadOf(await timesMs(15, ask, nextTick)).p50,
        unit: "ms",
        ...(mostMs && { floor: { value: mostMs, what: "promised" } }),
      });
    }
  } finally {
    await web.close();
  }
  return figures;
}

/** Refreshes with new samples of the last seconds to roll up, as in production. */
async function refreshing(pool: Pool): Promise<Figure[]> {
  const insert = await readFile(packagedFile("bench/history.sql"), "utf8");
  let from = new Date();
  const comeIn = async () => {
    const to = new Date(Math.max(Date.now(), +from + 5_000));
    await pool.text(insert, [from, to]);
    from = to;
  };
  await comeIn();
  const newest = () => pool.query(sql`call upkeep.refresh_newest(${from})`);
  const open = () => pool.query(sql`call upkeep.refresh_open_buckets(${from}, true)`);
  const newestMs = await timesMs(15, newest, comeIn);
  const openMs = await timesMs(5, open, comeIn);
  return [
    {
      what: "refresh of the newest minutes, all levels by minute, p50",
      value: spreadOf(newestMs).p50,
      unit: "ms",
      floor: { value: promised.refreshMs, what: "promised" },
    },
    { what: "refresh of the current hour and day, p50", value: spreadOf(openMs).p50, unit: "ms" },
  ];
}

async function opening({ host }: Stage): Promise<Figure[]> {
  if (!host) return [];
  const startMs = await timesMs(5, host.up, host.down);
  return [
    {
      what: "reopening it, until the newest sample is read, p50",
      value: spreadOf(startMs).p50,
      unit: "ms",
      floor: { value: promised.startMs, what: "promised" },
    },
  ];
}
