/**
 * Errors that a user can correct: a port in use, a wrong setting, an unknown option. They are printed as plain
 * sentences without a stack, and end a program with code 2. Any other error is a bug: it is printed with its stack, and
 * the code is 1.
 */

import { withoutHidden } from "../text/secrets.js";
import { notifySupervisor } from "./supervised.js";

/** The message is complete: what was expected, what came, what to do. */
export class UserError extends Error {
  override name = "UserError";
}

/** The error of a failed write, which is to standard output; null for any other error. */
export function outputFault(error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== "write") return null;
  return new UserError(`standard output cannot be written (${code}): check its destination and the free space there`, {
    cause: error,
  });
}

export const exitCodes = { done: 0, bug: 1, userError: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Prints why a program ends, and returns its exit code.
 *
 * A supervised program sends the message to its supervisor, which prints it last: among the log lines of the others it
 * would be overlooked.
 */
export async function reportError(error: unknown): Promise<ExitCode> {
  if (!(error instanceof UserError)) {
    process.stderr.write(withoutHidden(`${stackOf(error)}\n`));
    return exitCodes.bug;
  }
  const message = withoutHidden(error.message);
  const sent = await notifySupervisor({ refused: message });
  if (!sent) process.stderr.write(`venuewatch: ${message}\n`);
  return exitCodes.userError;
}

/** The stack with its causes, which `error.stack` leaves out. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const stack = error.stack ?? String(error);
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`;
}
