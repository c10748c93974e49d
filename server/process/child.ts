/**
 * One child process of the supervisor: a program of this package that says when it is ready, and that can be stopped.
 */

import { spawn } from "node:child_process";

import type { SupervisorMessage } from "../../shared/process/supervised.js";

export interface Program {
  /** As log lines show it. */
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
  /** The sentence for the user, from a program that refused to start. */
  refused?: string;
  /** The process could not even be made. */
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
 * It gets a session of its own (`detached`), because Ctrl-C in a terminal goes
 * to every process of the session: the database would stop before those that
 * still write to it. That it does not outlive us is the channel's doing, see
 * supervised.ts.
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
      if (child.pid !== undefined) return; // a signal or a message that could not be sent: the exit tells
      resolve({ code: null, signal: null, livedMs: livedMs(), error });
    });
    child.on("exit", (code, signal) => {
      const tell = () => resolve({ code, signal, livedMs: livedMs(), refused });
      // Its last message may still be under way; the end of the channel comes after it.
      if (child.connected) child.once("disconnect", tell);
      else tell();
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
