import t from "tap";
import { clockIsBehind, clockIsDoubtful, evaluateDue } from "../../../../server/core/engine/evaluation-loop.js";
import { type LeaseTerm, makeLease } from "../../../../server/core/engine/lease.js";
import { accepted, decideUpTo, tick } from "../../../../server/core/engine/tick.js";
import { openPool, type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { makeOutage } from "../../../../shared/log/outage.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, measured } from "../../../support/fleet.js";
import { poolOn } from "../../../support/pool-on.js";
import { until } from "../../../support/until.js";

const startsAt = new Date("2026-01-15T12:00:00Z");
const afterS = (seconds: number) => new Date(+startsAt + seconds * 1000);
const refused = { refused: "not the leader" };

void t.test("a lease has one holder at a time", async (t) => {
  const { pool } = await migratedDatabase(t);
  const leaseOf = (holder: string, lastsMs: number) => makeLease(pool, "engine", holder, lastsMs);

  await t.test("until it expires or is handed over", async (t) => {
    const first = leaseOf("first", 60_000);
    const second = leaseOf("second", 60_000);
    t.strictSame(await first.take(), { holder: "first", fence: 1 });
    t.equal(await second.take(), null);
    t.equal(await second.take(), null, "repeated requests do not help");
    t.strictSame(await first.take(), { holder: "first", fence: 1 }, "renewed");
    await second.release();
    t.equal(await second.take(), null, "only the holder can hand over");

    await first.release();
    t.strictSame(await second.take(), { holder: "second", fence: 2 }, "handed over at once");
    await second.release();
  });

  await t.test("even if it expires while the holder lives", async (t) => {
    // leases expire as soon as they are taken, as after a time in which the database served no client
    const leading = leaseOf("leading", 0);
    const waiting = leaseOf("waiting", 0);
    const { fence } = (await leading.take())!;
    t.equal(await waiting.take(), null, "the first to ask does not get it");
    await leading.take();
    t.equal(await waiting.take(), null, "the holder has renewed meanwhile");
    t.strictSame(
      await waiting.take(),
      { holder: "waiting", fence: fence + 1 },
      "a holder that did nothing between two requests counts as gone",
    );
    await waiting.release();
  });

  await t.test("if several request it at the same time", async (t) => {
    await leaseOf("gone", 0).take();
    const all = ["a", "b", "c", "d"].map((holder) => leaseOf(holder, 60_000));
    const take = () => Promise.all(all.map((lease) => lease.take()));
    t.strictSame(await take(), [null, null, null, null]);
    t.equal((await take()).filter(Boolean).length, 1);
  });
});

void t.test("a former leader decides nothing", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await insertFault(pool);

  await t.test("a core that never led decides nothing", async (t) => {
    const before = await everything(pool);
    const stranger = { holder: "stranger", fence: 1 };
    t.strictSame(await tick(pool, startsAt, { term: stranger }), refused);
    t.strictSame(await everything(pool), before);
  });

  await t.test("an interrupted walk of a former leader decides nothing", async (t) => {
    const former = await takeOver(pool, "former");
    accepted(await tick(pool, startsAt, { term: former }));
    const walk = decideUpTo(pool, afterS(120), { term: former });
    // the incident is about to open
    for (let at = 2; at < 16; at += 2) await walk.next();

    // here the leader is frozen, and another core takes over
    const next = await takeOver(pool, "next");
    t.equal(next.fence, former.fence + 1);
    const before = await everything(pool);
    t.strictSame(await walk.next(), { value: refused, done: false });
    t.match(await walk.next(), { done: true }, "the walk ends");
    t.strictSame(await everything(pool), before, "nothing has changed");

    const opened = [];
    for await (const one of decideUpTo(pool, afterS(120), { term: next })) opened.push(...accepted(one).opened);
    t.equal(opened.length, 1, "the other core opens the incident");
    for (const [term, what] of [
      [former, "a former leader"],
      [{ ...former, fence: next.fence }, "a wrong fence"],
      [{ ...next, fence: former.fence }, "an earlier term of the same holder"],
    ] as const)
      t.strictSame(await tick(pool, afterS(122), { term }), refused, `${what} is refused`);
  });

  await t.test("a takeover waits for a tick in flight", async (t) => {
    const other = poolOn(t, url);
    await takeOver(pool, "ticking");
    const ticking = await makeLease(pool, "engine", "ticking", 0).take();
    const eager = makeLease(other, "engine", "eager", 60_000);
    t.equal(await eager.take(), null, "the lease has expired, but its holder still ticks");

    const order: string[] = [];
    let taking: Promise<void> | undefined;
    await pool.transaction(async (tx) => {
      accepted(await tick(tx, afterS(124), { term: ticking }));
      taking = eager.take().then((term) => void order.push(term!.holder));
      if (process.env.DATABASE_URL) await until(() => somebodyWaits(pool));
      order.push("tick");
    });
    await taking;
    t.strictSame(order, ["tick", "eager"]);
  });
});

/** As if the present holder had been silent for long. */
async function takeOver(pool: Pool, holder: string): Promise<LeaseTerm> {
  await pool.query(sql`update leader set expires_at = '-infinity'`);
  return (await makeLease(pool, "engine", holder, 60_000).take())!;
}

async function somebodyWaits(pool: Pool): Promise<boolean> {
  const rows = await pool.query(
    sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** Kraken's ticker fails everywhere. */
async function insertFault(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault)
    select ts, c.component_id, g.region_id, false, 'timeout'
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join generate_series(${afterS(5)}::timestamptz, ${afterS(120)}, '5 seconds') ts
    where v.venue = 'kraken' and c.component = 'rest:ticker'
  `);
}

async function everything(pool: Pool): Promise<object[][]> {
  const tables = [
    ...["engine_clock", "region_state", "component_state", "venue_state", "impairment"],
    ...["incident", "alert_event", "typical_latency", "leader"],
  ];
  return Promise.all(tables.map((table) => pool.text<object>(`select * from ${table} order by 1, 2`, [])));
}

// A database clock that jumps ahead and returns, on which the engine must not have decided anything.

/** Fewer instants: deciding the pause is not what is tested. */
const rules = { ...rulesRow, step_ms: 20_000 };

void t.test("a clock that is ten minutes ahead for a while stops the engine for as long, and no longer", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await pool.script(`
    create schema shifted;
    create table shifted.clock (ahead interval not null);
    insert into shifted.clock values ('0');
    create function shifted.clock_timestamp() returns timestamptz language sql volatile
      as 'select pg_catalog.clock_timestamp() + ahead from shifted.clock'`);
  const lines: string[] = [];
  const log = makeLog("core", "info", (line) => lines.push(line));
  const engine = openPool(url, { applicationName: "engine", log, max: 1 });
  t.teardown(() => engine.close());
  const term = (await makeLease(pool, "engine", "this", 600_000).take())!;
  const outages = { ahead: makeOutage(log, clockIsBehind), doubt: makeOutage(log, clockIsDoubtful, { level: "warn" }) };
  const evaluate = async (ahead: string) => {
    await pool.query(sql`update shifted.clock set ahead = ${ahead}::interval`);
    // its functions win over those of PostgreSQL
    await engine.script("set search_path = shifted, venuewatch, public, pg_catalog");
    const given = { pool: engine, log, rules, settleMs: 0, term, stillLeads: () => true, onAlert: () => {} };
    return evaluateDue({ ...given, ...outages, metrics: undefined });
  };
  const tickedAtMs = async () => {
    const [row] = await pool.query<{ at: Date }>(sql`select ticked_at as at from engine_clock`);
    return +row!.at;
  };

  await measured(pool, { from: ago(500), to: ago(390) });
  await tick(pool, ago(400), { rules });
  const before = await tickedAtMs();
  t.match(await evaluate("0"), { doubtful: true }, "after a real pause it waits for a sample");
  t.equal(await tickedAtMs(), before);
  await measured(pool, { from: ago(20), to: ago(0) });
  let startedMs = Date.now();
  t.match(await evaluate("0"), { upToDate: true });
  t.ok((await tickedAtMs()) > startedMs - 30_000, "and then decides the whole pause");

  t.match(await evaluate("10 minutes"), { upToDate: false, doubtful: true }, "upkeep, which deletes, waits, too");
  t.ok((await tickedAtMs()) <= Date.now(), "nothing was decided for a time that has not come");
  t.match(lines.join(""), /warn core: tick skipped: .* in case the database's clock was set ahead/);
  await measured(pool, { from: ago(0), to: ago(-5) });
  startedMs = Date.now();
  t.match(await evaluate("0"), { upToDate: true }, "it continues at once");
  t.ok((await tickedAtMs()) > startedMs - 30_000);
});
