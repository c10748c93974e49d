/**
 * Keeps programs running as child processes, and stops them in reverse order. Programs that are started without
 * awaiting each other are peers and are stopped together.
 *
 * Once a program reported that it is ready, it is restarted whenever it ends, with a backoff that grows with each
 * failure and is reset once the program has lived for a while. Exit code 2 (an error that the user can correct) before
 * the first readiness ends the start instead. After it, that is a failure like any other: a program that once started
 * needs no correction, only time (the database may be restarting).
 *
 * Stopping sends SIGTERM, then SIGKILL, within one deadline for all. A third of it is reserved for the first program,
 * on which all others depend: a database that is killed before its checkpoint takes longer at its next start.
 */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { SupervisorMessage } from "../../shared/process/supervised.js";
import { exitCodes, UserError } from "../../shared/process/user-error.js";
import { makeTimeBudget } from "./lifecycle.js";

export interface SupervisorOptions {
  log: Log;
  /** The backoff before a restart, its limit, and how long a program must live to reset it. */
  restart?: { firstMs: number; longestMs: number; stableMs: number };
  /** For all programs together. The supervisor itself must exit within ten seconds. */
  stopWithinMs?: number;
}

export interface Supervisor {
  /**
   * Resolves when the program is ready, with the address that it reported; pending while it is restarted.
   * @throws UserError when it refuses to start
   */
  start: (program: Program) => Promise<string | null>;
  /**
   * Runs a task once, to its end.
   * @throws UserError when it refuses, Error when it fails
   */
  run: (program: Program) => Promise<void>;
  /** Stops the programs, last started first, peers together. Starts in progress stay pending. */
  close: () => Promise<void>;
}

/** A place in a tier of programs; its child is replaced at every restart. */
interface Place {
  program: Program;
  child: Child;
  wasReady: boolean;
}

export function makeSupervisor({
  log,
  restart = { firstMs: 500, longestMs: 30_000, stableMs: 60_000 },
  stopWithinMs = 9_000,
}: SupervisorOptions): Supervisor {
  /** Each tier depends on those before it. None is empty. */
  const tiers: Place[][] = [];
  const stopping = new AbortController();

  async function start(program: Program): Promise<string | null> {
    log.debug("starting", { program: program.name });
    return new Promise((resolve, reject) => {
      keepRunning(program, resolve).catch(reject);
    });
  }

  async function keepRunning(program: Program, onReady: (address: string | null) => void): Promise<void> {
    function onEachReady(address: string | null) {
      place.wasReady = true;
      onReady(address);
    }
    const child = startChild(program, onEachReady);
    const place = { program, child, wasReady: false };
    addPlace(place);
    for (let failures = 1; ; failures += 1) {
      const end = await place.child.ended;
      if (stopping.signal.aborted) return;
      if (end.code === exitCodes.userError && !place.wasReady) throw refusalOf(program, end);
      if (end.livedMs >= restart.stableMs) failures = 1;
      const restartInMs = pauseMs(failures, restart);
      log.error("a program ended unexpectedly; restarting", {
        program: program.name,
        ...end,
        restartInMs,
      });
      await pauseUnlessStopped(restartInMs);
      if (stopping.signal.aborted) return;
      place.child = startChild(program, onEachReady);
    }
  }

  /** A program that is started before the last one is ready does not depend on it. */
  function addPlace(place: Place): void {
    const last = tiers.at(-1);
    if (last?.some(({ wasReady }) => !wasReady)) last.push(place);
    else tiers.push([place]);
  }

  function removePlace(place: Place): void {
    const tier = tiers.find((tier) => tier.includes(place))!;
    tier.splice(tier.indexOf(place), 1);
    if (tier.length === 0) tiers.splice(tiers.indexOf(tier), 1);
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
    const place = { program, child: startChild(program), wasReady: false };
    addPlace(place);
    const end = await place.child.ended;
    if (stopping.signal.aborted) return new Promise(() => {});
    removePlace(place);
    if (end.code === exitCodes.userError) throw refusalOf(program, end);
    if (end.code !== exitCodes.done)
      throw new Error(`${program.name} ended with ${end.signal ?? `code ${end.code}`}; see its log`, {
        cause: end.error,
      });
  }

  async function close(): Promise<void> {
    stopping.abort();
    const all = makeTimeBudget(stopWithinMs);
    const aboveFirst = makeTimeBudget(stopWithinMs * (2 / 3));
    for (let last = tiers.pop(); last !== undefined; last = tiers.pop()) {
      const below = tiers.length;
      const shareMs = below > 0 ? aboveFirst.shareMs(below) : all.shareMs(1);
      const withinMs = Math.floor(shareMs);
      await Promise.all(last.map((place) => stopOne(place, withinMs)));
    }
  }

  async function stopOne(place: Place, withinMs: number): Promise<void> {
    const killed = await place.child.stop(withinMs);
    const program = place.program.name;
    if (killed) log.warn("a program did not stop in time and was killed", { program, withinMs });
    else log.debug("a program stopped", { program });
  }

  return { start, run, close };
}

function refusalOf({ name }: Program, { refused }: ChildEnd): UserError {
  return new UserError(refused ?? `${name} refused to start (exit code 2): correct the error that it printed above`);
}

/** Doubles with each failure, with jitter in its upper half, so that programs that failed together restart apart. */
function pauseMs(failures: number, { firstMs, longestMs }: { firstMs: number; longestMs: number }): number {
  const fullMs = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return Math.round(fullMs * (0.5 + Math.random() / 2));
}

// A child process of the supervisor: a program of this package that reports when it is ready, and that can be stopped.

export interface Program {
  /** For log lines. */
  name: string;
  /** What node runs: a script and its arguments. */
  args: string[];
  /** The whole environment. */
  env: Record<string, string | undefined>;
}

interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  livedMs: number;
  /** The error message of a program that refused to start. */
  refused?: string;
  /** The process could not be created. */
  error?: Error;
}

interface Child {
  ended: Promise<ChildEnd>;
  /** SIGTERM, and SIGKILL after `withinMs`. Resolves when the process is gone; true when it had to be killed. */
  stop: (withinMs: number) => Promise<boolean>;
}

/**
 * Its log lines pass through unchanged.
 *
 * It gets its own session (`detached`), because Ctrl-C in a terminal reaches every process of the session: the database
 * would stop before the programs that still write to it. The IPC channel ensures that it does not outlive the
 * supervisor (`whenSupervisorIsGone`).
 */
function startChild({ args, env }: Program, onReady: (address: string | null) => void = () => {}): Child {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env,
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let refused: string | undefined;
  child.on("message", (notice: SupervisorMessage) => {
    if ("ready" in notice) onReady(notice.ready);
    else refused = notice.refused;
  });

  const ended = new Promise<ChildEnd>((resolve) => {
    const livedMs = () => Math.round(performance.now() - startedAt);
    child.on("error", (error) => {
      if (child.pid !== undefined) return; // a signal or message could not be sent: `exit` follows
      resolve({ code: null, signal: null, livedMs: livedMs(), error });
    });
    child.on("exit", (code, signal) => {
      const report = () => resolve({ code, signal, livedMs: livedMs(), refused });
      // its last message may still be on its way; the channel's end comes after it
      if (child.connected) child.once("disconnect", report);
      else report();
    });
  });

  async function stop(withinMs: number): Promise<boolean> {
    let killed = false;
    child.kill("SIGTERM");
    const timer = setTimeout(() => {
      killed = child.kill("SIGKILL");
    }, withinMs);
    await ended;
    clearTimeout(timer);
    return killed;
  }

  return { ended, stop };
}
