/** Our tables as LibreOffice opens them: it guesses types, and treats `=1+1` as a formula. */
import { execFile, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../support/fleet.js";

const missing =
  spawnSync("soffice", ["--version"]).status !== 0 && "soffice is not installed; .ci/run installs it where it may";

interface Cell {
  text: string;
  /** Null: an empty cell. */
  type: string | null;
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
  const [control, days, ...incidents] = await opened(t.testdir(), tables);

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

const labels = [
  ...["@SUM(1)", "+1+1", "-1+1", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1"],
  '=HYPERLINK("http://127.0.0.1:9/?"&A1,"x")',
  'a "quoted", one\r\nin two lines',
];

/** Converts all files in one run: starting LibreOffice takes longer than the work. */
async function opened(directory: string, tables: string[]): Promise<Cell[][][]> {
  const paths = tables.map((_, nth) => join(directory, `${nth}.csv`));
  for (const [nth, csv] of tables.entries()) await writeFile(paths[nth]!, csv);
  // a separate profile: another running instance would accept the request and not execute it
  const profile = pathToFileURL(join(directory, "profile")).href;
  await promisify(execFile)("soffice", [
    `-env:UserInstallation=${profile}`,
    ...["--headless", "--convert-to", "fods", "--outdir", directory],
    ...paths,
  ]);
  return Promise.all(paths.map(async (path) => cellsOf(await readFile(path.replace(/csv$/, "fods"), "utf8"))));
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
