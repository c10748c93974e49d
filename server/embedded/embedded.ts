/**
 * The embedded database: PostgreSQL and TimescaleDB, compiled to WebAssembly, which serve the wire protocol on
 * loopback.
 *
 * kill -9 of the process loses no acknowledged row, because every row is written to a file (that is, to the kernel)
 * before it is acknowledged. The database never calls fsync, so a power cut or a crash of the operating system may lose
 * or damage data.
 */
import { access, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockDirectory } from "../../shared/process/directory-lock.js";
import type { Log } from "../../shared/log/log.js";
import { startBackend, type Backend } from "./backend.js";
import { howToInstall, isInstalled } from "./installed.js";
import { isPasswordOf, scramVerifier } from "../database/scram.js";
import { UserError } from "../../shared/process/user-error.js";
import { owner } from "./session.js";
import { makePrivate } from "../../shared/process/make-private.js";
import { keepOwnerPassword, keepPassFile } from "../../shared/config/embedded-passwords.js";
import { startService, type EmbeddedService } from "./service.js";

export interface EmbeddedOptions {
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
  /** How long a client may hold the database while it is idle, in a transaction or before Sync. */
  idleTransactionMs?: number;
  /** How long a client that is no superuser may hold the database at a time, with a statement or a transaction. */
  turnLimitMs?: number;
  /** How long a login may take, from the connection on; a minute by default, as PostgreSQL's authentication_timeout. */
  loginLimitMs?: number;
  maxClients?: number;
  /**
   * A superuser's statement that takes longer is cancelled, even if its statement_timeout is longer. A superuser that
   * has set none, and is not a program of the service, has 20 s (session.ts).
   */
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
  const begun = performance.now();
  const lock = await lockDirectory(options.dataDir);
  try {
    const password = await keepOwnerPassword(options.dataDir, options.log);
    const backend = await openDatabase(options);
    const service = await serve(backend, password, options);
    const { port } = service;
    const tookMs = Math.round(performance.now() - begun);
    options.log.info("the embedded database is ready", { port, tookMs });
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

/**
 * If a creation was interrupted, it starts again with an empty directory: no client has ever connected to the old one.
 */
async function openDatabase({ dataDir, log, statementLimitMs = 10 * 60_000 }: EmbeddedOptions): Promise<Backend> {
  const directory = join(dataDir, "pgdata");
  const unfinished = join(dataDir, "pgdata.unfinished");
  if (await exists(unfinished)) await rm(directory, { recursive: true, force: true });
  const isNew = !(await exists(directory));
  if (isNew) await writeFile(unfinished, "");
  log.info(
    isNew
      ? "creating a database, which takes some seconds; later starts only open it"
      : "opening the embedded database",
    { directory },
  );
  try {
    if (isNew) {
      // The backend that created the directory denies catalogues to everybody but superusers, because it read them
      // before their rights were written. So it is closed, and another one is started.
      await (await startBackend(directory, statementLimitMs)).close();
      await rm(unfinished);
    }
    // The build creates the directory with the umask's mode. It contains samples and password verifiers.
    if (!(await makePrivate(directory, 0o700)).isPrivate)
      log.warn("other users can read the database, and its mode could not be changed", { directory });
    return await startBackend(directory, statementLimitMs);
  } catch (error) {
    throw new Error(`The database in ${directory} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

async function serve(backend: Backend, password: string, options: EmbeddedOptions): Promise<EmbeddedService> {
  const { dataDir, log, logins = [] } = options;
  try {
    await admit(backend, owner, password);
    for (const role of logins) await admit(backend, role, await keepPassFile(dataDir, role, log));
  } catch (error) {
    await backend.close();
    throw error;
  }
  return listen(backend, password, options);
}

/** Lets the role log in with this password. An earlier password stops working. */
async function admit(backend: Backend, role: string, password: string): Promise<void> {
  const { verifier } = await backend.request({ kind: "verifier", user: role });
  if (verifier && isPasswordOf(verifier, password)) return;
  await backend.request({
    kind: "admit",
    role,
    verifier: scramVerifier(password),
  });
}

async function listen(backend: Backend, decoySecret: string, options: EmbeddedOptions): Promise<EmbeddedService> {
  const { port, log } = options;
  const { idleTransactionMs = 10_000, maxClients = 100 } = options;
  const { loginLimitMs = 60_000 } = options;
  // `/readyz` gives the database five seconds
  const { turnLimitMs = 4_000 } = options;
  try {
    return await startService(backend, {
      ...{ port, log, decoySecret },
      ...{ loginLimitMs, idleTransactionMs, turnLimitMs, maxClients },
    });
  } catch (error) {
    await backend.close();
    throw new UserError(
      `The embedded database cannot listen on 127.0.0.1:${port} (${(error as Error).message}): stop what uses the port, or choose another with EMBEDDED_PORT.`,
      { cause: error },
    );
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
