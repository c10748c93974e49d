/**
 * After the engine was away: how much it decides, which alerts it writes, and what readers and analysts see. What it
 * decides is in `second-opinion-fleets.test.ts`.
 */
import t from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { startEngine } from "../../../../server/core/engine/leader.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { accepted, decideUpTo, dueInstants, tick } from "../../../../server/core/engine/tick.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migratedDatabase } from "../../../support/database.js";
import { forgetDecisions } from "../../../support/decisions.js";
import { measured } from "../../../support/fleet.js";
import { poolOn } from "../../../support/pool-on.js";
import { until } from "../../../support/until.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The present rules, with fewer instants. */
const quick = { ...rulesRow, step_ms: 10_000 };
const ticker = { venue: "kraken", component: "rest:ticker" };

void t.test("a pause of the engine", async (t) => {
  const { pool } = await migratedDatabase(t);
  await watchFew(pool);
  const now = Math.floor(Date.now() / minuteMs) * minuteMs;
  const ago = (ms: number) => new Date(now - ms);
  t.beforeEach(async () => {
    await forgetDecisions(pool);
    await pool.script("truncate sample");
  });

  await t.test("without samples is caught up quickly", async (t) => {
    await measured(pool, { ...ticker, from: ago(9 * hourMs), to: ago(8 * hourMs) });
    await tick(pool, ago(8 * hourMs), { rules: quick });
    const due = await dueInstants(pool, ago(0), quick);
    t.ok(due.length < 200, `${due.length} instants of 8 hours`);
    t.strictSame(due.at(-1)!.at, ago(0));
    t.ok(due.every(({ fromScratch }) => !fromScratch));
    for await (const one of decideUpTo(pool, ago(0), { rules: quick })) accepted(one);
    const since = ago(8 * hourMs - 50_000);
    t.strictSame(await tickers(pool), [{ state: "unknown", since }], "since the last minute had too few samples");
  });

  await t.test("leaves analysts the state of every decided instant, and none of the others", async (t) => {
    const rules = { ...quick, catch_up_ms: 10 * minuteMs };
    const seen: { at: Date; states: unknown }[] = [];
    async function decideTo(to: Date, since?: Date) {
      if (since) await tick(pool, since, { rules });
      for await (const one of decideUpTo(pool, to, { rules })) {
        const at = new Date(accepted(one).at);
        seen.push({ at, states: await statesNow(pool) });
      }
    }
    await measured(pool, { ...ticker, from: ago(hourMs), to: ago(0) });
    for (const [from, to] of [
      [50, 46],
      [44, 43],
      [20, 18],
    ] as const)
      await measured(pool, { ...ticker, from: ago(from * minuteMs), to: ago(to * minuteMs), fault: "timeout" });
    await decideTo(ago(30 * minuteMs), ago(55 * minuteMs));
    await decideTo(ago(8 * minuteMs));
    await pool.query(sql`
      update component c set published = false from venue v
      where v.venue_id = c.venue_id and v.venue = 'kraken' and c.component = 'rest:ticker'
    `);
    await decideTo(ago(5 * minuteMs));
    await pool.query(sql`update component set published = true`);
    await decideTo(ago(4 * minuteMs));
    await pool.query(sql`update venue set published = venue = 'kraken'`);
    await decideTo(ago(3 * minuteMs));
    await watchFew(pool);
    await decideTo(ago(2 * minuteMs));

    t.ok(seen.length > 150, `${seen.length} instants`);
    for (const { at, states } of seen) t.strictSame(await statesAt(pool, at), states, `at ${at.toISOString()}`);
    t.strictSame(new Set(seen.map(({ states }) => JSON.stringify(states))).size > 4, true, "much happened");
    t.strictSame(await statesAt(pool, ago(27 * minuteMs)), seen.find(({ at }) => +at === +ago(30 * minuteMs))!.states);
    t.strictSame(await statesAt(pool, ago(20 * minuteMs)), [], "five minutes after its last decision, all was unknown");
    const open = await pool.query(sql`
      select count(*) from analytics.state_changes where ended_at is null group by venue, component having count(*) > 1
    `);
    t.strictSame(open, [], "each has one state now");
  });

  await t.test("reads as unknown until it is nearly caught up", async (t) => {
    const seen = () =>
      pool.query(sql`
        select s.state from api.component_state s join component c using (component_id) join venue v on v.venue_id = c.venue_id
        where v.venue = 'kraken' and c.component = 'rest:ticker'
      `);
    const asCore = { rules: quick, now: null };
    await measured(pool, { ...ticker, from: ago(20 * minuteMs), to: ago(0) });
    await tick(pool, ago(19 * minuteMs), { rules: quick });
    for await (const one of decideUpTo(pool, ago(6 * minuteMs), asCore)) accepted(one);
    t.match(await tickers(pool), [{ state: "operational" }]);
    t.strictSame(await seen(), [{ state: "unknown" }], "six minutes behind");
    const silence = await pool.query(sql`select silent_since from engine_clock`);
    t.strictSame(silence, [{ silent_since: ago(14 * minuteMs) }], "since five minutes after its last decision");
    for await (const one of decideUpTo(pool, ago(2 * minuteMs), asCore)) accepted(one);
    t.strictSame(await seen(), [{ state: "operational" }], "two minutes behind");
  });
});

void t.test("a core catches up on what it missed", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await watchFew(pool);
  const [clock] = await pool.query<{ now: Date; boundary: Date }>(
    sql`select clock_timestamp() as now, engine.typical_boundary(clock_timestamp()) as boundary`,
  );
  const nowMs = +clock!.now;
  const pauseMs = Math.max(3 * hourMs, nowMs - +clock!.boundary);
  const ago = (ms: number) => new Date(nowMs - ms);
  await measured(pool, { ...ticker, from: ago(pauseMs + 10 * hourMs), to: ago(pauseMs + hourMs) });
  await tick(pool, ago(pauseMs), { rules: quick });
  // a fault that was missed, and one that begins
  await measured(pool, { ...ticker, from: ago(125 * minuteMs), to: ago(110 * minuteMs) });
  await measured(pool, { ...ticker, from: ago(120 * minuteMs), to: ago(118 * minuteMs), fault: "timeout" });
  await measured(pool, { ...ticker, from: ago(5 * minuteMs), to: ago(-minuteMs) });
  await measured(pool, { ...ticker, from: ago(10_000), to: ago(-minuteMs), fault: "timeout" });

  const lines: string[] = [];
  const log = makeLog("core", "info", (line) => lines.push(line));
  const [corePool, leasePool] = [poolOn(t, url, { log }), poolOn(t, url, { log })];
  // a new fault is noticed soon, compared with the time that a busy machine takes for hours
  const rules = { ...quick, late_alert_ms: 30 * minuteMs };
  const core = startEngine({ pool: corePool, leasePool, log, rules });
  t.teardown(() => core.close());
  await until(async () => (await alerts(pool)).length > 3, 240_000, 100);

  t.strictSame(
    (await alerts(pool)).slice(0, 4),
    [
      { kind: "opened", late: true },
      { kind: "escalated", late: true },
      { kind: "closed", late: true },
      { kind: "opened", late: false },
    ],
    "events of the missed time are marked late, and those of a present fault are not",
  );
  t.match(lines.join("\n"), /engine catching up .*engine caught up/s);
  t.equal(lines.filter((line) => line.includes(" error ")).length, 0);
  const typical = await pool.query(sql`
    select distinct holds_from - interval '10 minutes' as boundary, hours > 6 as "hoursOfBefore", p50_us from typical_latency
  `);
  t.strictSame(
    typical,
    [{ boundary: clock!.boundary, hoursOfBefore: true, p50_us: 80_000 }],
    "typical latencies include hours that were not rolled up yet",
  );
});

/** Only venues with samples: an instant takes half as long as with all. */
async function watchFew(pool: Pool) {
  await pool.query(sql`update venue set published = venue in ('kraken', 'okx')`);
}

function tickers(pool: Pool) {
  return pool.query(sql`
    select s.state, s.since from component_state s join component c using (component_id) join venue v using (venue_id)
    where v.venue = 'kraken' and c.component = 'rest:ticker'
  `);
}

function statesNow(pool: Pool) {
  return pool.query(sql`
    select v.venue, null as component, s.state from venue_state s join venue v using (venue_id)
    union all
    select v.venue, c.component, s.state
    from component_state s join component c using (component_id) join venue v using (venue_id)
    order by 1, 2
  `);
}

function statesAt(pool: Pool, at: Date) {
  return pool.query(sql`
    select k.venue, k.component, k.state from analytics.state_changes k
    where k.started_at <= ${at} and coalesce(k.ended_at, 'infinity') > ${at}
    order by 1, 2
  `);
}

function alerts(pool: Pool) {
  return pool.query(sql`select kind, late from alert_event order by event_id`);
}
