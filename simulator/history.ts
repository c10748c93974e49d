/**
 * Ninety days of history for a demonstration, made the way in which real history is made: samples are inserted, the
 * roll-ups are refreshed over them, and the engine decides what they mean. Only the samples are invented.
 */
import { readFile } from "node:fs/promises";
import { type Db, type Pool, sql } from "../shared/database/pool.js";
import { rulesRow } from "../server/engine/rules.js";
import { accepted, type Decided, type Refused } from "../server/engine/tick.js";
import type { Log } from "../shared/log/log.js";
import { packagedFile, version } from "../shared/config/package.js";
import { usualLatencyMs } from "./latency.js";
import { type PastFault, pastFaults } from "./past.js";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface HistoryOptions {
  days: number;
  /** The history ends here. */
  now: Date;
  log: Log;
}

/** Fills an empty database. */
export async function makeHistory(pool: Pool, options: HistoryOptions): Promise<void> {
  await makeRecentHistory(pool, options);
  await fillEarlier(pool, { ...options, filledFrom: options.now });
  await pool.script("analyze");
}

/**
 * Fills an empty database with what must be there before the engine runs, since that decides no instant before its
 * last: all incidents. Besides, the uptime of all days before the one that runs, and samples of the last eight, of
 * which core's upkeep makes roll-ups. The rest is left to `fillEarlier`.
 */
export async function makeRecentHistory(pool: Pool, { days, now, log }: HistoryOptions): Promise<void> {
  const startedAt = performance.now();
  const from = beginningOf(days, now);
  const recentFrom = recentBeginningOf(from, now);
  const faults = pastFaults(now).filter((fault) => fault.from >= from);
  const insert = await inserter(pool, faults, now);

  await holdRetention(pool);
  await noteDays(pool, faults, from, now);

  await chunksOf(pool, "1 day");
  await insertSparsely(insert, recentFrom, now);
  await insertClosely(insert, faults, now);
  await chunksOf(pool, null);
  // what is typical is read from these
  await pool.query(sql`call upkeep.mend('sample_hour', ${recentFrom}, ${now})`);
  await withKeptPlans(pool, () => decideAll(pool, faults, now));
  // earlier days are those that were noted
  await pool.query(sql`update rollups_made set made_from = ${new Date(startOfDay(now))}`);
  await takeOutOfLine(pool);

  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  log.info("made a history", { days, seconds });
}

export interface EarlierOptions extends HistoryOptions {
  /** From when on everything is there. */
  filledFrom: Date;
  /** Called after each piece with how far it is. */
  onFilled?: (filledFrom: Date) => Promise<void>;
}

/**
 * Adds the measurements that are missing: those of the day that runs, and those before the last eight days, from which
 * latencies come. The newest come first. Each statement takes a tenth of a second or two of the embedded database, so a
 * service can run meanwhile. A piece that was cut off may be repeated.
 */
export async function fillEarlier(pool: Pool, { days, now, log, filledFrom, onFilled }: EarlierOptions): Promise<void> {
  const startedAt = performance.now();
  const from = beginningOf(days, now);
  const recentFrom = recentBeginningOf(from, now);
  const faults = pastFaults(now).filter((fault) => fault.from >= from);
  const insert = await inserter(pool, faults, now);
  // before the minutes are rolled up that it leaves out
  await leaveOutImpaired(pool);
  for (const piece of piecesOf(from, recentFrom, filledFrom, now)) {
    await holdRetention(pool);
    await fillPiece(pool, insert, piece, new Date(startOfDay(now)));
    await onFilled?.(piece.from);
  }
  // core has done most of it, where it runs
  await pool.query(sql`call upkeep.refresh_all(${recentFrom}, ${now})`);
  // of five days each, so it has no piece of its own
  await pool.query(sql`call upkeep.refresh('usual_hour', null, time_bucket('5 days', ${now}::timestamptz))`);
  await pool.query(sql`update leader set expires_at = '-infinity' where office = ${historyRefresh}`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  log.info("the history is complete", { days, seconds });
}

interface Piece {
  from: Date;
  to: Date;
  /** What is inserted, so much at once, from sample to sample of a series; null: its samples are there. */
  samples: { partMs: number; stepMs: number } | null;
}

/**
 * Latest first: hours of the day that runs, the last eight days, of which the samples are there, and the days before
 * these.
 */
function piecesOf(from: Date, recentFrom: Date, filledFrom: Date, now: Date): Piece[] {
  const today = startOfDay(now);
  const recent = startOfDay(recentFrom);
  const pieces = (first: number, end: number, lengthMs: number, samples: Piece["samples"]) =>
    Array.from({ length: Math.max(0, Math.ceil((end - first) / lengthMs)) }, (_, i) => ({
      from: new Date(Math.max(first, end - (i + 1) * lengthMs)),
      to: new Date(end - i * lengthMs),
      samples,
    }));
  const until = (end: number) => Math.min(+filledFrom, end);
  return [
    ...pieces(today, +filledFrom, hourMs, {
      partMs: 10 * minuteMs,
      stepMs: denseStepMs,
    }),
    ...pieces(recent, until(today), 2 * dayMs, null),
    ...pieces(startOfDay(from), until(recent), 5 * dayMs, {
      partMs: dayMs,
      stepMs: sparseStepMs,
    }),
  ];
}

async function fillPiece(pool: Pool, insert: Insert, { from, to, samples }: Piece, today: Date) {
  if (samples)
    for (let at = +from; at < +to; at += samples.partMs)
      await insertInDays(pool, insert, at, Math.min(at + samples.partMs, +to), samples.stepMs);
  for (const rollup of rollups)
    await pool.query(
      from >= today
        ? sql`call upkeep.mend(${rollup}, ${from}, ${to})`
        : sql`call upkeep.refresh(${rollup}, ${from}, ${to}, remaking => true)`,
    );
}

/** In one transaction, so that a chunk that a probe makes meanwhile is as long as usual. */
function insertInDays(pool: Pool, insert: Insert, from: number, to: number, stepMs: number): Promise<void> {
  return pool.transaction(async (tx) => {
    await chunksOf(tx, "1 day");
    await insert(from, to, stepMs, null, tx);
    await chunksOf(tx, null);
  });
}

/** Of those before, samples are dropped. */
const recentDays = 8;
const sparseStepMs = 8 * hourMs;
/** Two minutes of three, so that the day that runs has an uptime. */
const denseStepMs = 1.5 * minuteMs;

/** In the order in which they stand on each other. Those that are left out are kept for a week, and made by upkeep. */
const rollups = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
  "component_hour",
  "venue_hour",
  "component_day",
  "venue_day",
  "latency_day",
  "venue_latency_day",
];

function recentBeginningOf(from: Date, now: Date): Date {
  return new Date(Math.max(+from, startOfDay(now) - recentDays * dayMs));
}

function beginningOf(days: number, now: Date): Date {
  const firstDay = startOfDay(now) - (days - 1) * dayMs;
  // the last day is told whole
  return new Date(Math.min(firstDay, +now - dayMs));
}

/** As a refresh that reaches back to what may be dropped: old samples are needed until they are rolled up. */
export async function holdRetention(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into leader as l (office, holder, fence, expires_at)
    values (${historyRefresh}, 'history', 1, clock_timestamp() + upkeep.longest_refresh())
    on conflict (office) do update set fence = l.fence + 1, expires_at = excluded.expires_at
  `);
}

const historyRefresh = "refresh of the history";

/**
 * Takes back what a history that was cut off has left: it ended at another instant, and the engine decides none twice.
 */
export async function forgetHistory(pool: Pool): Promise<void> {
  await pool.script(`
    truncate sample, sample_minute, sample_hour, component_minute, venue_minute, venue_day, latency_day,
      venue_latency_day, usual_hour, rest_hour, stream_hour, latency_hour, hours_kept, typical_week,
      component_hour, venue_hour, component_day, component_day_former, venue_day_former, excluded_minute;
    update rollups_made set made_from = '-infinity', hours_to = default, days_to = default;
    truncate engine_clock, region_state, component_state, venue_state, typical_latency, impairment, alert_event, incident,
      delivery, delivery_attempt
  `);
}

/**
 * Every day before the one that runs is told as a day: too many samples would be needed to measure half of its minutes,
 * below which no uptime is shown.
 */
async function noteDays(pool: Pool, faults: PastFault[], from: Date, now: Date): Promise<void> {
  const text = await readFile(packagedFile("simulator/history-days.sql"), "utf8");
  const today = new Date(startOfDay(now));
  const firstDay = new Date(startOfDay(from));
  await pool.text(text, [firstDay, today, JSON.stringify(faults)]);
  await pool.query(sql`update venue set watched_from = ${firstDay}`);
  await pool.query(sql`update component set watched_from = ${firstDay}`);
}

/** As upkeep does. */
async function leaveOutImpaired(pool: Pool): Promise<void> {
  for (let more = true; more;) {
    const [row] = await pool.query<{ more: boolean }>(sql`call upkeep.exclude_next()`);
    more = row!.more;
  }
}

type Insert = (from: number, to: number, stepMs: number | null, venue?: string | null, db?: Db) => Promise<void>;

async function inserter(pool: Pool, faults: PastFault[], now: Date): Promise<Insert> {
  const text = await readFile(packagedFile("simulator/history.sql"), "utf8");
  const latencies = await usualLatencies(pool);
  const closely = closelyMeasured(faults, now);
  await pool.query(sql`select setseed(0.5)`);
  return async (from, to, stepMs, venue = null, db = pool) => {
    if (from >= to) return;
    await db.text(text, [
      new Date(from),
      new Date(to),
      stepMs,
      venue,
      JSON.stringify(faults),
      JSON.stringify(latencies),
      JSON.stringify(closely),
    ]);
  };
}

/** Those of the world, so that what is typical goes on when the demo runs. */
async function usualLatencies(pool: Pool) {
  const pairs = await pool.query<{ venue: string; region: string }>(
    sql`select venue, region from venue cross join region`,
  );
  return pairs.map(({ venue, region }) => ({
    venue,
    region,
    ms: usualLatencyMs(venue, region),
  }));
}

/** Every eight hours; in the last day every quarter of an hour, so that its chart has points. */
async function insertSparsely(insert: Insert, from: Date, now: Date) {
  const lastDay = Math.floor(+now / hourMs) * hourMs - dayMs;
  await insert(+from, lastDay, sparseStepMs);
  await insert(lastDay, +now, 15 * minuteMs);
}

async function insertClosely(insert: Insert, faults: PastFault[], now: Date) {
  for (const { venue, from, to } of closelyMeasured(faults, now)) await insert(+from, +to, null, venue);
}

interface Measured {
  /** Null: all of them. */
  venue: string | null;
  from: Date;
  to: Date;
}

/**
 * Around its beginning and its end the venue of a fault is measured at its real cadences, so that the engine sees what
 * it would have seen. It has decided these minutes, so nothing may be added to them. So is everything in the last two
 * minutes: without them the states of endpoints with slow cadences would be unknown until the probes have measured for
 * half a minute.
 */
function closelyMeasured(faults: PastFault[], now: Date): Measured[] {
  const last = { venue: null, from: new Date(+now - 2 * minuteMs), to: now };
  const aroundFaults = faults.flatMap(({ venue, from, to, holdMs }) => {
    const begunMs = Math.min(+from + 15 * minuteMs, +to);
    const spans = [[+from - 6 * minuteMs, begunMs]];
    if (to < now) spans.push([Math.max(begunMs, +to - 6 * minuteMs), +to + holdMs + 3 * minuteMs]);
    return spans.map(([first, end]) => ({
      venue,
      from: new Date(first!),
      to: new Date(end!),
    }));
  });
  return [...aroundFaults, last];
}

/** What the engine decides: instants between two. */
interface Span {
  fromMs: number;
  toMs: number;
  stepMs: number;
  /** Whether it goes on for as long as anything is open. */
  toTheEnd: boolean;
}

/**
 * Most of an instant's time is planning how its samples are read, which the engine does anew because a real database
 * has hundreds of chunks. So short a history has some twenty, and one plan for all instants halves the time.
 */
async function withKeptPlans(pool: Pool, work: () => Promise<void>) {
  await pool.script(`
    alter function engine.retract_incidents set plan_cache_mode = force_generic_plan;
    alter function engine.open_incidents set plan_cache_mode = force_generic_plan`);
  try {
    await work();
  } finally {
    await pool.script(`
      alter function engine.retract_incidents reset plan_cache_mode;
      alter function engine.open_incidents reset plan_cache_mode`);
  }
}

/**
 * The engine decides the instants at which something happens, and the last one of all, from where the demo goes on. At
 * those between them, and where one region alone sees a venue fail, it would find nothing to decide.
 */
async function decideAll(pool: Pool, faults: PastFault[], now: Date) {
  const spans = faults
    .filter(({ venue, regions }) => !venue || regions?.length !== 1)
    .flatMap((fault) => spansOf(fault, now));
  spans.sort((a, b) => a.fromMs - b.fromMs);
  let decidedMs = -Infinity;
  for (const [i, { fromMs, toMs, stepMs, toTheEnd }] of spans.entries()) {
    const nextMs = spans[i + 1]?.fromMs ?? +now;
    await decideTo(Math.max(fromMs, decidedMs + stepMs), toMs, stepMs);
    while (toTheEnd && decidedMs < nextMs && (await isAnythingOpen(pool)))
      // to ask costs less than an instant too many
      await decideTo(decidedMs + stepMs, decidedMs + 5 * stepMs, stepMs);
  }
  const lastMs = Math.floor(+now / rulesRow.step_ms) * rulesRow.step_ms;
  await decideTo(lastMs, lastMs, rulesRow.step_ms);

  async function decideTo(fromMs: number, toMs: number, stepMs: number) {
    const anew = fromMs - decidedMs > rulesRow.catch_up_ms;
    await decide(pool, fromMs, toMs, stepMs, anew);
    decidedMs = Math.max(decidedMs, toMs);
  }
}

/**
 * With 5 to 15 s from sample to sample and a window of a minute, an incident opens, worsens, or an impaired region is
 * recognised 10 to 30 s after the beginning; all is confirmed to be well 30 to 46 s after the end, and closed a hold
 * later.
 */
function spansOf({ from, to, holdMs }: PastFault, now: Date): Span[] {
  const isKept = +from > +now - 8 * dayMs;
  // what is too old for its samples to be kept, nobody can decide anew: fewer instants will do
  const stepMs = (isKept ? 1 : 5) * rulesRow.step_ms;
  const span = (ms: number, fromS: number, toS: number, toTheEnd = false) => ({
    fromMs: ms + fromS * secondMs,
    toMs: ms + toS * secondMs,
    stepMs,
    toTheEnd,
  });
  // what was bad before is no fresh trouble
  const before = span(+from, -180, -180);
  // three samples in a row open an incident, 5 s apart at the least
  const begun = span(+from, 8, isKept ? 32 : 60);
  if (to >= now) return [before, begun];
  if (!isKept) return [before, begun, span(+to, 30, 60, true)];
  const well = span(+to, 28, 50);
  return [before, begun, well, span(+to + holdMs, 28, 50, true)];
}

/** In one statement: one by one, the same takes half as long again. */
async function decide(pool: Pool, fromMs: number, toMs: number, stepMs: number, anew: boolean) {
  const instants = instantsOf(fromMs, toMs, stepMs);
  const rows = await pool.query<{ decided: Decided | Refused }>(sql`
    select
      engine.tick(
        at, at, jsonb_populate_record(null::engine.rules, ${JSON.stringify(rulesRow)}::jsonb), ${version}, null, null,
        anew => at = ${new Date(fromMs)} and ${anew}
      ) as decided
    from unnest(${instants}::timestamptz[]) at
  `);
  for (const { decided } of rows) accepted(decided);
}

/**
 * The first, and those to which a sample has come since the one before. At the others nothing changes: deciding them as
 * well takes two thirds longer and finds the same incidents and alerts.
 */
function instantsOf(fromMs: number, toMs: number, stepMs: number): Date[] {
  const samplesUntil = (ms: number) => Math.floor(ms / (5 * secondMs));
  const instants: Date[] = [];
  for (let ms = fromMs; ms <= toMs; ms += stepMs)
    if (ms === fromMs || samplesUntil(ms) > samplesUntil(ms - stepMs)) instants.push(new Date(ms));
  return instants;
}

/** Nobody is told of what has been invented: none of it waits in the outbox. */
async function takeOutOfLine(pool: Pool) {
  await pool.query(
    sql`update alert_event set dispatched_at = recorded_at where dispatched_at is null and dropped_at is null`,
  );
}

async function isAnythingOpen(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ open: boolean }>(sql`
    select exists (select from incident where closed_at is null and retracted_at is null)
      or exists (select from impairment where ended_at is null) as open
  `);
  return row!.open;
}

/** Hundreds of small chunks for a sparse history would be slow; null: as this database has them. */
async function chunksOf(db: Db, interval: string | null) {
  await db.query(sql`
    select set_chunk_time_interval(
      'sample',
      coalesce(${interval}::interval, case when is_embedded() then interval '1 hour' else interval '1 day' end)
    )
  `);
}

function startOfDay(at: Date): number {
  return Math.floor(+at / dayMs) * dayMs;
}
