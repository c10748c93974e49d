/**
 * The life of a program: it starts, runs until something ends it, closes what it opened, and exits.
 *
 * It ends on SIGTERM or SIGINT, when its supervisor is gone, when its start fails, or on an uncaught error (a bug),
 * whichever comes first. A second signal exits at once.
 *
 * Exit codes: 0 done, or stopped as asked; 1 a bug, or a failed shutdown; 2 an error that the user can correct; 128 +
 * signal for an interrupted task, and after a second signal.
 */
import { constants } from "node:os";
import type { Log } from "../../shared/log/log.js";
import { notifySupervisor, whenSupervisorIsGone } from "../../shared/process/supervised.js";
import { exitCodes, outputFault, reportError, stackOf, UserError } from "../../shared/process/user-error.js";

export interface Life {
  /** Call it on the line after opening. Closings run in reverse order and share one deadline. */
  onClose: (name: string, close: () => unknown) => void;
}

type Signal = "SIGTERM" | "SIGINT";

interface End {
  exitCode: number;
  /** Shown after everything is closed, so that it is the last thing that the user reads. */
  refusal?: UserError;
}

const closeWithinMs = 10_000;

/**
 * Runs a program that serves until it is stopped, and exits.
 *
 * @param start resolves when the program is ready, with its address, if any
 */
export async function runUntilStopped(
  log: Log,
  start: (life: Life) => Promise<string | null | void>,
  deadlineMs = closeWithinMs,
): Promise<never> {
  async function serve(life: Life): Promise<never> {
    setInterval(() => {}, 2 ** 30); // keeps the process alive: a pending promise alone does not
    const address = (await start(life)) ?? null;
    log.info("ready", address === null ? {} : { address });
    await notifySupervisor({ ready: address });
    return new Promise(() => {});
  }
  return liveUntilStopped(log, serve, deadlineMs, () => exitCodes.done);
}

/** Runs a task that ends by itself, and exits. */
export async function runToEnd(
  log: Log,
  task: (life: Life) => Promise<void>,
  deadlineMs = closeWithinMs,
): Promise<never> {
  return liveUntilStopped(log, task, deadlineMs, codeOfSignal);
}

async function liveUntilStopped(
  log: Log,
  work: (life: Life) => Promise<void>,
  deadlineMs: number,
  codeWhenStopped: (signal: Signal) => number,
): Promise<never> {
  const closings = makeShutdown(log, deadlineMs);
  const end = await Promise.race([
    endFromOutside(log, codeWhenStopped),
    endOfOutput(),
    endOfWork(log, work({ onClose: closings.add }), closings.isClosing),
  ]);
  const clean = await closings.run();
  const code = end.refusal ? await reportError(end.refusal) : end.exitCode;
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

async function endOfWork(log: Log, working: Promise<void>, isClosing: () => boolean): Promise<End> {
  try {
    await working;
    return { exitCode: exitCodes.done };
  } catch (error) {
    if (error instanceof UserError) return { exitCode: 2, refusal: error };
    // a start in progress is expected to fail once shutdown closes what it uses
    if (isClosing()) log.warn("start aborted by the shutdown", { error });
    else log.error("failed", { stack: stackOf(error) });
    return { exitCode: exitCodes.bug };
  }
}

function codeOfSignal(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/** `venuewatch up 2>&1 | head` closes the reader of the log (EPIPE). That is no reason to stop watching venues. */
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

// Closes what a program opened, last opened first. A closing that fails or hangs does not prevent the others; all share
// one deadline.

type Close = () => unknown;

export interface Shutdown {
  /** After the shutdown began, `close` runs at once. */
  add: (name: string, close: Close) => void;
  isClosing: () => boolean;
  /** Closes everything; false when a closing failed or did not end in time. */
  run: () => Promise<boolean>;
}

function makeShutdown(log: Log, deadlineMs: number): Shutdown {
  const open: { name: string; close: Close }[] = [];
  let isClosing = false;

  async function run(): Promise<boolean> {
    isClosing = true;
    const budget = makeTimeBudget(deadlineMs);
    let clean = true;
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      const withinMs = budget.shareMs(open.length + 1);
      const closed = await closeOne(log, last.name, last.close, withinMs);
      clean = clean && closed;
    }
    return clean;
  }

  return {
    add(name, close) {
      if (isClosing) void closeOne(log, name, close, deadlineMs);
      else open.push({ name, close });
    },
    isClosing: () => isClosing,
    run,
  };
}

async function closeOne(log: Log, name: string, close: Close, withinMs: number): Promise<boolean> {
  log.debug("closing", { name });
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed within ${Math.round(withinMs)} ms`)), withinMs);
  });
  try {
    await Promise.race([Promise.resolve().then(close), tooLate]);
    return true;
  } catch (error) {
    log.error("closing failed", { name, stack: stackOf(error) });
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Divides a limited time among closings in a row: each may take half of the time left, the last one all of it. So one
 * that hangs cannot starve the others, and they get the time that a quick one does not use.
 */
export function makeTimeBudget(totalMs: number) {
  const endsAt = performance.now() + totalMs;
  return {
    /** @param turnsLeft closings that are left, including this one */
    shareMs(turnsLeft: number): number {
      const leftMs = Math.max(0, endsAt - performance.now());
      return turnsLeft > 1 ? leftMs / 2 : leftMs;
    },
  };
}
