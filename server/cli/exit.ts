import { exitCodes, outputFault, reportError } from "../../shared/process/user-error.js";

// The codes of other commands stand in shared/process/user-error.ts: 0 done, 1 a bug, 2 what the user can correct.
//
// Exit codes of commands whose exit code is their answer, such as `status`: a script then reads 1 and 2 as `degraded`
// and `outage`. So errors of these commands have the codes of sysexits(3), and so has a command that does not exist: it
// may be a misspelt `status`.

/** Keyed by the code with which other commands end. */
const besidesAnswers = { [exitCodes.bug]: 70, [exitCodes.userError]: 64 } as const;

/** Prints an error, and ends the process. */
export async function endWithError(error: unknown, answers: boolean): Promise<never> {
  const code = await reportError(error);
  process.exit(answers && code !== exitCodes.done ? besidesAnswers[code] : code);
}

/** Errors outside of the command's promise would otherwise end Node with code 1. */
export function endAtUncaughtErrors(): void {
  process.on("uncaughtException", (error) => void endWithError(error, true));
}

/**
 * Prints an answer and ends the process with its code, even if the reader of the output has left. Requests and look-ups
 * that are still running end with it.
 *
 * @throws UserError if the output cannot be written
 */
export function endWithAnswer(code: number, output: string, remark: string | null): Promise<never> {
  return new Promise((_, reject) => {
    // the callback gets the error, too
    process.stdout.on("error", () => {});
    process.stdout.write(output, (error) => {
      const isLost = error && (error as NodeJS.ErrnoException).code !== "EPIPE";
      if (isLost) return reject(outputFault(error) ?? error);
      if (remark !== null) process.stderr.write(`venuewatch: ${remark}\n`);
      process.exit(code);
    });
  });
}
