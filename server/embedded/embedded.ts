/**
 * The database that comes with the package: PostgreSQL and TimescaleDB,
 * compiled to WebAssembly, served on loopback in the wire protocol.
 *
 * What it promises: kill -9 of the process loses no acknowledged row, because
 * all is written to files (to the kernel, that is) before it is acknowledged.
 * What it does not: it never calls fsync, so a power cut or a crash of the
 * operating system may lose or damage data.
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
  /** Created if need be. The database is in its subdirectory `pgdata`. */
  dataDir: string;
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  log: Log;
  /**
   * Roles that log in besides the owner, with fewer rights. Made where they are missing; the password of each is in a
   * file of its own (embedded-passwords.ts).
   */
  logins?: readonly string[];
  /** How long a client may keep the database, in a transaction or without Sync, and do nothing. */
  idleTransactionMs?: number;
  /** How long a client who is no superuser may have the database at a time, with a statement or a transaction. */
  turnLimitMs?: number;
  /** From the connection to the end of the login; a minute, as PostgreSQL's authentication_timeout. */
  loginLimitMs?: number;
  maxClients?: number;
  /**
   * A superuser's statement that takes longer is cancelled, whatever its statement_timeout; who has set none, and is
   * none of the service's programs, has 20 s (session.ts).
   */
  statementLimitMs?: number;
}

export interface Embedded {
  /** Of the owner, a superuser, with the password: never to be shown. */
  url: string;
  port: number;
  /** Rejects when the database has crashed: all clients have been told, the directory is free. Never resolves. */
  failed: Promise<never>;
  /** Lets the statement under way end (for 20 s at most), rolls back what is open, writes a checkpoint. */
  close: () => Promise<void>;
}

/**
 * Throws, in a sentence for people, when the package is not installed, the directory is held by another process or
 * cannot be used, or the port is taken.
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

/** A creation that was cut off starts again from nothing: no client has ever seen what it left. */
async function openDatabase({ dataDir, log, statementLimitMs = 10 * 60_000 }: EmbeddedOptions): Promise<Backend> {
  const directory = join(dataDir, "pgdata");
  const unfinished = join(dataDir, "pgdata.unfinished");
  if (await exists(unfinished)) await rm(directory, { recursive: true, force: true });
  const isNew = !(await exists(directory));
  if (isNew) await writeFile(unfinished, "");
  log.info(
    isNew ? "creating a database, which takes some seconds; later starts only open it" : "opens the embedded database",
    { directory },
  );
  try {
    if (isNew) {
      // what has made the directory refuses catalogues to all but superusers: it has read them before their rights were
      // written
      await (await startBackend(directory, statementLimitMs)).close();
      await rm(unfinished);
    }
    // The build creates it with the umask's mode. It holds samples and verifiers.
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

/** Lets the role in by this password, and by no other that it had before. */
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
