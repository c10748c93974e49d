/**
 * Faults that a user can put right: a port in use, a wrong setting, an unknown
 * option. They are told in plain sentences without a stack, and end a program
 * with code 2. Any other error is a bug of ours: it is shown with its stack,
 * and the code is 1.
 */

import { tellSupervisor } from "./supervised.js";

/** The message stands alone: what was expected, what came, what to do. */
export class UserError extends Error {
  override name = "UserError";
}

/** What is wrong with standard output, where that is why it cannot be written. */
export function outputFault(error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== "write") return null;
  return new UserError(`standard output cannot be written (${code}): look after where it goes, and the room there`, {
    cause: error,
  });
}

export const exitCodes = { done: 0, bug: 1, userError: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Says why a program ends, and gives the code to end with.
 *
 * A supervised program leaves the sentence to its supervisor, which prints it
 * last of all: in between the log lines of the others it would be overlooked.
 */
export async function tellWhy(error: unknown): Promise<ExitCode> {
  if (!(error instanceof UserError)) {
    process.stderr.write(`${stackOf(error)}\n`);
    return exitCodes.bug;
  }
  const told = await tellSupervisor({ refused: error.message });
  if (!told) process.stderr.write(`venuewatch: ${error.message}\n`);
  return exitCodes.userError;
}

/** With the causes, which `error.stack` leaves out. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const stack = error.stack ?? String(error);
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`;
}
