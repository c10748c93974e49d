import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";

export interface CliEnded {
  code: number | null;
  /** Standard output alone. */
  out: string;
  /** Standard error alone. */
  err: string;
}

/** Runs the command-line program to its end, and records its two outputs separately. */
export async function cliWith(
  t: Test,
  args: string[],
  env: Record<string, string>,
  input = "",
  whenStarted: (child: ChildProcess) => void = () => {},
): Promise<CliEnded> {
  const child = spawn(process.execPath, [packagedFile("dist/server/cli.js"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
  });
  t.teardown(() => child.kill("SIGKILL"));
  whenStarted(child);
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  // it may end before it has read its input
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

/** Runs two cases at a time: one leaves half of a small machine idle, and more than two are not quicker. */
export async function byTwos<Case>(cases: readonly Case[], run: (one: Case) => Promise<void>): Promise<void> {
  const left = [...cases];
  async function work(): Promise<void> {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await run(one);
  }
  await Promise.all([work(), work()]);
}
