/** Two probes of one region, as real processes. One of them dies, and both lose the database for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { migratedDatabase } from "../support/database.js";
import { type Gate, makeGate } from "../support/gate.js";
import { startKillable } from "../support/killable.js";
import type { ProbeProcessOptions } from "../support/probe-process.js";
import { deliverRest, spoolDirectory } from "../support/spool.js";
import { until } from "../support/until.js";
import { startWorld } from "../../world/world.js";

const cadenceMs = 1000;
/** Longer than a busy machine keeps a process from running. */
const leaseMs = 2500;
const watched = ["kraken", "okx", "gate", "bybit"];
const lookEveryMs = 50;

void t.test("two probes of one region take over from each other, and lose no sample", async (t) => {
  const { pool, url, registry: all } = await migratedDatabase(t);
  const few = structuredClone(all);
  few.venues = few.venues.filter(({ id }) => watched.includes(id));
  const world = await startWorld({ registry: few, timeScale: 5 });
  t.teardown(() => world.close());
  const registry = structuredClone(world.registry);
  for (const { rest, socket } of registry.venues) {
    for (const endpoint of rest) Object.assign(endpoint, { cadenceMs, timeoutMs: 900 });
    for (const stream of socket?.streams ?? []) stream.cadenceMs = cadenceMs;
  }
  await migrate(pool, registry, makeLog("test", "error"));
  const directory = await spoolDirectory(t);
  const options: ProbeProcessOptions = { registry, region: "us-east", leaseMs, directory };
  const measured = new Set<string>();
  const kept = new Set<string>();
  const onLine = (line: string) => {
    // a kill may tear the last line
    const [, word, key] = /^(measured|kept) (\S+ \S+ \d{13})$/.exec(line) ?? [];
    if (key) (word === "kept" ? kept : measured).add(key);
  };
  const gates = [await makeGate(t, url), await makeGate(t, url)] as const;
  const start = (gate: Gate) => startKillable(t, "probe-process", gate.url, options, onLine);
  const [one, other] = [start(gates[0]), start(gates[1])];

  /** What each live probe holds. */
  async function shares(): Promise<string[][]> {
    const rows = await pool.query<{ venues: string[] }>(sql`
      select array_agg(v.venue order by v.venue) as venues
      from venue_lease w
      join venue v using (venue_id)
      join probe p using (region_id, process)
      where p.alive_until > clock_timestamp()
      group by w.process
      order by 1
    `);
    return rows.map(({ venues }) => venues);
  }
  const soon = (condition: () => Promise<boolean>) => until(condition, 60_000, lookEveryMs);
  const shared = async () => (await shares()).map(({ length }) => length).join() === "2,2";
  const heldByOne = async () => (await shares())[0]?.length === watched.length;
  const endpoints = registry.venues.flatMap(({ rest }) => rest).length;
  /** Whether every endpoint has this many stored samples after an instant. */
  async function allMeasured(since: Date, samples = 1) {
    const rows = await pool.query(sql`
      select s.component_id
      from sample s
      join component c using (component_id)
      where s.ts > ${since} and c.kind = 'rest'
      group by s.component_id
      having count(*) >= ${samples}
    `);
    return rows.length === endpoints;
  }

  await soon(shared);
  t.same((await shares()).flat().sort(), [...watched].sort());
  const sharedAt = new Date();
  await soon(() => allMeasured(sharedAt));
  t.pass("two probes share the venues and measure all of them");

  const killedMs = Date.now();
  one.kill();
  await soon(heldByOne);
  const takenOverAt = new Date();
  t.comment(`the killed probe's venues were taken over after ${+takenOverAt - killedMs} ms, leases of ${leaseMs} ms`);
  await soon(() => allMeasured(takenOverAt));
  t.pass("the other measures all venues after one was killed");

  one.restart();
  await soon(shared);
  t.pass("a restarted probe gets its share again");
  const before = await shares();

  for (const gate of gates) await gate.shut();
  const shutAt = new Date();
  await sleep(1.5 * leaseMs);
  for (const gate of gates) await gate.open();
  await soon(shared);
  // one more round, in which the first to return could have taken the other's venues
  await sleep(1.2 * leaseMs);
  t.same(await shares(), before, "a database outage longer than the lease moves no venue");
  await soon(() => allMeasured(shutAt, 4));
  t.pass("samples measured during the outage are delivered");

  await gates[0].shut();
  await soon(heldByOne);
  t.pass("the venues of a probe that alone lost the database are taken over");
  await gates[0].open();
  await soon(shared);
  t.pass("the venues are shared again when it returns");

  await other.stop();
  await soon(heldByOne);
  await one.stop();
  // leases are renewed three times in their length, so more than half is left
  await until(async () => (await shares()).length === 0, leaseMs / 2, lookEveryMs / 2);
  t.pass("a probe that stops releases its leases before they expire");
  const twice = await pool.query(sql`
    select component_id, region_id, ts from sample group by component_id, region_id, ts having count(*) > 1
  `);
  t.same(twice, [], "no slot is stored twice");

  await deliverRest(directory, pool, options.region);
  const stored = await pool.query<{ key: string }>(sql`
    select v.venue || ' ' || c.component || ' ' || (extract(epoch from s.ts) * 1000)::bigint as key
    from sample s
    join component c using (component_id)
    join venue v using (venue_id)
  `);
  const keys = new Set(stored.map(({ key }) => key));
  const missing = [...measured].filter((key) => !keys.has(key));
  t.comment(`${measured.size} measured, ${missing.length} lost by the kill`);
  const invented = [...keys].filter((key) => !measured.has(key));
  t.same(invented, [], "every stored sample was measured");
  const dropped = missing.filter((key) => kept.has(key));
  t.same(dropped, [], "every sample that reached the disk before the kill is stored");
  const lostLater = missing.filter((key) => Number(key.split(" ")[2]) > killedMs);
  t.same(lostLater, [], "a database outage loses no sample: all that are lost precede the kill");
});
