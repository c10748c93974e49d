/** What remains of an export to Parquet that is killed, stopped, or cannot write, and what resuming makes of it. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import t, { type Test } from "tap";
import { options, run as runExport } from "../../../server/commands/export.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { type DatasetOptions, writeDataset } from "../../../server/export/parquet/write-dataset.js";
import type { RecordFilter } from "../../../server/export/records.js";
import { cliWith } from "../../support/cli-input.js";
import { migratedDatabase } from "../../support/database.js";
import { measured } from "../../support/fleet.js";
import { filesIn, parquetRows } from "../../support/parquet.js";
import { randomFrom } from "../../support/random-samples.js";
import { until } from "../../support/until.js";
import { usedBytes } from "../../support/used-bytes.js";

const log = makeLog("test", "error");
const kills = Number(process.env.EXPORT_KILLS ?? 2);
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const midnight = Math.floor(Date.now() / dayMs) * dayMs;
/** From the first sample on. */
const [from, to] = [new Date(midnight - 2.75 * dayMs), new Date(midnight)];
const okx: RecordFilter = { what: "samples", venue: "okx", period: { from, to }, retracted: false };
/** Several row groups in a file, and several files in a day. */
const limits = { groupRows: 100, fileRows: 400 };

void t.test("an export to Parquet that is interrupted", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  for (const day of [0, 1, 2]) {
    const begin = +from + day * dayMs - 5_000;
    await measured(pool, { venue: "okx", from: new Date(begin), to: new Date(begin + 5 * minuteMs + 1) });
  }
  const folder = t.testdir();
  const whole = join(folder, "whole");
  await write(pool, whole, { limits });
  const expected = contents(whole);

  await t.test("leaves only whole files, and resumes to the same ones", async (t) => {
    t.ok(expected.size > 8, `${expected.size} files`);
    const steps = await stepsOf(pool, join(folder, "counted"));
    for (const after of [0, 1, Math.floor(steps / 2), steps - 2]) {
      const output = join(folder, `stopped-${after}`);
      await t.rejects(stopped(pool, output, after), { name: "AbortError" });
      await requireWhole(t, output, expected);
      t.notOk(existsSync(join(output, "datapackage.json")), "nothing describes it as complete");
      await t.rejects(write(pool, output, { limits }), {
        message: /is unfinished or running, as .*; continue it with/,
      });
      await t.rejects(write(pool, output, { limits, resume: true }, { ...okx, venue: null }), {
        message: /was started with --venue okx\. Give the same options/,
      });
      await write(pool, output, { limits, resume: true });
      requireSame(t, output, expected, `stopped at ${after} of ${steps}`);
      t.notOk(existsSync(`${output}.unfinished`));
    }
  });

  await t.test("keeps its period, though the database has newer records meanwhile", async (t) => {
    const output = join(folder, "newer");
    const open = { ...okx, period: { from, to: new Date(midnight + dayMs) } };
    await t.rejects(stopped(pool, output, 1, open), { name: "AbortError" });
    await measured(pool, { venue: "okx", from: new Date(midnight - 60_000), to: new Date(midnight - 1) });
    t.teardown(() => pool.query(sql`delete from sample where ts >= ${new Date(midnight - 60_000)}`));
    await write(pool, output, { limits, resume: true }, open);
    const ends = [...readFileSync(join(output, "datapackage.json"), "utf8").matchAll(/"to": "([^"]+)"/g)];
    t.ok(new Date(ends.at(-1)![1]!) < new Date(midnight - 60_000));
    await pool.query(sql`delete from sample where ts >= ${new Date(midnight - 60_000)}`);
  });

  await t.test("by SIGKILL resumes to the same files", async (t) => {
    const output = join(folder, "killed");
    const random = randomFrom(1);
    const args = [
      ...["export", "--format", "parquet", "--what", "samples", "--venue", "okx", "--output", output],
      ...["--from", from.toISOString(), "--to", to.toISOString()],
    ];
    const finished = join(folder, "by-command");
    const complete = await cliWith(t, [...args.slice(0, 7), "--output", finished, ...args.slice(9)], {
      DATABASE_URL: url,
    });
    t.same({ code: complete.code, err: complete.err }, { code: 0, err: "" });
    for (let killed = 0; killed < kills;) {
      const signal = killed === 0 ? "SIGTERM" : "SIGKILL";
      // from its first file on, at any of its steps
      const enough = 1 + Math.floor(random() * 5);
      const { code, err } = await cliWith(t, [...args, "--resume"], { DATABASE_URL: url }, "", (child) => {
        const isEnough = () => child.exitCode !== null || (existsSync(output) && filesIn(output).length >= enough);
        void until(isEnough, 60_000, 1).then(() => child.kill(signal));
      });
      // it ended before the signal
      if (code === 0) await rm(output, { recursive: true });
      else {
        killed++;
        t.equal(code, signal === "SIGTERM" ? 143 : null, err);
        await requireWhole(t, output, contents(finished));
        if (signal === "SIGTERM") t.match(err, /warn export: stopped; continue with --resume\n$/);
      }
    }
    const resumed = await cliWith(t, [...args, "--resume"], { DATABASE_URL: url });
    t.same({ code: resumed.code, err: resumed.err }, { code: 0, err: "" });
    requireSame(t, output, contents(finished), "killed");
  });

  await t.test("by a full disk or a folder that cannot be written says so", (t) =>
    unwritable(t, pool, folder, expected),
  );
  await t.test("refuses what is not its own", (t) => foreign(t, pool, folder));
  await t.test("memory does not grow with the number of rows", (t) => flat(t, pool, folder));
  await t.test("is continued by one process at a time", async (t) => {
    const output = join(folder, "twice");
    let second: Promise<void> | null = null;
    const onProgress = () => (second ??= write(pool, output, { limits, resume: true }));
    await write(pool, output, { limits, onProgress: () => void onProgress().catch(() => {}) });
    await t.rejects(second!, {
      name: "UserError",
      message: /another export to .*twice is running; wait until it ends/,
    });
    requireSame(t, output, expected, "twice");
  });
  await t.test("leaves out a day of which the database has dropped a part meanwhile", async (t) => {
    const output = join(folder, "late");
    await t.rejects(stopped(pool, output, 3), { name: "AbortError" });
    await pool.query(sql`delete from sample where ts < ${new Date(+from + minuteMs)}`);
    const warnings: string[] = [];
    const warned = { ...log, warn: (message: string) => void warnings.push(message) };
    await write(pool, output, { limits, resume: true, log: warned });
    const first = `what=samples/date=${from.toISOString().slice(0, 10)}`;
    t.match(warnings, [/^the database has dropped samples of .*, so what=samples.* is left out$/]);
    t.match(warnings[0], first);
    const left = [...expected].filter(([path]) => !path.startsWith(first) && path !== "datapackage.json");
    const { resources } = JSON.parse(readFileSync(join(output, "datapackage.json"), "utf8")) as {
      resources: { path: string }[];
    };
    const files = (paths: string[]) => paths.filter((path) => path.endsWith(".parquet")).sort();
    t.same(files(resources.map(({ path }) => path)), files(left.map(([path]) => path)), "it is not described, either");
    const description = contents(output).get("datapackage.json")!;
    requireSame(t, output, new Map([["datapackage.json", description], ...left]), "late");
  });
});

void t.test("an impossible export to Parquet names its reason", async (t) => {
  const period = ["--from", "2026-01-02", "--to", "2026-01-03", "--what", "samples"];
  for (const [args, message] of [
    [["--format", "parqet"], /^--format: expected one of csv, ndjson, parquet, got "parqet"; did you mean parquet\?$/],
    [["--format", "Parquet"], /did you mean parquet\?$/],
    [["--format", "jsonl"], /^--format: expected one of csv, ndjson, parquet, got "jsonl"$/],
    [["--format", "parquet"], /^--output is missing: expected a folder, since parquet is many files$/],
    [["--format", "parquet", "--what", "sample"], /--what: .*; did you mean samples\?$/],
  ] as [string[], RegExp][]) {
    const { values } = parseArgs({ args: [...period, ...args], options });
    await t.rejects(runExport({ values, words: [] }), { name: "UserError", message });
  }
});

/** What the files of a folder contain, by their paths. */
function contents(folder: string): Map<string, string> {
  return new Map(filesIn(folder).map((path) => [path, readFileSync(join(folder, path)).toString("base64")]));
}

function requireSame(t: Test, folder: string, expected: Map<string, string>, name: string): void {
  const found = contents(folder);
  t.same([...found.keys()], [...expected.keys()], name);
  for (const [path, content] of expected) if (found.get(path) !== content) t.fail(`${path} differs: ${name}`);
}

/** Whatever has the name of a finished file is that file. */
async function requireWhole(t: Test, folder: string, expected: Map<string, string>): Promise<void> {
  const found = existsSync(folder) ? contents(folder) : new Map<string, string>();
  const named = [...found].filter(([path]) => !path.endsWith(".unfinished"));
  for (const [path, content] of named) if (content !== expected.get(path)) t.fail(`${path} is not whole`);
  for (const [path] of named) if (path.endsWith(".parquet")) await parquetRows(join(folder, path));
  t.pass(`${named.length} whole files`);
}

/** How often an export reports its progress, of which the last is its end. */
async function stepsOf(pool: Pool, output: string): Promise<number> {
  let steps = 0;
  await write(pool, output, { limits, onProgress: () => steps++ });
  return steps;
}

async function stopped(pool: Pool, output: string, after: number, wanted = okx): Promise<void> {
  const stopping = new AbortController();
  let steps = 0;
  const onProgress = () => {
    if (steps++ === after) stopping.abort();
  };
  await write(pool, output, { limits, onProgress, signal: stopping.signal }, wanted);
}

async function unwritable(t: Test, pool: Pool, folder: string, expected: Map<string, string>) {
  const full = join(folder, "full");
  const second = `what=samples/date=${new Date(midnight - 2 * dayMs).toISOString().slice(0, 10)}`;
  const growing = join(full, second, `samples-${second.slice(-10)}.parquet.unfinished`);
  mkdirSync(dirname(growing), { recursive: true });
  writeFileSync(join(full, "datapackage.json"), '{"resources": []}');
  symlinkSync("/dev/full", growing);
  const message = `--output: ${full} cannot be written (ENOSPC): check its folder, its permissions and the free space on the disk`;
  await t.rejects(write(pool, full, { limits }), { name: "UserError", message });
  await requireWhole(t, full, new Map([...expected, ["datapackage.json", contents(full).get("datapackage.json")!]]));
  await write(pool, full, { limits, resume: true });
  requireSame(t, full, expected, "with room again");

  writeFileSync(join(folder, "file"), "");
  for (const [output, message] of [
    [join(folder, "file"), /^--output: expected a folder, since parquet is many files, got .*file, which is a file$/],
    [join(folder, "file/below"), /^--output: .* cannot be written \(ENOTDIR\)/],
    [join(folder, "missing/below"), /^--output: .* cannot be written \(ENOENT\)/],
  ] as [string, RegExp][])
    await t.rejects(write(pool, output), { name: "UserError", message });
}

async function foreign(t: Test, pool: Pool, folder: string) {
  const other = join(folder, "other");
  mkdirSync(other);
  writeFileSync(join(other, "thesis.tex"), "");
  await t.rejects(write(pool, other), { name: "UserError", message: /other is neither empty nor a dataset/ });
  writeFileSync(join(other, "datapackage.json"), '{"resources": [{"name": "x"}]}');
  await t.rejects(write(pool, other), { message: /datapackage.json is not the description of a dataset/ });
  writeFileSync(join(other, "datapackage.json"), '{"resources": []}');
  const path = filesIn(join(folder, "whole")).find((path) => /z\.parquet$/.test(path))!;
  mkdirSync(dirname(join(other, path)), { recursive: true });
  writeFileSync(join(other, path), "PAR1");
  await t.rejects(write(pool, other), {
    message: /z.parquet is there, but datapackage.json does not name it; remove it/,
  });
  // as if an interrupted export had written it
  writeFileSync(`${other}.unfinished`, "");
  await t.rejects(write(pool, other, { resume: true }), { message: /other.unfinished is not a valid resume file/ });
  await rm(`${other}.unfinished`);
  await t.rejects(stopped(pool, join(folder, "begun"), 0), { name: "AbortError" });
  mkdirSync(dirname(join(folder, "begun", path)), { recursive: true });
  writeFileSync(join(folder, "begun", path), "PAR1");
  await t.rejects(write(pool, join(folder, "begun"), { resume: true }), { message: /is not a file of this export \(/ });
}

/** Twice: the largest file and row group decide, not how many there are. */
async function flat(t: Test, pool: Pool, folder: string) {
  const grown: number[] = [];
  for (const day of [1, 3]) {
    const before = usedBytes();
    let most = 0;
    let step = 0;
    const onProgress = () => {
      if (step++ % 5 === 0) most = Math.max(most, usedBytes() - before);
    };
    const wanted = { ...okx, period: { from, to: new Date(+from + day * dayMs) } };
    await write(pool, join(folder, `memory-${day}`), { limits, onProgress }, wanted);
    grown.push(most);
  }
  t.ok(grown[1]! < grown[0]! + 4 * 2 ** 20, `three days took ${grown[1]} bytes, one took ${grown[0]}`);
}

async function write(pool: Pool, output: string, given: Partial<DatasetOptions> = {}, wanted = okx): Promise<void> {
  await writeDataset(pool, wanted, {
    ...{ output, resume: false, log },
    signal: new AbortController().signal,
    ...given,
  });
}
