/**
 * A cluster from the unchanged example of deploy/production/patroni/: two servers with Patroni, etcd, and HAProxy in
 * front of them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { freePort } from "./free-port.js";
import type { Place, PostgresPrograms } from "./postgres-server.js";
import { childrenOf, type ProcessSeen } from "./processes.js";
import { until } from "./until.js";

const missing = ["patroni", "etcd", "haproxy"].filter((name) => spawnSync(name, ["--version"]).error !== undefined);

/** Why no cluster can run here; false where one can. */
export const clusterMissing = missing.length > 0 && `${missing.join(", ")} are not installed here`;

const restPassword = "of-the-api";

/** A server takes some seconds to start; Patroni's `ttl` is twenty. */
export const patienceMs = 120_000;

export interface PatroniCluster {
  primary: Node;
  standby: Node;
  /** The address of a database on both servers, as the superuser; the standby is named first. */
  address: (database: string) => string;
  /** Starts HAProxy. @returns the address of the primary behind it */
  startProxy: () => Promise<string>;
}

/** @param replication sets Patroni's `synchronous_mode` */
export async function startCluster(
  t: Test,
  place: Place,
  programs: PostgresPrograms,
  replication: "synchronous" | "asynchronous",
): Promise<PatroniCluster> {
  const run = runner(t, place, programs);
  const etcd = await startEtcd(run);
  const nodes = [await startNode(run, "a", etcd, place, programs), await startNode(run, "b", etcd, place, programs)];
  const nodeOf = async (wanted: string) => {
    const found = (await membersOf(nodes)).find(({ role }) => role === wanted);
    return nodes.find(({ name }) => name === found?.name);
  };
  await until(async () => !!(await nodeOf("sync_standby")), patienceMs, 200);
  if (replication === "asynchronous") {
    const changed = await fetch(`http://${nodes[0]!.rest}/config`, {
      method: "PATCH",
      headers: { authorization: `Basic ${Buffer.from(`patroni:${restPassword}`).toString("base64")}` },
      body: JSON.stringify({ synchronous_mode: false }),
    });
    if (!changed.ok) throw new Error(`Patroni answered ${changed.status}`);
    await until(async () => !!(await nodeOf("replica")), patienceMs, 200);
  }
  const primary = (await nodeOf("leader"))!;
  const standby = nodes.find((node) => node !== primary)!;
  return {
    primary,
    standby,
    address: (database) => `postgres://postgres:of-the-superuser@${standby.sql},${primary.sql}/${database}`,
    startProxy: () => startProxy(run, place, nodes),
  };
}

/** Returns the members from the first node that answers; none where no node does. */
async function membersOf(nodes: Node[]): Promise<{ name: string; role: string }[]> {
  for (const { rest } of nodes) {
    const answer = await fetch(`http://${rest}/cluster`).catch(() => null);
    const body = (await answer?.json()) as { members?: { name: string; role: string }[] } | undefined;
    if (body?.members) return body.members;
  }
  return [];
}

type Run = (name: string, args: string[], env?: Record<string, string>) => Promise<ChildProcess>;

/** Starts programs as the servers' user; they end with the test. */
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
      // Patroni stops its server when it stops
      child.kill("SIGTERM");
      await ended;
    });
    return child;
  };
}

async function startEtcd(run: Run): Promise<string> {
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
  await run("etcd", [
    ...["--data-dir", "data", "--listen-client-urls", client!, "--advertise-client-urls", client!],
    ...["--listen-peer-urls", peer!, "--initial-advertise-peer-urls", peer!, "--initial-cluster", `default=${peer!}`],
  ]);
  return new URL(client!).host;
}

export interface Node {
  name: string;
  /** Addresses of PostgreSQL and of Patroni. */
  sql: string;
  rest: string;
  /** Kills Patroni and its server at once, without a shutdown. */
  kill: () => Promise<void>;
  /** Stops its replication; the server runs otherwise unchanged. */
  stopReplicating: () => Promise<void>;
}

async function startNode(
  run: Run,
  name: string,
  etcd: string,
  place: Place,
  { folder: binaries }: PostgresPrograms,
): Promise<Node> {
  const [sql, rest] = [await freePort(), await freePort()].map((port) => `127.0.0.1:${port}`);
  const pgdata = join(place.folder, `node-${name}`);
  const patroni = await run("patroni", [packagedFile("deploy/production/patroni/patroni.yml")], {
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
    PATRONI_RESTAPI_PASSWORD: restPassword,
  });
  const postmaster = async () => parseInt(await readFile(join(pgdata, "postmaster.pid"), "utf8"));
  let stopped: ProcessSeen[] = [];
  return {
    name,
    sql: sql!,
    rest: rest!,
    async kill() {
      const pid = await postmaster();
      patroni.kill("SIGKILL");
      process.kill(pid, "SIGKILL");
      // a stopped process does not notice that its server is gone
      for (const sender of stopped) process.kill(sender.pid, "SIGKILL");
    },
    async stopReplicating() {
      stopped = childrenOf(await postmaster()).filter(({ args }) => args.includes("walsender"));
      for (const sender of stopped) process.kill(sender.pid, "SIGSTOP");
    },
  };
}

/** @returns the address of the primary behind it */
async function startProxy(run: Run, { folder }: Place, nodes: Node[]): Promise<string> {
  const [primary, standby] = [await freePort(), await freePort()];
  let text = await readFile(packagedFile("deploy/production/patroni/haproxy.cfg"), "utf8");
  for (const { name, sql, rest } of nodes)
    text = text.replaceAll(`server ${name} ${name}:5432`, `server ${name} ${sql} port ${rest.split(":")[1]}`);
  text = text.replace("bind :5000", `bind 127.0.0.1:${primary}`).replace("bind :5001", `bind 127.0.0.1:${standby}`);
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, text);
  await run("haproxy", ["-db", "-f", file]);
  return `postgres://postgres:of-the-superuser@127.0.0.1:${primary}/venuewatch`;
}
