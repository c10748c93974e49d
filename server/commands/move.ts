import type { Given, Options } from "../cli/command.js";
import { addressesOf } from "../../shared/database/hosts.js";
import { connect, type Pool } from "../../shared/database/pool.js";
import { startEmbedded } from "../embedded/embedded.js";
import { type Life, runToEnd } from "../process/lifecycle.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { type Moved, move } from "../move/move.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { readSettings, type Settings } from "../../shared/config/settings.js";
import { parseDatabaseUrl, WrongValue } from "../../shared/config/setting-values.js";
import { UserError } from "../../shared/process/user-error.js";
import { plainTable } from "./plain-table.js";
import { secretValue } from "./secret-value.js";

export const help = `Carries everything to an empty database on a TimescaleDB server: venues, samples, roll-ups, incidents, notices, channels
and what was sent. Reads the embedded database in DATA_DIR, or the one that DATABASE_URL names, and changes nothing there.

Stop the service first: what is written meanwhile would be left behind. Whatever kills this costs what was under way: started
again it goes on. In the end both sides are counted and summed up by SQL, and the sums printed. Then start the service with
DATABASE_URL naming the new database, and the same CHANNEL_KEY. What probes keep in DATA_DIR/spool stays there; they deliver it
to the new database when they are started again with the same DATA_DIR. docs/moving.md has it step by step.`;

export const options = {
  to: {
    type: "string",
    help: "address of the empty database, postgres://…; with - it is the first line of standard input",
    // it may have a password
    secret: true,
  },
} satisfies Options;

/**
 * A day of samples is rolled up in half a minute. On a server that vanished, a statement would wait for a quarter of an
 * hour.
 */
const statementTimeoutMs = 600_000;

export async function run({ values }: Given): Promise<void> {
  const to = await targetUrl(values["to"]);
  const settings = readSettings();
  const log = makeLog("move", settings.logLevel);
  await runToEnd(log, async (life) => {
    if (values["to"] !== "-" && new URL(addressesOf(to)[0]!).password !== "")
      log.warn("whoever may list this machine's processes reads the password in --to; give it by --to - or ~/.pgpass");
    const registry = await loadRegistry(settings.registry);
    const target = await open(life, "target", to, log);
    const source = await openSource(life, settings, log);
    const stopping = new AbortController();
    const begunMs = performance.now();
    const moving = move({
      source,
      sourceIsOurs: settings.databaseUrl === null,
      target,
      registry,
      log,
      signal: stopping.signal,
      ...(process.stderr.isTTY && { onProgress: showProgress() }),
    }).catch((error: unknown) => {
      throw missingRight(error) ?? error;
    });
    life.onClose("move", async () => {
      stopping.abort();
      // what is wrong with it is told by whoever awaits it
      await moving.catch(() => {});
    });
    const moved = await moving;
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    if (moved) process.stdout.write(told(moved, performance.now() - begunMs));
  });
}

async function targetUrl(given: unknown): Promise<string> {
  if (typeof given !== "string")
    throw new UserError(
      "move --to: expected the address of an empty database, like postgres://user@host/venuewatch, got nothing",
    );
  try {
    return parseDatabaseUrl(await secretValue("--to", given));
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new UserError(`move --to: expected ${error.expected}`, {
      cause: error,
    });
  }
}

/**
 * The embedded one is hosted here, on a port that nobody knows: the lock on its directory keeps the service from
 * running.
 */
async function openSource(life: Life, { databaseUrl, dataDir }: Settings, log: Log): Promise<Pool> {
  if (databaseUrl !== null) return open(life, "source", databaseUrl, log);
  const database = await startEmbedded({ dataDir, port: 0, log });
  life.onClose("embedded database", database.close);
  // a crash rejects this; nobody awaits it, so that it ends the program as the bug that it is
  void database.failed;
  return open(life, "source", database.url, log);
}

async function open(life: Life, name: "source" | "target", url: string, log: Log): Promise<Pool> {
  const pool = await connect(
    url,
    // a migration that waits for a lock asks by the second one who holds it
    { applicationName: "move", log, max: 2, statementTimeoutMs },
    name === "target" ? "--to" : "DATABASE_URL",
  );
  life.onClose(`connection to the ${name}`, pool.close);
  return pool;
}

function missingRight(error: unknown): UserError | null {
  const { code, message } = error as { code?: string; message?: string };
  const insufficientPrivilege = "42501";
  if (code !== insufficientPrivilege) return null;
  return new UserError(
    `a right is missing: ${message}. Read with the rights of vw_core, and write as the owner of the new database or a superuser`,
    { cause: error },
  );
}

function told({ verified, finishedBefore }: Moved, tookMs: number): string {
  const rows = verified.reduce((sum, part) => sum + part.rows, 0);
  const table = plainTable([
    ["part", "rows", "checksum"],
    ...verified.map((part) => [part.part, String(part.rows), part.checksum]),
  ]);
  if (finishedBefore)
    return `${table}All is there already: the move was finished at ${finishedBefore.toISOString()}. Nothing was done.\n`;
  return (
    `${table}${rows} rows are there, and both sides agree on each count and checksum; ${(tookMs / 1000).toFixed(0)} s.\n` +
    "Start the service with DATABASE_URL naming the new database, and the CHANNEL_KEY that it had. Keep the old one until that runs well.\n"
  );
}

/** A line that is written over. */
function showProgress(): (step: string, share: number) => void {
  let shown = "";
  return (step, share) => {
    const text = `${step}, ${Math.floor(share * 100)} %`;
    if (text === shown) return;
    shown = text;
    process.stderr.write(`\r\x1b[K${text}`);
  };
}
