/** A database clock that jumps ahead and returns, on which the engine must not have decided anything. */
import t from "tap";
import { clockIsBehind, clockIsDoubtful, evaluateDue } from "../../../../server/core/engine/evaluation-loop.js";
import { makeLease } from "../../../../server/core/engine/lease.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { tick } from "../../../../server/core/engine/tick.js";
import { openPool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { makeOutage } from "../../../../shared/log/outage.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, measured } from "../../../support/fleet.js";

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
