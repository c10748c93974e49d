import { chmod, stat } from "node:fs/promises";

/**
 * Takes away what other users may do with a file or directory. Not every file system has modes, and the owner may be
 * another user, who lets our group in: it is no error then, and the caller decides.
 *
 * @param wanted the mode that it gets where others have rights
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
