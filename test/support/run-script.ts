/** Runs a small program in a separate process, for tests of process behaviour: signals, exit codes, output. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";

export interface Script {
  pid: number;
  /** All of its output so far. */
  output: () => string;
  /** Resolves when its output contains the text; rejects when it ends without it. */
  saw: (text: string) => Promise<void>;
  /** Resolves at its next output; rejects when it has ended. */
  more: () => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

/**
 * @param source an ES module in which `log`, `say` and the modules, by the last part of their paths, are already
 * imported
 * @param detached makes it lead a process group, like a program started in a terminal
 */
export function runScript(t: Test, modules: string[], source: string, detached = false): Script {
  const imports = modules
    .map((path) => `import * as ${basename(path).replaceAll("-", "_")} from ${JSON.stringify(built(path))};`)
    .join("\n");
  const whole = `
    import { makeLog } from ${JSON.stringify(built("shared/log/log"))};
    ${imports}
    const log = makeLog("script", "debug");
    const say = (text) => process.stdout.write(text + "\\n");
    ${source}`;
  return runNode(t, ["--input-type=module", "--eval", whole], {}, detached);
}

/** Runs the command-line program itself. */
export function runCli(t: Test, args: string[], env: Record<string, string> = {}, nodeArgs: string[] = []): Script {
  return runNode(t, [...nodeArgs, packagedFile("dist/server/cli.js"), ...args], env);
}

export function runNode(t: Test, args: string[], env = {}, detached = false): Script {
  // Uses one pipe for both outputs, so that their order is visible; `exec` keeps the process id.
  const command = ["-c", 'exec "$0" "$@" 2>&1', process.execPath, ...args];
  const child = spawn("/bin/sh", command, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
    detached,
  });
  t.teardown(() => child.kill("SIGKILL"));
  return watched(child);
}

function watched(child: ChildProcess): Script {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    child.emit("output");
  });
  let closed = false;
  const ended = once(child, "close").then(([code, signal]) => {
    closed = true;
    child.emit("output");
    return (code ?? signal) as number | NodeJS.Signals;
  });

  async function more(): Promise<void> {
    if (closed) throw new Error(`has ended, after:\n${output}`);
    await once(child, "output");
  }
  async function saw(text: string): Promise<void> {
    while (!output.includes(text)) await more();
  }
  return { pid: child.pid ?? -1, output: () => output, saw, more, kill: (signal) => void child.kill(signal), ended };
}

/** Returns the address that a program logs after these words. */
export async function addressLogged({ output, more }: Script, words: string): Promise<string> {
  const line = new RegExp(`${words} address=(\\S+)`);
  for (;;) {
    const address = line.exec(output())?.[1];
    if (address) return address;
    await more();
  }
}

/** @param path of one of our modules, without its extension */
export function built(path: string): string {
  return packagedFile(`dist/${path}.js`);
}
