import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { World } from "../../simulator/world.js";
import { makeSealing } from "../alerts/channels/sealing.js";
import { migrateDatabase, program, startCore, startDatabase, startWebAndProbes } from "../process/all-programs.js";
import { makeDataDir } from "../process/data-dir.js";
import type { Given } from "../cli/command.js";
import { connect, type Pool, sql } from "../../shared/database/pool.js";
import { howToInstall, isInstalled } from "../embedded/installed.js";
import { analystCommand, quoted } from "../embedded/analyst.js";
import { runToEnd, runUntilStopped } from "../process/lifecycle.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { portsOfAll, requirePorts } from "../process/ports.js";
import { type Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { channelKeyOf, databaseUrlOf, readSettings, type Settings } from "../../shared/config/settings.js";
import { makeSupervisor } from "../process/supervisor.js";
import { stackOf, UserError } from "../../shared/process/user-error.js";
import { welcome } from "../cli/welcome.js";

export const help = `Runs everything on this machine against a simulated world: fifteen venues that speak their own protocols on
loopback, with scripted faults (simulator/demo.txt) and ninety days of history, and three receivers of alerts. Its data are in
DATA_DIR/demo, and so is the key of its channels where CHANNEL_KEY is not set. With fewer days it is up sooner; a history that is there already stays as it is.`;

export const options = {
  days: { type: "string", help: "days of history, 1 to 90 (default 90)" },
  part: {
    type: "string",
    help: "run only this part of it, as the demo itself does: world, history, channels or earlier",
  },
} as const;

/**
 * The world is loaded by the parts that play it: the supervisor needs none of it, and the production image does not
 * have it.
 */
const parts: Record<string, (days: number) => Promise<void>> = {
  world,
  history,
  channels,
  earlier,
};

export async function run({ values }: Given): Promise<void> {
  const { part, days = "90" } = values;
  const wanted = daysOf(String(days));
  if (part === undefined) return demo(wanted);
  const chosen = Object.hasOwn(parts, String(part)) ? parts[String(part)] : undefined;
  if (!chosen) throw new UserError(`demo --part: expected ${Object.keys(parts).join(" or ")}, got ${String(part)}`);
  await chosen(wanted);
}

function daysOf(text: string): number {
  const days = /^\d+$/.test(text) ? Number(text) : NaN;
  if (days >= 1 && days <= 90) return days;
  throw new UserError(`demo --days: expected a whole number from 1 to 90, got ${text}`);
}

async function demo(days: number): Promise<void> {
  if (!isInstalled())
    throw new UserError(`the demo runs on the embedded database, which is not installed: ${howToInstall}`);
  const settings = readSettings();
  if (settings.databaseUrl !== null)
    throw new UserError(
      "DATABASE_URL: the demo invents ninety days of samples and would put them into that database; unset it for the demo",
    );
  const dataDir = join(settings.dataDir, "demo");
  const registry = registryFile({ ...settings, dataDir });
  const { regions } = await loadRegistry(packagedFile("registry.json"));
  const regionIds = regions.map(({ id }) => id);
  await requirePorts(portsOfAll(settings, regionIds));
  const log = makeLog("demo", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const supervisor = makeSupervisor({ log });
    life.onClose("programs", supervisor.close);
    const own = {
      DATA_DIR: dataDir,
      REGISTRY: registry,
      // where its receivers are
      ALERT_LOOPBACK: "on",
    };
    // first of all, because it alone refuses a directory where another demo runs, whose registry the world would
    // replace
    const { embedded, changes: found } = await startDatabase(supervisor, settings, own);
    const keyFile = settings.channelKey ? null : keyFileIn(dataDir);
    const changes = keyFile ? { ...found, CHANNEL_KEY: await keptKey(keyFile) } : found;
    await supervisor.start(program(["demo", "--part", "world"], { DATA_DIR: dataDir }, "world"));
    await migrateDatabase(supervisor, changes);
    const part = (name: string, ...more: string[]) =>
      supervisor.run(program(["demo", "--part", name, ...more], changes, name));
    // Probes measure while the history is made. Core decides no instant before its last, and sends: it comes after
    // both.
    const [others, core] = await Promise.all([
      startWebAndProbes(supervisor, settings, regionIds, changes),
      part("history", "--days", String(days))
        .then(() => part("channels"))
        .then(() => startCore(supervisor, settings, changes)),
    ]);
    const services = { core, ...others };
    const psql = embedded && analystCommand(embedded, dataDir);
    const besides = besideIt(dataDir, registry, embedded, keyFile);
    process.stdout.write(welcome(psql, services, [["commands beside it need", besides]]));
    if (await isEarlierMissing(dataDir)) {
      process.stdout.write(earlierNote);
      // not awaited: it goes on behind the service
      part("earlier").catch((error: unknown) => {
        log.error("the earlier part of the history was not completed; the next start continues it", {
          stack: stackOf(error),
        });
      });
    }
    return services.web;
  });
}

const earlierNote = `
  The history is still being filled in behind the service. Its incidents, and the uptime of the days before today, are there. What else was
  measured before the start is shown as not measured until the line "the history is complete", within a minute or two.

`;

/**
 * A line for a shell, by which commands find this demo: its database, its venues, and the key of its channels where it
 * has made one.
 */
function besideIt(dataDir: string, registry: string, embedded: string | null, keyFile: string | null): string {
  const set = [
    `DATA_DIR=${quoted(relative("", dataDir))}`,
    `REGISTRY=${quoted(relative("", registry))}`,
    ...(embedded ? [`EMBEDDED_PORT=${new URL(embedded).port}`] : []),
    ...(keyFile ? [`CHANNEL_KEY="$(cat ${quoted(relative("", keyFile))})"`] : []),
  ];
  return `export ${set.join(" ")}`;
}

/** The key of a demo that was given none, so that it reads its channels when it is started again. */
async function keptKey(file: string): Promise<string> {
  if (!existsSync(file)) {
    const unfinished = `${file}.new`;
    const key = randomBytes(32).toString("base64");
    await writeFile(unfinished, `${key}\n`, { mode: 0o600 });
    await rename(unfinished, file);
  }
  return (await readFile(file, "utf8")).trim();
}

function keyFileIn(dataDir: string): string {
  return join(dataDir, "channel.key");
}

/**
 * The venues, and who is told of alerts. They stay where they are over a restart of this part: probes and core have
 * read the registry.
 */
async function world(): Promise<void> {
  const { startDemoReceivers } = await import("../../simulator/demo-receivers.js");
  const settings = readSettings();
  const log = makeLog("world", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const real = await loadRegistry(packagedFile("registry.json"));
    const { registry, close } = await startWhereItWas(real, settings);
    life.onClose("venues", close);
    await makeDataDir(settings.dataDir);
    await writeFile(registryFile(settings), JSON.stringify(registry, null, 2));
    const receivers = await startDemoReceivers(settings.dataDir, log);
    life.onClose("receivers", receivers.close);
  });
}

async function startWhereItWas(real: Registry, settings: Settings): Promise<World> {
  const ports = (await portsIn(registryFile(settings))) ?? quietPorts(real);
  const dir = settings.dataDir;
  const { startDemoWorld } = await import("../../simulator/demo.js");
  try {
    return await startDemoWorld(real, { ports, dir });
  } catch (error) {
    // another program has taken one since; a demo that starts anew may be anywhere
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return startDemoWorld(real, { dir });
  }
}

/**
 * Below the range that systems hand out to clients (32768 on Linux): nothing takes one while its venue refuses
 * connections.
 */
function quietPorts({ venues }: Registry): Record<string, number> {
  return Object.fromEntries(venues.map(({ id }, i) => [id, 20_100 + i]));
}

/** By venue; null where no world has been yet. */
async function portsIn(file: string): Promise<Record<string, number> | null> {
  if (!existsSync(file)) return null;
  const { venues } = await loadRegistry(file);
  return Object.fromEntries(
    venues.flatMap(({ id, rest }) => rest.slice(0, 1).map(({ url }) => [id, Number(new URL(url).port)])),
  );
}

function registryFile({ dataDir }: Settings): string {
  return join(dataDir, "registry.json");
}

/** Once: a demo that is started again continues where it was. One that was stopped before it was up makes another. */
async function history(days: number): Promise<void> {
  const { readHistoryNote, writeHistoryNote } = await import("../../simulator/history-note.js");
  const { forgetHistory, holdRetention, makeRecentHistory } = await import("../../simulator/history.js");
  await onDatabase("history", async (pool, { dataDir }, log) => {
    const note = readHistoryNote(dataDir);
    // earlier releases noted no days, and started no probe before the history was made
    const [{ isMade } = { isMade: false }] = await pool.query<{
      isMade: boolean;
    }>(sql`select ${note?.filledFrom != null} or ${note?.days == null} and exists (select from probe) as "isMade"`);
    if (isMade) {
      // before core starts, which drops old samples
      if (await isEarlierMissing(dataDir)) await holdRetention(pool);
      return log.info("there is a history already");
    }
    await forgetHistory(pool);
    const now = new Date();
    const begun = { now, days, filledFrom: null, isComplete: false };
    await writeHistoryNote(dataDir, begun);
    await makeRecentHistory(pool, { days, now, log });
    await writeHistoryNote(dataDir, { ...begun, filledFrom: now });
  });
}

/** Behind a service that runs: what the history still lacks. */
async function earlier(): Promise<void> {
  const { readHistoryNote, writeHistoryNote } = await import("../../simulator/history-note.js");
  const { fillEarlier } = await import("../../simulator/history.js");
  await onDatabase("earlier", async (pool, { dataDir }, log) => {
    const { now, days, filledFrom, isComplete } = readHistoryNote(dataDir) ?? {};
    if (!now || !days || !filledFrom || isComplete) return log.info("nothing of the history is missing");
    const made = { now, days, isComplete: false };
    await engineHasCaughtUp(pool);
    await fillEarlier(pool, {
      ...{ now, days, filledFrom, log },
      onFilled: (filledFrom) => writeHistoryNote(dataDir, { ...made, filledFrom }),
    });
    await writeHistoryNote(dataDir, { ...made, filledFrom, isComplete: true });
  });
}

/** The board is measured as soon as the engine has decided what came while the history was made: that comes first. */
async function engineHasCaughtUp(pool: Pool): Promise<void> {
  const giveUpMs = performance.now() + 30_000;
  while (performance.now() < giveUpMs) {
    const [clock] = await pool.query<{ isCurrent: boolean }>(
      sql`select ticked_at > clock_timestamp() - interval '5 seconds' as "isCurrent" from engine_clock`,
    );
    if (clock?.isCurrent) return;
    await pause(250);
  }
}

async function isEarlierMissing(dataDir: string): Promise<boolean> {
  const { readHistoryNote } = await import("../../simulator/history-note.js");
  const note = readHistoryNote(dataDir);
  return note?.filledFrom != null && !note.isComplete;
}

/** Those of the world's receivers, each once however often the demo is started. */
async function channels(): Promise<void> {
  const { addDemoChannels } = await import("../../simulator/demo-channels.js");
  await onDatabase("channels", async (pool, settings, log) => {
    const sealing = makeSealing(channelKeyOf(settings));
    await addDemoChannels(pool, sealing, settings.dataDir, log);
  });
}

/** Runs a part to its end. */
async function onDatabase(
  name: string,
  work: (pool: Pool, settings: Settings, log: Log) => Promise<void>,
): Promise<void> {
  const settings = readSettings();
  const log = makeLog(name, settings.logLevel);
  await runToEnd(log, async (life) => {
    const pool = await connect(databaseUrlOf(settings), {
      applicationName: name,
      log,
    });
    life.onClose("database connections", pool.close);
    await work(pool, settings, log);
  });
}
