/**
 * A child process of the supervisor: a program of this package that reports when it is ready, and that can be stopped.
 */

import { spawn } from "node:child_process";

import type { SupervisorMessage } from "../../shared/process/supervised.js";

export interface Program {
  /** For log lines. */
  name: string;
  /** What node runs: a script and its arguments. */
  args: string[];
  /** The whole environment. */
  env: Record<string, string | undefined>;
}

export interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  livedMs: number;
  /** The error message of a program that refused to start. */
  refused?: string;
  /** The process could not be created. */
  error?: Error;
}

export interface Child {
  ended: Promise<ChildEnd>;
  /** SIGTERM, and SIGKILL after `withinMs`. Resolves when the process is gone; true when it had to be killed. */
  stop: (withinMs: number) => Promise<boolean>;
}

/**
 * Its log lines pass through unchanged.
 *
 * It gets its own session (`detached`), because Ctrl-C in a terminal reaches every process of the session: the database
 * would stop before the programs that still write to it. The IPC channel ensures that it does not outlive the
 * supervisor, see supervised.ts.
 */
export function startChild({ args, env }: Program, onReady: (address: string | null) => void = () => {}): Child {
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
