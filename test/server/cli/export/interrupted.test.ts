/** An export that is killed, stopped or cannot write leaves none of its folder; and which exports are refused. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import t, { type Test } from "tap";
import { type DatasetOptions, options, run as runExport, writeDataset } from "../../../../server/cli/export/export.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { RecordFilter } from "../../../../server/cli/export/datasets.js";
import { cliWith } from "../../../support/cli-input.js";
import { migratedDatabase } from "../../../support/database.js";
import { measured, pastIncident } from "../../../support/fleet.js";
import { filesIn } from "../../../support/parquet.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";
import { usedBytes } from "../../../support/used-bytes.js";

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

void t.test("an export is there as a whole or not at all", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  for (const day of [0, 1, 2]) {
    const begin = +from + day * dayMs - 5_000;
    await measured(pool, { venue: "okx", from: new Date(begin), to: new Date(begin + 5 * minuteMs + 1) });
  }
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: from, minutes: 3 });
  const folder = t.testdir();
  const whole = join(folder, "whole");
  let steps = 0;
  await write(pool, whole, { onProgress: () => steps++ });
  const expected = contents(whole);
  t.ok(expected.size > 8, `${expected.size} files`);
  t.same(namesIn(folder), ["whole"], "nothing is beside it");

  await t.test("one that is stopped leaves nothing", async (t) => {
    // the last step is its end
    for (const after of [0, 1, Math.floor(steps / 2), steps - 2]) {
      await t.rejects(stopped(pool, join(folder, "stopped"), after), { name: "AbortError" });
      t.same(namesIn(folder), ["whole"], `stopped at ${after} of ${steps}`);
    }
  });

  await t.test("until it is whole, it has another name, which keeps a second export away", async (t) => {
    const output = join(folder, "growing");
    let second: Promise<void> | null = null;
    const onProgress = () => {
      t.ok(second !== null || !existsSync(output));
      second ??= write(pool, output).catch((error: unknown) => {
        t.match(error, {
          name: "UserError",
          message: /growing.unfinished exists: an export to .*growing is running, or was killed; if none is running,/,
        });
      });
    };
    await write(pool, output, { onProgress });
    await second!;
    requireSame(t, output, expected);
    await rm(output, { recursive: true });
  });

  await t.test("one that is killed leaves its temporary folder at most", (t) => killed(t, url, folder));
  await t.test("one that cannot write says so and leaves nothing", (t) => unwritable(t, pool, folder));
  await t.test("existing files are left alone", async (t) => {
    mkdirSync(join(folder, "empty"));
    for (const output of [whole, `${whole}/`, join(folder, "empty")])
      await t.rejects(write(pool, output), {
        name: "UserError",
        message: /already exists; name a folder that does not$/,
      });
    requireSame(t, whole, expected);
    await rm(join(folder, "empty"), { recursive: true });
  });
  await t.test("memory does not grow with the number of rows", (t) => flat(t, pool, folder));
  await t.test("an export that the database cannot answer is refused", (t) => impossible(t, pool, folder));
  await t.test("a day of which the database has dropped a part meanwhile is left out", async (t) => {
    const output = join(folder, "late");
    const warnings: string[] = [];
    const warned = { ...log, warn: (message: string) => void warnings.push(message) };
    let dropped: Promise<unknown> | null = null;
    const onProgress = () => (dropped ??= pool.query(sql`delete from sample where ts < ${new Date(+from + minuteMs)}`));
    await write(pool, output, { log: warned, onProgress: () => void onProgress() });
    const first = `what=samples/date=${from.toISOString().slice(0, 10)}`;
    t.equal(warnings.length, 1);
    t.match(warnings[0], /^the database has dropped samples of .*, so what=samples.* is left out$/);
    t.match(warnings[0], first);
    const left = [...expected.keys()].filter((path) => path.endsWith(".parquet") && !path.startsWith(first));
    const { resources } = JSON.parse(readFileSync(join(output, "datapackage.json"), "utf8")) as {
      resources: { path: string }[];
    };
    t.same(resources.map(({ path }) => path).sort(), left.sort(), "it is not described, either");
    t.same(filesIn(output), [...left, "datapackage.json", "schemas/samples.json"].sort());
  });
});

void t.test("an impossible export names its reason", async (t) => {
  const period = ["--from", "2026-01-02", "--to", "2026-01-03"];
  for (const [args, message] of [
    [["--from", "2026-02-30"], /--from: expected a day like 2026-01-31 or an/],
    [[...period, "--to", "2026-01-02"], /--to: expected a time after --from/],
    [period, /--what: expected one of samples, minutes, days, incidents, got nothing$/],
    [[...period, "--what", "sample"], /--what: .*; did you mean samples\?$/],
    [[...period, "--what", "days", "--retracted"], /--retracted: only for --what incidents, got days$/],
    [[...period, "--what", "days"], /--output: expected a folder that does not exist, got nothing$/],
  ] as [string[], RegExp][]) {
    const { values } = parseArgs({ args, options });
    await t.rejects(runExport({ values, words: [] }), { name: "UserError", message });
  }
});

const namesIn = (folder: string) => readdirSync(folder).sort();

/** What the files of a folder contain, by their paths. */
function contents(folder: string): Map<string, string> {
  return new Map(filesIn(folder).map((path) => [path, readFileSync(join(folder, path)).toString("base64")]));
}

function requireSame(t: Test, folder: string, expected: Map<string, string>): void {
  const found = contents(folder);
  t.same([...found.keys()], [...expected.keys()]);
  for (const [path, content] of expected) if (found.get(path) !== content) t.fail(`${path} differs`);
}

async function stopped(pool: Pool, output: string, after: number): Promise<void> {
  const stopping = new AbortController();
  let steps = 0;
  const onProgress = () => {
    if (steps++ === after) stopping.abort();
  };
  await write(pool, output, { onProgress, signal: stopping.signal });
}

/** By SIGTERM once, and then by SIGKILL, each at one of its first files. */
async function killed(t: Test, url: string, folder: string) {
  const [output, unfinished] = [join(folder, "killed"), join(folder, "killed.unfinished")];
  const random = randomFrom(1);
  const args = [
    ...["export", "--what", "samples", "--venue", "okx", "--output", output],
    ...["--from", from.toISOString(), "--to", to.toISOString()],
  ];
  const env = { DATABASE_URL: url };
  for (let killed = 0; killed < kills;) {
    const signal = killed === 0 ? "SIGTERM" : "SIGKILL";
    const enough = Math.floor(random() * 4);
    const { code, err } = await cliWith(t, args, env, "", (child) => {
      const isEnough = () =>
        child.exitCode !== null || (existsSync(unfinished) && filesIn(unfinished).length >= enough);
      void until(isEnough, 60_000, 1).then(() => child.kill(signal));
    });
    if (existsSync(output)) {
      // it was whole before the signal
      t.ok(existsSync(join(output, "datapackage.json")));
      t.notOk(existsSync(unfinished));
      await rm(output, { recursive: true });
    } else {
      killed++;
      t.equal(code, signal === "SIGTERM" ? 143 : null, err);
      if (signal === "SIGTERM") {
        t.match(err, /warn export: stopped; nothing of .*killed was kept\n$/);
        t.notOk(existsSync(unfinished));
        continue;
      }
      const again = await cliWith(t, args, env);
      t.equal(again.code, 2);
      t.match(again.err, /killed.unfinished exists: .*, or was killed; if none is running, remove it\n$/);
      await rm(unfinished, { recursive: true });
    }
  }
  const { code, err } = await cliWith(t, args, env);
  t.same({ code, err }, { code: 0, err: "" });
  t.ok(existsSync(join(output, "datapackage.json")));
  await rm(output, { recursive: true });
}

async function unwritable(t: Test, pool: Pool, folder: string) {
  const before = namesIn(folder);
  const full = join(folder, "full");
  // as soon as its folder is there, its description leads to a device without room
  const onProgress = () => {
    const description = join(`${full}.unfinished`, "datapackage.json");
    if (!existsSync(description)) symlinkSync("/dev/full", description);
  };
  await t.rejects(write(pool, full, { onProgress }), {
    name: "UserError",
    message: `--output: ${full} cannot be written (ENOSPC): check its folder, its permissions and the free space on the disk`,
  });
  writeFileSync(join(folder, "file"), "");
  for (const [output, message] of [
    [join(folder, "file"), /file already exists; name a folder that does not$/],
    [join(folder, "file/below"), /^--output: .* cannot be written \(ENOTDIR\)/],
    [join(folder, "missing/below"), /^--output: .* cannot be written \(ENOENT\)/],
  ] as [string, RegExp][])
    await t.rejects(write(pool, output), { name: "UserError", message });
  await rm(join(folder, "file"));
  t.same(namesIn(folder), before);
}

/** The largest file and row group decide, not how many there are. */
async function flat(t: Test, pool: Pool, folder: string) {
  const grown: number[] = [];
  // the first frees what earlier tests left behind, which would hide what it takes itself
  for (const [i, day] of [1, 1, 3].entries()) {
    const before = usedBytes();
    let most = 0;
    let step = 0;
    const onProgress = () => {
      if (step++ % 5 === 0) most = Math.max(most, usedBytes() - before);
    };
    const wanted = { ...okx, period: { from, to: new Date(+from + day * dayMs) } };
    await write(pool, join(folder, `memory-${i}`), { onProgress }, wanted);
    if (i > 0) grown.push(most);
  }
  t.ok(grown[1]! < grown[0]! + 2 * 2 ** 20, `three days took ${grown[1]} bytes, one took ${grown[0]}`);
}

async function impossible(t: Test, pool: Pool, folder: string) {
  const long = { from: new Date("2020-01-01Z"), to: new Date("2020-02-01Z") };
  const future = { from: new Date(midnight + 2 * dayMs), to: new Date(midnight + 3 * dayMs) };
  for (const [wanted, message] of [
    [{ ...okx, venue: "mtgox" }, /there is no venue "mtgox"; the venues are binance,/],
    [{ ...okx, period: long }, /no samples in this period: the database has them from .*kept for eight days/],
    [{ ...okx, what: "incidents", period: future }, /there are no incidents in this period/],
  ] as [RecordFilter, RegExp][])
    await t.rejects(write(pool, join(folder, "none"), {}, wanted), { name: "UserError", message });
  const centuries = { from: new Date("1800-01-01Z"), to: new Date("2000-01-01Z") };
  await t.rejects(write(pool, join(folder, "none"), {}, { ...okx, what: "incidents", period: centuries }), {
    message: /expected a period of at most 1200 files, got \d+; give a later --from$/,
  });
  t.notOk(existsSync(join(folder, "none")));
}

async function write(pool: Pool, output: string, given: Partial<DatasetOptions> = {}, wanted = okx): Promise<void> {
  await writeDataset(pool, wanted, { output, limits, log, signal: new AbortController().signal, ...given });
}
