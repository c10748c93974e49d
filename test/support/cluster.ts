/**
 * A separate PostgreSQL server with TimescaleDB for a test. It is created and started as in compose.yaml, with the same
 * configuration, from the installed binaries.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { freePort } from "./free-port.js";
import { databaseScript, type PostgresPrograms } from "./postgres-server.js";

/** Stopped by SIGINT, as compose does. */
type Running = { port: number } & ReturnType<typeof longRunning>;

export interface Cluster {
  primary: Running;
  replica: Running;
  /** The port at which the replica finds the primary; a test may put a gate in between. */
  upstream: { port: number };
}

/** Creates and starts the primary, with the files in `secrets`. The caller starts the replica once it has a login. */
export async function makeCluster(
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
  for (const file of readdirSync(packagedFile("production"), { withFileTypes: true }))
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
export function longRunning(t: Test, launch: () => ChildProcess, usual: NodeJS.Signals, last: NodeJS.Signals) {
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
