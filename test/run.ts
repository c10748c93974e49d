/**
 * Runs tests, the longest first, and ends with the failures and a plain line of tap's own count: `N passed, N failed`.
 * The sources determine which tests run: dist/ may still hold the compiled test of a deleted source.
 *
 * Each file runs as a plain program, and tap reads and counts its output afterwards. Tap's own runner would trace the
 * modules of every process that a test starts, although no coverage is requested: 0.4 s of processor time for each.
 *
 * Arguments name the tests to run: `cli.test` is `test/server/cli/cli.test.ts`, `probe/measure/stream` is everything in
 * that folder. Without arguments, all tests run except those of CI (`--ci`) and of the long run (`--long`); `--all`
 * runs everything.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { packagedFile } from "../shared/config/package.js";
import { hostVariable, startHost } from "./support/database-host.js";

const root = packagedFile("");
/** The directory from which tap replays results. */
const results = `${root}/.tap/test-results`;
const report = `${root}/.tap/report.tap`;

/**
 * The time limit of a file, enforced by the file itself. A file that no longer enforces it is killed a little later.
 */
let limitS = 600;

/**
 * A test's process lives for seconds. On Node 20, V8 optimizes a function once it has run for fifteen times as long as
 * by default, which saves these processes a quarter of their processor time. Newer lines do not have the option.
 */
const optimizeLater = process.version.startsWith("v20.") ? ["--interrupt-budget=1000000"] : [];

/** Half a minute or more each: if started last, one of them would run alone at the end. */
const startedFirst = ["short-history", "demo", "in-chromium", "incident-scenarios", "engine-scenarios", "prometheus"];

/**
 * Run only by `--ci`, on every change. They start whole programs, a browser or programs of others, read formats of
 * others, live through minutes, or take half a minute for one subject. Most have a sibling that always runs.
 */
const ci = [
  ...["demo", "in-chromium", "embedded", "cli", "all-venues", "new-operator", "own-metrics"],
  ...["doctor", "channel-command", "delivery-command", "incident-command", "server/cli/status"],
  ...["registry-command", "stalls", "server/cli/up"],
  ...["check-command", "causes"],
  ...["chain-lag", "polling", "state-since", "hostile-peers"],
  ...["ship-database", "reconnecting-socket", "jitter", "supervisor", "deadlines"],
  // formats of others, and their readers
  ...["clients/bots", "clients/generated-client", "clients/python/package", "clients/python/watch"],
  ...["client-types", "clients/typescript/watch"],
  ...[
    "events",
    "statuspage",
    "public-metrics",
    "api-csv",
    "incident-feeds",
    "maintenance-calendar",
    "server/web/board/maintenance",
    "statuspage-clients",
    "native-alert",
  ],
  ...["parquet", "server/cli/export/interrupted", "embed"],
  ...["agents-by-stdio", "agent-tools", "region-answers", "service-source", "conformance"],
  // deployment
  ...["apache-edition", "entry-versions", "backup", "image", "monitoring", "npm-package"],
  // one region's view, from all sides; troubles of several venues; and what never leaves the service
  ...["region-views", "clients/regions", "common-outage", "secrets", "uptime-bounds", "uptime-without-maintenance"],
  // attacks and rights, of which the long run has more
  ...["embedded-attacks", "roles", "hostile-servers", "hostile-answers", "odd-answers", "chain-stands"],
  // the whole service in virtual time, and the spool on a failing disk
  ...[
    "short-history",
    "simulation/history",
    "simulation/disk/spool",
    "simulation/disk/comparison",
    "simulation/disk/same-seed",
  ],
  // single pages
  ...[
    "untranslated",
    "venue-page",
    "regions-page",
    "server/web/pages/incidents",
    "server/web/pages/compare",
    "wall",
    "detection-page",
    "error-pages",
    "reference",
    "shortcut",
    "check-in-chromium",
  ],
];

/** Their cases are many and alike: the long run plays all of them, the usual run a part. */
const playedInPart = ["engine-scenarios", "incident-scenarios", "gaps"];

/**
 * Run only by `--long`, every night: kills, storms, random worlds and long histories. Each has a sibling that always
 * runs and fails for most of the same defects.
 */
const long = [
  // the engine compared with the second opinion, with its mutants, and over long histories
  ...["second-opinion", "second-opinion-fleets", "engine-mutants", "catch-up", "replay"],
  ...["second-opinion-typical", "replay-rules", "reliability", "engine-numbers"],
  ...["as-of", "percentiles", "reconcile", "measured-minutes", "upkeep", "upkeep-retention"],
  // documents and releases as a whole
  ...["checking", "receiving", "upgrade", "renamed-venue", "vantages", "packages/embedded-timescaledb/readme"],
  // processes that are killed, frozen or disconnected
  ...[
    "demo-restarts",
    "demo-on-page",
    "core",
    "venue-lease",
    "dispatcher",
    "api-faults",
    "database-gone",
    "cut-streams",
    "leaders",
  ],
  ...[
    "embedded-durability",
    "embedded-traps",
    "embedded-limits",
    "embedded-fuzz",
    "writable-host",
    "own-troubles",
    "edges",
  ],
  // everything at once
  ...[
    "whole-way",
    "crowd-of-faults",
    "real-troubles",
    "standing-chain",
    "demo-day",
    "move",
    "comparing",
    "pairing",
    "row-stream",
    "api-fuzz",
  ],
  // each state, message and page of the API and the command line
  ...["api-states", "api-spreadsheet", "channel-errors", "limits-in-chromium"],
  // servers, which most machines lack
  ...["topology", "backup-drill", "failover", "timescaledb-upgrade", "patroni-loss"],
];

const asked = process.argv.slice(2);
const isCi = asked[0] === "--ci";
const isLong = asked[0] === "--long";
const isAll = asked[0] === "--all";
if (isLong || isAll) {
  process.env.SCENARIOS = "all";
  // all scenarios alone take ten minutes beside others
  limitS = 1800;
}
const tests = compiledTests();
/**
 * For two cores, because a part of the tests' time is waiting for clocks: with four, a sixth of both stayed idle. Many
 * tests of `--ci` and `--long` start several programs each and measure in real time.
 */
const atOnce = isCi || isLong ? 4 : 8;
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
  const ofCi = ci.map(only);
  const partly = playedInPart.map(only);
  const nightly = [...partly, ...long.map(only)];
  const left = new Set([...ofCi, ...nightly]);
  const first = startedFirst.map(only);
  const names = isCi ? ofCi : isLong ? nightly : isAll ? [] : asked;
  const unknown = names.filter((name) => !paths.some((path) => isNamed(path, name)));
  if (unknown.length > 0) throw new Error(`expected names of tests or of their folders, got ${unknown.join(", ")}`);
  const isWanted = (path: string) =>
    names.length > 0 ? names.some((name) => isNamed(path, name)) : isAll || !left.has(path) || partly.includes(path);
  return [...new Set([...first, ...paths])].filter(isWanted).map((path) => `dist/test/${path}.test.js`);
}

/** Matches the file's name, its path, or a folder that contains it. */
function isNamed(path: string, name: string): boolean {
  return basename(path) === name || `${path}/`.startsWith(`${name}/`);
}

async function runWaiting(): Promise<void> {
  for (let test = waiting.shift(); test; test = waiting.shift()) await runTest(test);
}

async function runTest(test: string): Promise<void> {
  const startMs = performance.now();
  const kept = `${results}/${test}.tap`;
  mkdirSync(dirname(kept), { recursive: true });
  const output = await open(kept, "w");
  const running = spawn(process.execPath, ["--enable-source-maps", ...optimizeLater, test], {
    cwd: root,
    env: { ...process.env, TAP_TIMEOUT: `${limitS}` },
    stdio: ["ignore", output.fd, "inherit"],
    timeout: (limitS + 30) * 1000,
    killSignal: "SIGKILL",
  });
  const [code, signal] = (await once(running, "close")) as [number | null, NodeJS.Signals | null];
  await output.close();
  let written = readFileSync(kept, "utf8");
  // The exit code counts, not only the output: the program may have been killed after its last test. The line goes
  // first, because tap would not read it after the test count.
  if (code !== 0 && failuresIn(written).length === 0) {
    written = `not ok - the program ended with ${signal ?? code}\n${written}`;
    writeFileSync(kept, written);
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
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

/** As tap writes it, an enclosing test's failure follows and is indented less. */
function failuresIn(tap: string): { line: string; details: string }[] {
  const failure = /^( *)(not ok (?!.* # TODO).*)\n((?:\1 {2}---\n[^]*?^\1 {2}\.\.\.\n)?)/gm;
  return [...tap.matchAll(failure)].map(([, indent, line, details]) => ({
    line: `${indent}${line}`,
    details: details!,
  }));
}

/** Reads tap's last comment: `# { total: 9, pass: 5, fail: 3, skip: 1 }`. It leaves out kinds that did not occur. */
function countIn(tap: string): string {
  const summary = /^# \{ total: .*\}$/m.exec(tap)?.[0];
  if (summary === undefined) throw new Error(`tap wrote no summary into ${report}: it was cut short`);
  const of = (kind: string) => Number(new RegExp(` ${kind}: (\\d+)`).exec(summary)?.[1] ?? 0);
  const skipped = of("skip") + of("todo");
  if (skipped > 0) console.log(`${skipped} skipped or to do`);
  return `${of("pass")} passed, ${of("fail")} failed`;
}
