/** `venuewatch doctor` as an operator runs it, in good order and with faults that it must name. */
import type { Finding } from "../../../server/cli/doctor/finding.js";
import { createServer } from "node:https";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { entriesFound, filesFound, nodeFound } from "../../../server/cli/doctor/doctor.js";
import { findingsOn } from "../../../server/cli/doctor/database.js";
import { openPool, type Pool, sql } from "../../../shared/database/pool.js";
import { tick } from "../../../server/core/engine/tick.js";
import { listen } from "../../../server/process/ports.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { type Registry } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { makeAuthority } from "../../support/certificates.js";
import { migratedDatabase } from "../../support/database.js";
import { ago } from "../../support/fleet.js";
import { freePort } from "../../support/free-port.js";
import { member } from "../../support/member.js";
import { becoming } from "../../support/rights.js";
import { runCli } from "../../support/run-script.js";
import { startWorld } from "../../../world/world.js";

type Env = Record<string, string>;

const log = makeLog("test", "error");

void t.test("the doctor warns about a Node line that has ended or is untested", (t) => {
  const before = new Date("2026-04-30T23:59:59Z");
  const after = new Date("2026-05-01T00:00:00Z");
  t.match(nodeFound(before, "20.20.2"), { check: "versions", grade: "ok", advice: null });
  const maintained =
    "22 (maintained until 2027-04-30), 24 (maintained until 2028-04-30) or 26 (maintained until 2029-04-30)";
  t.match(nodeFound(after, "20.20.2"), {
    grade: "warning",
    found: /on Node 20\.20\.2; Node 20 has had no security fixes since 2026-04-30$/,
    advice: `run it on Node ${maintained}`,
  });
  t.match(nodeFound(after, "24.21.0"), { grade: "ok" });
  const untested = { found: /; this release is tested on Node 20, 22, 24 or 26$/, advice: /^run it on Node 22/ };
  for (const version of ["25.9.0", "28.0.0"]) t.match(nodeFound(after, version), { grade: "warning", ...untested });
  const last = nodeFound(new Date("2029-05-01"), "26.10.0");
  t.match(last, { grade: "warning", advice: /^install a newer release of venuewatch/ });
  t.end();
});

const notOk = (findings: Finding[]) => findings.filter(({ grade }) => grade !== "ok");
const failuresIn = (findings: Finding[]) => findings.filter(({ grade }) => grade === "failure");
const checksOf = (findings: Finding[]) => findings.map(({ check }) => check);

void t.test("venuewatch doctor", async (t) => {
  const { pool, url, registry: real } = await migratedDatabase(t);
  const few = real.venues.filter(({ id }) => ["kraken", "okx", "bitstamp", "binance-futures"].includes(id));
  const world = await startWorld({ registry: { ...real, venues: few } });
  t.teardown(() => world.close());
  const { registry } = world;
  await migrate(pool, registry, log);
  await tick(pool, new Date());
  const env = await environment(t, registry, { DATABASE_URL: url });

  await t.test("finds no fault in a healthy service", async (t) => {
    const before = await everySample();
    const [node, ...others] = await doctorFinds(t, env, [], {
      database: { found: /PostgreSQL \d+.* with TimescaleDB 2\./ },
      clock: { found: /this clock is -?\d+ ± \d+ ms ahead/ },
      "venue kraken": { found: /^6 of 6 are good/ },
      "venue binance-futures": { found: /^7 of 7 are good/ },
    });
    t.strictSame(node, nodeFound(new Date()), "this Node's line may have ended");
    t.strictSame(notOk(others), []);
    t.equal(world.openSockets(), 0, "no socket is left open");
    t.strictSame(await everySample(), before, "no sample is stored");
  });

  for (const role of ["vw_probe", "vw_core", "vw_web"])
    await t.test(`finds no fault as ${role}`, async (t) => {
      const region = role === "vw_probe" ? "us-east" : null;
      const findings = await findingsOn(await poolAs(t, role), region, registry);
      t.strictSame(notOk(findings), []);
      t.ok(checksOf(findings).includes("engine"));
    });

  await t.test("prints its findings as text, too", async (t) => {
    const script = runCli(t, ["doctor"], env);
    t.equal(await script.ended, 0);
    t.match(script.output(), /^(ok {6}|WARNING )versions +venuewatch \d/m);
    t.match(script.output(), /^ok {6}venue okx +5 of 5 are good/m);
  });

  await t.test("names faults of venues and advises what to do", async (t) => {
    world.fault({ venue: "kraken", kind: "refused" });
    world.fault({ venue: "okx", component: "rest:ticker", kind: "status", status: 451 });
    world.fault({ venue: "bitstamp", component: "ws:conn", kind: "handshake-refused" });
    await doctorFinds(t, env, ["venue kraken", "venue okx", "venue bitstamp"], {
      "venue kraken": { found: /rest:time: connect; rest:status: skipped after rest:time/ },
      "venue okx": { found: /4 of 5 are good.*rest:ticker: blocked \(status 451\)/, advice: /another region/ },
      "venue bitstamp": { found: /socket .*: handshake/ },
      network: { found: "3 of 4 venues answer" },
    });
    await world.clear();
  });

  await t.test("says where a venue is blocked, and gives advice for each fault", async (t) => {
    world.fault({ venue: "okx", component: "rest:ticker", kind: "status", status: 403 });
    world.fault({ venue: "okx", component: "rest:book", kind: "status", status: 429 });
    const blocking: Registry = structuredClone(registry);
    const okx = blocking.venues.find(({ id }) => id === "okx")!;
    okx.blockedIn = { countries: ["US"], source: "its terms, 2026-11-01" };
    const settings = { ...env, ...(await environment(t, blocking, {})) };
    await doctorFinds(t, settings, ["venue okx"], {
      "venue okx": {
        found: /rest:ticker: blocked .*rest:book: limited/,
        advice:
          /other hosts of the venue .*; it does not serve US \(its terms, 2026-11-01\); this address sends it too many/,
      },
    });
    await world.clear();
  });

  await t.test("warns about components that were never good, with what to do", async (t) => {
    await pool.query(sql`
      insert into region_state (component_id, region_id, state, since, reporting, samples, bad, bad_run, newest_fault)
      select c.component_id, r.region_id, 'outage', now(), true, 6, 6, 6, 'blocked'
      from component c
      join venue v using (venue_id)
      cross join region r
      where v.venue in ('okx', 'kraken') and v.published and c.published and r.published
      on conflict (component_id, region_id) do update set newest_fault = 'blocked'
    `);
    const good = (venue: string) =>
      pool.query(sql`
        update component_entry set good_at = now()
        where component_id in (select component_id from component join venue using (venue_id) where venue = ${venue})
      `);
    await good("kraken");
    const never = async () => (await findingsOn(pool, null, registry)).filter(({ check }) => check === "never good");
    const { rest, socket } = registry.venues.find(({ id }) => id === "okx")!;
    const found = await never();
    t.equal(found.length, rest.length + 1 + socket!.streams.length, "those of okx alone");
    t.match(found[0], {
      grade: "warning",
      found: `never seen good from here: okx rest:${rest[0]!.name}: blocked`,
      advice: /^it refuses this address or country: measure it from another region/,
    });
    await pool.query(sql`update component_entry set good_at = null`);
    t.match((await never()).slice(-1), [{ found: /^never seen good from here: okx ws:\w+: blocked$/ }]);
    await pool.query(sql`
      insert into component_entry (component_id, holds_from, fingerprint)
      select component_id, now(), 'another' from component_entry where holds_from = '-infinity'
    `);
    await pool.query(sql`update component_entry set good_at = now() where fingerprint = 'another'`);
    t.match(await never(), [{ grade: "ok" }], "the present entry counts");
    const probe = await poolAs(t, "vw_probe");
    t.match(
      (await findingsOn(probe, null, registry)).find(({ check }) => check === "never good"),
      {
        grade: "ok",
        found: "not checked: this user may not see it",
      },
    );
    await pool.query(sql`delete from region_state`);
    await pool.query(sql`alter table component_entry rename column good_at to seen_at`);
    t.match(
      new Map((await findingsOn(pool, null, registry)).map(({ check, grade }) => [check, grade])),
      new Map([
        ["never good", "failure"],
        ["engine", "ok"],
      ]),
      "its own failure leaves the other checks",
    );
    await pool.query(sql`alter table component_entry rename column seen_at to good_at`);
  });

  await t.test("sees a certificate that has expired", async (t) => {
    const authority = makeAuthority();
    const [from, until] = [ago(9 * 86_400), ago(3 * 86_400)];
    const certificate = authority.vouchFor({ names: ["localhost", "127.0.0.1"], from, until });
    const server = createServer(certificate, (_, response) => response.end("{}"));
    const port = await listen(server, 0, "127.0.0.1", "PORT");
    t.teardown(() => server.close());
    const root = join(t.testdir({}), "root.pem");
    await writeFile(root, authority.cert);
    const expired: Registry = structuredClone(registry);
    const [venue] = expired.venues;
    for (const endpoint of venue!.rest) endpoint.url = `https://localhost:${port}/`;
    const check = `venue ${venue!.id}`;
    const settings = { ...env, ...(await environment(t, expired, {})), NODE_EXTRA_CA_CERTS: root };
    const found = /rest:\w+: tls; .*certificate expired 3 days ago/;
    await doctorFinds(t, settings, [check], { [check]: { found, advice: /certificate/ } });
  });

  await t.test("works while the database is away", async (t) => {
    const away = `postgres://user:secret@127.0.0.1:${await freePort()}/db`;
    const findings = await doctorFinds(t, { ...env, DATABASE_URL: away }, ["database"], {
      database: { found: /ECONNREFUSED.*nothing listens there/ },
      "venue okx": { grade: "ok" },
    });
    t.notMatch(JSON.stringify(findings), "secret");
  });

  await t.test("names wrong settings and a wrong registry", async (t) => {
    await doctorFinds(t, { ...env, PORT: "many" }, ["settings"], { settings: { found: "PORT: expected" } });
    // the remaining checks run
    await doctorFinds(t, { ...env, REGISTRY: "/nowhere.json" }, ["registry"], { database: { grade: "ok" } });
    await doctorFinds(t, { ...env, REGION: "mars" }, ["registry"], { registry: { found: "but not REGION=mars" } });
    // only web needs its files
    await doctorFinds(t, { ...env, SITE_LOGO: "/none.svg" }, [], { look: { grade: "warning", found: "SITE_LOGO" } });
  });

  await t.test("notices that no probe measures and no engine decides", async (t) => {
    const gone = member(pool);
    await gone.renew();
    await gone.leave();
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '6 minutes'`);
    t.match((await findingsOn(pool, null, null)).slice(-2), [
      { check: "probes", grade: "warning", found: /^us-east: no heartbeat since 20/ },
      { check: "engine", grade: "failure", found: /every state is unknown/ },
    ]);
    await pool.query(sql`delete from probe`);
    await pool.query(sql`update engine_clock set ticked_at = now()`);
  });

  await t.test("names a missing permission and continues", async (t) => {
    const analyst = await poolAs(t, "vw_analyst");
    const failures = failuresIn(await findingsOn(analyst, "us-east", registry));
    t.strictSame(checksOf(failures), ["schema", "rights"]);
    t.match(failures[0]!.found, "permission denied for schema venuewatch");
  });

  await t.test("warns about a probe of another build", async (t) => {
    await pool.query(sql`
      insert into probe (region_id, process, version, started_at, seen_at, unmeasured, alive_until)
      select region_id, gen_random_uuid(), '0.0.1', now(), now(), 0, now() + interval '1 hour' from region where region = 'us-east'
    `);
    await doctorFinds(t, env, [], { probes: { grade: "warning", found: "us-east 0.0.1" } });
  });

  await t.test("names an older schema", async (t) => {
    const [newest] = await pool.query<{ name: string }>(
      sql`delete from venuewatch.migration where name = (select max(name) from venuewatch.migration) returning name`,
    );
    await doctorFinds(t, env, ["schema"], { schema: { found: `lacks ${newest!.name}`, advice: /venuewatch migrate/ } });
  });

  async function poolAs(t: Test, role: string): Promise<Pool> {
    const acting = openPool(url, { applicationName: "test", log, max: 1 });
    t.teardown(() => acting.close());
    await acting.script(becoming(role));
    return acting;
  }

  function everySample() {
    return pool.query(sql`select count(*) from sample`);
  }
});

void t.test("the doctor warns about old entries, and about entries that end", async (t) => {
  const registry = await loadRegistry("registry/exchanges.json");
  const [okx] = registry.venues.filter(({ id }) => id === "okx");
  const until = { date: "2026-10-31", what: "Port 8443 closes", source: "its notice" };
  const dated = { ...registry, venues: [{ ...okx!, checkedAt: "2026-06-01", until }] };
  t.match(entriesFound(dated, new Date("2026-11-28")), {
    check: "entries",
    grade: "warning",
    found:
      "compared with their sources more than 90 days ago: okx (2026-06-01); okx ended on 2026-10-31: Port 8443 closes (its notice)",
    advice: /^install the newest release/,
  });
  t.equal(entriesFound(dated, new Date("2026-06-02")).grade, "ok");
});

void t.test("the doctor reports too few open files with the number needed", async (t) => {
  const registry = await loadRegistry("registry/all.json");
  const found = /^256 are allowed, at most \d+ are needed/;
  t.match(filesFound(registry, 256), { grade: "failure", found, advice: /ulimit -n \d+/ });
  t.equal(filesFound(registry, 65_536).grade, "ok");
});

/** Runs the doctor, and asserts which checks fail and what others find. @returns all findings */
async function doctorFinds(t: Test, env: Env, failed: string[], expected: Record<string, object>): Promise<Finding[]> {
  const script = runCli(t, ["doctor", "--json"], env);
  t.equal(await script.ended, failed.length > 0 ? 2 : 0);
  const [json = ""] = /^\{[^]*^\}$/m.exec(script.output()) ?? [];
  const { ok, findings } = JSON.parse(json) as { ok: boolean; findings: Finding[] };
  t.equal(ok, failed.length === 0);
  t.strictSame(checksOf(failuresIn(findings)), failed);
  for (const [check, finding] of Object.entries(expected)) {
    const found = findings.find((one) => one.check === check);
    t.match(found, finding, check);
  }
  return findings;
}

async function environment(t: Test, registry: Registry, env: Env): Promise<Env> {
  const directory = t.testdir({});
  const path = join(directory, "registry.json");
  // their real dates would make the doctor warn one day
  const checkedAt = new Date().toISOString().slice(0, 10);
  const venues = registry.venues.map((venue) => ({ ...venue, checkedAt, until: undefined }));
  await writeFile(path, JSON.stringify({ ...registry, venues }));
  const ports = { PORT: String(await freePort()), HEALTH_PORT: String(await freePort()) };
  return { REGISTRY: path, DATA_DIR: directory, ...ports, ...env };
}
