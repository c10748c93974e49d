/** `venuewatch doctor` as an operator runs it: where all is well, and where something is not, which it names. */
import { createServer } from "node:https";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { filesFound } from "../server/commands/doctor/machine.js";
import type { Finding } from "../server/commands/doctor/finding.js";
import { sql } from "../server/db.js";
import { listen } from "../server/listen.js";
import { makeLog } from "../server/log.js";
import { migrate } from "../server/migrate.js";
import { loadRegistry, type Registry } from "../server/registry.js";
import { makeAuthority } from "./certificates.js";
import { migratedDatabase } from "./database.js";
import { freePort } from "./free-port.js";
import { runCli } from "./run-script.js";
import { startWorld } from "./world/world.js";

const log = makeLog("test", "error");

interface Examined {
  code: number | NodeJS.Signals;
  ok: boolean;
  findings: Finding[];
  of: (check: string) => Finding | undefined;
  failed: string[];
}

void t.test("the doctor", async (t) => {
  const { pool, url, registry: real } = await migratedDatabase(t);
  const few = real.venues.filter(({ id }) =>
    ["kraken", "okx", "bitstamp", "binance-futures"].includes(id),
  );
  const world = await startWorld({ registry: { ...real, venues: few } });
  t.teardown(() => world.close());
  const { registry } = world;
  await migrate(pool, registry, log);
  const env = await environment(t, registry, { DATABASE_URL: url });

  await t.test("finds all well where it is", async (t) => {
    const before = await everySample();
    const seen = await examined(t, env);
    t.equal(seen.code, 0);
    t.strictSame(
      seen.findings.filter(({ grade }) => grade !== "ok"),
      [],
    );
    t.match(
      seen.of("database")!.found,
      /PostgreSQL \d+.* with TimescaleDB 2\./,
    );
    t.match(seen.of("clock")!.found, /this clock is -?\d+ ms ahead/);
    t.match(seen.of("venue kraken")!.found, /^6 of 6 answer well/);
    t.match(seen.of("venue binance-futures")!.found, /^7 of 7 answer well/);
    t.equal(world.openSockets(), 0, "and leaves no socket open");
    t.strictSame(await everySample(), before, "and no sample");
  });

  await t.test("says it in words, too", async (t) => {
    const script = runCli(t, ["doctor"], env);
    t.equal(await script.ended, 0);
    t.match(script.output(), /^ok {6}versions +venuewatch \d/m);
    t.match(script.output(), /^ok {6}venue okx +5 of 5 answer well/m);
  });

  await t.test("names what is wrong with venues, and what to do", async (t) => {
    world.fault({ venue: "kraken", kind: "refused" });
    world.fault({
      ...{ venue: "okx", component: "rest:ticker" },
      ...{ kind: "status", status: 451 },
    });
    world.fault({
      ...{ venue: "bitstamp", component: "ws:conn" },
      kind: "handshake-refused",
    });
    const seen = await examined(t, env);
    t.equal(seen.code, 2);
    t.strictSame(seen.failed, ["venue kraken", "venue okx", "venue bitstamp"]);
    t.match(
      seen.of("venue kraken")!.found,
      /rest:time: connect; rest:status: not asked after rest:time/,
    );
    t.match(seen.of("venue okx"), {
      found: /4 of 5 answer well.*rest:ticker: blocked \(status 451\)/,
      advice: /another region/,
    });
    t.match(seen.of("venue bitstamp")!.found, /socket .*: handshake/);
    t.match(seen.of("network")!.found, "3 of 4 venues answer");
    await world.clear();
  });

  await t.test("sees a certificate that has expired", async (t) => {
    const names = ["localhost", "127.0.0.1"];
    const authority = makeAuthority();
    const { key, cert } = authority.vouchFor({
      names,
      from: new Date(Date.now() - 9 * 86_400_000),
      until: new Date(Date.now() - 3 * 86_400_000),
    });
    const server = createServer({ key, cert }, (_, response) =>
      response.end("{}"),
    );
    const port = await listen(server, 0, "127.0.0.1", "PORT");
    t.teardown(() => server.close());
    const root = join(t.testdir({}), "root.pem");
    await writeFile(root, authority.cert);
    const expired: Registry = structuredClone(registry);
    const [venue] = expired.venues;
    for (const endpoint of venue!.rest)
      endpoint.url = `https://localhost:${port}/`;
    const seen = await examined(t, {
      ...env,
      ...(await environment(t, expired, {})),
      NODE_EXTRA_CA_CERTS: root,
    });
    t.strictSame(seen.failed, [`venue ${venue!.id}`]);
    t.match(seen.of(`venue ${venue!.id}`), {
      found: /rest:\w+: tls; .*certificate expired 3 days ago/,
      advice: /certificate/,
    });
  });

  await t.test("works where the database is away", async (t) => {
    const away = `postgres://user:secret@127.0.0.1:${await freePort()}/db`;
    const seen = await examined(t, { ...env, DATABASE_URL: away });
    t.equal(seen.code, 2);
    t.strictSame(seen.failed, ["database"]);
    t.match(seen.of("database")!.found, /ECONNREFUSED.*nothing listens there/);
    t.notMatch(JSON.stringify(seen.findings), "secret");
    t.equal(seen.of("venue okx")!.grade, "ok");
  });

  await t.test("names wrong settings and a wrong registry", async (t) => {
    const settings = await examined(t, { ...env, PORT: "many" });
    t.strictSame(settings.failed, ["settings"]);
    t.match(settings.of("settings")!.found, "PORT: expected");
    const missing = await examined(t, { ...env, REGISTRY: "/nowhere.json" });
    t.strictSame(missing.failed, ["registry"]);
    t.equal(missing.of("database")!.grade, "ok", "and looks at the rest");
    const mars = await examined(t, { ...env, REGION: "mars" });
    t.match(mars.of("registry")!.found, "but not REGION=mars");
  });

  await t.test("names ports, a data directory and other builds", async (t) => {
    const server = createServer();
    const taken = await listen(server, 0, undefined, "PORT");
    t.teardown(() => server.close());
    await pool.query(sql`
      insert into probe (region_id, process, version, started_at, seen_at, unmeasured, alive_until)
      select region_id, gen_random_uuid(), '0.0.1', now(), now(), 0, now() + interval '1 hour' from region where region = 'us-east'
    `);
    const seen = await examined(t, {
      ...env,
      ...{ PORT: String(taken), DATA_DIR: "/dev/null" },
    });
    t.strictSame(seen.failed, ["data directory"]);
    t.match(seen.of("ports")!.found, `${taken} taken`);
    t.match(seen.of("probes"), {
      ...{ grade: "warning", found: "us-east 0.0.1" },
    });
  });

  await t.test("names an older schema", async (t) => {
    const [newest] = await pool.query<{ name: string }>(
      sql`delete from venuewatch.migration where name = (select max(name) from venuewatch.migration) returning name`,
    );
    const seen = await examined(t, env);
    t.strictSame(seen.failed, ["schema"]);
    t.match(seen.of("schema"), {
      ...{ found: `lacks ${newest!.name}`, advice: /venuewatch migrate/ },
    });
  });

  function everySample() {
    return pool.query(sql`select count(*) from sample`);
  }
});

void t.test(
  "too few open files are told with how many are needed",
  async (t) => {
    const registry = await loadRegistry("registry-all.json");
    t.match(filesFound(registry, 256), {
      grade: "failure",
      found: /^256 are allowed, \d+ are needed/,
      advice: /ulimit -n \d+/,
    });
    t.equal(filesFound(registry, 65_536).grade, "ok");
  },
);

async function examined(
  t: Test,
  env: Record<string, string>,
): Promise<Examined> {
  const script = runCli(t, ["doctor", "--json"], env);
  const code = await script.ended;
  const [json = ""] = /^\{[^]*^\}$/m.exec(script.output()) ?? [];
  const { ok, findings } = JSON.parse(json) as Pick<
    Examined,
    "ok" | "findings"
  >;
  const failed = findings.filter(({ grade }) => grade === "failure");
  t.equal(ok, failed.length === 0);
  return {
    ...{ code, ok, findings },
    of: (check) => findings.find((one) => one.check === check),
    failed: failed.map(({ check }) => check),
  };
}

async function environment(
  t: Test,
  registry: Registry,
  env: Record<string, string>,
): Promise<Record<string, string>> {
  const directory = t.testdir({});
  const path = join(directory, "registry.json");
  await writeFile(path, JSON.stringify(registry));
  return {
    ...{ REGISTRY: path, DATA_DIR: directory },
    ...{
      PORT: String(await freePort()),
      HEALTH_PORT: String(await freePort()),
    },
    ...env,
  };
}
