/** Runs dispatchers as separate processes, for tests that kill and freeze them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import type { AlertingOptions } from "./alerting-process.js";

export type Alerting = ReturnType<typeof startAlerting>;

export function startAlerting(t: Test, url: string, options: AlertingOptions) {
  const program = packagedFile("dist/test/support/alerting-process.js");
  const child = spawn(process.execPath, [program, url, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const died = once(child, "exit").then(([code, signal]) => (signal ?? String(code)) as string);
  const said = new Map<string, () => void>();
  const lines = new Map(
    ["ready", "frozen"].map((line) => [line, new Promise<void>((resolve) => said.set(line, resolve))]),
  );
  createInterface(child.stdout).on("line", (line) => said.get(line)?.());
  t.teardown(() => child.kill("SIGKILL"));
  return {
    child,
    /** Resolves with the signal that ended it, or its exit code. */
    died,
    /** Resolves when it has printed this line, or when it has ended. */
    async says(line: "ready" | "frozen"): Promise<void> {
      await Promise.race([lines.get(line), died]);
    },
    async end(): Promise<void> {
      child.kill("SIGTERM");
      await died;
    },
  };
}
