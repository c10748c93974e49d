/** Creates the data directory where it is missing, and checks at the start that it is writable. */

import { access, constants, mkdir } from "node:fs/promises";

import { UserError } from "../../shared/process/user-error.js";

/** @throws UserError where it cannot be created or written */
export async function makeDataDir(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      `the data directory ${path} cannot be written (${code}): make it writable for this user, or set DATA_DIR to another directory`,
      { cause: error },
    );
  }
}
