/** Runs Python, where the machine has it. */
import { spawnSync } from "node:child_process";
import { packagedFile } from "../../shared/config/package.js";

/** False, or why tests of Python programs are skipped. */
export const pythonMissing: string | false = isThere("import sys; assert sys.version_info >= (3, 10)")
  ? false
  : "python3 is missing, or older than 3.10";

/** @returns false, or why tests are skipped that import this module */
export function moduleMissing(name: string): string | false {
  return pythonMissing || (isThere(`import ${name}`) ? false : `the Python package ${name} is missing`);
}

function isThere(script: string): boolean {
  return spawnSync("python3", ["-c", script], { stdio: "ignore" }).status === 0;
}

/** In the folder of the Python client. */
export function runPython(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("python3", args, {
    ...{ cwd: packagedFile("clients/python"), encoding: "utf8" },
    env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
  });
  return { status, output: stdout + stderr };
}

/** The sources of the client, and what CI adds. */
export function pythonPath(): string {
  return [packagedFile("clients/python/src"), process.env["PYTHONPATH"]].filter(Boolean).join(":");
}
