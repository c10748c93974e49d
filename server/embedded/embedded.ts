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
import { lockDirectory } from "../directory-lock.js";
import type { Log } from "../log.js";
import { startBackend, type Backend } from "./backend.js";
import { howToInstall, isInstalled } from "./installed.js";
import { UserError } from "../user-error.js";
import { startService, type Service } from "./service.js";

export interface EmbeddedOptions {
  /** Created if need be. The database is in its subdirectory `pgdata`. */
  dataDir: string;
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  log: Log;
  /** How long a client may keep the database, in a transaction or without Sync, and do nothing. */
  idleTransactionMs?: number;
  maxClients?: number;
  /** A statement that takes longer counts as a crash, there being no other way to end it. */
  statementLimitMs?: number;
}

export interface Embedded {
  /** Every user name is let in, without a password; one that is a role's acts as that role. */
  url: string;
  port: number;
  /** Rejects when the database has crashed: all clients have been told, the directory is free. Never resolves. */
  failed: Promise<never>;
  /** Lets the statement under way end (for 20 s at most), rolls back what is open, writes a checkpoint. */
  close: () => Promise<void>;
}

/** Throws, in a sentence for people, when the package is not installed, the directory is held by another process or cannot be used, or the port is taken. */
export async function startEmbedded(
  options: EmbeddedOptions,
): Promise<Embedded> {
  if (!isInstalled())
    throw new UserError(
      `the embedded database is not installed: expected DATABASE_URL, the address of a TimescaleDB server, or the optional package: ${howToInstall}`,
    );
  const begun = performance.now();
  const lock = await lockDirectory(options.dataDir);
  try {
    const backend = await openDatabase(options);
    const service = await serve(backend, options);
    const url = `postgres://postgres@127.0.0.1:${service.port}/template1`;
    const tookMs = Math.round(performance.now() - begun);
    options.log.info("the embedded database is ready", { url, tookMs });
    return {
      url,
      port: service.port,
      failed: service.failed.finally(lock.release),
      close: () => service.close().finally(lock.release),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A creation that was cut off is begun anew: no client has ever seen what it left. */
async function openDatabase({
  dataDir,
  log,
  statementLimitMs = 10 * 60_000,
}: EmbeddedOptions): Promise<Backend> {
  const directory = join(dataDir, "pgdata");
  const unfinished = join(dataDir, "pgdata.unfinished");
  if (await exists(unfinished))
    await rm(directory, { recursive: true, force: true });
  const isNew = !(await exists(directory));
  if (isNew) await writeFile(unfinished, "");
  log.info(
    isNew
      ? "creating a database, which takes some seconds; later starts only open it"
      : "opens the embedded database",
    { directory },
  );
  try {
    const backend = await startBackend(directory, statementLimitMs);
    if (isNew) await rm(unfinished);
    return backend;
  } catch (error) {
    throw new Error(
      `The database in ${directory} cannot be opened: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

async function serve(
  backend: Backend,
  options: EmbeddedOptions,
): Promise<Service> {
  const { port, log, idleTransactionMs = 10_000, maxClients = 100 } = options;
  try {
    return await startService(backend, {
      port,
      log,
      idleTransactionMs,
      maxClients,
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
