/** Checks pages that show statements and psql's answers. */
import pg from "pg";
import type { Test } from "tap";
import { becoming } from "./rights.js";

export interface Step {
  statement: string;
  shown: string;
}

export function stepsOf(page: string): Step[] {
  return [...page.matchAll(/```sql\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, statement = "", shown = ""]) => ({
    statement,
    shown,
  }));
}

/** Opens a connection with analysts' rights, until the test ends. */
export async function analystOf(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(() => client.end());
  // pages name the schema, so they must not depend on the login's search_path
  await client.query("set search_path = public");
  await client.query(becoming("vw_analyst"));
  return client;
}

/** @param variables of psql, by name, for both `:'slug'` and `:days` */
export async function comesOutAsShown(
  t: Test,
  page: string,
  analyst: pg.Client,
  variables: Record<string, string>,
): Promise<void> {
  const steps = stepsOf(page);
  t.equal(steps.length, [...page.matchAll(/```sql/g)].length, "each statement has its output");
  for (const { statement, shown } of steps) {
    const { fields, rows } = await analyst.query<(string | null)[]>({
      text: withVariables(statement, variables),
      rowMode: "array",
      types: { getTypeParser: () => (text: string) => text },
    });
    t.equal(asPsqlPrints(fields, rows), unpadded(shown), statement.split("\n")[0]!);
  }
}

export function withVariables(statement: string, variables: Record<string, string>): string {
  return Object.entries(variables).reduce(
    (text, [name, value]) => text.replaceAll(`:'${name}'`, value).replaceAll(`:${name}`, value),
    statement,
  );
}

const numbers = new Set([20, 21, 23, 700, 701, 1700]);

/** Prints columns under centred headers, numbers to the right, and the row count. */
function asPsqlPrints(fields: { name: string; dataTypeID: number }[], rows: (string | null)[][]): string {
  const widths = fields.map(({ name }, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const head = fields.map(({ name }, at) => {
    const left = Math.floor((widths[at]! - name.length) / 2);
    return (" ".repeat(left) + name).padEnd(widths[at]!);
  });
  const padded = (cell: string | null, at: number) =>
    numbers.has(fields[at]!.dataTypeID) ? (cell ?? "").padStart(widths[at]!) : (cell ?? "").padEnd(widths[at]!);
  const body = rows.map((row) => row.map(padded));
  const [header, ...others] = [head, ...body].map((cells) => ` ${cells.join(" | ")} `);
  const rule = widths.map((width) => "-".repeat(width + 2)).join("+");
  const count = `(${rows.length} ${rows.length === 1 ? "row" : "rows"})`;
  return unpadded([header, rule, ...others, count].join("\n"));
}

function unpadded(text: string): string {
  return text.replace(/ +$/gm, "").trimEnd();
}
