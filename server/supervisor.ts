/**
 * Keeps programs running as child processes, and stops them in reverse order.
 *
 * A program is started, says that it is ready, and from then on is restarted
 * whenever it ends, after a pause that grows from one failure to the next and
 * starts small again once the program has lived for a while. What it cannot
 * start with and the user can put right (exit code 2) ends the start instead;
 * after the first readiness that is a failure like any other, because what
 * once started needs no user, only time (a database that is being restarted).
 *
 * Stopping is SIGTERM, then SIGKILL, within one deadline for all.
 */

import { setTimeout as pause } from "node:timers/promises";

import {
  startChild,
  type Child,
  type ChildEnd,
  type Program,
} from "./child.js";
import type { Log } from "./log.js";
import { makeTimeBudget } from "./time-budget.js";
import { exitCodes, UserError } from "./user-error.js";

export interface SupervisorOptions {
  log: Log;
  /** The first pause before a restart, its upper bound, and how long a program must live to have its failures forgotten. */
  restart?: { firstMs: number; longestMs: number; stableMs: number };
  /** For all programs together. The supervisor's own life ends after ten seconds. */
  stopWithinMs?: number;
}

export interface Supervisor {
  /**
   * Resolves when the program is ready, with the address it gave; pending while it is restarted.
   * @throws UserError when it refuses to start
   */
  start: (program: Program) => Promise<string | null>;
  /**
   * Runs a task once, to its end.
   * @throws UserError when it refuses, Error when it fails
   */
  run: (program: Program) => Promise<void>;
  /** Stops the programs, last started first. Starts that are under way stay pending. */
  close: () => Promise<void>;
}

/** A place in the row of programs; its child is replaced at every restart. */
interface Place {
  program: Program;
  child: Child;
}

export function makeSupervisor({
  log,
  restart = { firstMs: 500, longestMs: 30_000, stableMs: 60_000 },
  stopWithinMs = 9_000,
}: SupervisorOptions): Supervisor {
  const places: Place[] = [];
  const stopping = new AbortController();

  async function start(program: Program): Promise<string | null> {
    log.debug("starting", { program: program.name });
    return new Promise((resolve, reject) => {
      keepRunning(program, resolve).catch(reject);
    });
  }

  async function keepRunning(
    program: Program,
    onReady: (address: string | null) => void,
  ): Promise<void> {
    let wasReady = false;
    function onReadyAgain(address: string | null) {
      wasReady = true;
      onReady(address);
    }
    const place = { program, child: startChild(program, onReadyAgain) };
    places.push(place);
    for (let failures = 1; ; failures += 1) {
      const end = await place.child.ended;
      if (stopping.signal.aborted) return;
      if (end.code === exitCodes.userError && !wasReady)
        throw refusalOf(program, end);
      if (end.livedMs >= restart.stableMs) failures = 1;
      const restartInMs = pauseMs(failures, restart);
      log.error("ended unasked, will be started again", {
        program: program.name,
        ...end,
        restartInMs,
      });
      await pauseUnlessStopped(restartInMs);
      if (stopping.signal.aborted) return;
      place.child = startChild(program, onReadyAgain);
    }
  }

  async function pauseUnlessStopped(ms: number): Promise<void> {
    try {
      await pause(ms, undefined, { signal: stopping.signal });
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    }
  }

  async function run(program: Program): Promise<void> {
    log.debug("running", { program: program.name });
    const place = { program, child: startChild(program) };
    places.push(place);
    const end = await place.child.ended;
    if (stopping.signal.aborted) return new Promise(() => {});
    places.splice(places.indexOf(place), 1);
    if (end.code === exitCodes.userError) throw refusalOf(program, end);
    if (end.code !== exitCodes.done)
      throw new Error(
        `${program.name} ended with ${end.signal ?? `code ${end.code}`}; what it logged says why`,
        { cause: end.error },
      );
  }

  async function close(): Promise<void> {
    stopping.abort();
    const budget = makeTimeBudget(stopWithinMs);
    for (let last = places.pop(); last !== undefined; last = places.pop()) {
      const withinMs = Math.floor(budget.shareMs(places.length + 1));
      const killed = await last.child.stop(withinMs);
      const program = last.program.name;
      if (killed)
        log.warn("did not stop and was killed", { program, withinMs });
      else log.debug("stopped", { program });
    }
  }

  return { start, run, close };
}

function refusalOf({ name }: Program, { refused }: ChildEnd): UserError {
  return new UserError(
    refused ??
      `${name} refused to start (exit code 2): put right what it wrote above`,
  );
}

/** Doubling, and spread over its upper half, so that programs that fell together do not come back together. */
function pauseMs(
  failures: number,
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
): number {
  const fullMs = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(fullMs * (0.5 + Math.random() / 2));
}
