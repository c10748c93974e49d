/** The services of compose.yaml as plain processes, and what they answer. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  readdirSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Test } from "tap";
import { makeLog } from "../../shared/log/log.js";
import { openPool, type Pool } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { startWorld } from "../../world/world.js";
import { get } from "./board.js";
import { compose } from "./compose.js";
import { type Gate, makeGate } from "./gate.js";
import { freePort } from "./free-port.js";
import { assembleImage } from "./image.js";
import { type PostgresPrograms, databaseScript } from "./postgres-server.js";
import { until } from "./until.js";

export const asTest = { applicationName: "test", log: makeLog("test", "error") };

/** The test is not about them. */
const venues = ["binance", "okx", "kraken", "bybit"];

interface Ready {
  ready: boolean;
  checks: Record<string, { ok: boolean; detail: string }>;
}

interface ServiceProcess extends ReturnType<typeof longRunning> {
  name: string;
  /** Addresses of the public API, and of the program's own port. */
  url: string;
  own: string;
}

export interface ProductionStage extends Cluster {
  secret: (name: string) => string;
  /** Returns the program of a service of compose.yaml, not yet started. */
  program: (service: string) => Promise<ServiceProcess>;
  programs: Record<string, ServiceProcess>;
  /** Runs a service that exits. */
  run: (service: string) => { status: number | null; output: string };
  /** Runs until the end of the whole test, not of a step. */
  longRunning: (launch: () => ChildProcess) => ReturnType<typeof longRunning>;
  superuserUrl: (server: "primary" | "replica") => string;
  /** The gate between the primary and the replica. */
  gate: Gate;
  /** Address of the proxy; null without one. */
  proxy: string | null;
  /** Returns the servers of a proxy backend that receive requests. */
  serving: (backend: string) => Promise<string[]>;
  dir: string;
  outputs: () => string;
}

export async function setStage(t: Test, postgres: PostgresPrograms): Promise<ProductionStage> {
  const dir = mkdtempSync(join(tmpdir(), "venuewatch-topology-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  // the servers run as another user, who must be able to read their files in it
  execFileSync("chmod", ["755", dir]);
  execFileSync("make", ["-s", "-f", packagedFile("Makefile"), "secrets"], { cwd: dir, stdio: "ignore" });
  const secrets = join(dir, "secrets");
  const commands = assembleImage(dir);

  const real = await loadRegistry(packagedFile("registry/exchanges.json"));
  const world = await startWorld({
    registry: { ...real, venues: real.venues.filter(({ id }) => venues.includes(id)) },
    messagesPerMinuteCap: 120,
  });
  t.teardown(() => world.close());
  const registry = join(dir, "registry.json");
  writeFileSync(registry, JSON.stringify(world.registry));

  const initdbArgs = compose.services["database"]!.environment!["POSTGRES_INITDB_ARGS"]!;
  const cluster = await makeCluster(t, postgres, dir, secrets, initdbArgs.split(" "));
  const { primary, replica } = cluster;
  const secret = (name: string) => readFileSync(join(secrets, name), "utf8").trim();
  const here = (text: string) =>
    text
      .replaceAll("/run/secrets", secrets)
      .replace("@database/", `@127.0.0.1:${primary.port}/`)
      .replace("@replica/", `@127.0.0.1:${replica.port}/`);
  const environmentOf = (service: string) => {
    const given = Object.entries(compose.services[service]!.environment!);
    return {
      ...Object.fromEntries(given.map(([name, value]) => [name, here(value)])),
      ...{ PATH: `${commands}:${process.env["PATH"]}`, REGISTRY: registry },
      // stands in for the subnet of network `edge`
      TRUST_PROXY: "loopback",
    };
  };

  const programs: Record<string, ServiceProcess> = {};
  const stage: ProductionStage = {
    ...cluster,
    dir,
    secret,
    programs,
    gate: await makeGate(t, `postgres://127.0.0.1:${primary.port}/`),
    proxy: null,
    serving: () => Promise.reject(new Error("there is no proxy yet")),
    longRunning: (launch) => longRunning(t, launch, "SIGTERM", "SIGKILL"),
    superuserUrl: (server) =>
      `postgres://postgres:${secret("superuser_password")}@127.0.0.1:${cluster[server].port}/venuewatch`,
    run(service) {
      const { entrypoint = ["venuewatch"], command = [] } = compose.services[service]!;
      const [file, ...args] = [...entrypoint, ...command].map(here);
      const { status, stdout, stderr } = spawnSync(file!, args, { env: environmentOf(service), encoding: "utf8" });
      return { status, output: stdout + stderr };
    },
    async program(service) {
      const [port, own] = [await freePort(), await freePort()];
      const data = join(dir, `data-${service}`);
      mkdirSync(data);
      const env = { ...environmentOf(service), ...{ PORT: String(port), HEALTH_PORT: String(own), DATA_DIR: data } };
      const { command } = compose.services[service]!;
      const started = stage.longRunning(() =>
        spawn("venuewatch", command!, { env, stdio: ["ignore", "pipe", "pipe"] }),
      );
      const addresses = { url: `http://127.0.0.1:${port}`, own: `http://127.0.0.1:${own}` };
      return (programs[service] = { name: service, ...addresses, ...started });
    },
    outputs: () =>
      Object.entries({ ...programs, primary, replica })
        .map(([name, { output }]) => `--- ${name}\n${output().slice(-4_000)}`)
        .join("\n"),
  };
  return stage;
}

export async function onReplica(stage: ProductionStage, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = openPool(stage.superuserUrl("replica"), { ...asTest, max: 1 });
  try {
    await work(pool);
  } finally {
    await pool.close();
  }
}

export interface Board {
  generatedAt: string;
  venues: { id: string; state: string }[];
}

export function board(url: string): Promise<Board> {
  return get<Board>(`${url}/v1/status`);
}

export async function ready({ name, url, own }: ServiceProcess): Promise<Ready> {
  const response = await fetch(`${name.startsWith("web") ? url : own}/readyz`);
  return (await response.json()) as Ready;
}

export async function becomesReady(t: Test, program: ServiceProcess): Promise<void> {
  await until(async () => (await ready(program).catch(() => null))?.ready === true, 90_000, 100);
  t.pass(`${program.name} is ready`);
}

export async function answers(url: string): Promise<void> {
  await until(async () => (await rowsOf(url, "select 1").catch(() => null)) !== null, 60_000, 100);
}

export async function rowsOf<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Stopped by SIGINT, as compose does. */
type Running = { port: number } & ReturnType<typeof longRunning>;

interface Cluster {
  primary: Running;
  replica: Running;
  /** The port at which the replica finds the primary; a test may put a gate in between. */
  upstream: { port: number };
}

/** Creates and starts the primary, with the files in `secrets`. The caller starts the replica once it has a login. */
async function makeCluster(
  t: Test,
  { folder: bin, user }: PostgresPrograms,
  dir: string,
  secrets: string,
  initdbArgs: string[],
): Promise<Cluster> {
  /** Gives the file to the server's user, as in a container's volumes and mounts. */
  const own = (path: string) => {
    if (user) chownSync(path, user.uid, user.gid);
    return path;
  };
  const config = join(dir, "config");
  mkdirSync(config);
  for (const file of readdirSync(packagedFile("deploy/production"), { withFileTypes: true }))
    if (file.isFile()) copyFileSync(join(file.parentPath, file.name), join(config, file.name));
  const ownDir = (name: string) => {
    mkdirSync(join(dir, name), { mode: 0o700 });
    return own(join(dir, name));
  };
  const [data, replicaData] = [ownDir("primary"), ownDir("replica")];
  const [sockets, passwords, archive] = [ownDir("sockets"), ownDir("passwords"), ownDir("archive")];
  // a mounted secret belongs to the user who reads it
  for (const name of ["superuser_password", "owner_password", "replica_password", "backup_password"]) {
    copyFileSync(join(secrets, name), join(passwords, name));
    chmodSync(own(join(passwords, name)), 0o400);
  }
  const [port, replicaPort] = [await freePort(), await freePort()];
  const serverArgs = (port: number) => [
    ...["-c", `config_file=${config}/postgresql.conf`],
    ...["-c", `hba_file=${config}/pg_hba.conf`],
    ...["-c", `port=${port}`, "-c", "listen_addresses=127.0.0.1"],
    ...["-c", `unix_socket_directories=${sockets}`],
    ...["-c", `archive_command=${config}/archive-wal.sh "%p" "${archive}/%f"`],
    // less memory than the container has, which this machine may lack
    ...["-c", "shared_buffers=128MB", "-c", "max_wal_size=512MB"],
    ...["-c", "min_wal_size=80MB", "-c", "effective_io_concurrency=0"],
  ];

  const args = [`--pgdata=${data}`, "--username=postgres", `--pwfile=${passwords}/superuser_password`, ...initdbArgs];
  execFileSync(join(bin, "initdb"), args, { ...user, stdio: "ignore" });
  execFileSync("sh", ["-ec", databaseScript(data, sockets, passwords)], {
    ...user,
    cwd: data,
    env: { PATH: `${bin}:${process.env["PATH"]}` },
  });

  const running = (port: number, launch: () => ChildProcess): Running => ({
    port,
    ...longRunning(t, launch, "SIGINT", "SIGQUIT"),
  });
  const primary = running(port, () =>
    spawn(join(bin, "postgres"), ["-D", data, ...serverArgs(port)], { ...user, stdio: ["ignore", "pipe", "pipe"] }),
  );
  const upstream = { port };
  const replica = running(replicaPort, () =>
    spawn(join(config, "start-replica.sh"), serverArgs(replicaPort), {
      ...user,
      cwd: replicaData,
      env: {
        PATH: `${bin}:${process.env["PATH"]}`,
        PGDATA: join(replicaData, "data"),
        PRIMARY_HOST: "127.0.0.1",
        PRIMARY_PORT: String(upstream.port),
        REPLICA_NAME: "replica",
        REPLICA_PASSWORD_FILE: join(passwords, "replica_password"),
        RUN_DIR: replicaData,
      },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  primary.start();
  return { primary, replica, upstream };
}

/** Starts a process as often as a test wants, and collects its output. It is stopped with `last` when the test ends. */
function longRunning(t: Test, launch: () => ChildProcess, usual: NodeJS.Signals, last: NodeJS.Signals) {
  let output = "";
  let child: ChildProcess | undefined;
  /** Resolves with its exit code, or the signal that ended it. */
  async function stop(signal = usual) {
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    }
    return child?.exitCode ?? child?.signalCode;
  }
  t.teardown(() => stop(last));
  return {
    output: () => output,
    stop,
    start: () => {
      child = launch();
      for (const stream of [child.stdout!, child.stderr!])
        stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    },
  };
}
