import { reliabilityTable } from "../../../../server/web/board/reliability.js";
import { venueTable } from "../../../../server/web/board/venue.js";
import type { CellValue } from "hucre/xlsx";
import t from "tap";
import { documentNames } from "../../../../server/web/pages/documents.js";
import { incidentsTable } from "../../../../server/web/board/incidents.js";
import { sql } from "../../../../shared/database/pool.js";
import { csvText } from "../../../../shared/text/spreadsheet-safe-csv.js";
import { describedPath, documentOf, serve } from "../../../support/api.js";
import { parseCsv } from "../../../support/csv.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { describedColumns } from "../../../support/table.js";
import { workbookRows } from "../../../support/workbook.js";

type Row = Record<string, string>;

interface VenuePage {
  generatedAt: string;
  days: Record<string, string | number | null>[];
  summary: { measuredDays: number; measuredMinutes: number };
}

/** Figures of a venue's REST endpoints alone, or of its streams. */
type Part = { uptimePct: number | null; downMinutes: number | null };

/** Columns that every row of every table has. */
const ofTheWindow = [
  ...["generatedAt", "windowDays", "windowFrom", "windowTo", "windowMeasuredDays", "windowMeasuredMinutes"],
  "methodologyUrl",
];

type Json = string | number | boolean | null | string[];

/** A JSON value as a table writes it. */
function field(value: Json | undefined): string {
  return Array.isArray(value) ? value.join(" ") : String(value ?? "");
}

void t.test("a decimal comma is that of numbers, and of nothing else", (t) => {
  const values = [99.986, -1.5, 100, 1.5e-7, 0, "1.5", "-1,5", "a;b", "a,b", true, null, "2026-11-28T01:01:52.024Z"];
  const fields = ["99,986", "-1,5", "100", "1,5e-7", "0", "1.5", "'-1,5", '"a;b"', "a,b", "true", "", values.at(-1)];
  t.equal(csvText([values], "comma"), `${fields.join(";")}\r\n`);
  t.end();
});

/** A workbook's cell as the CSV writes it. @throws Error where it has another type than its column */
function csvField(cell: CellValue, kind: string): string {
  if (cell === null) return "";
  const type = { integer: "number", number: "number", instant: "object", day: "object", "true or false": "boolean" }[
    kind
  ];
  if (typeof cell !== (type ?? "string")) throw new Error(`expected ${kind}, got ${JSON.stringify(cell)}`);
  return cell instanceof Date ? cell.toISOString().slice(0, kind === "day" ? 10 : undefined) : String(cell);
}

void t.test("the strict reader rejects malformed CSV", (t) => {
  const broken = ["", "a,b\n1,2\n", "a,b\r\n1\r\n", "a,b\r\n1,2", "a\r\n1\r2\r\n", "a,a\r\n1,2\r\n", "a,b\r\n1,"];
  for (const wrong of [...broken, 'a\r\n"1\r\n', 'a\r\n1"2\r\n', 'a\r\n"1"2\r\n'])
    t.throws(() => parseCsv(wrong), JSON.stringify(wrong));
  t.strictSame(parseCsv('a,b\r\n"1,""\r\n",\r\n'), [{ a: '1,"\r\n', b: "" }]);
  t.end();
});

void t.test("CSV tables", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const siteUrl = "https://example.org/status";
  const api = await serve(t, { pool, registry, siteUrl });
  await measured(pool, { from: ago(600), to: ago(0) });
  for (const seconds of [5_000, 90_000, 90_000, 4_000_000])
    await pastIncident(pool, { venue: "kraken", component: "rest:ticker", startedAt: ago(seconds), minutes: 5 });
  const open = { startedAt: ago(300), minutes: null, severity: "degraded" } as const;
  await pastIncident(pool, { venue: "okx", component: "ws:trades", ...open });
  await decide(pool);

  await t.test("spec: a venue's 90 days are those of its JSON", async (t) => {
    const { body } = await api.ask<VenuePage>("/v1/targets/kraken");
    const table = await api.ask<Row[]>("/v1/targets/kraken?format=csv");
    t.equal(table.body.length, 90);
    for (const [nth, row] of table.body.entries()) {
      const { withoutMaintenance: outside, ...day } = body.days[nth]!;
      t.equal(outside, null, "its columns are tested with announced maintenance");
      for (const [name, value] of Object.entries(day))
        if (row[name] !== field(value)) t.fail(`${row["date"]} ${name}: ${row[name]}`);
    }
    t.match(table.body[0], {
      generatedAt: body.generatedAt,
      windowDays: "90",
      windowFrom: `${body.days[0]!["date"]}T00:00:00.000Z`,
      windowTo: body.generatedAt,
      windowMeasuredDays: String(body.summary.measuredDays),
      windowMeasuredMinutes: String(body.summary.measuredMinutes),
      methodologyUrl: `${siteUrl}/methodology`,
      venue: "kraken",
    });
    t.equal(table.body[0]!["uptimePct"], "", "empty for an unmeasured day");
    t.equal(table.body.at(-1)!["uptimePct"], "100");
    t.ok(documentNames.includes("methodology"), "the link leads to one of our pages");
    const alias = await api.ask("/v1/exchanges/kraken?format=csv");
    t.equal(alias.text, table.text, "the same on both paths");
  });

  await t.test("incidents have the same rows as their JSON, for each page and filter", async (t) => {
    const before = `before=${ago(80_000).toISOString()}`;
    const filters = ["venue=kraken", "venue=kraken&limit=2", "status=open", "category=ramp", "days=1", "days=365"];
    for (const query of ["", ...filters, before]) {
      const { incidents } = (await api.ask<{ incidents: Record<string, Json>[] }>(`/v1/incidents?${query}`)).body;
      const { body } = await api.ask<Row[]>(`/v1/incidents?format=csv&${query}`);
      t.equal(body.length, incidents.length, query);
      for (const [nth, incident] of incidents.entries())
        for (const [name, value] of Object.entries(incident))
          if (!["official", "maintenance"].includes(name) && body[nth]![name] !== field(value))
            t.fail(`${query} ${name}: ${body[nth]![name]}`);
    }
    const { body } = await api.ask<Row[]>("/v1/incidents?format=csv&days=7&venue=okx");
    t.match(body[0], {
      windowDays: "7",
      // ten minutes were measured
      windowMeasuredDays: ago(600).getUTCDate() === new Date().getUTCDate() ? "1" : "2",
      officialTitle: "",
      subjectMatched: "",
      durationSeconds: "",
      flapping: "false",
    });
  });

  await t.test("compared venues have the same rows as their JSON", async (t) => {
    for (const query of ["days=90", "days=1&category=exchange"]) {
      const path = `/v1/reliability?${query}`;
      const { body } = await api.ask<{ venues: Record<string, unknown>[] }>(path);
      const table = await api.ask<Row[]>(`${path}&format=csv`);
      t.ok(body.venues.length > 0);
      const ids = body.venues.map(({ id }) => id);
      const rows = table.body.map((row) => row["venue"]);
      t.strictSame(rows, ids, `${query}: the same venues, in the same order`);
      for (const [nth, venue] of body.venues.entries()) {
        // components have separate rows, which do not fit into a venue's row
        const { id, days, measuredDays, measuredMinutes, rest, streams, components, ...more } = venue;
        const { withoutMaintenance: outside, ...others } = more;
        t.equal(outside, null, "its columns are tested with announced maintenance");
        t.ok(Array.isArray(components));
        const window = { windowDays: days, windowMeasuredDays: measuredDays, windowMeasuredMinutes: measuredMinutes };
        const columns: Record<string, unknown> = { ...others, venue: id, ...window };
        for (const [part, { uptimePct, downMinutes }] of Object.entries({ rest, streams } as Record<string, Part>)) {
          columns[`${part}UptimePct`] = uptimePct;
          columns[`${part}DownMinutes`] = downMinutes;
        }
        for (const [name, value] of Object.entries(columns))
          if (table.body[nth]![name] !== field(value as Json))
            t.fail(`${query} ${String(id)} ${name}: ${table.body[nth]![name]}`);
      }
    }
  });

  const asked = ["/v1/targets/kraken?", "/v1/incidents?", "/v1/incidents?category=oracle&", "/v1/reliability?days=7&"];

  await t.test("a workbook has the rows of the CSV, with numbers, dates and empty cells", async (t) => {
    const document = documentOf({ registry });
    for (const path of asked) {
      const csv = await api.ask<Row[]>(`${path}format=csv`);
      const { bytes, headers } = await api.ask(`${path}format=xlsx`, { headers: { "accept-encoding": "br, gzip" } });
      t.match(headers, {
        "content-type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "content-disposition": csv.headers["content-disposition"]!.replace(/csv"$/, 'xlsx"'),
        "cache-control": "max-age=5",
      });
      t.equal(headers["content-encoding"], undefined, "it is compressed already");
      const columns = describedColumns(document, describedPath(document, `${path}format=csv`)!);
      const rows = await workbookRows(bytes);
      t.equal(rows.length, csv.body.length, path);
      for (const [at, row] of rows.entries())
        for (const { name, kind } of columns) t.equal(csvField(row[name] ?? null, kind), csv.body[at]![name], name);
    }
  });

  await t.test("with a decimal comma, semicolons separate the fields", async (t) => {
    await pool.query(sql`
      update component set label = 'Trades; 1.5, "live"'
      where component = 'ws:trades' and venue_id = (select venue_id from venue where venue = 'okx')
    `);
    for (const path of [...asked, "/v1/incidents?venue=okx&"]) {
      const point = await api.ask<Row[]>(`${path}format=csv`);
      const comma = await api.ask<Row[]>(`${path}format=csv&decimal=comma`);
      t.equal(comma.headers["content-disposition"], point.headers["content-disposition"]);
      for (const [at, row] of comma.body.entries())
        for (const [name, text] of Object.entries(row)) {
          const expected = point.body[at]![name]!;
          t.equal(text, /Pct/.test(name) ? expected.replace(".", ",") : expected, name);
        }
    }
    const { text } = await api.ask("/v1/incidents?venue=okx&format=csv&decimal=comma");
    t.match(text, ';"Trades; 1.5, ""live""";');
  });

  await t.test("every row names its instant and its window", async (t) => {
    for (const path of ["/v1/targets/okx", "/v1/incidents", "/v1/reliability"]) {
      const { body, headers } = await api.ask<Row[]>(`${path}?format=csv`);
      for (const row of body) for (const name of ofTheWindow) if (!row[name]) t.fail(`no ${name}`);
      t.match(headers, {
        "content-type": /^text\/csv; charset=utf-8/,
        "content-disposition":
          /^attachment; filename="venuewatch-(okx|all-incidents|all-reliability)-days-90-\d{4}-\d\d-\d\d\.csv"$/,
        "cache-control": "max-age=5",
        // scripts of other pages can read the name
        "access-control-expose-headers": "Content-Disposition",
      });
      const instants = Object.entries(body[0]!).filter(([name]) => /At$|^windowFrom|^windowTo/.test(name));
      for (const [name, text] of instants) t.match(text, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)?$/, name);
    }
  });

  await t.test("a file's name has its table and its day", async (t) => {
    const { body } = await api.ask<{ generatedAt: string }>("/v1/incidents");
    const day = body.generatedAt.slice(0, 10);
    const before = ago(80_000).toISOString();
    const written = before.replaceAll(":", "").replace("Z", "000Z");
    for (const [query, name] of [
      ["", "all-incidents-days-90"],
      ["&status=all&limit=50", "all-incidents-days-90"],
      ["&status=open&venue=okx", "okx-incidents-open-days-90"],
      ["&category=exchange&days=7", "exchange-incidents-days-7"],
      ["&limit=2", "all-incidents-days-90-limit-2"],
      [`&before=${before}`, `all-incidents-days-90-before-${written}`],
      [`&before=${before}&beforeId=9000`, `all-incidents-days-90-before-${written}-9000`],
    ]) {
      const { headers } = await api.ask(`/v1/incidents?format=csv${query}`);
      t.equal(headers["content-disposition"], `attachment; filename="venuewatch-${name}-${day}.csv"`);
    }
  });

  await t.test("a table without rows has a header", async (t) => {
    const { text } = await api.ask("/v1/incidents?format=csv&category=oracle");
    t.match(text, /^generatedAt,[\w,]+,subjectMatched,[\w,]+,officialObserved,counted,maintenanceTitle,[\w,]+\r\n$/);
  });

  await t.test("HEAD has the same headers and no body", async (t) => {
    for (const path of ["/v1/targets/okx?format=csv", "/v1/incidents.csv", "/v1/incidents.xlsx"]) {
      const got = await api.ask(path);
      const head = await api.ask(path, { method: "HEAD" });
      t.equal(head.status, 200);
      for (const name of ["content-type", "content-disposition", "content-length", "etag"])
        t.equal(head.headers[name], got.headers[name], `${path} ${name}`);
    }
  });

  await t.test("the statements have the described columns, in their order", async (t) => {
    for (const [file, values, { columns }] of [
      ["venue_csv", ["okx"], venueTable],
      ["reliability_csv", [90, null], reliabilityTable],
      ["incidents_csv", [null, null, "all", 90, 50, null, null], incidentsTable],
    ] as const) {
      const [row] = await pool.file<object>(file, [...values, siteUrl]);
      t.strictSame(Object.keys(row!), Object.keys(columns), file);
    }
  });

  await t.test("unknown venues and invalid parameters are problems", async (t) => {
    for (const [path, status] of [
      ["/v1/targets/mtgox?format=csv", 404],
      ["/v1/targets/mtgox?format=xlsx", 404],
      ["/v1/targets/mtgox/days.xlsx", 404],
      ["/v1/targets/okx/days.json", 404],
      ["/v1/status.csv", 404],
      ["/v1/incidents.xlsx?limit=201", 400],
      ["/v1/targets/okx?format=xls", 400],
      ["/v1/targets/okx?format=CSV", 400],
      ["/v1/targets/okx?format=csv&range=1h", 400],
      ["/v1/incidents?format=csv&format=json", 400],
      ["/v1/incidents?format=csv&limit=201", 400],
    ] as const)
      t.equal((await api.ask(path)).status, status, path);
    await pool.query(sql`update venue set published = false where venue = 'gemini'`);
    t.equal((await api.ask("/v1/targets/gemini?format=csv")).status, 404);
    t.equal((await api.ask("/v1/targets/gemini/days.xlsx")).status, 404);
  });

  await t.test("a text that a spreadsheet would execute is escaped, and no other", async (t) => {
    const formulas = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", '=HYPERLINK("http://x","y")'];
    const harmless = ['a "quoted", one\r\nin two lines', "a\nb", "a\rb", "Größe 漢字 💣", " "];
    for (const [at, label] of [...formulas, ...harmless].entries()) {
      await pool.query(sql`
        update component set label = ${label}
        where component = 'ws:trades' and venue_id = (select venue_id from venue where venue = 'okx')
      `);
      const { body } = await api.ask<Row[]>(`/v1/incidents?format=csv&venue=okx&limit=${10 + at}`);
      t.equal(body[0]!["label"], formulas.includes(label) ? `'${label}` : label);
    }
  });

  t.strictSame(api.logged, []);
});
