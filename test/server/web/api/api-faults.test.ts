import { once } from "node:events";
import { connect } from "node:net";
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migrate } from "../../../../server/database/migrate.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { type Registry } from "../../../../shared/registry/registry.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { operations } from "../../../../server/web/operations.js";
import { type Api, serve } from "../../../support/api.js";
import { emptyDatabase, migratedDatabase, type TestDatabase } from "../../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { makeGate } from "../../../support/gate.js";
import { until } from "../../../support/until.js";

/** Its samples are still stored. */
const past = { venue: "okx", component: "rest:ticker", startedAt: ago(86_400), minutes: 5 };
const pastSlug = `okx-${past.startedAt.toISOString().slice(0, 10)}-rest-outage`;

/** Every route that reads the database, and the tables at the addresses of their JSON. */
function dataRoutesOf(registry: Registry): string[] {
  return operations(registry, "http://localhost")
    .filter(({ asksDatabase }) => asksDatabase)
    .map(({ path }) => path)
    .concat(["/v1/targets/{venue}", "/v1/reliability", "/v1/incidents"].map((path) => `${path}?format=csv`))
    .map((path) => path.replace("{venue}", past.venue).replace("{slug}", pastSlug));
}

interface Ready {
  ready: boolean;
  checks: Record<string, { ok: boolean; detail: string }>;
}

/** @param statementTimeoutMs short where a silent database must be given up soon */
function poolOf(t: Test, url: string, statementTimeoutMs = 30_000) {
  const pool = openPool(url, { applicationName: "test", log: makeLog("test", "error"), statementTimeoutMs });
  t.teardown(() => pool.close());
  return pool;
}

async function unavailable(t: Test, api: Api, path: string): Promise<void> {
  t.match(await api.ask(path), { status: 503, headers: { "retry-after": /^5$/, "cache-control": "no-store" } }, path);
}

/** The readiness as it is now: an answer counts for a second. */
async function lookedUp(api: Api) {
  await sleep(1_000);
  return api.ask<Ready>("/readyz");
}

void t.test("the API survives faults around it", async (t) => {
  const database = await migratedDatabase(t);
  await t.test("everything is unknown while the engine is silent", (t) => engineIsSilent(t, database));
  await t.test("503 while the database is away, and recovery without a restart", (t) => databaseIsAway(t, database));
  await t.test("held pages are served while one statement blocks the database", (t) => databaseIsBusy(t, database));
  await t.test("a migration causes no error", (t) => migrationUnderWay(t, database));
  await t.test("clients that vanish or never finish a request do no harm", (t) => clientsVanish(t, database));
});

async function databaseIsAway(t: Test, { pool, registry, url }: TestDatabase): Promise<void> {
  const gate = await makeGate(t, url);
  const api = await serve(t, { pool: poolOf(t, gate.url), registry });
  const hasty = await serve(t, { pool: poolOf(t, gate.url, 2_000), registry });
  const dataRoutes = dataRoutesOf(registry);
  await measured(pool, { from: ago(90), to: ago(0) });
  await pastIncident(pool, past);
  await decide(pool);
  const ready = async () => {
    const { status, body } = await lookedUp(api);
    return { status, ...body };
  };

  async function isServed(t: Test) {
    t.match(await ready(), { status: 200, ready: true });
    for (const path of dataRoutes) t.equal((await api.ask(path)).status, 200, path);
  }

  await t.test("ready while the database is available", isServed);

  await t.test("connections refused: 503, and /healthz still answers", async (t) => {
    await gate.shut();
    for (const [path, status] of [
      ["/healthz", 200],
      ["/v1/thresholds", 200],
      ["/v1/targets/mtgox", 404],
      ["/v1/status?category=x", 400],
    ] as const)
      t.equal((await api.ask(path)).status, status, path);
    for (const path of dataRoutes) await unavailable(t, api, path);
    const database = { ok: false, detail: "did not answer (ECONNREFUSED)" };
    t.match(await ready(), { status: 503, checks: { database } });
  });

  await t.test("available again: served without a restart", async (t) => {
    await gate.open();
    await isServed(t);
  });

  await t.test("cut off in mid-statement: 503", async (t) => {
    for (const path of ["/v1/status", "/v1/incidents?format=csv"]) {
      gate.cutAtNextStatement();
      await unavailable(t, api, path);
      t.equal((await api.ask(path)).status, 200, "the next request is served");
    }
  });

  await t.test("silent: 503 after the timeout", async (t) => {
    t.equal((await hasty.ask("/v1/status")).status, 200);
    gate.mute();
    const givenUp = unavailable(t, hasty, "/v1/status");
    t.equal((await hasty.ask("/healthz")).status, 200);
    await givenUp;
    await gate.open();
    t.equal((await hasty.ask("/v1/status")).status, 200);
    t.match(await ready(), { status: 200 });
  });

  for (const line of [...api.logged, ...hasty.logged])
    t.match(line, / error web: the database is (still )?away/, "the log names the outage and nothing else");
  t.match(api.logged.length, /^[1-3]$/, "not once for each request");
}

/**
 * Blocks all other statements: on the embedded database because it has one backend, on a server because they all read
 * this table.
 */
async function databaseIsBusy(t: Test, { pool, registry, url }: TestDatabase): Promise<void> {
  await decide(pool);
  const heldMs = 30_000;
  const api = await serve(t, { pool: poolOf(t, url), registry, heldMs });
  const waiting = await serve(t, { pool: poolOf(t, url), registry });
  const pages = ["status", "targets/okx", "targets/okx?range=7d", "regions", "incidents", "reliability"];
  const paths = [...pages.map((page) => `/v1/${page}`), "/metrics"];
  const askAll = () => Promise.all(paths.map(async (path) => (await api.ask(path)).text));
  const before = await askAll();
  // makes no new body, and reads the clock
  t.strictSame(await askAll(), before);
  await waiting.ask("/v1/status");

  const blocker = new pg.Client(url);
  await blocker.connect();
  t.teardown(() => blocker.end());
  await blocker.query("begin");
  await blocker.query("lock table venuewatch.engine_clock");
  let isHeld = true;
  const waited = waiting.ask("/v1/status").then(() => isHeld);
  t.strictSame(await askAll(), before, "held pages are served");
  t.strictSame(await askAll(), before, "held pages are served again");
  isHeld = false;
  // it fails if a limit has ended the block before
  await blocker.query("rollback");
  t.equal(await waited, false, "without held pages a response waits");

  const isLogged = api.logged.map((line) => /warn web: answering with the newest board/.test(line));
  t.strictSame(isLogged, [true], "it is logged once");
  await decide(pool);
  const [board] = await askAll();
  t.not(board, before[0], "new boards are made again");
}

void t.test("a database without our schema is not ready", async (t) => {
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  const url = await emptyDatabase(t);
  const api = await serve(t, { pool: poolOf(t, url), registry });
  for (const path of dataRoutesOf(registry)) await unavailable(t, api, path);
  const schema = { ok: false, detail: /run venuewatch migrate/ };
  const checks = { database: { ok: true }, schema, engine: { ok: false } };
  t.match(await api.ask("/readyz"), { status: 503, body: { checks } });
  t.match(api.logged[0], /error web: .*run venuewatch migrate/, "loudly");
});

async function engineIsSilent(t: Test, { pool, registry }: TestDatabase): Promise<void> {
  const api = await serve(t, { pool, registry });
  const engine = async () => (await lookedUp(api)).body;
  t.match(await engine(), { ready: false, checks: { engine: { detail: "has never ticked" } } });
  await decide(pool, ago(301));
  t.match(await engine(), { ready: false, checks: { database: { ok: true }, engine: { detail: /^silent since/ } } });
  await decide(pool);
  t.match(await engine(), { ready: true, checks: { engine: { ok: true } } });

  await pool.script("update engine_clock set ticked_at = now() + interval '1 h'");
  t.match(await engine(), { ready: false, checks: { engine: { detail: /ahead of the database's clock/ } } });
  const { body } = await api.ask<{ summary: { state: string } }>("/v1/status");
  t.equal(body.summary.state, "unknown", "a clock that went back is no sign of life");
  await pool.script("delete from engine_clock");
}

/** A deployment migrates while web runs: definitions are replaced, and readers wait at worst. */
async function migrationUnderWay(t: Test, { pool, registry }: TestDatabase): Promise<void> {
  const api = await serve(t, { pool, registry });
  const dataRoutes = dataRoutesOf(registry);
  let migrating = true;
  const statuses = new Set<number>();
  const readers = [1, 2, 3].map(async () => {
    while (migrating) for (const path of dataRoutes) statuses.add((await api.ask(path)).status);
  });
  for (let i = 0; i < 3; i++) await migrate(pool, registry, makeLog("test", "error"));
  migrating = false;
  await Promise.all(readers);
  t.ok(statuses.has(200));
  t.notOk(statuses.has(500), "never status 500");
}

async function clientsVanish(t: Test, { pool, registry }: TestDatabase): Promise<void> {
  const api = await serve(t, { pool, registry });
  const request = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";

  for (let i = 0; i < 50; i++)
    await new Promise<void>((resolve) => {
      const socket = connect(api.port, "127.0.0.1", () => {
        socket.write(request);
        socket.resetAndDestroy();
      });
      socket.on("error", () => {}).on("close", () => resolve());
    });
  t.equal((await api.ask("/v1/status")).status, 200);

  const [unfinished, idle] = [connect(api.port, "127.0.0.1"), connect(api.port, "127.0.0.1")];
  let closed = 0;
  for (const socket of [unfinished, idle]) socket.on("error", () => {}).on("close", () => closed++);
  unfinished.write(request.slice(0, 20));
  idle.write(request);
  await once(idle, "data");
  idle.pause();
  t.equal((await api.ask("/v1/status")).status, 200);

  const startedAtMs = performance.now();
  await api.close();
  const tookMs = performance.now() - startedAtMs;
  // responses in flight get two seconds; the connections would last for ten
  t.ok(tookMs < 9_000, `they do not delay the close: ${tookMs} ms`);
  idle.resume();
  await until(() => closed === 2);
  t.strictSame(api.logged, []);
}
