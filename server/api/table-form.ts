/** Reads from a query in which form it asks for a resource: as JSON, or as a table. */
import type { DecimalMark } from "../../shared/text/spreadsheet-safe-csv.js";
import { choice, parameterReader, type Parameters, type Values } from "./parameters.js";
import type { BadParameter } from "./problem.js";

/** The formats of tables; each is the ending of an address, too. */
export const tableFormats = ["csv", "xlsx"] as const;

export type TableFormat = (typeof tableFormats)[number];

export interface TableForm {
  format: TableFormat;
  decimal: DecimalMark;
}

export const decimalParameters = {
  decimal: choice(
    "The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields.",
    ["point", "comma"],
    "point",
  ),
};

/** Of addresses without an ending. */
export const formatParameters = {
  format: choice(
    "The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON.",
    ["json", ...tableFormats],
    "json",
  ),
  ...decimalParameters,
};

export type Form = Values<typeof formatParameters>;

/**
 * Makes the query reader of a resource that exists as JSON and as a table.
 *
 * @param ending of the address, which says the format; null: the parameter `format` says it
 */
export function formReader<Set extends Parameters>(
  parameters: Set,
  ending: TableFormat | null,
  check?: (values: Values<Set>) => BadParameter[],
): (query: URLSearchParams) => Values<Set> & Form {
  const ofForm = ending === null ? formatParameters : decimalParameters;
  const usual: Form = { format: ending ?? "json", decimal: "point" };
  const read = parameterReader({ ...parameters, ...ofForm }, (values) => [
    ...(check?.(values) ?? []),
    ...faultsOf({ ...usual, ...values }),
  ]);
  return (query) => ({ ...usual, ...read(query) });
}

function faultsOf({ format, decimal }: Form): BadParameter[] {
  if (decimal === "point" || format === "csv") return [];
  return [{ parameter: "decimal", message: `expected comma only together with format=csv; got format=${format}` }];
}
