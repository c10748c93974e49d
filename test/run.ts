/**
 * Runs all tests by tap, those that take longest first, and ends with a plain line of tap's own count:
 * `N passed, N failed`. What is run is told by the sources: dist/ may still
 * hold the compiled test of a source that is gone.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";

import { packagedFile } from "../server/package.js";
import { hostVariable, startHost } from "./database-host.js";

const root = packagedFile("");
const report = ".tap/report.tap";

/** Half a minute and more each: begun last, one of them would run alone at the end. */
const long = [
  ...["demo", "typical-trouble", "alert-kills", "replay", "engine-scenarios"],
  ...["api-states", "catch-up", "replay-rules", "whole-way", "leaders"],
  ...["second-opinion-fleets", "dispatcher", "demo-day", "second-opinion"],
  ...["upkeep", "engine-tick"],
];

process.exitCode = await runTap(compiledTests());
console.log(countIn(readFileSync(`${root}/${report}`, "utf8")));

function compiledTests(): string[] {
  const names = readdirSync(`${root}/test`, {
    recursive: true,
    encoding: "utf8",
  })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => path.replace(/\.test\.ts$/, ""))
    .sort();
  const gone = long.filter((name) => !names.includes(name));
  if (gone.length > 0)
    throw new Error(`expected tests named ${gone.join(", ")}; there are none`);
  const rest = names.filter((name) => !long.includes(name));
  return [...long, ...rest].map((name) => `dist/test/${name}.test.js`);
}

/** @returns tap's exit code; 1 where a signal ended it */
async function runTap(tests: string[]): Promise<number> {
  rmSync(`${root}/${report}`, { force: true });
  mkdirSync(`${root}/.tap`, { recursive: true });
  if (!process.env.DATABASE_URL) process.env[hostVariable] = await startHost();
  const tap = spawn("node_modules/.bin/tap", [...reporting(), ...tests], {
    cwd: root,
    stdio: "inherit",
  });
  const [code] = (await once(tap, "close")) as [number | null];
  return code ?? 1;
}

/** Without a terminal everything goes through `tee`: tap's own option prints each line twice there. */
function reporting(): string[] {
  return process.stdout.isTTY
    ? [`--output-file=${report}`]
    : ["--reporter=tee", `--reporter-arg=${report}`];
}

/** From tap's last comment: `# { total: 9, pass: 5, fail: 3, skip: 1 }`. Kinds that did not occur are left out there. */
function countIn(tap: string): string {
  const summary = /^# \{ total: .*\}$/m.exec(tap)?.[0];
  if (summary === undefined)
    throw new Error(`tap wrote no summary into ${report}: it was cut short`);
  const of = (kind: string) =>
    Number(new RegExp(` ${kind}: (\\d+)`).exec(summary)?.[1] ?? 0);
  const skipped = of("skip") + of("todo");
  if (skipped > 0) console.log(`${skipped} skipped or to do`);
  return `${of("pass")} passed, ${of("fail")} failed`;
}
