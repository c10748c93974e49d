/**
 * Runs compose.yaml's services as plain processes: a primary and a streaming replica with the same configuration,
 * logins with the passwords of `make secrets`, each program with its settings and the image's content, and HAProxy in
 * front of two web programs. Then parts of it fail. All steps share one setup, because it takes a while.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openPool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { replicaState } from "../../server/database/replica.js";
import { serve } from "../support/api.js";
import { get } from "../support/board.js";
import { compose } from "../support/compose.js";
import { pastIncident } from "../support/fleet.js";
import { freePort } from "../support/free-port.js";
import { type PostgresPrograms, postgresPrograms } from "../support/postgres-server.js";
import { until } from "../support/until.js";
import {
  answers,
  rowsOf,
  asTest,
  becomesReady,
  board,
  type Board,
  onReplica,
  ready,
  setStage,
  type ProductionStage,
} from "../support/production-stage.js";

const programs = await postgresPrograms();
const skip =
  (process.env.DATABASE_URL === undefined && "DATABASE_URL names no server") ||
  (typeof programs === "string" && programs);
const noProxy = spawnSync("haproxy", ["-v"]).error !== undefined;

const regions = ["eu-central", "ap-southeast"];

// most of this is waiting for lags of half a minute
t.setTimeout(900_000);

void t.test("production, as plain processes", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const stage = await setStage(t, programs);
  for (const [name, run] of [
    ["migration and logins, each as a step", migrateAndLogIn],
    ["no login works without a password, or has more rights than it should", keepsOut],
    ["primary, cores, probes and web", startsOnPrimary],
    ["a replica, and two web programs that read from it", startsReplica],
    ["a proxy in front of them", startsProxy],
    ["an idle primary is no lag", idleIsNoLag],
    ["the connection to the primary goes dead", linkIsCut],
    ["replay is paused: web reports it, and another web serves", replayPaused],
    ["a query that the replica must cancel is answered with 503", conflictIs503],
    ["the replica dies, and comes back", replicaDies],
    ["the primary restarts, and all programs continue", primaryRestarts],
    ["no password appears anywhere", noPasswordIsShown],
  ] as const) {
    const startMs = performance.now();
    const missing =
      run === startsProxy && noProxy ? "haproxy is not installed: deploy/production/haproxy.cfg is not tested" : false;
    await t.test(name, { skip: missing }, (t) => run(t, stage));
    const seconds = (performance.now() - startMs) / 1000;
    t.comment(`${name}: ${seconds.toFixed(1)} s`);
    if (!t.passing()) {
      t.comment(stage.outputs());
      return;
    }
  }
});

async function migrateAndLogIn(t: Test, stage: ProductionStage) {
  await answers(stage.superuserUrl("primary"));
  for (const step of ["migrate", "logins", "migrate", "logins"]) {
    const { status, output } = stage.run(step);
    t.equal(status, 0, `${step}, again too: ${output}`);
  }
}

async function keepsOut(t: Test, stage: ProductionStage) {
  const { port } = stage.primary;
  const at = (userinfo: string, database = "venuewatch") => `postgres://${userinfo}@127.0.0.1:${port}/${database}`;
  const web = `web:${stage.secret("web_password")}`;
  for (const [url, code] of [
    [at("web:wrong"), "28P01"],
    [at(`core:${stage.secret("web_password")}`), "28P01"],
    // no line of pg_hba.conf covers these
    [at(web, "postgres"), "28000"],
    [at(`replica:${stage.secret("replica_password")}`, "template1"), "28000"],
  ] as const)
    await t.rejects(rowsOf(url, "select 1"), { code }, `${code} ${url}`);
  for (const statement of [
    "delete from venuewatch.sample",
    "set transaction read write; create table public.mine ()",
    "set default_transaction_read_only = off; truncate venuewatch.incident",
    "alter role web connection limit 1000",
    "set temp_file_limit = -1",
    "select * from venuewatch.channel",
    "select pg_read_file('/etc/passwd')",
    "select rolpassword from pg_authid",
  ])
    await t.rejects(rowsOf(at(web), statement), /./, statement);
  const kept = await rowsOf<{ scram: boolean }>(
    stage.superuserUrl("primary"),
    "select rolpassword ~ '^SCRAM-SHA-256\\$' as scram from pg_authid where rolpassword is not null",
  );
  t.same(kept, Array(9).fill({ scram: true }));
}

async function startsOnPrimary(t: Test, stage: ProductionStage) {
  for (const service of ["core-1", "core-2", "web", ...regions.map((id) => `probe-${id}`)])
    (await stage.program(service)).start();
  for (const program of Object.values(stage.programs)) await becomesReady(t, program);
  const { web } = stage.programs;
  await until(async () => (await board(web!.url)).venues.every(({ state }) => state === "operational"), 60_000, 1_000);
  const fleet = await get<{ regions: { id: string; reporting: boolean }[] }>(`${web!.url}/v1/regions`);
  const reporting = fleet.regions.filter(({ reporting }) => reporting);
  t.match(reporting, [{ id: regions[0] }, { id: regions[1] }]);
  t.equal(reporting.length, 2);
  t.same((await ready(web!)).checks.replica, undefined, "it reads from no replica");
}

async function startsReplica(t: Test, stage: ProductionStage) {
  const { replica, gate } = stage;
  stage.upstream.port = Number(new URL(gate.url).port);
  // the remains of an interrupted base backup
  const part = join(stage.dir, "replica", "data.part");
  const left = `mkdir ${part} && echo 15 >${part}/PG_VERSION`;
  execFileSync("sh", ["-c", left], (programs as PostgresPrograms).user ?? {});
  replica.start();
  await answers(stage.superuserUrl("replica"));
  t.notOk(existsSync(part));
  const [slot] = await rowsOf(stage.superuserUrl("primary"), "select slot_name, active from pg_replication_slots");
  t.same(slot, { slot_name: "replica", active: true });
  t.match(replica.output(), "taking a base backup");

  for (const service of ["web-a", "web-b"]) (await stage.program(service)).start();
  for (const name of ["web-a", "web-b"]) {
    const program = stage.programs[name]!;
    await becomesReady(t, program);
    t.match((await ready(program)).checks.replica, { ok: true, detail: /^\d\.\d s behind/ });
    const metrics = await (await fetch(`${program.own}/metrics`)).text();
    t.match(metrics, /^venuewatch_replica_lag_seconds [0-9.e-]+$/m);
    t.match(metrics, /^venuewatch_replica_receiving 1$/m);
  }
  const slug = await incidentOf(stage);
  for (const path of [
    ...["/v1/status", "/v1/targets/okx", "/v1/targets/okx?range=7d", "/v1/targets/okx?format=csv"],
    ...["/v1/reliability?days=90", "/v1/reliability?format=csv"],
    ...["/v1/incidents", "/v1/incidents?format=csv", `/v1/incidents/${slug}`],
    ...["/v1/detection", "/v1/notify", "/v1/regions", "/v1/thresholds", "/metrics", "/openapi.json"],
  ])
    for (const name of ["web", "web-a"]) {
      const { status } = await fetch(`${stage.programs[name]!.url}${path}`);
      t.equal(status, 200, `${name} ${path}`);
    }
}

async function startsProxy(t: Test, stage: ProductionStage) {
  const [port, operators] = [await freePort(), await freePort()];
  const config = Object.entries(stage.programs)
    .filter(([, { url }]) => url)
    .reduce(
      (text, [name, { url, own }]) =>
        text.replace(new RegExp(`^( +server ${name}) \\S+`, "gm"), `$1 ${new URL(url).host} port ${new URL(own).port}`),
      readFileSync(packagedFile("deploy/production/haproxy.cfg"), "utf8"),
    )
    .replace("bind :8080", `bind 127.0.0.1:${port}`)
    .replace("bind :8404", `bind 127.0.0.1:${operators}`);
  const file = join(stage.dir, "haproxy.cfg");
  writeFileSync(file, config);
  const haproxy = stage.longRunning(() => spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "pipe", "pipe"] }));
  haproxy.start();
  stage.proxy = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${stage.proxy}/healthz`).catch(() => null))?.ok === true);
  stage.serving = async (backend) => {
    const text = await (await fetch(`http://127.0.0.1:${operators}/metrics`)).text();
    const up = new RegExp(`^haproxy_server_status\\{proxy="${backend}",server="([^"]+)",state="UP"\\} 1`, "gm");
    return [...text.matchAll(up)].map(([, name = ""]) => name);
  };
  for (const backend of ["webs", "last"]) await until(async () => (await stage.serving(backend)).length === 3);
  t.equal((await fetch(`http://127.0.0.1:${operators}/healthz`)).status, 200);

  // each client has its own limit, and a client cannot use another's by a header that it writes
  const left = async (forwarded: string) => {
    const { headers } = await fetch(`${stage.programs["web-a"]!.url}/v1/notify`, {
      headers: { "X-Forwarded-For": forwarded },
    });
    return Number(/remaining=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  const first = await left("198.51.100.7");
  t.equal(await left("203.0.113.1, 198.51.100.7"), first - 1, "the last address counts");
  t.ok((await left("198.51.100.8")) > first - 2, "another client");
  t.equal((await fetch(`${stage.proxy}/v1/status`)).status, 200);
}

async function idleIsNoLag(t: Test, stage: ProductionStage) {
  const writers = Object.values(stage.programs).filter(({ name }) => !name.startsWith("web"));
  for (const { name, stop } of writers) t.equal(await stop(), 0, `${name} shuts down on the signal`);
  const web = stage.programs["web-a"]!;
  await onReplica(stage, async (pool) => {
    await until(async () => (await replicaState(pool)).silent_seconds! > 35, 90_000, 250);
    const state = await replicaState(pool);
    t.match(state, { is_replica: true, receiving: true, paused: false });
    // the primary reports every five seconds that there is nothing more to replay
    t.ok(state.behind_seconds! < 30, `${state.behind_seconds} s`);
  });
  const detail = /^\d+\.\d s behind.*; nothing was written for \d+ s$/;
  t.match((await ready(web)).checks.replica, { ok: true, detail });
  await saysUnknownInTime(t, stage);
  for (const { start } of writers) start();
  for (const program of writers) await becomesReady(t, program);
}

/** Five minutes after the replica's newest tick, by its own clock, all states are unknown. */
async function saysUnknownInTime(t: Test, stage: ProductionStage) {
  const web = stage.programs["web-a"]!;
  const primary = stage.superuserUrl("primary");
  const ticked = (shift: string) =>
    rowsOf(primary, `update venuewatch.engine_clock set ticked_at = ticked_at ${shift}`);
  const states = async (url = web.url) => [...new Set((await board(url)).venues.map(({ state }) => state))];
  t.same(await states(), ["operational"]);
  await ticked("- interval '5 minutes'");
  await until(async () => (await states()).join() === "unknown", 60_000, 100);
  // web looks once a second
  await until(async () => !(await ready(web)).ready, 60_000, 100);
  t.match(await ready(web), {
    checks: { replica: { ok: true }, engine: { ok: false, detail: /^silent since .* reads unknown$/ } },
  });
  if (stage.proxy) {
    await until(async () => (await stage.serving("webs")).length === 0);
    t.same(await stage.serving("last"), ["web-a", "web-b", "web"]);
    t.same(await states(stage.proxy), ["unknown"], "and the proxy still serves it");
  }
  await ticked("+ interval '5 minutes'");
  await until(async () => (await states()).join() === "operational", 60_000, 100);
}

/** The replica still has its connection, but receives nothing over it. */
async function linkIsCut(t: Test, stage: ProductionStage) {
  const { gate, programs } = stage;
  const detail = async () => (await ready(programs["web-a"]!)).checks.replica!.detail;
  const patience = (value: string) =>
    onReplica(stage, async (pool) => {
      await pool.script(`alter system set wal_receiver_timeout = ${value}`);
      await pool.script("select pg_reload_conf()");
    });
  await patience("'10min'");
  gate.mute();
  await onReplica(stage, async (pool) => {
    await until(async () => (await replicaState(pool)).behind_seconds! > 8, 60_000, 100);
    t.match(await replicaState(pool), { receiving: true });
  });
  await patience("default");
  await gate.open();
  await until(async () => /^[0-3]\.\d s behind$/.test(await detail()), 60_000, 250);
}

async function replayPaused(t: Test, stage: ProductionStage) {
  const { programs, proxy } = stage;
  await rowsOf(stage.superuserUrl("replica"), "select pg_wal_replay_pause()");
  const web = programs["web-a"]!;
  const before = await board(web.url);
  await until(async () => !(await ready(web)).ready, 90_000, 250);
  const detail = /^\d+\.\d s behind, more than 30; its replay is paused; \d+ bytes are not replayed yet$/;
  t.match((await ready(web)).checks, { replica: { ok: false, detail }, database: { ok: true } });
  t.equal((await fetch(`${web.own}/readyz`)).status, 503, "and its own port reports the same");

  const lagging = await board(web.url);
  t.ok(ageMs(lagging) > 30_000 && ageMs(before) > 0, "its answers state their instant");
  t.ok(ageMs(await board(programs["web"]!.url)) < 30_000);
  if (proxy) await until(async () => ageMs(await board(proxy)) < 20_000, 60_000, 250);

  await rowsOf(stage.superuserUrl("replica"), "select pg_wal_replay_resume()");
  await becomesReady(t, web);
  await becomesReady(t, programs["web-b"]!);
  t.ok(ageMs(await board(web.url)) < 30_000, "it has caught up");
}

async function conflictIs503(t: Test, stage: ProductionStage) {
  const reading = openPool(stage.superuserUrl("replica"), { ...asTest, max: 1 });
  t.teardown(() => reading.close());
  await rowsOf(stage.superuserUrl("primary"), "create table public.gone (a int)");
  await until(async () => {
    const [row] = await reading.query<{ here: boolean }>(sql`select to_regclass('public.gone') is not null as here`);
    return row!.here;
  });
  const sleeping = reading.query(sql`select pg_sleep(120) from (select count(*) from public.gone) g`);
  const cancelled = sleeping.catch((error: unknown) => error);
  await until(async () => {
    const sleepers = await rowsOf(
      stage.superuserUrl("replica"),
      "select from pg_stat_activity where query like 'select pg_sleep(120)%' and wait_event = 'PgSleep'",
    );
    return sleepers.length > 0;
  });
  await rowsOf(stage.superuserUrl("primary"), "drop table public.gone");
  const error = (await cancelled) as Error;
  t.match(error, { code: "40001", message: /conflict with recovery/ });

  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  const api = await serve(t, { pool: { ...reading, file: () => Promise.reject(error) }, registry });
  t.match(await api.ask("/v1/status"), { status: 503, headers: { "retry-after": "5" } });
}

async function replicaDies(t: Test, stage: ProductionStage) {
  const { programs, proxy, replica } = stage;
  await replica.stop("SIGKILL");
  const web = programs["web-a"]!;
  for (const path of ["/v1/status", "/v1/targets/kraken", "/v1/incidents?format=csv"])
    t.equal((await fetch(`${web.url}${path}`)).status, 503, path);
  t.match(await ready(web), { ready: false, checks: { database: { ok: false }, replica: { ok: false } } });
  t.equal((await fetch(`${web.url}/healthz`)).status, 200, "it is alive");
  if (proxy) await until(async () => (await fetch(`${proxy}/v1/status`)).status === 200, 60_000, 100);
  replica.start();
  await becomesReady(t, web);
  t.equal((await fetch(`${web.url}/v1/status`)).status, 200);
  t.equal(replica.output().match(/taking a base backup/g)!.length, 1, "it continues where it was");
}

async function primaryRestarts(t: Test, stage: ProductionStage) {
  const { programs, primary } = stage;
  await primary.stop("SIGINT");
  const web = programs["web-a"]!;
  await until(async () => (await ready(web)).checks.replica!.detail.includes("receives nothing"), 25_000, 250);
  t.equal((await fetch(`${web.url}/v1/status`)).status, 200, "it still reads");
  const before = await board(web.url);
  primary.start();
  await answers(stage.superuserUrl("primary"));
  for (const program of Object.values(programs)) await becomesReady(t, program);
  const beforeMs = Date.parse(before.generatedAt);
  await until(async () => Date.parse((await board(web.url)).generatedAt) > beforeMs + 10_000, 60_000, 250);
  t.notMatch((await ready(web)).checks.replica!.detail, "receives nothing");
  const [held] = await rowsOf<{ lost: number }>(
    stage.superuserUrl("primary"),
    "select count(*)::int as lost from pg_replication_slots where wal_status = 'lost'",
  );
  t.equal(held!.lost, 0);
}

function noPasswordIsShown(t: Test, { programs, primary, replica, secret }: ProductionStage): Promise<void> {
  const shown = [...Object.values(programs), primary, replica].map(({ output }) => output()).join("\n");
  for (const name of Object.keys(compose.secrets)) t.notOk(shown.includes(secret(name)), name);
  return Promise.resolve();
}

/** Returns an incident that was open for a while and has closed. */
async function incidentOf(stage: ProductionStage): Promise<string> {
  const pool = openPool(stage.superuserUrl("primary"), { ...asTest, max: 1 });
  try {
    const startedAt = new Date(Date.now() - 7_200_000);
    return await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: 5 });
  } finally {
    await pool.close();
  }
}

function ageMs({ generatedAt }: Board): number {
  return Date.now() - Date.parse(generatedAt);
}
