/**
 * Ninety days of history for a demonstration, made the way in which real history is made: samples are inserted, the
 * roll-ups are refreshed over them, and the engine ticks through every past fault. Only the samples are invented.
 */
import { readFile } from "node:fs/promises";
import { type Pool, sql } from "../../server/db.js";
import { tick } from "../../server/engine/tick.js";
import type { Log } from "../../server/log.js";
import { packagedFile } from "../../server/package.js";
import type { Fault } from "../../server/sample.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface PastFault {
  venue: string;
  /** Null: everything of the venue. */
  component: string | null;
  /** Null: all regions. */
  regions: string[] | null;
  fault: Fault;
  daysAgo: number;
  /** UTC. */
  hour: number;
  minutes: number;
}

const pastFaults: PastFault[] = [
  past("kraken", null, null, "timeout", 81, 14, 22),
  past("okx", "ws:trades", null, "stall", 47, 9, 7),
  past("binance", null, ["us-east"], "blocked", 33, 0, 240),
  past("gemini", null, null, "http", 12, 16, 31),
  past(
    "bybit",
    "rest:ticker",
    ["eu-central", "ap-southeast"],
    "timeout",
    5,
    11,
    8,
  ),
  past("deribit", "rest:book", null, "body", 2, 7, 12),
];

export interface HistoryOptions {
  days: number;
  /** The history ends here. */
  now: Date;
  log: Log;
}

/** Fills an empty database. It must not have been ticked beyond `now`. */
export async function makeHistory(
  pool: Pool,
  { days, now, log }: HistoryOptions,
): Promise<void> {
  const startedAt = performance.now();
  const from = new Date(startOfDay(now) - (days - 1) * dayMs);
  const insert = await inserter(pool, now);

  await chunksOf(pool, "1 day");
  await insertSparsely(insert, from, now);
  await insertFaults(insert, from, now);
  await chunksOf(pool, null);
  await pool.query(sql`call upkeep.refresh_all(${from}, ${now})`);
  await tickThroughFaults(pool, from, now);
  await pool.script("analyze");

  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  log.info("made a history", { days, seconds });
}

type Insert = (
  from: number,
  to: number,
  stepMs: number | null,
  venue?: string,
) => Promise<void>;

async function inserter(pool: Pool, now: Date): Promise<Insert> {
  const text = await readFile(packagedFile("test/world/history.sql"), "utf8");
  const faults = JSON.stringify(
    pastFaults.map((fault) => ({ ...fault, ...spanOf(fault, now) })),
  );
  await pool.query(sql`select setseed(0.5)`);
  return async (from, to, stepMs, venue) => {
    if (from >= to) return;
    await pool.text(text, [
      new Date(from),
      new Date(to),
      stepMs,
      venue ?? null,
      faults,
    ]);
  };
}

/** Every eight hours; in the last day every quarter of an hour, so that its chart has points. */
async function insertSparsely(insert: Insert, from: Date, now: Date) {
  const denseFrom = Math.floor(+now / hourMs) * hourMs - dayMs;
  for (let at = +from; at < denseFrom; at += 10 * dayMs)
    await insert(at, Math.min(at + 10 * dayMs, denseFrom), 8 * hourMs);
  await insert(denseFrom, +now, 15 * minuteMs);
}

/**
 * On the day of a fault its venue is measured every other minute, so that the day's share of down minutes is what it would
 * have been; around the fault at its real cadence, so that the engine sees what it would have seen.
 */
async function insertFaults(insert: Insert, from: Date, now: Date) {
  for (const fault of pastFaults) {
    const span = spanOf(fault, now);
    const day = startOfDay(span.from);
    if (day < +from) continue;
    await insert(day, Math.min(day + dayMs, +now), 2 * minuteMs, fault.venue);
    await insert(
      +span.from - 3 * minuteMs,
      +span.to + 5 * minuteMs,
      null,
      fault.venue,
    );
  }
}

async function tickThroughFaults(pool: Pool, from: Date, now: Date) {
  const spans = pastFaults
    .map((fault) => spanOf(fault, now))
    .filter((span) => span.from >= from)
    .sort((a, b) => +a.from - +b.from);
  for (const span of spans) {
    // the opening takes seconds, the closing minutes; nothing is decided in between
    const opened = +span.from + 1.5 * minuteMs;
    for (let at = +span.from - 10_000; at < opened; at += 10_000)
      await tick(pool, new Date(at));
    for (let at = +span.to - 5_000; at < +span.to + 5 * minuteMs; at += 15_000)
      await tick(pool, new Date(at));
  }
}

function spanOf({ daysAgo, hour, minutes }: PastFault, now: Date) {
  const from = startOfDay(now) - daysAgo * dayMs + hour * hourMs;
  return { from: new Date(from), to: new Date(from + minutes * minuteMs) };
}

/** Hundreds of small chunks for a sparse history would be slow; null: as this database has them. */
async function chunksOf(pool: Pool, interval: string | null) {
  await pool.query(sql`
    select set_chunk_time_interval(
      'sample',
      coalesce(${interval}::interval, case when is_embedded() then interval '1 hour' else interval '1 day' end)
    )
  `);
}

function startOfDay(at: Date): number {
  return Math.floor(+at / dayMs) * dayMs;
}

function past(
  venue: string,
  component: string | null,
  regions: string[] | null,
  fault: Fault,
  daysAgo: number,
  hour: number,
  minutes: number,
): PastFault {
  return { venue, component, regions, fault, daysAgo, hour, minutes };
}
