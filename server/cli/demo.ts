import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isInstalled } from "@venuewatch/embedded-timescaledb";
import { packagedFile } from "../../shared/config/package.js";
import { brandOf, channelKeyOf, databaseUrlOf, readSettings, type Settings } from "../../shared/config/settings.js";
import { connect, type Pool, sql } from "../../shared/database/pool.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { stackOf, UserError } from "../../shared/process/user-error.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { type Registry } from "../../shared/registry/registry.js";
import type { World } from "../../world/world.js";
import { makeSealing } from "../core/alerts/sealing.js";
import { analystCommand, howToInstall, shellQuoted } from "../database/embedded.js";
import {
  makeDataDir,
  migrateDatabase,
  programOf,
  startCoreProgram,
  startDatabase,
  startWebAndProbes,
} from "../process/all-programs.js";
import { runToEnd, runUntilStopped } from "../process/lifecycle.js";
import { portsOfAll, requirePorts } from "../process/ports.js";
import { makeSupervisor } from "../process/supervisor.js";
import type { Given } from "./command.js";
import { welcome } from "./welcome.js";

export const help = `Runs everything on this machine against simulated venues: fifteen of them with their own protocols
on loopback, scripted faults (world/demo.txt), ninety days of history and three receivers of alerts. Its data are
in DATA_DIR/demo, with the key of its channels if CHANNEL_KEY is not set. With fewer days it starts sooner; an existing
history is kept as it is.`;

export const options = {
  days: { type: "string", help: "days of history, 1 to 90 (default 90)" },
  part: {
    type: "string",
    help: "run only one part, as the demo itself does: world, history, channels or earlier",
  },
} as const;

/**
 * Only these parts load the simulated venues: the supervisor does not need it, and the production image does not have
 * it.
 */
const demoParts: Record<string, (days: number) => Promise<void>> = {
  world: playWorld,
  history: makeHistory,
  channels: addChannels,
  earlier: fillEarlierHistory,
};

export async function run({ values }: Given): Promise<void> {
  const { part, days = "90" } = values;
  const wanted = daysOf(String(days));
  if (part === undefined) return demo(wanted);
  const chosen = Object.hasOwn(demoParts, String(part)) ? demoParts[String(part)] : undefined;
  if (!chosen) throw new UserError(`demo --part: expected ${Object.keys(demoParts).join(" or ")}, got ${String(part)}`);
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
      "DATABASE_URL: the demo would write ninety days of invented samples into that database; unset it for the demo",
    );
  brandOf(settings);
  const dataDir = join(settings.dataDir, "demo");
  const registry = registryFile({ ...settings, dataDir });
  const { regions } = await loadRegistry(packagedFile("registry/exchanges.json"));
  const regionIds = regions.map(({ id }) => id);
  await requirePorts(portsOfAll(settings, regionIds));
  const log = makeLog("demo", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const supervisor = makeSupervisor({ log });
    life.onClose("programs", supervisor.close);
    const own = {
      DATA_DIR: dataDir,
      REGISTRY: registry,
      // its receivers are on this machine
      ALERT_LOOPBACK: "on",
      SITE_NOTICE: settings.siteNotice ?? simulatedNotice,
    };
    // first, because only this refuses a directory where another demo runs, whose registry the world would replace
    const { embedded, changes: databaseChanges } = await startDatabase(supervisor, settings, own);
    const keyFile = settings.channelKey ? null : keyFileIn(dataDir);
    const changes = keyFile ? { ...databaseChanges, CHANNEL_KEY: await keptKey(keyFile) } : databaseChanges;
    await supervisor.start(programOf(["demo", "--part", "world"], { DATA_DIR: dataDir }, "world"));
    await migrateDatabase(supervisor, changes);
    const part = (name: string, ...more: string[]) =>
      supervisor.run(programOf(["demo", "--part", name, ...more], changes, name));
    const isFirst = await isHistoryMissing(dataDir);
    // Probes measure while the history is made. Core starts after it and the channels, since it decides no instant
    // before its last one, and sends alerts.
    const [others, core] = await Promise.all([
      startWebAndProbes(supervisor, settings, regionIds, changes).then((started) => {
        if (isFirst) process.stdout.write(startingNote(started.web));
        return started;
      }),
      part("history", "--days", String(days))
        .then(() => part("channels"))
        .then(() => startCoreProgram(supervisor, settings, changes)),
    ]);
    const services = { core, ...others };
    const psql = embedded && analystCommand(embedded, dataDir);
    const exports = exportLine(dataDir, registry, embedded, keyFile);
    process.stdout.write(welcome(psql, services, [["other commands need", exports]]));
    if (await isEarlierMissing(dataDir)) {
      process.stdout.write(earlierNote);
      // not awaited: it runs while the service is up
      part("earlier").catch((error: unknown) => {
        log.error("the earlier part of the history was not completed; the next start will continue it", {
          stack: stackOf(error),
        });
      });
    }
    return services.web;
  });
}

const simulatedNotice = "This is a demo. Its venues are simulated: nothing here is about the real ones.";

function startingNote(web: string | null): string {
  return `\n  Starting: a history is being written, in a minute or two. ${web}/ says how far it has come.\n\n`;
}

const earlierNote = `
  The history is still being filled in while the service runs. Its incidents, and the uptime of the days before today,
  are complete. Other values from before the start are shown as not measured until the log line "the history is
  complete", within a minute or two.

`;

/**
 * A shell line with the settings by which other commands find this demo: its database, its venues, and the key of its
 * channels if it made one.
 */
function exportLine(dataDir: string, registry: string, embedded: string | null, keyFile: string | null): string {
  const set = [
    `DATA_DIR=${shellQuoted(relative("", dataDir))}`,
    `REGISTRY=${shellQuoted(relative("", registry))}`,
    ...(embedded ? [`EMBEDDED_PORT=${new URL(embedded).port}`] : []),
    ...(keyFile ? [`CHANNEL_KEY="$(cat ${shellQuoted(relative("", keyFile))})"`] : []),
  ];
  return `export ${set.join(" ")}`;
}

/** The demo's own key, stored so that a restarted demo can decrypt its channels. */
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
 * The venues and the receivers of alerts. A restart of this part keeps their ports: probes and core have read the
 * registry.
 */
async function playWorld(): Promise<void> {
  const { startDemoReceivers } = await import("../../world/receivers.js");
  const settings = readSettings();
  const log = makeLog("world", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const real = await loadRegistry(packagedFile("registry/exchanges.json"));
    const { registry, close } = await startOnSamePorts(real, settings);
    life.onClose("venues", close);
    await makeDataDir(settings.dataDir);
    await writeFile(registryFile(settings), JSON.stringify(registry, null, 2));
    const receivers = await startDemoReceivers(settings.dataDir, log);
    life.onClose("receivers", receivers.close);
  });
}

async function startOnSamePorts(real: Registry, settings: Settings): Promise<World> {
  const ports = (await portsIn(registryFile(settings))) ?? quietPorts(real);
  const dir = settings.dataDir;
  const { startDemoWorld } = await import("../../world/demo.js");
  try {
    return await startDemoWorld(real, { ports, dir });
  } catch (error) {
    // another program has taken a port since; a newly started demo may use any ports
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return startDemoWorld(real, { dir });
  }
}

/**
 * Below the ephemeral range (from 32768 on Linux), so that no client takes a port while its venue refuses connections.
 */
function quietPorts({ venues }: Registry): Record<string, number> {
  return Object.fromEntries(venues.map(({ id }, i) => [id, 20_100 + i]));
}

/** By venue; null before the first start. */
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

/** Runs once: a restarted demo continues its history. One that was stopped before it was up makes a new one. */
async function makeHistory(days: number): Promise<void> {
  const { readHistoryNote, writeHistoryNote } = await import("../../world/history-note.js");
  const { forgetHistory, holdRetention, makeRecentHistory } = await import("../../world/history.js");
  await onDatabase("history", async (pool, { dataDir }, log) => {
    const found = readHistoryNote(dataDir);
    if (found?.filledFrom != null) {
      // before core starts, which would drop old samples
      if (await isEarlierMissing(dataDir)) await holdRetention(pool);
      return log.info("the history already exists");
    }
    await forgetHistory(pool);
    const now = new Date();
    const note = { now, days, filledFrom: null, isComplete: false };
    await writeHistoryNote(dataDir, note);
    await makeRecentHistory(pool, { days, now, log });
    await writeHistoryNote(dataDir, { ...note, filledFrom: now });
  });
}

/** Fills in the rest of the history while the service runs. */
async function fillEarlierHistory(): Promise<void> {
  const { readHistoryNote, writeHistoryNote } = await import("../../world/history-note.js");
  const { fillEarlier } = await import("../../world/history.js");
  await onDatabase("earlier", async (pool, { dataDir }, log) => {
    const { now, days, filledFrom, isComplete } = readHistoryNote(dataDir) ?? {};
    if (!now || !days || !filledFrom || isComplete) return log.info("nothing of the history has to be filled in");
    const made = { now, days, isComplete: false };
    await engineHasCaughtUp(pool);
    await fillEarlier(pool, {
      ...{ now, days, filledFrom, log },
      onFilled: (filledFrom) => writeHistoryNote(dataDir, { ...made, filledFrom }),
    });
    await writeHistoryNote(dataDir, { ...made, filledFrom, isComplete: true });
  });
}

/**
 * Waits for the engine to catch up with the samples that came while the history was made: then the board is current.
 */
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

async function isHistoryMissing(dataDir: string): Promise<boolean> {
  const { readHistoryNote } = await import("../../world/history-note.js");
  return readHistoryNote(dataDir)?.filledFrom == null;
}

async function isEarlierMissing(dataDir: string): Promise<boolean> {
  const { readHistoryNote } = await import("../../world/history-note.js");
  const note = readHistoryNote(dataDir);
  return note?.filledFrom != null && !note.isComplete;
}

/** Adds a channel for each receiver of the demo, unless it exists. */
async function addChannels(): Promise<void> {
  const { addDemoChannels } = await import("../../world/receivers.js");
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
