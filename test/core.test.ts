import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../server/db.js";
import { startCore, usualPace } from "../server/engine/core.js";
import { tick } from "../server/engine/tick.js";
import { makeLog } from "../server/log.js";
import { migratedDatabase } from "./database.js";

const quick = { ...usualPace, tickMs: 50, leaseMs: 2_000 };

void t.test("cores on one database", async (t) => {
  const { pool, url } = await migratedDatabase(t);

  await t.test("one leads, and hands over when it is closed", async (t) => {
    const first = coreOn(t, url, quick);
    await leaderIs(pool, first.holder);
    const second = coreOn(t, url, { ...quick, tickMs: 20 });
    await ticks(pool, 3);
    t.equal(await leader(pool), first.holder, "the other one only watches");
    t.equal(second.told("leads from now on"), 0);

    await first.close();
    const closedAtMs = performance.now();
    await leaderIs(pool, second.holder);
    t.ok(
      performance.now() - closedAtMs < quick.leaseMs / 2,
      "it need not wait for the lease to run out",
    );
    await ticks(pool, 2);
    t.equal(second.told(" error "), 0);
    await second.close();
  });

  await t.test(
    "one that dies is replaced when its lease is over",
    async (t) => {
      const dying = coreOn(t, url, { ...quick, leaseMs: 700 });
      await leaderIs(pool, dying.holder);
      const heir = coreOn(t, url, { ...quick, leaseMs: 700 });
      await dying.pool.close();
      await leaderIs(pool, heir.holder);
      t.ok(dying.told("a turn of the engine failed") > 0, "it says so");
      await ticks(pool, 2);
      await dying.close();
      t.equal(await leader(pool), heir.holder);
      await heir.close();
    },
  );

  await t.test("a refresh that fails does not stop ticks", async (t) => {
    await pool.script(
      "alter procedure upkeep.refresh_newest(timestamptz) rename to hidden",
    );
    const core = coreOn(t, url, quick);
    await leaderIs(pool, core.holder);
    await ticks(pool, 3);
    t.ok(core.told("rolling up the newest minutes failed") >= 2, "it says so");
    await pool.script(
      "alter procedure upkeep.hidden(timestamptz) rename to refresh_newest",
    );
    const told = core.told("failed");
    await ticks(pool, 3);
    t.ok(core.told("failed") <= told + 1, "and goes on when it works again");
    await core.close();
  });

  await t.test("a closed one stops at once, and for good", async (t) => {
    const core = coreOn(t, url, { ...quick, tickMs: 60_000 });
    await leaderIs(pool, core.holder);
    const closingAtMs = performance.now();
    await core.close();
    t.ok(performance.now() - closingAtMs < 10_000, "long before its next tick");
    const [before] = await clock(pool);
    await sleep(150);
    t.strictSame((await clock(pool))[0], before, "and ticks no more");
  });

  await t.test("an engine ahead of the clock says so", async (t) => {
    await tick(pool, new Date(Date.now() + 3_600_000));
    const core = coreOn(t, url, quick);
    await leaderIs(pool, core.holder);
    await until(() => Promise.resolve(core.told("nothing was decided") > 0));
    await core.close();
  });
});

void t.test("an instant is decided once", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const other = openPool(url, {
    applicationName: "test",
    log: makeLog("test"),
  });
  t.teardown(() => other.close());
  const at = new Date();
  for (let i = 0; i < 5; i++) {
    const instant = new Date(+at + i);
    const decided = await Promise.all([
      tick(pool, instant),
      tick(other, instant),
    ]);
    t.equal(decided.filter(Boolean).length, 1, "by one of two at once");
  }
  t.equal(await tick(pool, at), null, "and not again later");
});

function coreOn(t: Test, url: string, pace: typeof usualPace) {
  const lines: string[] = [];
  const log = makeLog("core", "debug", (line) => lines.push(line));
  const pool = openPool(url, { applicationName: "core", log });
  const core = startCore(pool, log, pace);
  let closed = false;
  t.teardown(() => core.close());
  return {
    holder: core.holder,
    close: core.close,
    told: (what: string) => lines.filter((line) => line.includes(what)).length,
    pool: {
      close: () => {
        closed = true;
        return pool.close();
      },
    },
    isClosed: () => closed,
  };
}

async function leader(pool: Pool): Promise<string | undefined> {
  const [row] = await pool.query<{ holder: string }>(
    sql`select holder from leader where expires_at > now()`,
  );
  return row?.holder;
}

async function clock(pool: Pool) {
  return pool.query<{ ticked_at: Date }>(
    sql`select ticked_at from engine_clock`,
  );
}

async function leaderIs(pool: Pool, holder: string): Promise<void> {
  await until(async () => (await leader(pool)) === holder);
}

/** Waits until the engine has ticked so many times more. */
async function ticks(pool: Pool, times: number): Promise<void> {
  const seen = new Set<number>();
  await until(async () => {
    const [row] = await clock(pool);
    if (row) seen.add(+row.ticked_at);
    return seen.size > times;
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadlineMs)
      throw new Error("what was awaited did not come within 20 s");
    await sleep(10);
  }
}
