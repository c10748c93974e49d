import { parseDatabaseUrl, WrongValue } from "../../../shared/config/setting-values.js";
import { readSettings, type Settings } from "../../../shared/config/settings.js";
import { addressesOf } from "../../../shared/database/address.js";
import { connect, type Pool } from "../../../shared/database/pool.js";
import { type Log, makeLog } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { startEmbedded } from "../../database/embedded.js";
import { type Life, runToEnd } from "../../process/lifecycle.js";
import type { Given, Options } from "../command.js";
import { secretValue } from "../option-values.js";
import { plainTable } from "../print.js";
import { type Moved, move } from "./moving.js";

export const help = `Copies everything to an empty database on a TimescaleDB server: venues, samples, roll-ups,
incidents, notices, channels and deliveries. Reads the embedded database in DATA_DIR, or the one in DATABASE_URL, and
changes nothing there.

Stop the service first: data written meanwhile would be lost. If this is killed, run it again and it continues. At the
end it compares counts and checksums of both sides and prints them. Then start the service with DATABASE_URL set to the
new database and with the same CHANNEL_KEY. Samples that probes keep in DATA_DIR/spool stay there; probes that are
started with the same DATA_DIR deliver them to the new database. docs/moving.md describes each step.`;

export const options = {
  to: {
    type: "string",
    help: "address of the empty database, postgres://…; - reads it from standard input",
  },
} satisfies Options;

/**
 * Rolling up a day of samples takes half a minute. Without a limit, a statement on a server that vanished would wait
 * for a quarter of an hour.
 */
const statementTimeoutMs = 600_000;

export async function run({ values }: Given): Promise<void> {
  const to = await targetUrl(values["to"]);
  const settings = readSettings();
  const log = makeLog("move", settings.logLevel);
  await runToEnd(log, async (life) => {
    if (values["to"] !== "-" && new URL(addressesOf(to)[0]!).password !== "")
      log.warn(
        "every user who can list this machine's processes can read the password in --to; use --to - or ~/.pgpass",
      );
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    const target = await openPool(life, "target", to, log);
    const source = await openSource(life, settings, log);
    const stopping = new AbortController();
    const startedMs = performance.now();
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
      // its error is reported where it is awaited
      await moving.catch(() => {});
    });
    const moved = await moving;
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    if (moved) process.stdout.write(textOf(moved, performance.now() - startedMs));
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
 * The embedded database is hosted here, on a random port. The lock on its directory prevents the service from running
 * meanwhile.
 */
async function openSource(life: Life, { databaseUrl, dataDir }: Settings, log: Log): Promise<Pool> {
  if (databaseUrl !== null) return openPool(life, "source", databaseUrl, log);
  const database = await startEmbedded({ dataDir, port: 0, log });
  life.onClose("embedded database", database.close);
  // a crash rejects this promise; it is not awaited, so the uncaught error ends the program
  void database.failed;
  return openPool(life, "source", database.url, log);
}

async function openPool(life: Life, name: "source" | "target", url: string, log: Log): Promise<Pool> {
  const pool = await connect(
    url,
    // the second one looks up the lock's holder while a migration waits for a lock on the first
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
    `a right is missing: ${message}. The source needs the rights of vw_core, the target those of its owner or a superuser`,
    { cause: error },
  );
}

function textOf({ verified, finishedBefore }: Moved, tookMs: number): string {
  const rows = verified.reduce((sum, part) => sum + part.rows, 0);
  const table = plainTable([
    ["part", "rows", "checksum"],
    ...verified.map((part) => [part.part, String(part.rows), part.checksum]),
  ]);
  if (finishedBefore)
    return `${table}Nothing to do: the move was already finished at ${finishedBefore.toISOString()}.\n`;
  return (
    `${table}${rows} rows moved in ${(tookMs / 1000).toFixed(0)} s; all counts and checksums of both sides agree.\n` +
    "Start the service with DATABASE_URL set to the new database and with the same CHANNEL_KEY. Keep the old database until that works.\n"
  );
}

/** Overwrites the same line. */
function showProgress(): (step: string, share: number) => void {
  let shown = "";
  return (step, share) => {
    const text = `${step}, ${Math.floor(share * 100)} %`;
    if (text === shown) return;
    shown = text;
    process.stderr.write(`\r\x1b[K${text}`);
  };
}
