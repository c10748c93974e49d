/**
 * Closes what a program opened, last opened first. A closing that fails or hangs does not prevent the others; all share
 * one deadline.
 */

import type { Log } from "../../shared/log/log.js";
import { stackOf } from "../../shared/process/user-error.js";
import { makeTimeBudget } from "./time-budget.js";

type Close = () => unknown;

export interface Shutdown {
  /** After the shutdown began, `close` runs at once. */
  add: (name: string, close: Close) => void;
  isClosing: () => boolean;
  /** Closes everything; false when a closing failed or did not end in time. */
  run: () => Promise<boolean>;
}

export function makeShutdown(log: Log, deadlineMs: number): Shutdown {
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
