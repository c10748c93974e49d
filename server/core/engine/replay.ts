/**
 * Decides a past period again, with other rules or the same ones, on temporary tables, and compares the incidents with
 * the recorded ones. It starts from what the engine knew then: the recorded incidents, impairments and typical
 * latencies, and states computed from the preceding samples. See sql/engine/090-replay.sql.
 */
import { randomBytes } from "node:crypto";
import { version } from "../../../shared/config/package.js";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { type RulesRow, rulesRow } from "../../../shared/rules/engine-rules.js";
import { schemaState } from "../../database/schema-state.js";
import { compareIncidents, type ComparisonLine, type Incident } from "./compare-incidents.js";
import { type ChangedRule, changedRules } from "./rule-overrides.js";
import { accepted, type Decided, dueInstants, type Refused } from "./tick.js";

export interface ReplayOptions {
  from: Date;
  /** Null: up to the newest decided instant. */
  to: Date | null;
  /** Null: all watched venues. */
  venue: string | null;
  /** Rules that differ from the present ones. */
  rules: Partial<RulesRow>;
  log: Log;
  /** Aborts the replay. */
  signal?: AbortSignal;
  /** @param share from 0 to 1 */
  onProgress?: (share: number) => void | Promise<void>;
}

export interface Replay {
  /** The first decided instant; `to` is the last. */
  from: Date;
  to: Date;
  /** The requested end was later than the newest decided instant. */
  cut: boolean;
  venue: string | null;
  changed: ChangedRule[];
  instants: number;
  tookMs: number;
  lines: ComparisonLine[];
  /** Recorded incidents left out because their components are no longer watched. */
  unwatched: number;
}

/** Samples are copied in pieces of this length: long enough that the pieces overlap little, short enough to be held. */
const pieceMs = 3_600_000;

/**
 * @returns null when it was aborted
 * @throws UserError when this period, venue or rules cannot be replayed
 */
export async function replay(pool: Pool, options: ReplayOptions): Promise<Replay | null> {
  const startedMs = performance.now();
  await requireSchema(pool);
  const plan = await planOf(pool, options);
  const { signal = new AbortController().signal, onProgress = () => {} } = options;

  const tables = await makeTemporarySchema(pool);
  try {
    const run = { ...plan, pool, tables, signal, onProgress };
    const instants = await decideAgain(run).catch((error: unknown) => {
      throw tooLarge(error, options.rules) ?? error;
    });
    if (signal.aborted) return null;
    await requireSamplesStill(pool, plan);
    const [recorded, replayed] = await incidentsOf(tables, plan);
    return {
      from: plan.from,
      to: plan.to,
      cut: plan.cut,
      venue: plan.venue,
      changed: changedRules(options.rules),
      instants,
      tookMs: Math.round(performance.now() - startedMs),
      lines: compareIncidents(recorded, replayed, plan.to),
      unwatched: await unwatchedIn(pool, plan),
    };
  } finally {
    await tables.drop().catch((error: unknown) => {
      options.log.warn("dropping the temporary tables failed; the next replay drops them", { error });
    });
  }
}

interface Plan {
  /** The first instant to decide; `to` is the last. Both are multiples of the step. */
  from: Date;
  to: Date;
  cut: boolean;
  /** States are computed from here on. */
  warmFrom: Date;
  /** How old the samples used for an instant can be. */
  reachMs: number;
  samplesFrom: Date;
  venue: string | null;
  components: number[];
  rules: RulesRow;
  typicalAnew: boolean;
}

type Run = Plan & {
  pool: Pool;
  tables: TemporarySchema;
  signal: AbortSignal;
  onProgress: (share: number) => void | Promise<void>;
};

interface Bounds {
  ticked_at: Date | null;
  kept_since: Date | null;
  raw_kept_ms: number;
  longest_span_ms: number;
  components: number[];
}

/** The largest value of a rule. */
const longestMs = 2 ** 31 - 1;

async function planOf(pool: Pool, { from, to, venue, rules: others }: ReplayOptions): Promise<Plan> {
  const rules = {
    ...rulesRow,
    ...others,
    // states must not be reset during a warm-up or a piece, however long these are
    catch_up_ms: longestMs,
  };
  if (venue !== null) await requireVenue(pool, venue, others);
  const [bounds] = await pool.file<Bounds>("replay_bounds", [JSON.stringify(rules), venue]);
  const { ticked_at, kept_since, raw_kept_ms, longest_span_ms, components } = bounds!;
  if (ticked_at === null || kept_since === null)
    throw new UserError("Nothing to replay: the engine has not decided any instant yet");
  if (to !== null && to <= from)
    throw new UserError(`--to must be later than --from, got --from ${isoText(from)} --to ${isoText(to)}`);
  if (from >= ticked_at)
    throw new UserError(
      `--from ${isoText(from)}: the engine has only decided up to ${isoText(ticked_at)}; choose an earlier time`,
    );

  const asked = to ?? ticked_at;
  const step = rules.step_ms;
  const first = Math.ceil(+from / step) * step;
  const last = Math.floor(Math.min(+asked, +ticked_at) / step) * step;
  if (last < first)
    throw new UserError(
      `The engine decides every ${step} ms, and no such instant lies between ${isoText(from)} and ${isoText(asked)}; choose a longer period`,
    );
  // the longest time for which a state's past matters
  const warmMs =
    Math.ceil(
      Math.max(rules.recovery_hold_ms, rules.flap_hold_ms, rules.impaired_within_ms, rules.outlier_after_ms) / step,
    ) * step;
  const plan = {
    from: new Date(first),
    to: new Date(last),
    cut: asked > ticked_at,
    warmFrom: new Date(first - warmMs),
    reachMs: rules.retraction_ms + longest_span_ms,
    samplesFrom: new Date(first - Math.max(warmMs, rules.retraction_ms) - longest_span_ms),
    venue,
    components,
    rules,
    typicalAnew: changedRules(others).some(({ name }) => name.startsWith("typical")),
  };
  requireSamples(plan, kept_since, new Date(+ticked_at - raw_kept_ms));
  return plan;
}

async function decideAgain(run: Run): Promise<number> {
  await beginReplay(run);
  const retractions = await manualRetractions(run);
  const pace = { items: 4 };
  let instants = 0;
  for (let at = +run.from; at < +run.to || instants === 0; at += pieceMs) {
    const upTo = new Date(Math.min(at + pieceMs, +run.to));
    const isFirst = at === +run.from;
    await loadSamples(run, isFirst ? run.samplesFrom : new Date(at - run.reachMs), upTo);
    if (isFirst) await warmUp(run, pace);
    instants += await decideUntil(run, upTo, retractions, pace);
    if (run.signal.aborted) break;
  }
  return instants;
}

async function beginReplay({ tables, from, warmFrom, samplesFrom, venue, ...run }: Run): Promise<void> {
  await tables.within(async (tx) => {
    await tx.query(sql`select engine.make_replay_tables()`);
    if (venue !== null) await tx.query(sql`select engine.watch_in_replay(${venue})`);
    await tx.file("replay_begin", [
      justBefore(from),
      warmFrom,
      new Date(Math.min(+warmFrom, +samplesFrom)),
      venue,
      run.typicalAnew,
      JSON.stringify(run.rules),
    ]);
  });
}

/** Times at which operators retracted incidents, in order. */
async function manualRetractions({ pool, from, to }: Run): Promise<Date[]> {
  const rows = await pool.query<{ at: Date }>(sql`
    select distinct retracted_at as at from engine.retractions_by_hand(${justBefore(from)}, ${to}) order by at
  `);
  return rows.map(({ at }) => at);
}

/** Replaces the copied samples by those after the first instant, up to the second. */
async function loadSamples({ tables, components, signal }: Run, after: Date, upTo: Date): Promise<void> {
  // qualified with the schema: truncating the wrong table would delete the recorded samples
  await tables.within((tx) => tx.query(sql`truncate ${sql.ident(tables.name, "sample")}`));
  await inTurns(components, { items: 4 }, signal, (some) =>
    tables.within(async (tx) => {
      await tx.file("replay_load", [some, after, upTo]);
    }),
  );
  await tables.within((tx) => tx.script("analyze sample"));
}

async function warmUp({ tables, from, rules, signal }: Run, pace: PoolPace): Promise<void> {
  const due = await tables.within((tx) => dueInstants(tx, justBefore(from), rules));
  const instants = due.map(({ at }) => at);
  await inTurns(instants, pace, signal, (some) =>
    tables.within(async (tx) => {
      await tx.file("replay_warm_up", [some, JSON.stringify(rules)]);
    }),
  );
  // the plans of a tick assume tables that are not empty
  await tables.within((tx) => tx.script("analyze region_state; analyze component_state; analyze typical_latency"));
}

/** @param retractions those still to be repeated; repeated ones are removed */
async function decideUntil(run: Run, upTo: Date, retractions: Date[], pace: PoolPace): Promise<number> {
  const all = await run.tables.within((tx) => dueInstants(tx, upTo, run.rules));
  let due = all.map(({ at }) => at);
  const instants = due.length;
  while (retractions[0] && retractions[0] <= upTo && !run.signal.aborted) {
    const retraction = retractions.shift()!;
    await decideAll(
      run,
      due.filter((at) => at <= retraction),
      pace,
    );
    due = due.filter((at) => at > retraction);
    await run.tables.within((tx) => retractBy(tx, retraction));
  }
  await decideAll(run, due, pace);
  return instants;
}

async function decideAll(
  { tables, rules, signal, onProgress, from, to }: Run,
  instants: Date[],
  pace: PoolPace,
): Promise<void> {
  await inTurns(instants, pace, signal, async (some) => {
    const rows = await tables.within((tx) =>
      tx.file<{ decided: Decided | Refused }>("replay_decide", [some, JSON.stringify(rules), version]),
    );
    for (const { decided } of rows) accepted(decided);
    await onProgress((+some.at(-1)! - +from) / Math.max(1, +to - +from));
  });
}

/** A Date is exact to a millisecond, so the retraction is within 1 ms of it. */
async function retractBy(tx: Db, retraction: Date): Promise<void> {
  await tx.query(sql`
    select engine.retract_as_operators_did(${new Date(+retraction - 1)}, ${new Date(+retraction + 1)})
  `);
}

async function incidentsOf(
  tables: TemporarySchema,
  { from, to }: Plan,
): Promise<[recorded: Incident[], replayed: Incident[]]> {
  const rows = await tables.within((tx) =>
    tx.file<Incident & { side: "recorded" | "replayed" }>("replay_incidents", [from, to]),
  );
  const of = (wanted: string) => rows.filter(({ side }) => side === wanted);
  return [of("recorded"), of("replayed")];
}

async function unwatchedIn(pool: Pool, { from, to, venue }: Plan): Promise<number> {
  const [row] = await pool.file<{ incidents: number }>("replay_unwatched", [from, to, venue]);
  return row!.incidents;
}

async function requireSchema(pool: Pool): Promise<void> {
  const { missing, unknown } = await schemaState(pool);
  if (missing.length > 0)
    throw new UserError(`The database lacks the schema files ${missing.join(", ")}: run venuewatch migrate`);
  if (unknown.length > 0)
    throw new UserError(
      `The database was migrated by a newer build (it has ${unknown.join(", ")}): use that build for the replay`,
    );
}

async function requireVenue(pool: Pool, venue: string, others: Partial<RulesRow>): Promise<void> {
  const rows = await pool.query<{ venue: string }>(sql`select venue from venue where published order by position`);
  const venues = rows.map((row) => row.venue);
  if (!venues.includes(venue))
    throw new UserError(`--venue: unknown venue ${venue}; expected one of ${venues.join(", ")}`);
  const ofRegions = changedRules(others).filter(({ name }) => name.startsWith("impaired"));
  if (ofRegions.length > 0)
    throw new UserError(
      `A region cannot be recognised as impaired by one venue alone: omit --venue to try ${ofRegions.map(({ name }) => name).join(", ")}`,
    );
}

/** @param droppedBefore older samples may have been dropped */
function requireSamples({ from, samplesFrom }: Plan, keptSince: Date, droppedBefore: Date): void {
  const missesSome = samplesFrom < keptSince && samplesFrom < droppedBefore;
  const earliest = missesSome ? new Date(+keptSince + +from - +samplesFrom) : keptSince;
  if (from < earliest)
    throw new UserError(
      `--from ${isoText(from)}: samples are kept since ${isoText(keptSince)}, so the earliest possible start is ${isoText(earliest)}`,
    );
}

/** Old samples may have been dropped before they were copied. */
async function requireSamplesStill(pool: Pool, plan: Plan): Promise<void> {
  const [bounds] = await pool.file<Bounds>("replay_bounds", [JSON.stringify(plan.rules), plan.venue]);
  const { kept_since, ticked_at, raw_kept_ms } = bounds!;
  requireSamples(plan, kept_since!, new Date(+ticked_at! - raw_kept_ms));
}

function tooLarge(error: unknown, others: Partial<RulesRow>): UserError | null {
  const { code } = error as { code?: string };
  const changed = changedRules(others).map(({ name }) => name);
  if (!["22003", "22008"].includes(code ?? "") || changed.length === 0) return null;
  return new UserError(`One of the rules (${changed.join(", ")}) is too large and overflows: choose a smaller value`, {
    cause: error,
  });
}

/** The last millisecond before the first instant; recorded instants are whole milliseconds too. */
function justBefore(from: Date): Date {
  return new Date(+from - 1);
}

function isoText(at: Date): string {
  return at.toISOString().replace(".000Z", "Z");
}

/** Longest time that others may wait for the embedded database, whose single backend serves everybody. */
const turnMs = 250;

/** Adaptive batch size of one kind of work: the items that take about `turnMs`. */
interface PoolPace {
  items: number;
}

/** Processes items in order, in batches of about `turnMs`. Stops early when the signal is aborted. */
async function inTurns<Item>(
  items: readonly Item[],
  pace: PoolPace,
  signal: AbortSignal,
  work: (some: Item[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length && !signal.aborted;) {
    const some = items.slice(from, from + pace.items);
    const startedMs = performance.now();
    await work(some);
    const eachMs = (performance.now() - startedMs) / some.length;
    // at most doubled: the first items may have been the cheap ones
    pace.items = Math.max(1, Math.min(2 * pace.items, Math.round(turnMs / eachMs)));
    from += some.length;
  }
}

// Schemas for the temporary tables of a run. They come first in the search path and are dropped after it.

interface TemporarySchema {
  name: string;
  /**
   * Runs `work` in a transaction that finds the tables of this schema first. Keep it short: it blocks all other users
   * of the embedded database.
   *
   * @throws UserError when the schema was dropped because this process stalled for too long
   */
  within: <Result>(work: (tx: Db) => Promise<Result>) => Promise<Result>;
  drop: () => Promise<void>;
}

const schemaPrefix = "venuewatch_replay_";

/**
 * A run that has not updated `alive_at` for this long was killed, and its schema may be dropped. A batch takes a
 * fraction of a second, and no statement more than two minutes.
 */
const abandonedAfter = "10 minutes";

/**
 * Creates a schema, and drops those left by killed runs.
 *
 * @throws UserError when the database's user may not create one
 */
async function makeTemporarySchema(pool: Pool): Promise<TemporarySchema> {
  await dropAbandoned(pool);
  const name = `${schemaPrefix}${randomBytes(6).toString("hex")}`;
  await createSchema(pool, name);

  return {
    name,
    within: (work) =>
      pool.transaction(async (tx) => {
        // PostgreSQL ignores a missing schema in the search path, and the real tables would be found. So this comes
        // first: it fails if the schema is gone, and blocks others from dropping it until the transaction ends.
        await markAlive(tx, name);
        // local: on the embedded database all clients share a session
        await tx.query(sql`set local search_path = ${sql.ident(name)}, venuewatch, public`);
        return work(tx);
      }),
    drop: () => dropSchema(pool, name),
  };
}

async function createSchema(pool: Pool, name: string): Promise<void> {
  try {
    await pool.transaction(async (tx) => {
      await tx.query(sql`create schema ${sql.ident(name)}`);
      await tx.query(sql`create unlogged table ${sql.ident(name, "run")} (alive_at timestamptz not null)`);
      await tx.query(sql`insert into ${sql.ident(name, "run")} values (clock_timestamp())`);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== "42501") throw error;
    throw new UserError(
      "A replay creates a temporary schema, which the user of DATABASE_URL may not do: as the database's owner, run: grant create on database … to …",
      { cause: error },
    );
  }
}

async function markAlive(tx: Db, name: string): Promise<void> {
  try {
    await tx.query(sql`update ${sql.ident(name, "run")} set alive_at = clock_timestamp()`);
  } catch (error) {
    if ((error as { code?: string }).code !== "42P01") throw error;
    throw new UserError(
      `This replay stalled for more than ${abandonedAfter}, and another replay has dropped its tables: run it again`,
      { cause: error },
    );
  }
}

async function dropAbandoned(pool: Pool): Promise<void> {
  const schemas = await pool.query<{ name: string }>(sql`
    select n.nspname as name
    from pg_namespace n
    where n.nspname ~ ${`^${schemaPrefix}[0-9a-f]{12}$`} and pg_has_role(n.nspowner, 'usage')
  `);
  for (const { name } of schemas)
    await pool.transaction(async (tx) => {
      // two concurrent clean-ups would drop the same schema
      await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.replay', 0))`);
      if (await isAbandoned(tx, name)) await dropSchema(tx, name);
    });
}

async function isAbandoned(tx: Db, name: string): Promise<boolean> {
  const [table] = await tx.query<{ here: boolean }>(sql`select to_regclass(${`${name}.run`}) is not null as here`);
  if (!table?.here) return true;
  // a server crash empties the table, since it is unlogged
  const [run] = await tx.query<{ left: boolean }>(sql`
    select coalesce(max(alive_at) < clock_timestamp() - ${abandonedAfter}::interval, true) as left
    from ${sql.ident(name, "run")}
  `);
  return run!.left;
}

async function dropSchema(db: Db, name: string): Promise<void> {
  await db.query(sql`drop schema if exists ${sql.ident(name)} cascade`);
}
