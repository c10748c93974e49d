/** Versions of an entry: each begins unproven, so one may begin only where a measurement could have become wrong. */
import t from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { syncRegistry } from "../../../server/database/sync-registry.js";
import { rulesRow } from "../../../shared/rules/engine-rules.js";
import type { Region, Registry } from "../../../shared/registry/registry.js";
import { migratedDatabase } from "../../support/database.js";

/** The components of which a region has not yet seen the present entry good. */
async function unprovenAfter(pool: Pool, registry: Registry): Promise<string[]> {
  await pool.transaction((tx) => syncRegistry(tx, registry));
  const rows = await pool.query<{ name: string }>(sql`
    select v.venue || ' ' || c.component as name
    from component c
    join venue v using (venue_id)
    join component_entry e using (component_id)
    where e.good_at is null
    order by name
  `);
  return rows.map(({ name }) => name);
}

async function allGood(pool: Pool): Promise<void> {
  await pool.query(sql`update component_entry set good_at = now() where good_at is null`);
}

void t.test("a changed address is a new version of the socket's entry alone", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await allGood(pool);
  t.strictSame(await unprovenAfter(pool, registry), [], "the same entries again");

  const venues = registry.venues.map((venue) =>
    venue.id === "kraken" ? { ...venue, socket: { ...venue.socket!, url: "wss://other.test/" } } : venue,
  );
  const changed = await unprovenAfter(pool, { ...registry, venues });
  t.ok(changed.includes("kraken ws:conn"), "a later change of the entry makes a version");
  t.ok(changed.every((name) => name.startsWith("kraken ws:")));
});

void t.test("another host in one region is a change of the entry", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const withHosts = (hosts: Region["hosts"]) => {
    const [first, ...others] = registry.regions;
    return { ...registry, regions: [{ ...first!, hosts }, ...others] };
  };
  t.strictSame(await unprovenAfter(pool, withHosts({ "unused.test": "other.test" })), [], "a host that nobody asks");

  const binance = await unprovenAfter(pool, withHosts({ "api.binance.com": "data-api.binance.vision" }));
  t.ok(binance.length > 1 && binance.every((name) => name.startsWith("binance rest:")), binance.join(", "));
  await allGood(pool);
  t.strictSame(
    await unprovenAfter(pool, withHosts({ "api.binance.com": "data-api.binance.vison" })),
    binance,
    "a mistyped host",
  );
  await allGood(pool);
  const sockets = {
    "stream.binance.com:9443": "data-stream.binance.vision",
    "api.binance.com": "data-api.binance.vison",
  };
  const ofSocket = await unprovenAfter(pool, withHosts(sockets));
  t.ok(ofSocket.length > 1 && ofSocket.every((name) => name.startsWith("binance ws:")), "the socket and its streams");
});

void t.test("an entry is unproven from its first sample on, not from the engine's first instant", async (t) => {
  const { pool } = await migratedDatabase(t);
  const at = new Date("2026-01-01T12:00:00Z");
  const before = (minutes: number) => new Date(+at - minutes * 60_000);
  const from = async (reason: string) => {
    const [row] = await pool.query<{ from: Date }>(sql`select engine.unjudged_from(1, ${reason}, ${at}) as from`);
    return row!.from;
  };
  await pool.query(sql`update component set watched_from = ${before(9)} where component_id = 1`);
  t.strictSame(await from("never"), before(9), "since it is watched");
  t.strictSame(await from("blocked"), at, "other reasons begin when they are found");
  await pool.query(sql`
    insert into component_entry (component_id, holds_from, fingerprint) values (1, ${before(5)}, 'new'), (1, ${before(-5)}, 'newer')
  `);
  t.strictSame(await from("never"), before(5), "since the entry has changed");
  await pool.query(sql`
    insert into unjudged (component_id, started_at, reason, ended_at) values (1, ${before(5)}, 'never', ${before(3)})
  `);
  t.strictSame(await from("never"), before(3), "not before an earlier time has ended");
  await pool.query(sql`update unjudged set ended_at = null`);
  t.strictSame(await from("never"), at, "nor while another lasts");
});

void t.test("an entry is not proven by its former version's last sample", async (t) => {
  const { pool } = await migratedDatabase(t);
  const at = new Date("2026-01-01T12:00:00Z");
  const isProven = async (samples: number, fault: string) => {
    await pool.query(sql`delete from region_state`);
    await pool.query(sql`
      insert into region_state (
        component_id, region_id, state, since, reporting, samples, bad, slow, bad_run, in_part, newest_at, newest_fault
      )
      select 1, region_id, 'unknown', ${at}, false, ${samples}, ${samples}, 0, 0, false, ${at}, ${fault}::fault
      from region
    `);
    await pool.query(sql`update component_entry set good_at = null where component_id = 1`);
    await pool.query(sql`
      select engine.store_good_entries(${at}, jsonb_populate_record(null::engine.rules, ${JSON.stringify(rulesRow)}))
    `);
    const [entry] = await pool.query<{ at: Date | null }>(
      sql`select good_at as at from component_entry where component_id = 1`,
    );
    return entry!.at !== null;
  };
  t.notOk(await isProven(0, "stale"), "a silent series keeps the fault of its last sample");
  t.ok(await isProven(3, "stale"), "old data came as the entry says");
  for (const fault of ["stall", "http", "body", "timeout", "blocked", "limited", "halted"])
    t.notOk(await isProven(3, fault), `${fault} says nothing about the entry`);
});
