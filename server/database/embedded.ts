/** The service's embedded database: a data directory with its lock, its passwords, and the limits of its clients. */
import { join, relative } from "node:path";
import {
  admit,
  type Backend,
  type EmbeddedService,
  isInstalled,
  openDatabase,
  owner,
  postgresPackage,
  type ServiceLimits,
  startService,
} from "@venuewatch/embedded-timescaledb";
import { keepOwnerPassword, keepPassFile, passFileOf } from "../../shared/config/embedded-passwords.js";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { lockDirectory } from "../../shared/process/directory-lock.js";
import { UserError } from "../../shared/process/user-error.js";

/** See "The embedded database is optional" in docs/decisions/embedded-database.md. */
export const howToInstall = `\`npm ci\` without --omit=optional installs it (${postgresPackage}); the production image does not contain it`;

export interface EmbeddedOptions extends ServiceLimits {
  /** Created if it is missing. The database is in its subdirectory `pgdata`. */
  dataDir: string;
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  log: Log;
  /**
   * Least-privilege logins besides the owner. Missing ones are created; the password of each is in a separate file
   * (embedded-passwords.ts).
   */
  logins?: readonly string[];
  /** A superuser's statement that takes longer is cancelled, even if its statement_timeout is longer. */
  statementLimitMs?: number;
}

export interface Embedded {
  /** The URL of the owner, a superuser. It contains the password and must never be shown. */
  url: string;
  port: number;
  /** Rejects after a crash, when all clients have received the error and the directory is unlocked. Never resolves. */
  failed: Promise<never>;
  /** Waits for the running statement (20 s at most), rolls back open transactions, and writes a checkpoint. */
  close: () => Promise<void>;
}

/**
 * Throws an error with a message for users if the package is not installed, if the directory is locked by another
 * process or cannot be used, or if the port is in use.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  if (!isInstalled())
    throw new UserError(
      `the embedded database is not installed: expected DATABASE_URL, the address of a TimescaleDB server, or the optional package: ${howToInstall}`,
    );
  const { dataDir, log, statementLimitMs } = options;
  const startMs = performance.now();
  const lock = await lockDirectory(dataDir);
  try {
    const password = await keepOwnerPassword(dataDir, log);
    const backend = await openDatabase({
      ...{ directory: join(dataDir, "pgdata"), log, statementLimitMs },
      // as the migration sets it for the database on a server
      searchPath: "venuewatch, public, analytics",
      ownPrograms: /^venuewatch /,
    });
    const service = await serveBackend(backend, password, options);
    const { port } = service;
    const tookMs = Math.round(performance.now() - startMs);
    log.info("the embedded database is ready", { port, tookMs });
    return {
      url: `postgres://${owner}:${password}@127.0.0.1:${port}/template1`,
      port,
      failed: service.failed.finally(lock.release),
      close: () => service.close().finally(lock.release),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function serveBackend(backend: Backend, password: string, options: EmbeddedOptions): Promise<EmbeddedService> {
  const { dataDir, log, logins = [] } = options;
  try {
    await admit(backend, owner, password);
    for (const role of logins) await admit(backend, role, await keepPassFile(dataDir, role, log));
  } catch (error) {
    await backend.close();
    throw error;
  }
  return listenEmbedded(backend, password, options);
}

async function listenEmbedded(
  backend: Backend,
  decoySecret: string,
  options: EmbeddedOptions,
): Promise<EmbeddedService> {
  const { port, log, loginLimitMs, idleTransactionMs, maxClients } = options;
  // `/readyz` gives the database five seconds
  const { turnLimitMs = 4_000 } = options;
  try {
    return await startService(backend, {
      ...{ port, log, decoySecret },
      refused: makeOutage(log, refusedWords, { level: "warn", endsByItself: true }),
      ...{ loginLimitMs, idleTransactionMs, turnLimitMs, maxClients },
      turnLimitHint: "Query a shorter period or a single venue; a TimescaleDB server has no such limit.",
    });
  } catch (error) {
    await backend.close();
    throw new UserError(
      `The embedded database cannot listen on 127.0.0.1:${port} (${(error as Error).message}): stop what uses the port, or choose another with EMBEDDED_PORT.`,
      { cause: error },
    );
  }
}

const refusedWords = {
  begins: "the embedded database refused a client",
  lasts: "the embedded database still refuses clients",
  over: "the embedded database has refused no client for a while",
};

// How people query the embedded database: with a login that can read the views of schema analytics and nothing else
// (sql/database/roles.sql).

export const analystRole = "vw_analyst";

/**
 * A command line for a shell. It names the password file and does not contain the password.
 *
 * @param url the owner's
 */
export function analystCommand(url: string, dataDir: string): string {
  const address = new URL(url);
  address.username = analystRole;
  address.password = "";
  const file = relative("", passFileOf(dataDir, analystRole));
  return `PGPASSFILE=${shellQuoted(file)} psql ${address.href}`;
}

/** A path quoted for a shell, if that is necessary. */
export function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
