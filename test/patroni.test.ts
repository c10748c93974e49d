/** The example of production/patroni/, as it stands: a cluster of two servers whose primary is killed. Where DATABASE_URL is set, and Patroni, etcd, HAProxy and PostgreSQL's programs are here. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startShip } from "../probe/ship.js";
import { openPool, sql } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { migrate } from "../server/migrate.js";
import { packagedFile } from "../server/package.js";
import { recordSamples } from "../server/record-samples.js";
import { loadRegistry } from "../server/registry.js";
import { freePort } from "./free-port.js";
import { numberedSample } from "./numbered-sample.js";
import {
  makePlace,
  type Place,
  type PostgresPrograms,
  postgresPrograms,
} from "./postgres-server.js";
import { someSpool } from "./spool.js";
import { until } from "./until.js";

const log = makeLog("test", "error", () => {});
const programs = await postgresPrograms();
const missing = ["patroni", "etcd", "haproxy"].filter(
  (name) => spawnSync(name, ["--version"]).error !== undefined,
);
const skip =
  (!process.env.DATABASE_URL && "DATABASE_URL names no server") ||
  (missing.length > 0 && `${missing.join(", ")} are not installed here`) ||
  (typeof programs === "string" && programs);

/** A server takes some seconds to start, Patroni's `ttl` is twenty. */
const patienceMs = 120_000;

void t.test("a cluster whose primary is killed", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const place = await makePlace(t, programs);
  const run = runner(t, place, programs);
  const etcd = await startEtcd(run);
  const nodes = [
    await startNode(run, "a", etcd, place, programs),
    await startNode(run, "b", etcd, place, programs),
  ];
  const roles = async () =>
    (
      await Promise.all(
        nodes.map(async ({ rest }) => {
          const answer = await fetch(`http://${rest}/cluster`).catch(
            () => null,
          );
          const body = (await answer?.json()) as Cluster | undefined;
          return body?.members;
        }),
      )
    ).find((members) => members !== undefined) ?? [];
  const nodeOf = async (role: string) =>
    nodes[(await roles()).findIndex((member) => member.role === role)];
  await until(async () => !!(await nodeOf("sync_standby")), patienceMs, 200);
  const primary = (await nodeOf("leader"))!;
  const standby = nodes.find((node) => node !== primary)!;

  const address = (database: string) =>
    `postgres://postgres:of-the-superuser@${standby.sql},${primary.sql}/${database}`;
  const making = openPool(address("postgres"), {
    applicationName: "test",
    log,
  });
  await making.script("create database venuewatch");
  await making.close();
  const pool = openPool(address("venuewatch"), {
    applicationName: "test",
    log,
    statementTimeoutMs: 30_000,
  });
  t.teardown(() => pool.close());
  const registry = await loadRegistry(packagedFile("registry.json"));
  await migrate(pool, registry, makeLog("test", "error"));

  const proxied = openPool(await startProxy(run, place, nodes), {
    applicationName: "test",
    log,
    max: 1,
  });
  t.teardown(() => proxied.close());
  const behindProxy = async () => {
    const [row] = await proxied.query<{ at: string }>(
      sql`select host(inet_server_addr()) || ':' || inet_server_port() as at where not pg_is_in_recovery()`,
    );
    return row?.at;
  };
  await until(
    async () => (await behindProxy().catch(() => null)) === primary.sql,
    patienceMs,
    200,
  );

  const from = Date.now() - 600_000;
  const ship = startShip({
    spool: await someSpool(t),
    record: (samples) => recordSamples(pool, "us-east", samples),
    log,
    flushEveryMs: 20,
  });
  t.teardown(() => ship.close());
  let made = 0;
  const measuring = setInterval(() => {
    ship.add(numberedSample(made++, from));
  }, 5);
  t.teardown(() => clearInterval(measuring));
  await until(() => ship.status().shipped > 200, 30_000);

  await primary.kill();
  const acknowledged = ship.status().shipped;
  await until(() => ship.status().shipped > acknowledged + 200, patienceMs, 50);
  clearInterval(measuring);
  await until(() => ship.status().waiting === 0, 30_000);
  t.match(ship.status(), { shipped: made, dropped: 0, refused: 0 });
  t.equal(ship.status().restored, 0, "nothing that was acknowledged was lost");
  t.same(await pool.query(sql`select count(*)::int as samples from sample`), [
    { samples: made },
  ]);
  await until(
    async () => (await behindProxy().catch(() => null)) === standby.sql,
    patienceMs,
    200,
  );
});

interface Cluster {
  members: { name: string; role: string }[];
}

type Run = (
  name: string,
  args: string[],
  env?: Record<string, string>,
) => Promise<ChildProcess>;

/** Starts programs as the user that runs servers; they end with the test. */
function runner(t: Test, { folder }: Place, { user }: PostgresPrograms): Run {
  return async (name, args, env = {}) => {
    const home = join(folder, `home-${env["PATRONI_NAME"] ?? name}`);
    await mkdir(home, { mode: 0o777, recursive: true });
    if (user) spawnSync("chown", [`${user.uid}:${user.gid}`, home]);
    const child = spawn(name, args, {
      ...user,
      cwd: home,
      stdio: "ignore",
      env: { PATH: process.env.PATH, HOME: home, LC_ALL: "C.UTF-8", ...env },
    });
    const ended = once(child, "exit");
    t.teardown(async () => {
      // Patroni stops its server with itself
      child.kill("SIGTERM");
      await ended;
    });
    return child;
  };
}

async function startEtcd(run: Run): Promise<string> {
  const [client, peer] = [await freePort(), await freePort()].map(
    (port) => `http://127.0.0.1:${port}`,
  );
  await run("etcd", [
    ...["--data-dir", "data", "--listen-client-urls", client!],
    ...["--advertise-client-urls", client!, "--listen-peer-urls", peer!],
    ...["--initial-advertise-peer-urls", peer!],
    ...["--initial-cluster", `default=${peer!}`],
  ]);
  return new URL(client!).host;
}

interface Node {
  name: string;
  /** Addresses of PostgreSQL and of Patroni. */
  sql: string;
  rest: string;
  /** Patroni and its server, at once and without a word. */
  kill: () => Promise<void>;
}

async function startNode(
  run: Run,
  name: string,
  etcd: string,
  place: Place,
  { folder: binaries }: PostgresPrograms,
): Promise<Node> {
  const [sql, rest] = [await freePort(), await freePort()].map(
    (port) => `127.0.0.1:${port}`,
  );
  const pgdata = join(place.folder, `node-${name}`);
  const patroni = await run(
    "patroni",
    [packagedFile("production/patroni/patroni.yml")],
    {
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: etcd,
      PATRONI_POSTGRESQL_LISTEN: sql!,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: sql!,
      PATRONI_POSTGRESQL_DATA_DIR: pgdata,
      PATRONI_POSTGRESQL_BIN_DIR: binaries,
      PATRONI_RESTAPI_LISTEN: rest!,
      PATRONI_RESTAPI_CONNECT_ADDRESS: rest!,
      PATRONI_SUPERUSER_PASSWORD: "of-the-superuser",
      PATRONI_REPLICATION_PASSWORD: "of-the-replica",
      PATRONI_RESTAPI_PASSWORD: "of-the-api",
    },
  );
  return {
    name,
    sql: sql!,
    rest: rest!,
    async kill() {
      const pidFile = join(pgdata, "postmaster.pid");
      const [pid] = (await readFile(pidFile, "utf8")).split("\n");
      patroni.kill("SIGKILL");
      process.kill(Number(pid), "SIGKILL");
    },
  };
}

/** @returns the address of the primary behind it */
async function startProxy(
  run: Run,
  { folder }: Place,
  nodes: Node[],
): Promise<string> {
  const [primary, standby] = [await freePort(), await freePort()];
  let text = await readFile(
    packagedFile("production/patroni/haproxy.cfg"),
    "utf8",
  );
  for (const { name, sql, rest } of nodes)
    text = text.replaceAll(
      `server ${name} ${name}:5432`,
      `server ${name} ${sql} port ${rest.split(":")[1]}`,
    );
  text = text
    .replace("bind :5000", `bind 127.0.0.1:${primary}`)
    .replace("bind :5001", `bind 127.0.0.1:${standby}`);
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, text);
  await run("haproxy", ["-db", "-f", file]);
  return `postgres://postgres:of-the-superuser@127.0.0.1:${primary}/venuewatch`;
}
