/** Starts test programs that are killed and frozen. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";

export interface Killable {
  pid: () => number;
  isWell: () => boolean;
  kill: () => void;
  restart: () => void;
  freeze: () => void;
  thaw: () => void;
  /** Resolves when it has ended and all its output has been read. */
  stop: () => Promise<void>;
}

/** @param name of its file in `test/support/`; it receives the database's URL and its options as JSON */
export function startKillable(
  t: Test,
  name: string,
  url: string,
  options: object,
  onLine?: (line: string) => void,
): Killable {
  const program = packagedFile(`dist/test/support/${name}.js`);
  let child: ChildProcess;
  let well = true;

  function start(): void {
    child = spawn(process.execPath, [program, url, JSON.stringify(options)], {
      stdio: ["ignore", onLine ? "pipe" : "ignore", "inherit"],
    });
    if (onLine) createInterface(child.stdout!).on("line", onLine);
    well = true;
  }
  function signal(name: NodeJS.Signals): void {
    child.kill(name);
    well = name === "SIGCONT";
  }

  start();
  // works for a frozen one, too
  t.teardown(() => child.kill("SIGKILL"));
  return {
    pid: () => child.pid!,
    isWell: () => well,
    kill: () => signal("SIGKILL"),
    restart: start,
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async stop() {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}
