/**
 * Takes the real programs through an asynchronous failover that loses data: the primary is killed before its last
 * minute is replicated. It takes four minutes, so it runs only where PATRONI_LOSS is set, in addition to the needs of
 * test/deploy/patroni.test.ts.
 */
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { type Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { addChannel, channelKey, native } from "../support/alerts.js";
import { clusterMissing, patienceMs, startCluster } from "../support/patroni-cluster.js";
import { makePlace, postgresPrograms } from "../support/postgres-server.js";
import { addressLogged, runCli, type Script } from "../support/run-script.js";
import { until } from "../support/until.js";
import { startReceiver } from "../../world/receivers.js";
import { startWorld } from "../../world/world.js";

const log = makeLog("test", "error", () => {});
const programs = await postgresPrograms();
const skip =
  (!process.env.PATRONI_LOSS && "PATRONI_LOSS is not set") ||
  clusterMissing ||
  (typeof programs === "string" && programs);

/** With the engine's real times, an incident takes a minute to open and two to close. */
const decidedWithinMs = 240_000;
const regions = ["us-east", "eu-central"];
const venues = ["kraken", "okx", "gemini", "coinbase"];

interface Alert {
  eventId: number;
  kind: string;
  incident: { id: number; slug: string; venue: { id: string } };
}

void t.test("a failover that loses data", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const place = await makePlace(t, programs);
  const cluster = await startCluster(t, place, programs, "asynchronous");
  const { primary, address } = cluster;
  const making = poolOn(t, address("postgres"));
  await making.script("create database venuewatch");
  const url = address("venuewatch");

  const packaged = await loadRegistry(packagedFile("registry/exchanges.json"));
  const world = await startWorld({ registry: narrowed(packaged) });
  t.teardown(() => world.close());
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const alerts = () => receiver.arrivals.map(({ body }) => JSON.parse(body.toString()) as Alert);
  const alertOf = async (venue: string, kind: string) => {
    const isIt = (alert: Alert) => alert.kind === kind && alert.incident.slug.startsWith(venue);
    await until(() => alerts().some(isIt), decidedWithinMs, 100);
    return alerts().find(isIt)!;
  };

  const run = await programsOn(t, url, world.registry);
  t.equal(await run("migrate").ended, 0);
  const pool = poolOn(t, url);
  await addChannel(pool, { to: native(receiver.origin) });
  const core = run("core");
  const probes = regions.map((region) => run("probe", region));
  const web = run("web");
  const board = await addressLogged(web, "ready");
  await Promise.all([core, ...probes].map((script) => script.saw("ready")));

  world.fault({ kind: "status", venue: "kraken", component: "rest:ticker" });
  const known = await alertOf("kraken", "opened");

  await primary.stopReplicating();
  const atLoss = Date.now();
  const walAtLoss = await walPositionOf(pool);
  world.fault({ kind: "status", venue: "okx", component: "rest:ticker" });
  const lost = await alertOf("okx", "opened");
  // samples that operators could see until the primary took them with it
  const acknowledged = await keysOf(pool);
  const lostBytes = (await walPositionOf(pool)) - walAtLoss;
  const killedAt = Date.now();
  await primary.kill();

  let recordedAt = 0;
  let boardAt = 0;
  await until(
    async () => {
      const newest = await newestOf(pool).catch(() => 0);
      if (recordedAt === 0 && newest > killedAt + 1_000) recordedAt = Date.now();
      const answer = await fetch(`${board}/v1/status`).catch(() => null);
      if (boardAt === 0 && recordedAt > 0 && answer?.ok) boardAt = Date.now();
      return boardAt > 0;
    },
    patienceMs,
    200,
  );
  const secondsTo = (to: number, from: number) => ((to - from) / 1000).toFixed(1);
  t.comment(`${secondsTo(killedAt, atLoss)} s and ${lostBytes} bytes were not replicated`);
  t.comment(`samples were recorded again ${secondsTo(recordedAt, killedAt)} s after the kill`);

  let missing = acknowledged;
  await until(
    async () => {
      const here = new Set(await keysOf(pool));
      missing = acknowledged.filter((key) => !here.has(key));
      return missing.length === 0;
    },
    30_000,
    500,
  ).catch(() => {});
  t.same(missing, [], `of ${acknowledged.length} acknowledged samples, none is lost`);
  for (const probe of probes) {
    await probe.saw("what it acknowledged lately is sent again");
    await probe.saw("stored samples again that a failover had lost");
  }
  t.match(core.output(), `${lost.incident.slug}`, "core logs what it restored");

  await world.clear();
  const slugsOf = (kind: string) => {
    const ofKind = alerts().filter((alert) => alert.kind === kind);
    return new Set(ofKind.map(({ incident }) => incident.slug));
  };
  await until(() => slugsOf("closed").size === slugsOf("opened").size, decidedWithinMs, 100);
  t.same(slugsOf("closed"), slugsOf("opened"), "every incident is closed");
  const closed = alerts().find(({ kind, incident }) => kind === "closed" && incident.slug === lost.incident.slug)!;
  t.equal(closed.incident.id, lost.incident.id, "the lost incident is closed");
  const numbers = new Map<number, string>();
  for (const { eventId, kind, incident } of alerts()) {
    const event = `${kind} ${incident.slug}`;
    t.equal(numbers.get(eventId) ?? event, event, `event number ${eventId} stands for one event`);
    numbers.set(eventId, event);
  }
  t.ok(closed.eventId > lost.eventId + 100_000);
  t.ok(lost.eventId > known.eventId);
  const page = await fetch(`${board}/v1/incidents/${lost.incident.slug}`);
  t.equal(page.status, 200, "its page exists");
  t.comment(`${alerts().length} requests for ${numbers.size} events: ${[...numbers].flat().join(" ")}`);
});

function narrowed(registry: Registry): Registry {
  return {
    ...registry,
    regions: registry.regions.filter(({ id }) => regions.includes(id)),
    venues: registry.venues.filter(({ id }) => venues.includes(id)),
  };
}

type Run = (command: string, region?: string) => Script;

async function programsOn(t: Test, url: string, registry: Registry): Promise<Run> {
  const folder = t.testdir({});
  const file = join(folder, "registry.json");
  writeFileSync(file, JSON.stringify(registry));
  for (const region of regions) await mkdir(join(folder, region));
  return (command, region) =>
    runCli(t, [command], {
      ...{ DATABASE_URL: url, REGISTRY: file, DATA_DIR: join(folder, region ?? "") },
      ...(region && { REGION: region }),
      ...{ CHANNEL_KEY: channelKey.toString("base64"), ALERT_LOOPBACK: "on" },
      ...{ PORT: "0", HEALTH_PORT: "0", RATE_LIMIT: "0" },
    });
}

function poolOn(t: Test, url: string): Pool {
  const pool = openPool(url, { ...{ applicationName: "test", log }, statementTimeoutMs: 10_000 });
  t.teardown(() => pool.close());
  return pool;
}

async function keysOf(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ key: string }>(
    sql`select concat_ws(' ', component_id, region_id, ts) as key from sample`,
  );
  return rows.map(({ key }) => key);
}

async function walPositionOf(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ bytes: number }>(sql`select (pg_current_wal_lsn() - '0/0')::bigint as bytes`);
  return row!.bytes;
}

async function newestOf(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ at: Date | null }>(sql`select max(ts) as at from sample`);
  return Number(row!.at);
}
