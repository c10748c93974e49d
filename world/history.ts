/**
 * Makes ninety days of history for a demonstration as real history is made: it inserts samples, refreshes the roll-ups
 * over them, and lets the engine decide. Only the samples are invented.
 */
import { readFile } from "node:fs/promises";
import { accepted, type Decided, type Refused } from "../server/core/engine/tick.js";
import { refreshByLevel } from "../server/core/rollups/upkeep.js";
import { packagedFile, version } from "../shared/config/package.js";
import { type Db, type Pool, sql } from "../shared/database/pool.js";
import type { Log } from "../shared/log/log.js";
import { rulesRow } from "../shared/rules/engine-rules.js";
import { usualLatencyMs } from "./market.js";
import { makePastTransfers } from "./past-transfers.js";
import { type PastFault, pastFaults } from "./past.js";
import { readPastMaintenance } from "./past-readings.js";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface HistoryOptions {
  days: number;
  /** When the history ends. */
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
 * Fills an empty database with what must exist before the engine runs: all incidents, since the engine decides no
 * instant earlier than its last one. It also adds the uptime of all days before today, and samples of the last eight
 * days. `fillEarlier` rolls these up and adds the rest.
 */
export async function makeRecentHistory(pool: Pool, { days, now, log }: HistoryOptions): Promise<void> {
  const startedAt = performance.now();
  const from = beginningOf(days, now);
  const recentFrom = recentBeginningOf(from, now);
  const faults = pastFaults(now).filter((fault) => fault.from >= from);
  const insert = await inserter(pool, faults, now);

  await sayThatItIsHistory(pool, from);
  await holdRetention(pool);
  await readPastMaintenance(pool, from, now);
  await noteDays(pool, faults, from, now);

  await chunksOf(pool, "1 day");
  await insertSparsely(insert, recentFrom, now);
  await insertClosely(insert, faults, now);
  await chunksOf(pool, null);
  // typical latencies are read from this roll-up
  await pool.query(sql`call upkeep.mend('sample_hour', ${recentFrom}, ${now})`);
  await withKeptPlans(pool, () => decideAll(pool, faults, now));
  await makePastTransfers(pool, days, now);
  await takeOutOfLine(pool);

  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  log.info("made the recent history", { days, seconds });
}

export interface EarlierOptions extends HistoryOptions {
  /** From this instant on, all measurements exist. */
  filledFrom: Date;
  /** Called after each piece with the instant from which all measurements exist. */
  onFilled?: (filledFrom: Date) => Promise<void>;
}

/**
 * Adds the missing measurements: those of today, and those before the last eight days, which the latency charts need.
 * It adds the newest first. Each statement occupies the embedded database for a tenth of a second or two, so a service
 * can run meanwhile. An interrupted piece may be repeated.
 */
export async function fillEarlier(pool: Pool, { days, now, log, filledFrom, onFilled }: EarlierOptions): Promise<void> {
  const startedAt = performance.now();
  const from = beginningOf(days, now);
  const recentFrom = recentBeginningOf(from, now);
  const faults = pastFaults(now).filter((fault) => fault.from >= from);
  const insert = await inserter(pool, faults, now);
  // must precede the roll-up of the minutes that it excludes
  await leaveOutImpaired(pool);
  for (const piece of piecesOf(from, recentFrom, filledFrom, now)) {
    await holdRetention(pool);
    await fillPiece(pool, insert, piece, new Date(startOfDay(now)));
    await onFilled?.(piece.from);
  }
  await refreshByLevel(pool, recentFrom, now);
  // its buckets are five days long, so it is not part of the pieces
  await pool.query(sql`call upkeep.refresh('usual_hour', null, time_bucket('5 days', ${now}::timestamptz))`);
  await pool.query(sql`update leader set expires_at = '-infinity' where office = ${historyRefresh}`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  log.info("the history is complete", { days, seconds });
}

interface Piece {
  from: Date;
  to: Date;
  /**
   * The samples to insert: from when, how much time one transaction covers, and the step between two samples of a
   * series. Null: the samples exist already.
   */
  samples: { fromMs: number; partMs: number; stepMs: number } | null;
}

/**
 * Newest first: the hours of today, then the last eight days, whose samples exist already, then the days before them.
 * What belongs to the last 24 hours is measured each minute, since the charts of latency show them.
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
  const dense = { fromMs: +now - dayMs, partMs: 10 * minuteMs, stepMs: denseStepMs };
  return [
    ...pieces(today, +filledFrom, hourMs, dense),
    ...pieces(recent, until(today), 2 * dayMs, null).map((piece) =>
      +piece.to > dense.fromMs ? { ...piece, samples: dense } : piece,
    ),
    ...pieces(startOfDay(from), until(recent), 5 * dayMs, { fromMs: -Infinity, partMs: dayMs, stepMs: sparseStepMs }),
  ];
}

async function fillPiece(pool: Pool, insert: Insert, { from, to, samples }: Piece, today: Date) {
  if (samples)
    for (let at = Math.max(+from, samples.fromMs); at < +to; at += samples.partMs)
      await insertInDays(pool, insert, at, Math.min(at + samples.partMs, +to), samples.stepMs);
  for (const rollup of rollups)
    if (from >= today) await pool.query(sql`call upkeep.mend(${rollup}, ${from}, ${to})`);
    else if (samples?.stepMs !== denseStepMs || rollup.endsWith("_day")) await refresh(pool, rollup, from, to);
    else
      // two days of each minute at once would occupy the database for ten seconds
      for (let at = +from; at < +to; at += denseRefreshMs)
        await refresh(pool, rollup, new Date(at), new Date(at + denseRefreshMs));
}

function refresh(pool: Pool, rollup: string, from: Date, to: Date) {
  return pool.query(sql`call upkeep.refresh(${rollup}, ${from}, ${to})`);
}

/** Inserts in one transaction, so that a chunk that a probe creates meanwhile has the usual length. */
function insertInDays(pool: Pool, insert: Insert, from: number, to: number, stepMs: number): Promise<void> {
  return pool.transaction(async (tx) => {
    await chunksOf(tx, "1 day");
    await insert(from, to, stepMs, null, tx);
    await chunksOf(tx, null);
  });
}

/** Samples of earlier days are dropped. */
const recentDays = 8;
const sparseStepMs = 8 * hourMs;
/** A minute of the chart needs three answers, and each endpoint gives one. */
const denseStepMs = minuteMs;
/** Divides a day. */
const denseRefreshMs = 2 * hourMs;

/** In order of dependency. The roll-ups that are left out are kept for a week only, and upkeep makes them. */
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
  // the last day is covered in full
  return new Date(Math.min(firstDay, +now - dayMs));
}

/**
 * Takes the same lease as a refresh that reaches back to data that may be dropped, so that old samples stay until they
 * are rolled up. Core leaves the roll-up of late samples to this history meanwhile: all of it at once would occupy the
 * embedded database for many seconds.
 */
export async function holdRetention(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into leader as l (office, holder, fence, expires_at)
    values (${historyRefresh}, 'history', 1, clock_timestamp() + upkeep.longest_refresh())
    on conflict (office) do update set fence = l.fence + 1, expires_at = excluded.expires_at
  `);
}

/** The office that `upkeep.past_is_written` asks for. */
const historyRefresh = "refresh of the history";

/**
 * Removes what an interrupted history left. A new history ends at another instant, and the engine decides no instant
 * twice.
 */
export async function forgetHistory(pool: Pool): Promise<void> {
  await pool.script(`
    truncate sample, sample_minute, sample_hour, component_minute, venue_minute, venue_day, latency_day,
      venue_latency_day, usual_hour, rest_hour, stream_hour, latency_hour, hours_kept, typical_week,
      component_hour, venue_hour, component_day, excluded_minute;
    update added_up set hours_to = default, days_to = default, days_from = default;
    truncate engine_clock, region_state, component_state, venue_state, typical_latency, impairment, alert_event, incident,
      delivery, delivery_attempt, transfer_span, transfer_day, transfer_past, transfer_state, transfer_line;
    update transfer_source set read_at = null, problem = null, unreadable_since = null, list_at = null, list_moved_at = null
  `);
}

/**
 * Writes every day before today as a finished day. No uptime is shown for a day of which less than half of the minutes
 * are measured, and measuring that many would take too many samples.
 */
async function noteDays(pool: Pool, faults: PastFault[], from: Date, now: Date): Promise<void> {
  const text = await readFile(packagedFile("world/history-days.sql"), "utf8");
  const today = new Date(startOfDay(now));
  const firstDay = new Date(startOfDay(from));
  const levels = await pool.text<{ rollup: string; days: unknown[] }>(text, [
    ...[firstDay, today],
    JSON.stringify(faults),
  ]);
  for (const { rollup, days } of levels) await writeDays(pool, rollup, days);
  await pool.query(sql`update added_up set hours_to = ${today}, days_to = ${today}, days_from = ${today}`);
  await pool.query(sql`update venue set watched_from = ${firstDay}`);
  await pool.query(sql`update component set watched_from = ${firstDay}`);
}

/** Inserts where a roll-up keeps its rows, or into a table. */
async function writeDays(pool: Pool, rollup: string, days: unknown[]): Promise<void> {
  const [kept] = await pool.query<{ schema: string; name: string }>(sql`
    select materialization_hypertable_schema as schema, materialization_hypertable_name as name
    from timescaledb_information.continuous_aggregates
    where view_schema = 'venuewatch' and view_name = ${rollup}
  `);
  const table = kept ? sql.ident(kept.schema, kept.name) : sql.ident(rollup);
  await pool.query(sql`
    insert into ${table} select * from jsonb_populate_recordset(null::${table}, ${JSON.stringify(days)}::jsonb)
  `);
}

/** Until a core decides, pages then say how far the history has come, instead of how old its decisions are. */
async function sayThatItIsHistory(pool: Pool, from: Date): Promise<void> {
  const before = new Date(+from - dayMs);
  await pool.query(sql`
    insert into engine_clock (ticked_at, version, is_history) values (${before}, ${version}, true)
  `);
}

/** Excludes the minutes of impaired regions, as upkeep does. */
async function leaveOutImpaired(pool: Pool): Promise<void> {
  for (let more = true; more;) {
    const [row] = await pool.query<{ more: boolean }>(sql`call upkeep.exclude_next()`);
    more = row!.more;
  }
}

type Insert = (from: number, to: number, stepMs: number | null, venue?: string | null, db?: Db) => Promise<void>;

async function inserter(pool: Pool, faults: PastFault[], now: Date): Promise<Insert> {
  const text = await readFile(packagedFile("world/history.sql"), "utf8");
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

/** Uses the world's latencies, so that typical latencies stay the same when the demo runs. */
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

/** Inserts a sample every eight hours, and in the last day every quarter of an hour, so that its chart has points. */
async function insertSparsely(insert: Insert, from: Date, now: Date) {
  const lastDay = Math.floor(+now / hourMs) * hourMs - dayMs;
  await insert(+from, lastDay, sparseStepMs);
  await insert(lastDay, +now, 15 * minuteMs);
}

async function insertClosely(insert: Insert, faults: PastFault[], now: Date) {
  for (const { venue, from, to } of closelyMeasured(faults, now)) await insert(+from, +to, null, venue);
}

interface Measured {
  /** Null: all venues. */
  venue: string | null;
  from: Date;
  to: Date;
}

/**
 * Around the beginning and the end of a fault, its venue is measured at its real cadences, so that the engine sees what
 * it would have seen. The engine has decided these minutes, so no sample may be added to them later. All venues are
 * measured like this in the last two minutes: otherwise endpoints with slow cadences would have unknown states until
 * the probes have measured for half a minute.
 */
function closelyMeasured(faults: PastFault[], now: Date): Measured[] {
  const last = { venue: null, from: new Date(+now - 2 * minuteMs), to: now };
  const aroundFaults = faults.flatMap(({ venue, from, to, holdMs }) => {
    const startMs = Math.min(+from + 15 * minuteMs, +to);
    const spans = [[+from - 6 * minuteMs, startMs]];
    if (to < now) spans.push([Math.max(startMs, +to - 6 * minuteMs), +to + holdMs + 3 * minuteMs]);
    return spans.map(([first, end]) => ({
      venue,
      from: new Date(first!),
      to: new Date(end!),
    }));
  });
  return [...aroundFaults, last];
}

/** A span of instants that the engine decides. */
interface Span {
  fromMs: number;
  toMs: number;
  stepMs: number;
  /** Whether deciding continues for as long as anything is open. */
  toTheEnd: boolean;
}

/**
 * Most of the time of an instant is spent on planning how to read its samples. The engine plans every time because a
 * real database has hundreds of chunks. This short history has some twenty, and one plan for all instants halves the
 * time.
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
 * The engine decides the instants at which something happens, and the last instant, from which the demo continues.
 * Between these, and where one region alone sees a venue fail, it would find nothing to decide.
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
      // checking costs less than deciding an unnecessary instant
      await decideTo(decidedMs + stepMs, decidedMs + 5 * stepMs, stepMs);
  }
  const lastMs = Math.floor(+now / rulesRow.step_ms) * rulesRow.step_ms;
  await decideTo(lastMs, lastMs, rulesRow.step_ms);

  async function decideTo(fromMs: number, toMs: number, stepMs: number) {
    const fromScratch = fromMs - decidedMs > rulesRow.catch_up_ms;
    await decide(pool, fromMs, toMs, stepMs, fromScratch);
    decidedMs = Math.max(decidedMs, toMs);
  }
}

/**
 * Samples are 5 to 15 s apart and the window is one minute. So an incident opens or worsens, or an impaired region is
 * recognised, 10 to 30 s after the beginning. Recovery is confirmed for all components 30 to 46 s after the end, and
 * the incident closes one hold later.
 */
function spansOf({ from, to, holdMs }: PastFault, now: Date): Span[] {
  const isKept = +from > +now - 8 * dayMs;
  // where samples are too old to be kept, nobody can repeat the decisions, so fewer instants suffice
  const stepMs = (isKept ? 1 : 5) * rulesRow.step_ms;
  const span = (ms: number, fromS: number, toS: number, toTheEnd = false) => ({
    fromMs: ms + fromS * secondMs,
    toMs: ms + toS * secondMs,
    stepMs,
    toTheEnd,
  });
  // the engine must not take what was already bad for new trouble
  const before = span(+from, -180, -180);
  // three samples in a row open an incident, and they are at least 5 s apart
  const atStart = span(+from, 8, isKept ? 32 : 60);
  if (to >= now) return [before, atStart];
  if (!isKept) return [before, atStart, span(+to, 30, 60, true)];
  const well = span(+to, 28, 50);
  return [before, atStart, well, span(+to + holdMs, 28, 50, true)];
}

/** Decides all instants in one statement: one statement each would take half as long again. */
async function decide(pool: Pool, fromMs: number, toMs: number, stepMs: number, fromScratch: boolean) {
  const instants = instantsOf(fromMs, toMs, stepMs);
  const rows = await pool.query<{ decided: Decided | Refused }>(sql`
    select
      engine.tick(
        at, at, jsonb_populate_record(null::engine.rules, ${JSON.stringify(rulesRow)}::jsonb), ${version}, null, null,
        from_scratch => at = ${new Date(fromMs)} and ${fromScratch}
      ) as decided
    from unnest(${instants}::timestamptz[]) at
  `);
  for (const { decided } of rows) accepted(decided);
}

/**
 * Returns the first instant, and every later one that has new samples since the instant before. At the others nothing
 * changes: deciding them as well takes two thirds longer and finds the same incidents and alerts.
 */
function instantsOf(fromMs: number, toMs: number, stepMs: number): Date[] {
  const samplesUntil = (ms: number) => Math.floor(ms / (5 * secondMs));
  const instants: Date[] = [];
  for (let ms = fromMs; ms <= toMs; ms += stepMs)
    if (ms === fromMs || samplesUntil(ms) > samplesUntil(ms - stepMs)) instants.push(new Date(ms));
  return instants;
}

/** Marks the invented events as dispatched, so that none waits in the outbox and no alert is sent. */
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

/**
 * Sets the length of new chunks of samples. A sparse history in hundreds of small chunks would be slow. Null: the
 * length that this database uses.
 */
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
