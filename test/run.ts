/**
 * Runs tests, those that take longest first, and ends with what failed and a plain line of tap's own count: `N
 * passed, N failed`. What is run is told by the sources: dist/ may still hold the compiled test of a source that is
 * gone.
 *
 * Each file runs as a plain program, and tap reads and counts afterwards what they wrote. Tap's own runner would follow
 * the modules of every process that a test starts, though nobody asks for coverage: 0.4 s of the processor for each.
 *
 * Arguments name the tests to run: `cli` stands for `test/server/cli/cli.test.ts`, `probe/stream` for all of a folder.
 * Without any, all run but those of the long run, which `--long` runs; `--all` runs both.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { packagedFile } from "../shared/config/package.js";
import { hostVariable, startHost } from "./support/database-host.js";

const root = packagedFile("");
/** Where tap looks for what it is to replay. */
const results = `${root}/.tap/test-results`;
const report = `${root}/.tap/report.tap`;

/** On two cores: a third of the tests' time is waiting for clocks. With three the run took a tenth longer. */
const atOnce = 4;
/** Of a file, by its own clock. One that does not even look at it any more is killed a little later. */
const limitS = 300;

/** Half a minute and more each: begun last, one of them would run alone at the end. */
const startedFirst = ["reliability", "demo", "api-states", "incident-scenarios", "engine-scenarios", "prometheus"];

/**
 * Run by `--long` alone, every night: kills, storms, random worlds and long histories. Each has a sibling that is run
 * always and fails on most of what breaks it. Scenarios are in both: all of them in the long run, a third otherwise.
 */
const long = [
  // the engine compared with a second one, with mutants of itself, and over long stories
  ...["second-opinion", "second-opinion-fleets", "engine-mutants", "catch-up", "typical-trouble", "replay"],
  ...[
    "engine-scenarios",
    "incident-scenarios",
    "as-of-when",
    "typical-windows",
    "week-page",
    "reconcile",
    "measured-minutes",
    "upkeep",
  ],
  // processes that are killed, frozen or cut off
  ...["alert-kills", "probe-kills", "frozen-probe", "frozen-dispatcher", "database-away", "database-gone", "leaders"],
  ...["embedded-durability", "embedded-traps", "embedded-limits", "writable-host", "own-troubles", "edges"],
  // everything at once
  ...["whole-way", "crowd-of-faults", "demo-day", "move", "comparing", "row-stream", "api-fuzz"],
  // servers, which most machines lack
  ...["topology", "backup-drill", "failover", "timescaledb-upgrade", "patroni-loss"],
];

const asked = process.argv.slice(2);
const isLong = asked[0] === "--long";
const isAll = asked[0] === "--all";
if (isLong || isAll) process.env.SCENARIOS = "all";
const tests = compiledTests();
rmSync(results, { recursive: true, force: true });
if (!process.env.DATABASE_URL) process.env[hostVariable] = await startHost();
const waiting = [...tests];
await Promise.all(Array.from({ length: atOnce }, runWaiting));
process.exitCode = await replay();
const replayed = readFileSync(report, "utf8");
for (const { line } of failuresIn(replayed)) console.log(line);
console.log(countIn(replayed));

function compiledTests(): string[] {
  const paths = readdirSync(`${root}/test`, {
    recursive: true,
    encoding: "utf8",
  })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => path.replace(/\.test\.ts$/, ""))
    .sort();
  const only = (name: string) => {
    const found = paths.filter((path) => isNamed(path, name));
    if (found.length !== 1) throw new Error(`expected one test named ${name}, got ${found.length}`);
    return found[0]!;
  };
  const nightly = new Set(long.map(only));
  const first = startedFirst.map(only);
  const names = isLong ? [...nightly] : isAll ? [] : asked;
  const unknown = names.filter((name) => !paths.some((path) => isNamed(path, name)));
  if (unknown.length > 0) throw new Error(`expected names of tests or of their folders, got ${unknown.join(", ")}`);
  const isWanted = (path: string) =>
    names.length > 0 ? names.some((name) => isNamed(path, name)) : isAll || !nightly.has(path) || isScenarios(path);
  return [...new Set([...first, ...paths])].filter(isWanted).map((path) => `dist/test/${path}.test.js`);
}

function isScenarios(path: string): boolean {
  return path.endsWith("-scenarios");
}

/** By its own name, by its path, or by a folder that it is in. */
function isNamed(path: string, name: string): boolean {
  return basename(path) === name || `${path}/`.startsWith(`${name}/`);
}

async function runWaiting(): Promise<void> {
  for (let test = waiting.shift(); test; test = waiting.shift()) await runTest(test);
}

async function runTest(test: string): Promise<void> {
  const begunMs = performance.now();
  const kept = `${results}/${test}.tap`;
  mkdirSync(dirname(kept), { recursive: true });
  const output = await open(kept, "w");
  const running = spawn(process.execPath, ["--enable-source-maps", test], {
    cwd: root,
    env: { ...process.env, TAP_TIMEOUT: `${limitS}` },
    stdio: ["ignore", output.fd, "inherit"],
    timeout: (limitS + 30) * 1000,
    killSignal: "SIGKILL",
  });
  const [code, signal] = (await once(running, "close")) as [number | null, NodeJS.Signals | null];
  await output.close();
  let written = readFileSync(kept, "utf8");
  // Whatever its tests say: it may have been killed after the last of them. After their count tap would not read it.
  if (code !== 0 && failuresIn(written).length === 0) {
    written = `not ok - the program ended with ${signal ?? code}\n${written}`;
    writeFileSync(kept, written);
  }
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok" : "not ok"} ${test} ${seconds} s`);
  for (const { line, details } of failuresIn(written)) console.log(`${line}\n${details}`);
}

/** @returns tap's exit code; 1 where a signal ended it */
async function replay(): Promise<number> {
  const output = await open(report, "w");
  const tap = spawn("node_modules/.bin/tap", ["replay", "--reporter=tap", ...tests], {
    cwd: root,
    stdio: ["ignore", output.fd, "inherit"],
  });
  const [code] = (await once(tap, "close")) as [number | null];
  await output.close();
  return code ?? 1;
}

/** Those around a failure come after it and further to the left, as tap writes them. */
function failuresIn(tap: string): { line: string; details: string }[] {
  const failure = /^( *)(not ok (?!.* # TODO).*)\n((?:\1 {2}---\n[^]*?^\1 {2}\.\.\.\n)?)/gm;
  return [...tap.matchAll(failure)].map(([, indent, line, details]) => ({
    line: `${indent}${line}`,
    details: details!,
  }));
}

/**
 * From tap's last comment: `# { total: 9, pass: 5, fail: 3, skip: 1 }`. Kinds that did not occur are left out there.
 */
function countIn(tap: string): string {
  const summary = /^# \{ total: .*\}$/m.exec(tap)?.[0];
  if (summary === undefined) throw new Error(`tap wrote no summary into ${report}: it was cut short`);
  const of = (kind: string) => Number(new RegExp(` ${kind}: (\\d+)`).exec(summary)?.[1] ?? 0);
  const skipped = of("skip") + of("todo");
  if (skipped > 0) console.log(`${skipped} skipped or to do`);
  return `${of("pass")} passed, ${of("fail")} failed`;
}
