/**
 * Several cores on one database, any of which may die or freeze at any time: one decides, and its decisions are the
 * same.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { rulesRow, type RulesRow } from "../../../../shared/rules/engine-rules.js";
import { accepted, decideUpTo, tick } from "../../../../server/core/engine/tick.js";
import { usualPace } from "../../../../server/core/engine/leader.js";
import { migratedDatabase } from "../../../support/database.js";
import { everythingDecided, forgetDecisions } from "../../../support/decisions.js";
import { type Killable, startKillable } from "../../../support/killable.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";

const cadenceMs = 500;
const stepMs = 200;
/** A tenth of the usual step, cadence and window, and a still shorter hold: trouble begins and ends within seconds. */
const times = { step_ms: stepMs, window_ms: 6_000, vote_max_age_ms: 6_000, recovery_hold_ms: 2_000 };
const quickRules: RulesRow = { ...rulesRow, ...times };
const quickPace = { ...usualPace, leaseMs: 600 };

const regions = ["ap-southeast", "eu-central", "us-east"];
const venues = ["binance", "bitfinex", "bybit", "coinbase", "gate", "gemini", "kraken", "kucoin", "okx"];

void t.test("three cores decide every instant once while their leaders are killed or frozen", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await noteTicks(pool);
  await pool.query(sql`update component set cadence_ms = ${cadenceMs}`);
  const random = randomFrom(3);
  const world = makeWorld(random, Date.now());
  const cores = [0, 1, 2].map(() => startKillable(t, "core-process", url, { rules: quickRules, pace: quickPace }));

  const measured = measure(pool, world);
  const disturbed = disturb(pool, random, cores, world.endMs - 5_000);
  await Promise.all([measured, disturbed]);
  const end = new Date(world.endMs);
  await until(async () => (await ticks(pool)).at(-1)!.at >= end, 60_000, 50);
  await Promise.all(cores.map((core) => core.stop()));

  const decided = await ticks(pool);
  const terms = new Set(decided.map(({ holder }) => holder)).size;
  t.comment(`${decided.length} instants in ${terms} terms`);
  t.comment(`acts and pauses: ${timesAfter(await disturbed, decided)}`);
  t.ok(terms > 3, "the leader changed several times");
  decidedEvery(t, decided, stepMs);

  t.strictSame(
    await pool.query(sql`
      select v.venue, i.started_at, i.closed_at is not null and i.retracted_at is null as over from incident i
      join component using (component_id) join venue v using (venue_id) order by v.venue
    `),
    world.faults
      .filter(({ regions }) => regions.length >= 2)
      .map(({ venue, fromMs }) => ({ venue, started_at: new Date(fromMs), over: true })),
    "every fault that a quorum sees makes one incident",
  );

  const live = await everythingDecided(pool);
  await pool.script("drop trigger note_tick on engine_clock");
  await forgetDecisions(pool);
  // as they were before the first decision
  await pool.query(sql`update component_entry set good_at = '-infinity'`);
  accepted(await tick(pool, decided[0]!.at, { rules: quickRules }));
  for await (const one of decideUpTo(pool, decided.at(-1)!.at, { rules: quickRules })) accepted(one);
  t.strictSame(live, await everythingDecided(pool), "as if one core had decided everything without interruption");
});

void t.test("a leader that dies at the usual pace is replaced", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await noteTicks(pool);
  const cores = [0, 1].map(() => startKillable(t, "core-process", url, {}));
  await until(async () => (await ticks(pool)).length > 0, 60_000);
  let leading = await leader(pool);
  await until(async () => (leading = await leader(pool)) !== undefined, 60_000);
  const { pid } = leading!;
  const dying = cores.find((core) => core.pid() === pid)!;
  const killedAt = await clock(pool);
  dying.kill();
  const byAnother = async () => (await ticks(pool)).find((one) => one.pid !== pid && one.decidedAt > killedAt);
  await until(async () => (await byAnother()) !== undefined);
  const tookMs = +(await byAnother())!.decidedAt - +killedAt;
  t.comment(`the next instant was decided ${tookMs} ms after the leader died`);
  const decided = await ticks(pool);
  decidedEvery(t, decided, rulesRow.step_ms);
});

function decidedEvery(t: Test, decided: Tick[], stepMs: number): void {
  t.strictSame(
    decided.map(({ at }) => +at),
    decided.map((_, i) => +decided[0]!.at + i * stepMs),
    "every instant is decided once, in order, without a gap",
  );
}

interface Act {
  what: string;
  at: Date;
}

/** Kills or freezes cores, mostly the leader, until a time. In the end all are alive. */
async function disturb(pool: Pool, random: () => number, cores: Killable[], untilMs: number): Promise<Act[]> {
  const acts: Act[] = [];
  const recoveries: Promise<void>[] = [];
  while (Date.now() < untilMs) {
    await sleep(300 + random() * 900);
    const pid = (await leader(pool))?.pid;
    const leading = cores.find((core) => core.pid() === pid);
    const any = cores[Math.floor(random() * cores.length)]!;
    const victim = random() < 0.8 ? leading : any;
    const kills = random() < 0.5;
    const forMs = random() * (kills ? 1_000 : 3_000);
    if (!victim?.isWell()) continue;
    acts.push({ what: kills ? "kill" : "freeze", at: await clock(pool) });
    if (kills) victim.kill();
    else victim.freeze();
    recoveries.push(sleep(forMs).then(() => (kills ? victim.restart() : victim.thaw())));
  }
  await Promise.all(recoveries);
  return acts;
}

/** Records when each instant was decided, and by which core. */
async function noteTicks(pool: Pool): Promise<void> {
  await pool.script(`
    create table noted_tick (
      n bigint generated always as identity,
      at timestamptz,
      decided_at timestamptz default clock_timestamp(),
      holder text
    );
    create function note_tick() returns trigger language plpgsql as $$
    begin
      insert into noted_tick (at, holder) select new.ticked_at, l.holder from leader l where l.office = 'engine';
      return null;
    end;
    $$;
    create trigger note_tick after update of ticked_at on engine_clock for each row execute function note_tick();
  `);
}

interface Tick {
  at: Date;
  decidedAt: Date;
  holder: string;
  pid: number;
}

/** In order of execution. */
function ticks(pool: Pool): Promise<Tick[]> {
  return pool.query<Tick>(sql`
    select at, decided_at as "decidedAt", holder, split_part(holder, ':', 2)::int as pid from noted_tick order by n
  `);
}

async function leader(pool: Pool) {
  const [row] = await pool.query<{ pid: number }>(
    sql`select split_part(holder, ':', 2)::int as pid from leader where office = 'engine' and expires_at > clock_timestamp()`,
  );
  return row;
}

async function clock(pool: Pool): Promise<Date> {
  const [row] = await pool.query<{ now: Date }>(sql`select clock_timestamp() as now`);
  return row!.now;
}

function timesAfter(acts: Act[], decided: Tick[]): string {
  return acts
    .map(({ what, at }) => {
      const next = decided.find(({ decidedAt }) => decidedAt > at);
      return `${what} ${next ? +next.decidedAt - +at : "?"} ms`;
    })
    .join(", ");
}

interface Fault {
  venue: string;
  regions: string[];
  fromMs: number;
  toMs: number;
}

interface World {
  startMs: number;
  endMs: number;
  /** At most one per venue, keyed by its name. */
  faults: Fault[];
}

/** Makes one fault per venue; all have recovered some seconds before the end. One region alone sees some of them. */
function makeWorld(random: () => number, nowMs: number): World {
  const startMs = Math.ceil(nowMs / cadenceMs) * cadenceMs;
  const faults = venues.map((venue) => {
    const alone = random() < 0.2;
    const spared = Math.floor(random() * regions.length);
    const fromMs = startMs + (4 + Math.floor(random() * 12)) * cadenceMs;
    return {
      venue,
      regions: regions.filter((_, i) => (alone ? i === spared : random() < 0.5 || i !== spared)),
      fromMs,
      toMs: fromMs + (12 + Math.floor(random() * 4)) * cadenceMs,
    };
  });
  return { startMs, endMs: startMs + 27_000, faults };
}

/** Inserts the samples of each slot when it is due. */
async function measure(pool: Pool, world: World): Promise<void> {
  for (let ms = world.startMs; ms < world.endMs; ms += cadenceMs) {
    await sleep(Math.max(0, ms - Date.now()));
    const rows = world.faults.flatMap((fault) =>
      regions.map((region) => ({
        venue: fault.venue,
        region,
        good: !(ms >= fault.fromMs && ms < fault.toMs && fault.regions.includes(region)),
      })),
    );
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
      select
        s.ts, c.component_id, g.region_id, r.good, case when not r.good then 'timeout'::fault end, 80000,
        -- known only some time after its insertion, so that the duration of the insertion makes no difference
        greatest(3, ceil(extract(epoch from clock_timestamp() - s.ts))::int + 1)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (venue text, region text, good boolean)
      cross join (select ${new Date(ms)}::timestamptz) as s (ts)
      join venue v using (venue)
      join component c on c.venue_id = v.venue_id and c.component = 'rest:ticker'
      join region g using (region)
    `);
  }
}
