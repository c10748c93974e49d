/**
 * The passwords of the embedded database. Each is random, generated at the first start, and stored in a file of the
 * data directory that only its user can read. The database stores only verifiers.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log/log.js";
import { UserError } from "../process/user-error.js";

/** One line, the format of DATABASE_PASSWORD_FILE. */
export function ownerPasswordFile(dataDir: string): string {
  return join(dataDir, "database.password");
}

/** One line, the format of PGPASSFILE. */
export function passFileOf(dataDir: string, role: string): string {
  return join(dataDir, `${role}.pgpass`);
}

/** Creates the file where it is missing. */
export function keepOwnerPassword(dataDir: string, log: Log): Promise<string> {
  return keptLine(ownerPasswordFile(dataDir), newPassword, log);
}

/**
 * Creates the file where it is missing.
 *
 * @throws UserError where the file has another content
 */
export async function keepPassFile(dataDir: string, role: string, log: Log): Promise<string> {
  const file = passFileOf(dataDir, role);
  const start = `127.0.0.1:*:*:${role}:`;
  const line = await keptLine(file, () => start + newPassword(), log);
  if (line.startsWith(start)) return line.slice(start.length);
  throw new UserError(
    `${file}: expected a line that begins with ${start}, got another; delete the file, and the next start makes a new password`,
  );
}

function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/** Atomic: the file is renamed after it is written. */
async function keptLine(file: string, make: () => string, log: Log): Promise<string> {
  if (!existsSync(file)) {
    const unfinished = `${file}.new`;
    // a leftover file would keep its mode, so other users might be able to read it
    await rm(unfinished, { force: true });
    await writeFile(unfinished, `${make()}\n`, { mode: 0o600, flag: "wx" });
    await rename(unfinished, file);
  }
  const { mode, isPrivate } = await makePrivate(file, 0o600);
  if (mode & 0o077)
    log.warn(
      isPrivate
        ? "other users could read this password until now"
        : "other users can read this password, and the file's mode could not be changed",
      {
        ...{ file, mode: mode.toString(8) },
        hint: "delete the file, and the next start makes a new password",
      },
    );
  const line = (await readFile(file, "utf8")).trim();
  if (/^[\x21-\x7e]{8,}$/.test(line)) return line;
  throw new UserError(
    `${file}: expected one line with a password of at least 8 ASCII characters, got something else; delete the file, and the next start makes a new password`,
  );
}

/**
 * Removes other users' rights on a file or directory. That may fail without an error, and the caller decides: not every
 * file system has modes, and the owner may be another user who gives our group access.
 *
 * @param wanted the mode to set where others have rights
 * @returns the mode before, and whether it is private now
 */
export async function makePrivate(path: string, wanted: number): Promise<{ mode: number; isPrivate: boolean }> {
  const mode = await modeOf(path);
  if ((mode & 0o077) === 0) return { mode, isPrivate: true };
  try {
    await chmod(path, wanted);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
  return { mode, isPrivate: ((await modeOf(path)) & 0o077) === 0 };
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
