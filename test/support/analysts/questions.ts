/** The questions of docs/analysts.md, and their answers. */
import { readFileSync } from "node:fs";
import type pg from "pg";
import type { Test } from "tap";
import type { Pool } from "../../../shared/database/pool.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Api } from "../api.js";
import { stepsOf } from "../page-of-statements.js";

/** Each has a title such as `1. Who …?`, a statement, and the columns of its answer. */
export const questions = readFileSync(packagedFile("docs/analysts.md"), "utf8")
  .split(/^##+ /m)
  .filter((part) => /^\d+\. /.test(part))
  .map((part) => {
    const title = part.slice(0, part.indexOf("\n"));
    const [step, ...more] = stepsOf(part);
    if (!step || more.length > 0) throw new Error(`expected one statement and its answer below: ${title}`);
    const [head = ""] = step.shown.split("\n");
    return { title, statement: step.statement, columns: head.split("|").map((name) => name.trim()) };
  });

export const dayMs = 24 * 3_600_000;

export interface AnalystsAsked {
  pool: Pool;
  api: Api;
  analyst: pg.Client;
  /** By the numbers of the questions. Tests ask those about the last minutes again, as their answers change. */
  answered: Map<string, AnswerRow[]>;
}

export type AnswerRow = Record<string, unknown>;

/** Asks each question, and checks the columns of its answer. */
export async function askAll(t: Test, analyst: pg.Client): Promise<Map<string, AnswerRow[]>> {
  const answered = new Map<string, AnswerRow[]>();
  t.equal(questions.length, 20);
  for (const { title, statement, columns } of questions) {
    const { fields, rows } = await analyst.query<AnswerRow>(statement);
    answered.set(number(title), rows);
    const names = fields.map(({ name }) => name);
    t.strictSame(names, columns, title);
    const empty = columns.filter((column) => rows.every((row) => row[column] === null));
    const wrong = empty.filter((column) => !mayBeNull.has(`${number(title)} ${column}`));
    t.strictSame(wrong, [], `${title}: ${rows.length} rows have a value in each column`);
  }
  return answered;
}

/** Columns that are null where no trouble was shared, or where every vote counted. */
const mayBeNull = new Set(["5 shared_with", "15 reason"]);

function number(title: string): string {
  return title.slice(0, title.indexOf("."));
}

export async function answers(analyst: pg.Client, n: number, changed = (statement: string) => statement) {
  const question = questions.find(({ title }) => number(title) === String(n));
  return (await analyst.query<AnswerRow>(changed(question!.statement))).rows;
}

/** bigint and numeric arrive as text. */
export function numbers(row: AnswerRow | undefined): AnswerRow {
  return Object.fromEntries(
    Object.entries(row ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value,
    ]),
  );
}
