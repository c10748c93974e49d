import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../../../../shared/database/pool.js";
import { type EnginePace, startEngine, usualPace } from "../../../../server/core/engine/leader.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { tick } from "../../../../server/core/engine/tick.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migratedDatabase } from "../../../support/database.js";
import { until } from "../../../support/until.js";

const quickRules = { ...rulesRow, step_ms: 50 };
/** For work that waits behind the other chores of upkeep, which take the embedded database some seconds. */
const patientMs = 60_000;
const quickPace = { ...usualPace, settleMs: 20, leaseMs: 800 };

void t.test("several cores on one database", async (t) => {
  const { pool, url } = await migratedDatabase(t);

  await t.test("have one leader, which hands over when it closes", async (t) => {
    const first = coreOn(t, url, { ...quickPace, leaseMs: 60_000 });
    await leaderIs(pool, first.holder);
    const second = coreOn(t, url);
    await ticks(pool, 3);
    t.equal(await leader(pool), first.holder, "the other core only waits");
    t.equal(second.linesWith("became the leader"), 0);

    await first.close();
    await leaderIs(pool, second.holder);
    t.pass("the other core leads before the lease expires");
    await ticks(pool, 2);
    t.equal(second.linesWith(" error "), 0);
    await second.close();
  });

  await t.test("replace a dead leader", async (t) => {
    const dying = coreOn(t, url);
    await leaderIs(pool, dying.holder);
    const heir = coreOn(t, url);
    await dying.die();
    await leaderIs(pool, heir.holder);
    await until(() => dying.linesWith("renewing the engine lease failed") > 0);
    await until(() => dying.linesWith("tick failed") > 0);
    await ticks(pool, 2);
    await dying.close();
    t.equal(await leader(pool), heir.holder);
    await heir.close();
  });

  await t.test("continue to tick when a refresh fails", async (t) => {
    const core = coreOn(t, url, { ...quickPace, newestMs: 50 });
    await whileRefreshing(pool, "raise exception 'out of order'", async () => {
      await until(() => core.linesWith("the newest minutes failed") > 0, patientMs);
      await ticks(pool, 3);
      t.equal(core.linesWith("tick failed"), 0);
    });
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good)
      select now(), c.component_id, g.region_id, true from component c, region g limit 1
    `);
    const rolledUp = () => pool.query(sql`select from sample_minute`);
    await until(async () => (await rolledUp()).length === 1, patientMs);
    t.pass("refreshes resume when they work again");
    await core.close();
  });

  await t.test("wait for another core's refresh", async (t) => {
    const isUnderWay = "raise exception 'a concurrent refresh' using errcode = 'lock_not_available'";
    await whileRefreshing(pool, isUnderWay, async () => {
      const core = coreOn(t, url);
      await until(() => core.linesWith("is waiting for another core") > 0, patientMs);
      t.equal(core.linesWith(" error "), 0, "waiting is no error");
      await core.close();
    });
  });

  await t.test("keep their leader during a long refresh", async (t) => {
    await pool.script("create sequence long_refresh");
    const longer = { ...quickPace, leaseMs: 400, newestMs: 50 };
    await whileRefreshing(pool, `perform nextval('long_refresh'), pg_sleep(0.9)`, async () => {
      const leading = coreOn(t, url, longer);
      await leaderIs(pool, leading.holder);
      // it asks more often, so that it is usually the first to be answered after a refresh
      const other = coreOn(t, url, { ...longer, leaseMs: 100 });
      const refreshes = async () =>
        (await pool.query<{ n: number }>(sql`select last_value as n from long_refresh`))[0]!.n;
      await until(async () => (await refreshes()) >= 5, patientMs);
      t.equal(other.linesWith("became the leader"), 0);
      await other.close();
      await leading.close();
    });
  });

  await t.test("close at once between two ticks", async (t) => {
    const hourly = { ...rulesRow, step_ms: 3_600_000 };
    const core = coreOn(t, url, usualPace, hourly);
    await leaderIs(pool, core.holder);
    const closingAtMs = performance.now();
    await core.close();
    t.ok(performance.now() - closingAtMs < 60_000, "long before its next tick");
    t.equal(await leader(pool), undefined, "it has released the lease");
  });

  await t.test("log an engine that is ahead of the clock", async (t) => {
    await tick(pool, new Date(Date.now() + 3_600_000));
    const core = coreOn(t, url);
    await until(() => core.linesWith("tick skipped") > 0);
    await core.close();
  });
});

function coreOn(t: Test, url: string, pace: EnginePace = quickPace, rules: typeof rulesRow = quickRules) {
  const lines: string[] = [];
  const log = makeLog("core", "debug", (line) => lines.push(line));
  const pool = openPool(url, { applicationName: "core", log });
  const leasePool = openPool(url, { applicationName: "core lease", log });
  const core = startEngine({ pool, leasePool, log, rules, pace });
  let alive = true;
  /** From now on it reaches no database, like a dead one. */
  async function die() {
    if (!alive) return;
    alive = false;
    await Promise.all([pool.close(), leasePool.close()]);
  }
  async function close() {
    await core.close();
    await die();
  }
  t.teardown(close);
  const linesWith = (what: string) => lines.filter((line) => line.includes(what)).length;
  return { holder: core.holder, close, die, linesWith };
}

/** Replaces the refresh of the newest minutes by this. */
async function whileRefreshing(pool: Pool, body: string, work: () => Promise<void>): Promise<void> {
  await pool.script(`
    alter procedure upkeep.refresh_newest(timestamptz) rename to hidden;
    create procedure upkeep.refresh_newest(timestamptz) language plpgsql as $$ begin ${body}; end; $$`);
  try {
    await work();
  } finally {
    await pool.script(`
      drop procedure upkeep.refresh_newest(timestamptz);
      alter procedure upkeep.hidden(timestamptz) rename to refresh_newest`);
  }
}

async function leader(pool: Pool): Promise<string | undefined> {
  const [row] = await pool.query<{ holder: string }>(sql`select holder from leader where expires_at > now()`);
  return row?.holder;
}

async function leaderIs(pool: Pool, holder: string): Promise<void> {
  await until(async () => (await leader(pool)) === holder, patientMs);
}

/** Waits until the engine has ticked this many more times. */
async function ticks(pool: Pool, times: number): Promise<void> {
  const seen = new Set<number>();
  await until(async () => {
    const [clock] = await pool.query<{ ticked_at: Date }>(sql`select ticked_at from engine_clock`);
    if (clock) seen.add(+clock.ticked_at);
    return seen.size > times;
  }, patientMs);
}
