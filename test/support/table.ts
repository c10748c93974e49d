/** Reads the API description of a CSV table as an outsider would, and checks real tables against it. */
import type { OpenAPIObject, ResponseObject } from "openapi3-ts/oas31";
import { headerOf, parseCsv } from "./csv.js";

export interface Column {
  name: string;
  /** The field's type: `integer`, `instant`, or words with `or` between. */
  kind: string;
  mayBeEmpty: boolean;
}

/** Returns the columns of a path's table in order; none where it has no table. */
export function describedColumns(document: OpenAPIObject, template: string): Column[] {
  const ok = document.paths![template]?.get?.responses?.["200"] as ResponseObject | undefined;
  const description = ok?.content?.["text/csv"]?.schema?.description ?? "";
  const [, ...lines] = description.matchAll(/^\| (\w+) \| ([^|]+?)(, or empty)? \|/gm);
  return lines.map(([, name, kind, empty]) => ({ name: name!, kind: kind!, mayBeEmpty: empty !== undefined }));
}

/**
 * @param separator semicolons where numbers have a comma
 * @returns the rows
 * @throws Error where a column or a field is not as described
 */
export function describedTable(columns: Column[], text: string, separator: string): Record<string, string>[] {
  const expected = columns.map(({ name }) => name).join();
  const got = headerOf(text, separator).join();
  if (got !== expected) throw new Error(`expected the columns ${expected}; got ${got}`);
  const rows = parseCsv(text, separator);
  for (const [nth, row] of rows.entries())
    for (const column of columns) {
      const { name, kind, mayBeEmpty } = column;
      const wanted = mayBeEmpty ? `${kind}, or empty` : kind;
      if (!fits(column, row[name]!, separator))
        throw new Error(`row ${nth + 1}, ${name}: expected ${wanted}; got ${JSON.stringify(row[name])}`);
    }
  return rows;
}

function fits({ kind, mayBeEmpty }: Column, field: string, separator: string): boolean {
  if (field === "") return mayBeEmpty;
  if (kind === "number" && separator === ";") return /^-?\d+(,\d+)?$/.test(field);
  const form = forms[kind];
  return form ? form.test(field) : kind.split(" or ").includes(field);
}

const forms: Record<string, RegExp> = {
  text: /./s,
  integer: /^-?\d+$/,
  number: /^-?\d+(\.\d+)?$/,
  instant: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  day: /^\d{4}-\d\d-\d\d$/,
};
