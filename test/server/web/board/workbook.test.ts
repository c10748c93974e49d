/** Workbooks by themselves, with texts that no venue sends. */
import { reliabilityTable } from "../../../../server/web/board/reliability.js";
import { inflateRawSync } from "node:zlib";
import t from "tap";
import { incidentsTable } from "../../../../server/web/board/incidents.js";
import { workbookOf, workbookRows } from "../../../support/workbook.js";

void t.test("texts stay the same texts", async (t) => {
  const same = [
    ...[
      "=1+1",
      "+1",
      "-2",
      "@SUM(A1)",
      "007",
      "1.5",
      "99,986",
      "1e5",
      "TRUE",
      "2026-11-28",
      "12:00",
      "#REF!",
      "'x",
      "",
    ],
    ...["Größe 漢字 💣", '<a href="x">&amp;</a>', "]]>", " both ends ", "a\nb", "a\tb", "x".repeat(32_767)],
  ];
  const changed: [from: string, to: string][] = [
    ["a\u0000b\u0001\u000b\u001fc\ufffe\uffff", "abc"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["x".repeat(32_768), `${"x".repeat(32_766)}…`],
    [`${"x".repeat(32_765)}💣💣`, `${"x".repeat(32_765)}…`],
  ];
  const texts = [...same.map((text) => [text, text] as const), ...changed];
  const rows = await workbookRows(
    await workbookOf(
      incidentsTable,
      texts.map(([label]) => ({ label })),
    ),
  );
  for (const [at, [, expected]] of texts.entries())
    t.equal(rows[at]!["label"] ?? "", expected, JSON.stringify(expected.slice(0, 40)));
});

void t.test("a text that looks like an escaped character is escaped itself", async (t) => {
  const labels = ["_x0041_", "a_x000D_b_x263a_", "_x41_"];
  const xml = sheetOf(
    await workbookOf(
      incidentsTable,
      labels.map((label) => ({ label })),
    ),
  );
  for (const text of ["_x005F_x0041_", "a_x005F_x000D_b_x005F_x263a_", "_x41_"]) t.match(xml, `<t>${text}</t>`);
  t.end();
});

void t.test("numbers and instants keep their precision", async (t) => {
  const numbers = [99.986, 0.1 + 0.2, 1 / 3, -1.5, 0, 1e-7, 128_200, Number.MAX_SAFE_INTEGER, null];
  const instants = ["2026-11-28T01:01:52.024Z", "2026-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z"];
  const edges = ["1900-01-01T00:00:00.000Z", "1900-03-01T12:00:00.000Z", "9999-12-31T23:59:59.000Z"];
  const noDates = ["1899-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "soon", "20260-01-01T00:00:00.000Z"];
  const sorts = [...instants, ...edges, ...noDates];
  const rows = await workbookRows(
    await workbookOf(
      reliabilityTable,
      sorts.map((generatedAt, at) => ({ generatedAt, uptimePct: numbers[at] ?? null })),
    ),
  );
  for (const [at, { generatedAt, uptimePct }] of rows.entries()) {
    t.equal(uptimePct, numbers[at] ?? null);
    const isDate = !noDates.includes(sorts[at]!);
    t.equal(generatedAt instanceof Date ? generatedAt.toISOString() : generatedAt, sorts[at]);
    t.equal(generatedAt instanceof Date, isDate, `${sorts[at]} is no date in a workbook`);
  }
});

/** The XML of the sheet, which is the first part of the archive. */
function sheetOf(bytes: Buffer): string {
  const from = 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28);
  return inflateRawSync(bytes.subarray(from), { finishFlush: 2 }).toString();
}
