/** `venuewatch export`: what its files contain, and that other readers agree. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { makeLog } from "../../../../shared/log/log.js";
import { type DatasetName, type Period, type RecordFilter, recordsOf } from "../../../../server/cli/export/datasets.js";
import { writeDataset } from "../../../../server/cli/export/export.js";
import { migratedDatabase } from "../../../support/database.js";
import { measured, pastIncident } from "../../../support/fleet.js";
import { duckdb, filesIn, groupRowsOf, noDuckdb, parquetRows, type ParquetRecord } from "../../../support/parquet.js";
import { poolOn } from "../../../support/pool-on.js";
import { becoming } from "../../../support/rights.js";
import { usedBytes } from "../../../support/used-bytes.js";

const log = makeLog("test", "error");
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const midnight = Math.floor(Date.now() / dayMs) * dayMs;
const [from, to] = [new Date(midnight - 3 * dayMs), new Date(midnight)];
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const days = [3, 2, 1].map((ago) => dayOf(midnight - ago * dayMs));

/** The first sample; nothing is known of the hours before. */
const first = new Date(+from + 6 * 60 * minuteMs);
const nameOfFirst = `samples-${days[0]}t060000.000z`;

/** What identifies a row, in the order of the files. */
const keys: Record<DatasetName, string[]> = {
  samples: ["venue", "component", "ts", "region"],
  minutes: ["venue", "component", "minute", "region"],
  days: ["day", "venue"],
  incidents: ["started_at", "incident_id"],
};
const whats = Object.keys(keys) as DatasetName[];

void t.test("venuewatch export", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const folder = t.testdir();
  const refused = (given: Given, message: RegExp) => t.rejects(write(pool, given, join(folder, "none")), { message });

  await t.test("without any samples there is no dataset", async (t) => {
    await refused({ what: "samples" }, /^there are no samples, so there is no dataset to write/);
    t.same(filesIn(folder), []);
  });

  await fill(pool);
  for (const what of whats) await write(pool, { what, retracted: true }, join(folder, what));

  await t.test("every row is in the file of its day or month, in order, with its values and nulls", async (t) => {
    for (const what of whats) {
      const dataset = join(folder, what);
      const expected = await expectedRows(pool, what);
      const pattern = what === "samples" || what === "minutes" ? /date=(\d{4}-\d\d-\d\d)\// : /month=(\d{4}-\d\d)\//;
      const found: ParquetRecord[] = [];
      for (const path of parquetIn(dataset)) {
        const part = pattern.exec(path)![1]!;
        const rows = await parquetRows(join(dataset, path));
        const time = keys[what].find((column) => ["ts", "minute", "day", "started_at"].includes(column))!;
        t.ok(
          rows.every((row) => String(row[time]).startsWith(part)),
          `${path} has rows of ${part} alone`,
        );
        found.push(...rows);
      }
      t.ok(expected.length >= 3, `${expected.length} ${what}`);
      sameRows(t, found, expected, `${what} equal the database's own JSON`);
    }
    t.same(
      parquetIn(join(folder, "samples")),
      days.map((day, i) => `what=samples/date=${day}/${i === 0 ? nameOfFirst : `samples-${day}`}.parquet`),
    );
  });

  await t.test("a venue's half-open period is written, without retracted incidents", async (t) => {
    const period = { from: first, to: new Date(+first + 10_000) };
    await write(pool, { what: "samples", venue: "okx", period }, join(folder, "slots"));
    const slots = new Set((await rowsIn(join(folder, "slots"))).map(({ ts }) => ts));
    t.same(slots, new Set([0, 5_000].map((ms) => new Date(+first + ms).toISOString())));
    await write(pool, { what: "incidents" }, join(folder, "claimed"));
    const claimed = await rowsIn(join(folder, "claimed"));
    t.equal((await rowsIn(join(folder, "incidents"))).length - claimed.length, 1);
    t.ok(claimed.every(({ retracted_at }) => retracted_at === null));
  });
  await t.test("datapackage.json has each file with its size, checksum, rows and columns", (t) => described(t, folder));
  await t.test("DuckDB reads it with the right types", { skip: noDuckdb }, (t) => typesInDuckdb(t, pool, folder));
  await t.test("DuckDB's sums over all files equal SQL", { skip: noDuckdb }, (t) => sumsInDuckdb(t, pool, folder));
  await t.test("a large day is divided into row groups and files", (t) => divided(t, pool, folder));
  await t.test("an analyst's login may export", async (t) => {
    const analyst = poolOn(t, url, { max: 1 });
    await analyst.script(becoming("vw_analyst"));
    for (const what of whats) {
      await write(analyst, { what, venue: "okx" }, join(folder, `${what}-of-analyst`));
      t.ok(resourcesOf(join(folder, `${what}-of-analyst`)).length > 0);
    }
  });
  await t.test("a quiet period is covered by a file without rows", (t) => quiet(t, pool, folder));
  await t.test("datasets of successive days have each row once", (t) => nightly(t, pool, folder));
  await t.test("DuckDB runs the documents' commands", { skip: noDuckdb }, (t) => documented(t, pool, folder));
  await t.test("a slow disk delays no other query", (t) => slowDisk(t, pool, url));
});

/** Samples of one venue on three days, some of them bad and one late; their roll-ups; and incidents. */
async function fill(pool: Pool): Promise<void> {
  for (const start of [0, 1, 2]) {
    const begin = +from + start * dayMs + 6 * 60 * minuteMs - 5_000;
    await measured(pool, { venue: "okx", from: new Date(begin), to: new Date(begin + 5 * minuteMs + 1) });
    const bad = { venue: "okx", component: "rest:ticker", regions: ["us-east"], fault: "timeout" as const };
    await measured(pool, { ...bad, from: new Date(begin + minuteMs), to: new Date(begin + 2 * minuteMs) });
  }
  // each kind of column has values and nulls; 2 ** 53 - 1 is the largest number that JSON has exactly
  await pool.query(sql`
    update sample s
    set
      late_ms = 1234,
      head = 9007199254740991,
      unserved = false,
      fresh = true,
      certificate_expires_at = '2027-01-02T03:04:05.678Z',
      clock_error_ms = -7,
      http_status = 200
    where s.ts = ${first}
  `);
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  for (const [hours, retracted] of [
    [70, false],
    [69, true],
    [30, false],
    [5, false],
  ] as const)
    await pastIncident(pool, {
      ...{ venue: "okx", component: "rest:ticker", minutes: 3, retracted },
      startedAt: new Date(midnight - hours * 60 * minuteMs),
    });
  await pool.script("alter table incident disable trigger refuse_rewriting");
  await pool.query(sql`
    update incident
    set evidence = jsonb_set(evidence, '{opening,votes}', '[
      {"region": "us-east", "vote": "outage"}, {"region": "eu-central", "vote": "degraded"}
    ]')
    where retracted_at is null
  `);
  await pool.query(sql`
    update incident set retraction_reason = ${'=1+1,\r\n"so" \u202e<b>\u{1f600}'} where retracted_at is not null
  `);
  await pool.script("alter table incident enable trigger refuse_rewriting");
}

/** The database's own JSON of a view, with times in our form. */
async function expectedRows(pool: Pool, what: DatasetName): Promise<ParquetRecord[]> {
  const order = keys[what].map((column) => (/venue|component|region/.test(column) ? `${column} collate "C"` : column));
  // one file after another
  if (what === "samples" || what === "minutes") order.unshift(what === "samples" ? "ts::date" : "minute::date");
  const found = await pool.text<{ row: ParquetRecord }>(
    `select to_jsonb(v) as row from analytics.${what} v order by ${order.join(", ")}`,
    [],
  );
  const isInstant = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT.*\+00:00$/.test(value);
  return found.map(({ row }) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        isInstant(value) ? new Date(value as string).toISOString() : value,
      ]),
    ),
  );
}

interface Resource {
  [other: string]: unknown;
  path: string;
  schema: string;
}

function resourcesOf(dataset: string): Resource[] {
  return (JSON.parse(readFileSync(join(dataset, "datapackage.json"), "utf8")) as { resources: Resource[] }).resources;
}

async function described(t: Test, folder: string) {
  for (const what of whats) {
    const dataset = join(folder, what);
    const resources = resourcesOf(dataset);
    t.same(
      resources.map(({ path }) => path),
      parquetIn(dataset),
      "all files, and no other",
    );
    for (const { path, name, bytes, hash, rows, schema } of resources) {
      const content = readFileSync(join(dataset, path));
      t.equal(bytes, statSync(join(dataset, path)).size, path);
      t.equal(hash, `sha256:${createHash("sha256").update(content).digest("hex")}`);
      t.equal(rows, (await parquetRows(join(dataset, path))).length);
      t.match(name, /^[-a-z0-9._/]+$/, "a name that the standard allows");
      t.ok(filesIn(dataset).includes(schema), schema);
    }
  }
  const resources = resourcesOf(join(folder, "samples"));
  const oldest = resources[0]!;
  t.match(oldest, { type: "table", format: "parquet", from: first.toISOString(), venue: null });
  t.match(resources.at(-1), { to: to.toISOString() }, "a day that is over is covered to its end");
  const [incidents] = resourcesOf(join(folder, "incidents"));
  t.match(incidents, { from: from.toISOString() }, "before the first incident there were none");
  const { fields, primaryKey } = JSON.parse(readFileSync(join(folder, "samples", oldest.schema), "utf8")) as {
    fields: (ParquetRecord & { name: string })[];
    primaryKey: string[];
  };
  t.same(primaryKey, keys.samples);
  t.same(
    fields.filter(({ description }) => typeof description !== "string"),
    [],
    "every column has a description",
  );
  const field = (name: string) => fields.find((one) => one.name === name);
  t.match(field("ts"), { type: "datetime", constraints: { required: true } });
  t.match(field("latency_ms"), { type: "number", unit: "milliseconds" });
  t.match(field("received_after_s"), { type: "integer", unit: "seconds" });
  t.match(field("fault"), { type: "string", constraints: { enum: ["dns", "connect"] } });
  t.equal(field("venue")!["unit"], undefined);
}

/** By the type of the column in PostgreSQL; enums are all others. */
const duckdbTypes: Record<string, string> = {
  ...{ timestamptz: "TIMESTAMP WITH TIME ZONE", date: "DATE", text: "VARCHAR", _text: "VARCHAR[]", jsonb: "JSON" },
  ...{ int2: "SMALLINT", int4: "INTEGER", int8: "BIGINT", float8: "DOUBLE", numeric: "DOUBLE", bool: "BOOLEAN" },
};

async function typesInDuckdb(t: Test, pool: Pool, folder: string) {
  for (const what of whats) {
    const columns = await pool.text<{ name: string; type: string }>(
      `select column_name::text as name, udt_name::text as type from information_schema.columns
       where table_schema = 'analytics' and table_name = $1 order by ordinal_position`,
      [what],
    );
    const inFolders = what === "samples" || what === "minutes" ? ["date", "DATE"] : ["month", "VARCHAR"];
    const found = duckdb(`describe from 'what=${what}/*/*.parquet'`, join(folder, what));
    t.same(
      found.map(({ column_name, column_type }) => [column_name, column_type]),
      [...columns.map(({ name, type }) => [name, duckdbTypes[type] ?? "VARCHAR"]), inFolders, ["what", "VARCHAR"]],
      what,
    );
  }
  const [incident] = duckdb(
    `select regions[2] as second, evidence ->> '$.opening.votes[0].vote' as vote, typeof(closed_at) as closed
     from 'what=incidents/*/*.parquet' where len(regions) > 0 limit 1`,
    join(folder, "incidents"),
  );
  t.same(incident, { second: "eu-central", vote: "outage", closed: "TIMESTAMP WITH TIME ZONE" });
}

async function sumsInDuckdb(t: Test, pool: Pool, folder: string) {
  for (const [what, measures] of [
    [
      "samples",
      `count(*) as n, count(latency_ms) as latencies, sum(latency_ms) as ms, count(fault) as faults,
       count(*) filter (where not good) as bad, sum(messages) as messages, max(head) as head, count(late_ms) as late,
       count(distinct venue || component || region) as series, extract(epoch from min(ts)) as first,
       extract(epoch from max(ts)) as newest, count(unserved) as unserved`,
    ],
    ["minutes", "count(*) as n, sum(samples) as samples, sum(good) as good, sum(timeout_faults) as timeouts"],
    [
      "days",
      "count(*) as n, sum(measured_minutes) as minutes, round(avg(uptime_pct), 6) as pct, min(day)::text as day",
    ],
    ["incidents", "count(*) as n, count(retracted_at) as retracted, sum(duration_s) as s, count(escalated_at) as esc"],
  ] as const) {
    const [expected] = await pool.text<ParquetRecord>(`select ${measures} from analytics.${what}`, []);
    const [found] = duckdb(`select ${measures} from 'what=${what}/**/*.parquet'`, join(folder, what));
    t.same(numbers(found!), numbers(expected!), what);
  }
  const byDay = duckdb(
    `select date::text as day, count(*) as n from 'what=samples/*/*.parquet' where date > '${days[0]}' group by all order by all`,
    join(folder, "samples"),
  );
  t.same(
    byDay.map(({ day }) => day),
    days.slice(1),
    "folders are a column, which prunes",
  );
  const [plan] = duckdb(
    `select count(*) as groups from parquet_metadata('what=samples/*/*.parquet')
     where path_in_schema = 'venue' and stats_min_value = 'okx' and stats_max_value = 'okx' and stats_null_count = 0`,
    join(folder, "samples"),
  );
  t.equal(plan!["groups"], 3, "statistics let readers skip other venues");
}

/** DuckDB prints sums of integers as text, since they may be larger than a number. */
function numbers(row: ParquetRecord): ParquetRecord {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null || name === "day" ? value : Number(Number(value).toFixed(6)),
    ]),
  );
}

/** Each line of the page that calls `duckdb` runs in a folder that has the dataset. */
async function documented(t: Test, pool: Pool, folder: string) {
  await write(pool, { what: "samples" }, join(folder, "dataset"));
  const page = readFileSync(packagedFile("docs/dataset.md"), "utf8");
  const lines = [...page.matchAll(/^duckdb -c "([^"]+)"/gm)].map(([, query = ""]) => query);
  t.ok(lines.length > 0);
  for (const query of lines) t.ok(duckdb(query, folder).length > 0, query);
}

async function divided(t: Test, pool: Pool, folder: string) {
  const wanted: Given = { what: "samples", venue: "okx", period: { from, to: new Date(+from + dayMs) } };
  const output = join(folder, "divided");
  await write(pool, wanted, output, { limits: { groupRows: 100, fileRows: 400 } });
  const parts = parquetIn(output);
  const day = days[0]!;
  // the order of names is not that of the parts
  const named = (part: number) => `what=samples/date=${day}/${nameOfFirst}${part === 1 ? "" : `-part${part}`}.parquet`;
  t.ok(parts.length > 2, `${parts.length} files`);
  const rows: ParquetRecord[] = [];
  for (let part = 1; part <= parts.length; part++) {
    const groups = await groupRowsOf(join(output, named(part)));
    if (part < parts.length) t.same(groups, [100, 100, 100, 100]);
    rows.push(...(await parquetRows(join(output, named(part)))));
  }
  const expected = (await expectedRows(pool, "samples")).filter(({ ts }) => String(ts).startsWith(day));
  sameRows(t, rows, expected, "together they have each row once");
}

async function quiet(t: Test, pool: Pool, folder: string) {
  const hour = (hours: number) => new Date(midnight + hours * 60 * minuteMs);
  for (const [name, what, period] of [
    ["between", "samples", { from: hour(-60), to: hour(-50) }],
    ["before", "incidents", { from: new Date("2020-01-31T00:00:00Z"), to: new Date("2020-02-02T00:00:00Z") }],
  ] as [string, DatasetName, Period][]) {
    const output = join(folder, name);
    await write(pool, { what, venue: "okx", period }, output);
    const resources = resourcesOf(output);
    t.same(new Set(resources.map(({ rows }) => rows)), new Set([0]), `${resources.length} files without rows`);
    for (const { path } of resources) t.same(await parquetRows(join(output, path)), []);
    t.equal(resources[0]!["from"], period.from.toISOString());
    t.equal(resources.at(-1)!["to"], period.to.toISOString());
    if (!noDuckdb) t.same(duckdb(`select count(*) as n from 'what=${what}/*/*.parquet'`, output), [{ n: 0 }]);
  }
  t.same(
    resourcesOf(join(folder, "before")).map(({ path }) => path),
    [
      "what=incidents/month=2020-01/incidents-2020-01-31.parquet",
      "what=incidents/month=2020-02/incidents-2020-02.parquet",
    ],
  );
}

/** As a nightly job does, and once in the middle of a day. */
async function nightly(t: Test, pool: Pool, folder: string) {
  mkdirSync(join(folder, "nightly"));
  for (const [fromHours, toHours] of [
    [0, 24],
    [24, 30.05],
    [30.05, 72],
  ] as const)
    await write(
      pool,
      {
        ...{ what: "samples", venue: "okx" },
        period: { from: new Date(+from + fromHours * 60 * minuteMs), to: new Date(+from + toHours * 60 * minuteMs) },
      },
      join(folder, "nightly", String(fromHours)),
    );
  const keysOf = (records: ParquetRecord[]) => records.map((row) => keys.samples.map((key) => row[key]).join(" "));
  const rows = await rowsIn(join(folder, "nightly"));
  sameRows(t, keysOf(rows).sort(), keysOf(await expectedRows(pool, "samples")).sort(), "each row is in one file");
}

/** Nothing is queried while a page is written, other queries are answered, and all rows come in their order. */
async function slowDisk(t: Test, pool: Pool, url: string): Promise<void> {
  const one = poolOn(t, url, { max: 1 });
  const [counted] = await pool.query<{ count: number }>(sql`select count(*) from analytics.samples`);
  const wanted: RecordFilter = { what: "samples", period: { from, to }, venue: null, retracted: false };
  const before = usedBytes();
  let [read, grown, last] = [0, 0, ""];
  for await (const page of recordsOf(one, wanted, () => {})) {
    read += page.length;
    for (const [ts, venue, component, region] of page) {
      const key = [venue, component, (ts as Date).toISOString(), region].join(" ");
      if (key <= last) t.fail(`${key} after ${last}`);
      last = key;
    }
    // the only connection is free while this does not read
    await one.query(sql`select 1`);
    grown = Math.max(grown, usedBytes() - before);
  }
  t.equal(read, counted!.count);
  // a page of 10,000 rows takes less than half of this
  t.ok(grown < 32 * 2 ** 20, `memory grew by ${grown} bytes for ${read} rows`);
}

const parquetIn = (folder: string) => filesIn(folder).filter((path) => path.endsWith(".parquet"));

async function rowsIn(folder: string): Promise<ParquetRecord[]> {
  return (await Promise.all(parquetIn(folder).map((path) => parquetRows(join(folder, path))))).flat();
}

/** Compares some thousand rows, and shows the first that differ: to compare all by tap takes minutes. */
function sameRows(t: Test, found: readonly unknown[], expected: readonly unknown[], name: string): void {
  const at = expected.findIndex((row, i) => !isDeepStrictEqual(found[i], row));
  if (at < 0 && found.length === expected.length) t.pass(name);
  else
    t.strictSame(found.slice(at, at + 2), expected.slice(at, at + 2), `${name}, from ${at} of ${expected.length} on`);
}

type Given = Partial<RecordFilter> & { what: DatasetName };

async function write(
  pool: Pool,
  given: Given,
  output: string,
  options: Partial<Parameters<typeof writeDataset>[2]> = {},
): Promise<void> {
  await writeDataset(
    pool,
    { period: { from, to }, venue: null, retracted: false, ...given },
    { ...{ output, log }, signal: new AbortController().signal, ...options },
  );
}
