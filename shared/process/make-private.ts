import { chmod, stat } from "node:fs/promises";

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
