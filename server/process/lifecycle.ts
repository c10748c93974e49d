/**
 * The life of a program: it starts, runs until something ends it, closes what
 * it opened, and exits.
 *
 * It ends by SIGTERM or SIGINT, when its supervisor is gone, when its start
 * fails, or by an error that nobody caught (a bug); whichever comes first
 * counts. A second signal exits at once.
 *
 * Exit codes: 0 done, or closed as asked; 1 a bug, or a closing that failed;
 * 2 a fault that the user can put right; 128 + signal for a task that was cut
 * short, and after a second signal.
 */

import { constants } from "node:os";

import { makeShutdown } from "./shutdown.js";
import type { Log } from "../../shared/log/log.js";
import { tellSupervisor, whenSupervisorIsGone } from "../../shared/process/supervised.js";
import { exitCodes, outputFault, stackOf, tellWhy, UserError } from "../../shared/process/user-error.js";

export interface Life {
  /** To be called on the line after opening. Closings run in reverse order, and share one deadline. */
  onClose: (name: string, close: () => unknown) => void;
}

type Signal = "SIGTERM" | "SIGINT";

interface End {
  exitCode: number;
  /** Told after everything is closed: it is to be the last thing that the user reads. */
  refusal?: UserError;
}

const closeWithinMs = 10_000;

/**
 * Runs a program that serves until it is told to stop, and exits.
 *
 * @param start resolves when the program is ready, with the address at which it answers, if any
 */
export async function runUntilStopped(
  log: Log,
  start: (life: Life) => Promise<string | null | void>,
  deadlineMs = closeWithinMs,
): Promise<never> {
  async function serve(life: Life): Promise<never> {
    setInterval(() => {}, 2 ** 30); // holds the process: a pending promise alone does not
    const address = (await start(life)) ?? null;
    log.info("ready", address === null ? {} : { address });
    await tellSupervisor({ ready: address });
    return new Promise(() => {});
  }
  return live(log, serve, deadlineMs, () => exitCodes.done);
}

/** Runs a task that ends by itself, and exits. */
export async function runToEnd(
  log: Log,
  task: (life: Life) => Promise<void>,
  deadlineMs = closeWithinMs,
): Promise<never> {
  return live(log, task, deadlineMs, codeOfSignal);
}

async function live(
  log: Log,
  work: (life: Life) => Promise<void>,
  deadlineMs: number,
  codeWhenStopped: (signal: Signal) => number,
): Promise<never> {
  const closings = makeShutdown(log, deadlineMs);
  const end = await Promise.race([
    endFromOutside(log, codeWhenStopped),
    endOfOutput(),
    endOfWork(log, work({ onClose: closings.add }), closings.begun),
  ]);
  const clean = await closings.run();
  const code = end.refusal ? await tellWhy(end.refusal) : end.exitCode;
  process.exit(code === exitCodes.done && !clean ? exitCodes.bug : code);
}

function endFromOutside(log: Log, codeWhenStopped: (signal: Signal) => number): Promise<End> {
  return new Promise((resolve) => {
    let signals = 0;
    function onSignal(signal: Signal) {
      signals += 1;
      if (signals > 1) process.exit(codeOfSignal(signal));
      log.info("stopping", { signal });
      resolve({ exitCode: codeWhenStopped(signal) });
    }
    function onSupervisorGone() {
      log.warn("stopping: the supervisor is gone");
      resolve({ exitCode: codeWhenStopped("SIGTERM") });
    }
    function onUncaught(error: unknown) {
      log.error("stopping: uncaught error", { stack: stackOf(error) });
      resolve({ exitCode: exitCodes.bug });
    }
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    whenSupervisorIsGone(onSupervisorGone);
    process.on("uncaughtException", onUncaught);
  });
}

async function endOfWork(log: Log, working: Promise<void>, closingBegun: () => boolean): Promise<End> {
  try {
    await working;
    return { exitCode: exitCodes.done };
  } catch (error) {
    if (error instanceof UserError) return { exitCode: 2, refusal: error };
    // Whoever is still starting fails as a matter of course when what it stands on is closed.
    if (closingBegun()) log.warn("start given up", { error });
    else log.error("failed", { stack: stackOf(error) });
    return { exitCode: exitCodes.bug };
  }
}

function codeOfSignal(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/** `venuewatch up 2>&1 | head` ends the reader of our log. That is no reason to stop watching venues. */
function endOfOutput(): Promise<End> {
  return new Promise((resolve) => {
    function onError(error: NodeJS.ErrnoException, refusal: UserError | null) {
      if (error.code === "EPIPE") return;
      if (refusal === null) throw error;
      resolve({ exitCode: exitCodes.userError, refusal });
    }
    process.stdout.on("error", (error: Error) => onError(error, outputFault(error)));
    process.stderr.on("error", (error: Error) => onError(error, null));
  });
}
