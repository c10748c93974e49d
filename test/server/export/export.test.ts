import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { parseArgs } from "node:util";
import t, { type Test } from "tap";
import { options, run as runExport } from "../../../server/commands/export.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { writeResumeFile } from "../../../server/export/resume-file.js";
import { writeExport } from "../../../server/export/export.js";
import type { ExportFormatName } from "../../../server/export/format.js";
import type { DatasetName } from "../../../server/export/datasets.js";
import { recordsOf, type RecordFilter } from "../../../server/export/records.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import { cliWith } from "../../support/cli-input.js";
import { parseCsv } from "../../support/csv.js";
import { migratedDatabase } from "../../support/database.js";
import { measured, pastIncident } from "../../support/fleet.js";
import { poolOn } from "../../support/pool-on.js";
import { randomFrom } from "../../support/random-samples.js";
import { becoming } from "../../support/rights.js";
import { same } from "../../support/same.js";
import { until } from "../../support/until.js";
import { usedBytes } from "../../support/used-bytes.js";

const log = makeLog("test", "error");
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const { EXPORT_KILLS, EXPORT_ROWS } = process.env;
const kills = Number(EXPORT_KILLS ?? 2);
/** The number of cuts in a file besides those at its beginning and end. */
const cutsWithin = EXPORT_KILLS ? 25 : 2;
/** The number of samples; more in the long form, over as many hours as necessary. */
const rows = Number(EXPORT_ROWS ?? 2_000);

const midnight = Math.floor(Date.now() / dayMs) * dayMs;
/** The length within which every window ends. */
const [from, to] = [new Date(midnight - 3 * dayMs), new Date(midnight)];

void t.test("venuewatch export writes everything that was measured", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await fill(pool);
  const folder = t.testdir();

  await t.test("every row is written, in order and with its columns", async (t) => {
    for (const [what, view, order] of [
      ["samples", "samples", "ts, venue, component, region"],
      ["minutes", "minutes", "minute, venue, component, region"],
      ["days", "days", "day, venue"],
      ["incidents", "incidents", "started_at, incident_id"],
    ] as const) {
      const expected = await asJson(pool, view, order);
      t.ok(expected.length > 0, `${expected.length} ${what}`);
      same(t, jsonOf(await text(pool, "ndjson", { what })), expected, what);
      same(
        t,
        parseCsv(await text(pool, "csv", { what })),
        expected.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, inCsv(value)]))),
        `${what} as CSV`,
      );
    }
  });

  await t.test("a venue's half-open period is written, without retracted incidents", async (t) => {
    const records = async (given: Given) => jsonOf(await text(pool, "ndjson", given));
    const okx = await records({ what: "days", venue: "okx" });
    t.same(new Set(okx.map(({ venue }) => venue)), new Set(["okx"]));
    const period = { from, to: new Date(+from + 10_000) };
    const firsts = await records({ what: "samples", venue: "okx", period });
    t.same(new Set(firsts.map(({ ts }) => ts)), new Set([0, 5_000].map((ms) => new Date(+from + ms).toISOString())));
    const all = await records({ what: "incidents", retracted: true });
    t.equal(all.length - (await records({ what: "incidents" })).length, 1);
  });

  await t.test("a text with a formula or line breaks is harmless", async (t) => {
    const csv = await text(pool, "csv", { what: "incidents", retracted: true });
    t.match(csv, `"'=1+1,\r\n""so"""`);
    const [row] = jsonOf(await text(pool, "ndjson", { what: "incidents", retracted: true })).filter(
      ({ retracted_at }) => retracted_at !== null,
    );
    t.equal(row!["retraction_reason"], '=1+1,\r\n"so"', "JSON has the text unchanged");
  });

  await t.test("a file truncated at any byte resumes to the same file", async (t) => {
    for (const [what, form] of [
      ["incidents", "csv"],
      ["incidents", "ndjson"],
      ["days", "csv"],
      ["minutes", "ndjson"],
    ] as const) {
      const wanted = { what, retracted: true };
      const whole = Buffer.from(await text(pool, form, wanted));
      const path = `${folder}/${what}.${form}`;
      // the beginning with its header byte by byte, and the rest at a stride that meets every place of a record
      const cuts = [0, 7, 200, whole.length - 1, whole.length];
      for (let cut = 300; cut < whole.length; cut += Math.ceil(whole.length / cutsWithin) | 1) cuts.push(cut);
      for (const cut of cuts) {
        await writeFile(path, whole.subarray(0, cut));
        await writeResumeFile(path, wantedOf(wanted), form);
        await write(pool, form, wanted, path);
        const now = await readFile(path);
        if (!now.equals(whole)) t.fail(`${path}, cut after ${cut} bytes`);
      }
      t.notOk(existsSync(`${path}.unfinished`));
      t.pass(`${cuts.length} cuts of ${whole.length} bytes, ${what} as ${form}`);
    }
  });

  await t.test("an export that is killed repeatedly resumes to the same file", async (t) => {
    const whole = await text(pool, "csv", { what: "samples" });
    const path = `${folder}/killed.csv`;
    const random = randomFrom(1);
    const args = [
      ...["export", "--what", "samples", "--resume", "--output", path],
      ...["--from", from.toISOString(), "--to", to.toISOString()],
    ];
    for (let killed = 0; killed < kills;) {
      const signal = killed === 0 ? "SIGTERM" : "SIGKILL";
      const begun = await sizeOf(path);
      const enough = begun + random() * 0.7 * (whole.length - begun);
      const { code, err } = await cliWith(t, args, { DATABASE_URL: url }, "", (child) => {
        const isEnough = async () => child.exitCode !== null || (await sizeOf(path)) > enough;
        void until(isEnough, 60_000, 1).then(() => child.kill(signal));
      });
      // it ended before the signal
      if (code === 0) await rm(path);
      else {
        killed++;
        t.equal(code, signal === "SIGTERM" ? 143 : null, err);
        if (signal === "SIGTERM") {
          t.match(err, /warn export: stopped; continue with --resume\n$/);
          t.notMatch(err, /given up|aborted/);
        }
      }
    }
    await write(pool, "csv", { what: "samples" }, path);
    t.equal(await readFile(path, "utf8"), whole);
  });

  await t.test("a slow reader delays no other query", (t) => slowReader(t, pool, url));
  await t.test("a reader that closes early ends the export", (t) => earlyEnd(t, url));
  await t.test("a full disk is reported", (t) => noRoom(t, url));
  await t.test("resuming with other options is refused", (t) => otherOptions(t, pool, folder));
  await t.test("a quiet period gives a valid file", (t) => quiet(t, pool));
  await t.test("an analyst's login may export", async (t) => {
    const analyst = poolOn(t, url, { max: 1 });
    await analyst.script(becoming("vw_analyst"));
    for (const what of ["samples", "minutes", "days", "incidents"] as const)
      t.ok((await text(analyst, "csv", { what, venue: "okx" })).length > 0, what);
  });
  await t.test("an impossible export names its reason", (t) => faults(t, pool, folder));
});

/** This many samples of three days; their roll-ups; and incidents, one with a text that is hard to write. */
async function fill(pool: Pool): Promise<void> {
  // about two hundred every five seconds; in stretches, so that they fall into many windows
  const stretches = 5;
  const slots = Math.ceil(rows / 200 / stretches);
  for (let i = 0; i < stretches; i++) {
    const start = +from + i * 14 * 60 * minuteMs - 5_000;
    await measured(pool, { from: new Date(start), to: new Date(start + slots * 5_000 + 1) });
  }
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  for (const [hours, venue] of [
    [70, "okx"],
    [30, "kraken"],
    [5, "okx"],
  ] as const)
    await pastIncident(pool, {
      ...{ venue, component: "rest:ticker", minutes: 3 },
      ...{ startedAt: new Date(midnight - hours * 60 * minuteMs), retracted: hours === 30 },
    });
  await pool.script("alter table incident disable trigger refuse_rewriting");
  await pool.query(sql`update incident set retraction_reason = ${'=1+1,\r\n"so"'} where retracted_at is not null`);
  await pool.script("alter table incident enable trigger refuse_rewriting");
}

/**
 * The export queries nothing while the reader stands still, other queries are answered, and in the end all rows arrive.
 */
async function slowReader(t: Test, pool: Pool, url: string): Promise<void> {
  const one = poolOn(t, url, { max: 1 });
  const wanted = wantedOf({ what: "samples" });
  const [{ count } = { count: 0 }] = await pool.query<{ count: number }>(
    sql`select count(*) from analytics.samples where ts >= ${from} and ts < ${to}`,
  );
  const records = recordsOf(one, wanted, null);
  const before = usedBytes();
  let [read, grown, last] = [0, 0, ""];
  for (let turn = 0; ; turn++) {
    const { done, value } = await records.next();
    if (done) break;
    read += value.length;
    for (const [ts, ...others] of value) {
      const key = [(ts as Date).toISOString(), ...others.slice(0, 3)].join(" ");
      if (key <= last) t.fail(`${key} after ${last}`);
      last = key;
    }
    // the only connection is free while this does not read
    if (turn < 5) await one.query(sql`select 1`);
    if (turn % 5 === 0) grown = Math.max(grown, usedBytes() - before);
  }
  t.equal(read, count);
  // a page of 10,000 rows takes less than half of this
  const most = 32 * 2 ** 20;
  t.ok(grown < most, `memory grew by ${grown} bytes for ${count} rows`);
}

/** `venuewatch export … | head` */
async function earlyEnd(t: Test, url: string): Promise<void> {
  const child = exporting(t, url, "samples", "pipe");
  child.stdout!.once("data", () => child.stdout!.destroy());
  t.strictSame(await endOf(child), { code: 0, err: "" });
}

async function noRoom(t: Test, url: string): Promise<void> {
  const full = await open("/dev/full", "w");
  t.teardown(() => full.close());
  const child = exporting(t, url, "days", full.fd);
  t.strictSame(await endOf(child), {
    code: 2,
    err: "venuewatch: standard output cannot be written (ENOSPC): check its destination and the free space there\n",
  });
}

function exporting(t: Test, url: string, what: DatasetName, output: "pipe" | number) {
  const period = ["--from", from.toISOString(), "--to", to.toISOString()];
  const child = spawn(process.execPath, [packagedFile("dist/server/cli.js"), "export", "--what", what, ...period], {
    env: { PATH: process.env["PATH"], DATABASE_URL: url },
    stdio: ["ignore", output, "pipe"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  return child;
}

async function endOf(child: ChildProcess) {
  let err = "";
  child.stderr!.on("data", (piece: Buffer) => (err += piece.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, err };
}

/** Each differs from the file's options, though its records so far could be the same. */
async function otherOptions(t: Test, pool: Pool, folder: string) {
  const path = `${folder}/other.csv`;
  const before = new Date(+from - dayMs);
  const begun: Given = { what: "incidents", venue: "okx" };
  const whole = await text(pool, "csv", begun);
  const cut = whole.slice(0, -9);
  await writeFile(path, cut);
  await writeResumeFile(path, wantedOf(begun), "csv");
  const changes: [Given, ExportFormatName, string][] = [
    [{ ...begun, venue: null }, "csv", "with --venue okx"],
    [{ ...begun, venue: "kraken" }, "csv", "with --venue okx"],
    [{ ...begun, retracted: true }, "csv", "without --retracted"],
    [{ ...begun, what: "days" }, "csv", "with --what incidents"],
    [begun, "ndjson", "with --format csv"],
    [{ ...begun, period: { from: before, to } }, "csv", `with --from ${from.toISOString()}`],
    [{ ...begun, period: { from, to: new Date(+to - 1) } }, "csv", `with --to ${to.toISOString()}`],
  ];
  for (const [given, form, difference] of changes) {
    await t.rejects(write(pool, form, given, path), {
      name: "UserError",
      message: `--resume: ${path} was started ${difference}. Give the same options, or name another file`,
    });
    t.equal(await readFile(path, "utf8"), cut, "the file is unchanged");
  }
  await write(pool, "csv", begun, path);
  t.equal(await readFile(path, "utf8"), whole);
  await t.rejects(write(pool, "csv", begun, path), {
    name: "UserError",
    message: /other.csv is finished or not from an export/,
  });
  await writeFile(`${path}.unfinished`, "");
  await t.rejects(write(pool, "csv", begun, path), { message: /other.csv.unfinished is not a valid resume file/ });
}

async function quiet(t: Test, pool: Pool): Promise<void> {
  const hour = (hours: number) => new Date(midnight + hours * 60 * minuteMs);
  for (const [night, period] of [
    ["after the newest", { from: hour(-4), to: hour(0) }],
    ["between two", { from: hour(-20), to: hour(-10) }],
    ["before the first", { from: hour(-90), to: hour(-80) }],
  ] as const) {
    const csv = await text(pool, "csv", { what: "incidents", period });
    t.match(csv, /^[a-z0-9_,]+\r\n$/, night);
  }
  const period = { from: hour(48), to: hour(72) };
  await t.rejects(text(pool, "csv", { what: "incidents", period }), {
    name: "UserError",
    message: /there are no incidents in this period/,
  });
}

async function faults(t: Test, pool: Pool, folder: string) {
  const path = `${folder}/faults.csv`;
  const days: Given = { what: "days" };
  await write(pool, "csv", days, path);
  const refused = (work: Promise<unknown>, message: RegExp) => t.rejects(work, { name: "UserError", message });
  await refused(write(pool, "csv", days, path, false), /faults.csv already exists; continue it with --resume/);
  for (const [what, form, message] of [
    ["minutes", "csv", /it does not begin with the columns of this one/],
    ["days", "ndjson", /from another export or another version: its last record is 20/],
  ] as const) {
    await writeResumeFile(path, wantedOf({ what }), form);
    await refused(write(pool, form, { what }, path), message);
  }
  await refused(write(pool, "csv", days, "/dev/null"), /--output: expected a file, got \/dev\/null, which is not one/);
  await refused(
    write(pool, "csv", { ...days, venue: "mtgox" }, path),
    /there is no venue "mtgox"; the venues are binance,/,
  );
  const long = { from: new Date("2020-01-01Z"), to: new Date("2020-02-01Z") };
  await refused(
    write(pool, "csv", { what: "samples", period: long }, path),
    /no samples in this period: the database has them from .*kept for eight days/,
  );
  await refused(write(pool, "csv", days, `${folder}/none/x.csv`), /x.csv cannot be written \(ENOENT\)/);
  const period = ["--from", "2026-01-02", "--to", "2026-01-03"];
  for (const [args, message] of [
    [["--from", "2026-02-30"], /--from: expected a day like 2026-01-31 or an/],
    [[...period, "--to", "2026-01-02"], /--to: expected a time after --from/],
    [period, /--what: expected one of samples, minutes, days, incidents, got nothing$/],
    [[...period, "--what", "days", "--resume"], /--resume: --output is missing/],
  ] as const) {
    const { values } = parseArgs({ args: [...args], options });
    await refused(runExport({ values, words: [] }), message);
  }
}

type Given = Partial<RecordFilter> & { what: DatasetName };

function wantedOf(given: Given): RecordFilter {
  return { period: { from, to }, venue: null, retracted: false, ...given };
}

async function text(pool: Pool, form: ExportFormatName, given: Given): Promise<string> {
  const pieces: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(piece: string, _, done) {
      pieces.push(piece);
      done();
    },
  });
  await writeExport(pool, wantedOf(given), {
    ...{ format: form, output, resume: false, log },
    signal: new AbortController().signal,
  });
  return pieces.join("");
}

async function write(pool: Pool, form: ExportFormatName, given: Given, output: string, resume = true) {
  await writeExport(pool, wantedOf(given), {
    ...{ format: form, output, resume, log },
    signal: new AbortController().signal,
  });
}

/** The database's own JSON, with times converted to our form. */
async function asJson(pool: Pool, view: string, order: string) {
  const [time] = order.split(",");
  const found = await pool.text<{ row: Record<string, unknown> }>(
    `select to_jsonb(v) as row from analytics.${view} v
     where ${time}::timestamptz >= $1 and ${time}::timestamptz < $2 ${view === "incidents" ? "and retracted_at is null" : ""}
     order by ${order.replace(/venue|component|region/g, '$& collate "C"')}`,
    [from, to],
  );
  return found.map(({ row }) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === "string" && /^\d{4}-\d\d-\d\dT.*\+00:00$/.test(value) ? new Date(value).toISOString() : value,
      ]),
    ),
  );
}

function jsonOf(lines: string): Record<string, unknown>[] {
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function inCsv(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
