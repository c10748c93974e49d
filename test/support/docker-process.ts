/**
 * Replaces `docker` where docs/backup.md is tested. Runs compose.yaml's servers and steps as plain processes, in a
 * folder in place of their volumes (created by test/support/compose-place.ts). Networks, images and limits are not
 * tested.
 *
 * Supports only what the page uses: `docker compose up | stop | run | exec | rm`.
 */
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ComposeService, composeWith } from "./compose.js";

const { PLACE, DATABASE_PORT, DRILL_PORT } = process.env as Record<string, string>;
const folder = PLACE!;
const compose = composeWith(process.env);

const { values, positionals } = parseArgs({
  args: optionsFirst(process.argv.slice(2)),
  allowPositionals: true,
  options: {
    detach: { type: "boolean" },
    wait: { type: "boolean" },
    rm: { type: "boolean" },
    stop: { type: "boolean" },
    force: { type: "boolean" },
    volumes: { type: "boolean" },
    T: { type: "boolean", short: "T" },
  },
});
const [compose_, verb, service, ...args] = positionals;
if (compose_ !== "compose") throw new Error("expected docker compose …");
switch (verb) {
  case "up":
    if (service === "drill") await startDrill();
    else startAll();
    break;
  case "stop":
    if (existsSync(join(folder, "database/postmaster.pid"))) stop("database");
    break;
  case "run":
    end(run(service!, [...serviceNamed(service).entrypoint!, ...args]));
    break;
  case "exec":
    end(run(service!, args));
    break;
  case "rm":
    if (!values.volumes) throw new Error("its data would be left");
    stop(service!);
    rmSync(join(folder, service!), { recursive: true });
    break;
  default:
    throw new Error(`expected a verb that the page uses, got ${verb}`);
}

/** Splits off what belongs to the command that runs in the container: options of `docker` precede the service. */
function optionsFirst(argv: string[]): string[] {
  const at = argv.findIndex((word, i) => i > 1 && !word.startsWith("-"));
  return at < 0 ? argv : [...argv.slice(0, at + 1), "--", ...argv.slice(at + 1)];
}

function serviceNamed(name: string | undefined): ComposeService {
  const found = compose.services[name ?? ""];
  if (!found) throw new Error(`there is no service ${name}`);
  return found;
}

/** Translates a path or an address of a container to this machine. */
function here(text: string, name: string): string {
  const data = join(folder, name === "drill" ? "drill" : "database");
  return text
    .replaceAll("/var/lib/postgresql/data", data)
    .replaceAll("/etc/venuewatch", join(folder, "config"))
    .replaceAll("/run/secrets", join(folder, "secrets"))
    .replaceAll("/backups", join(folder, "backups"))
    .replace("@database/", `@127.0.0.1:${DATABASE_PORT}/`)
    .replace(/^database$/, "127.0.0.1");
}

function environmentOf(name: string): NodeJS.ProcessEnv {
  const { environment = {} } = serviceNamed(name);
  const runDir = join(folder, `tmp-${name}`);
  mkdirSync(runDir, { recursive: true });
  const port = name === "drill" ? DRILL_PORT : DATABASE_PORT;
  return {
    ...process.env,
    PGHOST: join(folder, "sockets"),
    PGPORT: port,
    RUN_DIR: runDir,
    // their default is a path in the containers
    BACKUPS: join(folder, "backups"),
    PRIMARY_PORT: DATABASE_PORT,
    ...Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, here(value, name)])),
  };
}

function run(name: string, command: string[]): SpawnSyncReturns<Buffer> {
  const [file, ...rest] = command.map((word) => here(word, name));
  return spawnSync(file!, rest, { env: environmentOf(name), stdio: "inherit" });
}

function end({ status, error }: SpawnSyncReturns<Buffer>): void {
  if (error) throw error;
  process.exitCode = status ?? 1;
}

function must({ status, error }: SpawnSyncReturns<Buffer>): void {
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Starts the database, and the steps after it. The programs are not tested here. */
function startAll(): void {
  // PostgreSQL 15 and 16 do not have this option
  const [, ...options] = compose.services["database"]!.command!;
  const isKnown = run("database", ["postgres", "-C", "max_notify_queue_pages"]).status === 0;
  const given = options.filter((word, i) => isKnown || ![word, options[i + 1]].some((one) => one?.includes("notify")));
  const args = [`--pgdata=${folder}/database`, `--log=${folder}/log`, `--options=${given.join(" ")}`];
  must(run("database", ["pg_ctl", ...args, "--wait", "start"]));
  must(run("migrate", ["venuewatch", ...serviceNamed("migrate").command!]));
  const { entrypoint, command } = serviceNamed("logins");
  must(run("logins", [...entrypoint!, ...command!]));
}

async function startDrill(): Promise<void> {
  const { entrypoint, command, healthcheck } = serviceNamed("drill");
  mkdirSync(join(folder, "drill"));
  const log = join(folder, "drill.log");
  const output = openSync(log, "a");
  const [file, ...rest] = [...entrypoint!, ...command!, "-c", `port=${DRILL_PORT}`].map((word) => here(word, "drill"));
  const server = spawn(file!, rest, { env: environmentOf("drill"), stdio: ["ignore", output, output], detached: true });
  const [, test] = healthcheck!.test;
  const healthy = () => spawnSync("sh", ["-c", test!], { env: environmentOf("drill"), stdio: "ignore" }).status === 0;
  while (!healthy()) {
    if (server.exitCode !== null)
      throw new Error(`the drill ended with code ${server.exitCode}: ${readFileSync(log, "utf8")}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  server.unref();
}

function stop(name: string): void {
  must(spawnSync("pg_ctl", [`--pgdata=${folder}/${name}`, "--mode=fast", "--wait", "stop"], { stdio: "ignore" }));
}
