/**
 * PostgreSQL and TimescaleDB on a directory, for one process.
 *
 * kill -9 of the process loses no acknowledged row, because every row is written to a file (that is, to the kernel)
 * before it is acknowledged. The database never calls fsync, so a power cut or a crash of the operating system may lose
 * or damage data.
 */
import { access, chmod, rm, stat, writeFile } from "node:fs/promises";
import { startBackend, type Backend, type BackendOptions } from "./backend.js";
import type { EmbeddedLog } from "./log.js";
import { isPasswordOf, scramVerifier } from "./scram.js";

export interface DatabaseOptions extends Partial<Omit<BackendOptions, "directory">> {
  /** Created if it is missing; its parent must exist. No other process may have it open: nothing here prevents that. */
  directory: string;
  log: EmbeddedLog;
}

/**
 * If a creation was interrupted, it starts again with an empty directory: no client has ever connected to the old one.
 *
 * @throws Error if the directory cannot be used
 */
export async function openDatabase(options: DatabaseOptions): Promise<Backend> {
  const { directory, log, searchPath = "public", ownPrograms = null, statementLimitMs = 10 * 60_000 } = options;
  const { wallClock } = options;
  const backendOptions: BackendOptions = { directory, searchPath, ownPrograms, statementLimitMs, wallClock };
  const unfinished = `${directory}.unfinished`;
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
      await (await startBackend(backendOptions)).close();
      await rm(unfinished);
    }
    // The build creates the directory with the umask's mode. It contains all data and password verifiers.
    if (!(await closeToOthers(directory)))
      log.warn("other users can read the database, and its mode could not be changed", { directory });
    return await startBackend(backendOptions);
  } catch (error) {
    throw new Error(`The database in ${directory} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

/** Lets the role log in with this password, and creates it if it is missing. An earlier password stops working. */
export async function admit(backend: Backend, role: string, password: string): Promise<void> {
  const { logins } = await backend.request({ kind: "logins" });
  const known = logins!.get(role);
  if (known && isPasswordOf(known.verifier, password)) return;
  await backend.request({
    kind: "admit",
    role,
    verifier: scramVerifier(password),
  });
}

/** False if other users keep rights on it: not every file system has modes, and the directory may not be ours. */
async function closeToOthers(directory: string): Promise<boolean> {
  if (await isClosed(directory)) return true;
  await chmod(directory, 0o700).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EPERM") throw error;
  });
  return isClosed(directory);
}

async function isClosed(directory: string): Promise<boolean> {
  return ((await stat(directory)).mode & 0o077) === 0;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
