/** The questions of docs/analysts.md, and their answers. */
import { readFileSync } from "node:fs";
import type pg from "pg";
import type { Test } from "tap";
import type { Pool } from "../../../shared/database/pool.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Api } from "../api.js";
import { questionsOf } from "../questions.js";

const page = readFileSync(packagedFile("docs/analysts.md"), "utf8");
export const questions = questionsOf(page);

export const dayMs = 24 * 3_600_000;

export interface AnalystsAsked {
  pool: Pool;
  api: Api;
  analyst: pg.Client;
  /**
   * Answers by the numbers of the questions. Some questions cover the last minutes, so their answers change; tests ask
   * those again.
   */
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
    t.strictSame(
      fields.map(({ name }) => name),
      columns,
      title,
    );
    t.ok(rows.length > 0, `${title}: ${rows.length} rows`);
    for (const column of columns)
      if (!mayBeNull.has(`${number(title)} ${column}`))
        t.ok(
          rows.some((row) => row[column] !== null),
          `${title}: ${column}`,
        );
  }
  return answered;
}

/** Columns that are null where no trouble was shared, or where every vote counted. */
const mayBeNull = new Set(["5 shared_with", "15 reason"]);

function number(title: string): string {
  return title.slice(0, title.indexOf("."));
}

export async function answers(
  analyst: pg.Client,
  n: number,
  changed: (statement: string) => string = (statement) => statement,
): Promise<AnswerRow[]> {
  const question = questions.find(({ title }) => number(title) === String(n));
  const { rows } = await analyst.query<AnswerRow>(changed(question!.statement));
  return rows;
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
