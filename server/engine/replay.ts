/**
 * Decides a past period once more, by other rules or by the same ones, on tables of its own, and compares the incidents
 * with the recorded ones. It begins with what the engine knew then: the incidents, impairments and typical latencies
 * as recorded, and the states as the samples before give them. See sql/engine/090-replay.sql.
 */
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { schemaState } from "../database/schema-state.js";
import { version } from "../../shared/config/package.js";
import { UserError } from "../../shared/process/user-error.js";
import { compareIncidents, type Incident, type ComparisonLine } from "./compare-incidents.js";
import { type ChangedRule, changedRules } from "./rule-overrides.js";
import { type PoolPace, throttled } from "./throttled-pool.js";
import { type RulesRow, rulesRow } from "./rules.js";
import { makeTemporarySchema, type TemporarySchema } from "./temporary-schema.js";
import { accepted, type Decided, dueInstants, type Refused } from "./tick.js";

export interface ReplayOptions {
  from: Date;
  /** Null: as far as the engine has decided. */
  to: Date | null;
  /** Null: all that are watched. */
  venue: string | null;
  /** Those that differ from the present ones. */
  rules: Partial<RulesRow>;
  log: Log;
  /** Ends the replay early. */
  signal?: AbortSignal;
  /** @param share from 0 to 1 */
  onProgress?: (share: number) => void | Promise<void>;
}

export interface Replay {
  /** The first and the last instant that were decided. */
  from: Date;
  to: Date;
  /** Later was asked for, and the engine had not decided it. */
  cut: boolean;
  venue: string | null;
  changed: ChangedRule[];
  instants: number;
  tookMs: number;
  lines: ComparisonLine[];
  /** Recorded incidents that are left out, since their components are not watched any more. */
  unwatched: number;
}

/** Samples are copied in pieces of this length: enough that what overlaps is little, and few enough to be held. */
const pieceMs = 3_600_000;

/**
 * @returns null when it was ended early
 * @throws UserError where this period, this venue or these rules cannot be replayed
 */
export async function replay(pool: Pool, options: ReplayOptions): Promise<Replay | null> {
  const begunMs = performance.now();
  await requireSchema(pool);
  const plan = await planOf(pool, options);
  const { signal = new AbortController().signal, onProgress = () => {} } = options;

  const scratch = await makeTemporarySchema(pool);
  try {
    const run = { ...plan, pool, scratch, signal, onProgress };
    const instants = await decideAnew(run).catch((error: unknown) => {
      throw tooLarge(error, options.rules) ?? error;
    });
    if (signal.aborted) return null;
    await requireSamplesStill(pool, plan);
    const [recorded, replayed] = await incidentsOf(scratch, plan);
    return {
      from: plan.from,
      to: plan.to,
      cut: plan.cut,
      venue: plan.venue,
      changed: changedRules(options.rules),
      instants,
      tookMs: Math.round(performance.now() - begunMs),
      lines: compareIncidents(recorded, replayed, plan.to),
      unwatched: await unwatchedIn(pool, plan),
    };
  } finally {
    await scratch.drop().catch((error: unknown) => {
      options.log.warn("the scratch tables are still there; the next replay drops them", { error });
    });
  }
}

interface Plan {
  /** Instants of the grid, the first and the last to be decided. */
  from: Date;
  to: Date;
  cut: boolean;
  /** States are seen from here on. */
  warmFrom: Date;
  /** How far back of an instant it is judged by samples. */
  reachMs: number;
  samplesFrom: Date;
  venue: string | null;
  components: number[];
  rules: RulesRow;
  typicalAnew: boolean;
}

type Run = Plan & {
  pool: Pool;
  scratch: TemporarySchema;
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

/** The longest that a rule can be. */
const longestMs = 2 ** 31 - 1;

async function planOf(pool: Pool, { from, to, venue, rules: others }: ReplayOptions): Promise<Plan> {
  const rules = {
    ...rulesRow,
    ...others,
    // states must not begin anew in the midst of a warm-up or of a piece, however long they are
    catch_up_ms: longestMs,
  };
  if (venue !== null) await requireVenue(pool, venue, others);
  const [bounds] = await pool.file<Bounds>("replay_bounds", [JSON.stringify(rules), venue]);
  const { ticked_at, kept_since, raw_kept_ms, longest_span_ms, components } = bounds!;
  if (ticked_at === null || kept_since === null)
    throw new UserError("There is nothing to replay: the engine has not decided anything yet");
  if (to !== null && to <= from)
    throw new UserError(`--to should be later than --from, but ${iso(to)} is not later than ${iso(from)}`);
  if (from >= ticked_at)
    throw new UserError(`--from ${iso(from)}: the engine has decided up to ${iso(ticked_at)}; begin earlier`);

  const asked = to ?? ticked_at;
  const step = rules.step_ms;
  const first = Math.ceil(+from / step) * step;
  const last = Math.floor(Math.min(+asked, +ticked_at) / step) * step;
  if (last < first)
    throw new UserError(
      `The engine decides every ${step} ms, and no such instant lies between ${iso(from)} and ${iso(asked)}: take a longer period`,
    );
  // the longest that a state's past matters
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

async function decideAnew(run: Run): Promise<number> {
  await begin(run);
  const deeds = await deedsIn(run);
  const pace = { items: 4 };
  let instants = 0;
  for (let at = +run.from; at < +run.to || instants === 0; at += pieceMs) {
    const upTo = new Date(Math.min(at + pieceMs, +run.to));
    const isFirst = at === +run.from;
    await load(run, isFirst ? run.samplesFrom : new Date(at - run.reachMs), upTo);
    if (isFirst) await warmUp(run, pace);
    instants += await decideUntil(run, upTo, deeds, pace);
    if (run.signal.aborted) break;
  }
  return instants;
}

async function begin({ scratch, from, warmFrom, samplesFrom, venue, ...run }: Run): Promise<void> {
  await scratch.within(async (tx) => {
    await tx.query(sql`select engine.make_replay_tables()`);
    if (venue !== null) await tx.query(sql`select engine.watch_in_replay(${venue})`);
    await tx.file("replay_begin", [
      eveOf(from),
      warmFrom,
      new Date(Math.min(+warmFrom, +samplesFrom)),
      venue,
      run.typicalAnew,
      JSON.stringify(run.rules),
    ]);
  });
}

/** When operators retracted incidents, in order. */
async function deedsIn({ pool, from, to }: Run): Promise<Date[]> {
  const rows = await pool.query<{ at: Date }>(sql`
    select distinct retracted_at as at from engine.retractions_by_hand(${eveOf(from)}, ${to}) order by at
  `);
  return rows.map(({ at }) => at);
}

/** Samples later than the one instant, up to the other, instead of those that were copied before. */
async function load({ scratch, components, signal }: Run, after: Date, upTo: Date): Promise<void> {
  // named in full: emptying the wrong one would be the end of the recorded samples
  await scratch.within((tx) => tx.query(sql`truncate ${sql.ident(scratch.name, "sample")}`));
  await throttled(components, { items: 4 }, signal, (some) =>
    scratch.within(async (tx) => {
      await tx.file("replay_load", [some, after, upTo]);
    }),
  );
  await scratch.within((tx) => tx.script("analyze sample"));
}

async function warmUp({ scratch, from, rules, signal }: Run, pace: PoolPace): Promise<void> {
  const due = await scratch.within((tx) => dueInstants(tx, eveOf(from), rules));
  const instants = due.map(({ at }) => at);
  await throttled(instants, pace, signal, (some) =>
    scratch.within(async (tx) => {
      await tx.file("replay_warm_up", [some, JSON.stringify(rules)]);
    }),
  );
  // the plans of a tick are made for tables with something in them
  await scratch.within((tx) => tx.script("analyze region_state; analyze component_state; analyze typical_latency"));
}

/** @param deeds those that are left; the ones that are done are taken away */
async function decideUntil(run: Run, upTo: Date, deeds: Date[], pace: PoolPace): Promise<number> {
  const all = await run.scratch.within((tx) => dueInstants(tx, upTo, run.rules));
  let due = all.map(({ at }) => at);
  const instants = due.length;
  while (deeds[0] && deeds[0] <= upTo && !run.signal.aborted) {
    const deed = deeds.shift()!;
    await decideAll(
      run,
      due.filter((at) => at <= deed),
      pace,
    );
    due = due.filter((at) => at > deed);
    await run.scratch.within((tx) => retractBy(tx, deed));
  }
  await decideAll(run, due, pace);
  return instants;
}

async function decideAll(
  { scratch, rules, signal, onProgress, from, to }: Run,
  instants: Date[],
  pace: PoolPace,
): Promise<void> {
  await throttled(instants, pace, signal, async (some) => {
    const rows = await scratch.within((tx) =>
      tx.file<{ decided: Decided | Refused }>("replay_decide", [some, JSON.stringify(rules), version]),
    );
    for (const { decided } of rows) accepted(decided);
    await onProgress((+some.at(-1)! - +from) / Math.max(1, +to - +from));
  });
}

/** As exactly as a Date tells it, which is a millisecond. */
async function retractBy(tx: Db, deed: Date): Promise<void> {
  await tx.query(sql`
    select engine.retract_as_operators_did(${new Date(+deed - 1)}, ${new Date(+deed + 1)})
  `);
}

async function incidentsOf(
  scratch: TemporarySchema,
  { from, to }: Plan,
): Promise<[recorded: Incident[], replayed: Incident[]]> {
  const rows = await scratch.within((tx) =>
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
  if (missing.length > 0) throw new UserError(`The database lacks ${missing.join(", ")}: run venuewatch migrate`);
  if (unknown.length > 0)
    throw new UserError(
      `The database was migrated by a newer build, it has ${unknown.join(", ")}: run the replay of that build`,
    );
}

async function requireVenue(pool: Pool, venue: string, others: Partial<RulesRow>): Promise<void> {
  const rows = await pool.query<{ venue: string }>(sql`select venue from venue where published order by position`);
  const venues = rows.map((row) => row.venue);
  if (!venues.includes(venue))
    throw new UserError(`--venue: there is no ${venue}, the venues are ${venues.join(", ")}`);
  const ofRegions = changedRules(others).filter(({ name }) => name.startsWith("impaired"));
  if (ofRegions.length > 0)
    throw new UserError(
      `One venue alone cannot show that a region is impaired: leave out --venue to try ${ofRegions.map(({ name }) => name).join(", ")}`,
    );
}

/** @param droppedBefore what is older may have been dropped */
function requireSamples({ from, samplesFrom }: Plan, keptSince: Date, droppedBefore: Date): void {
  const missesSome = samplesFrom < keptSince && samplesFrom < droppedBefore;
  const earliest = missesSome ? new Date(+keptSince + +from - +samplesFrom) : keptSince;
  if (from < earliest)
    throw new UserError(
      `--from: samples are kept since ${iso(keptSince)}, so that a replay can begin at ${iso(earliest)} at the earliest, not at ${iso(from)}`,
    );
}

/** Old samples may have been dropped meanwhile, before they were copied. */
async function requireSamplesStill(pool: Pool, plan: Plan): Promise<void> {
  const [bounds] = await pool.file<Bounds>("replay_bounds", [JSON.stringify(plan.rules), plan.venue]);
  const { kept_since, ticked_at, raw_kept_ms } = bounds!;
  requireSamples(plan, kept_since!, new Date(+ticked_at! - raw_kept_ms));
}

function tooLarge(error: unknown, others: Partial<RulesRow>): UserError | null {
  const { code } = error as { code?: string };
  const changed = changedRules(others).map(({ name }) => name);
  if (!["22003", "22008"].includes(code ?? "") || changed.length === 0) return null;
  return new UserError(`One of the rules is too large to reckon with (${changed.join(", ")}): take a smaller one`, {
    cause: error,
  });
}

/** The last moment before the first instant; recorded instants are whole milliseconds too. */
function eveOf(from: Date): Date {
  return new Date(+from - 1);
}

function iso(at: Date): string {
  return at.toISOString().replace(".000Z", "Z");
}
