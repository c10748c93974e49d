import type { Registry } from "../../shared/registry/registry.js";
import { incidentsParameters } from "./incidents.js";
import { type Operation, perTick } from "./operation.js";
import { reliabilityParameters } from "./reliability.js";
import { exampleOf } from "./schemas/example.js";
import type { Schema } from "./schemas/shapes.js";
import { csvSchema, type TableSchema, workbookSchema } from "./schemas/table.js";
import { incidentsTable, reliabilityTable, venueTable } from "./schemas/tables.js";
import { decimalParameters } from "./table-form.js";
import { attachment, tableTypes } from "./tables.js";

interface DescribedTable extends Pick<Operation, "group" | "names" | "parameters"> {
  id: string;
  /** Without the ending. */
  path: string;
  summary: string;
  /** Its file name with default parameters. */
  name: string;
  schema: TableSchema;
}

/**
 * Tables, each format at an address of its own: generated clients have one type for each operation, and of an operation
 * that answers JSON or a table they could read only the JSON.
 */
export function tableOperations(registry: Registry, venue: Schema<string>): Operation[] {
  const tables: DescribedTable[] = [
    {
      ...{ id: "getTargetDays", path: "/v1/targets/{venue}/days", group: "board", names: { venue } },
      ...{ summary: "Ninety days of one venue", name: `${String(exampleOf(venue))}-days-90`, schema: venueTable },
    },
    {
      ...{ id: "getReliability", path: "/v1/reliability", group: "history", parameters: reliabilityParameters },
      ...{ summary: "The venues compared over a window", name: "all-reliability-days-90", schema: reliabilityTable },
    },
    {
      ...{ id: "listIncidents", path: "/v1/incidents", group: "history", parameters: incidentsParameters(registry) },
      ...{ summary: "The history of incidents", name: "all-incidents-days-90", schema: incidentsTable },
    },
  ];
  return tables.flatMap(({ id, path, summary, name, schema, parameters, ...described }): Operation[] => [
    {
      ...{ id: `${id}Csv`, path: `${path}.csv`, summary: `${summary}, as CSV`, ...described, ...perTick },
      parameters: { ...parameters, ...decimalParameters },
      answers: { [tableTypes.csv]: csvSchema(schema) },
      attachment: attachment(name, "2026-01-31", "csv"),
    },
    {
      ...{ id: `${id}Xlsx`, path: `${path}.xlsx`, summary: `${summary}, as a workbook`, ...described, ...perTick },
      ...(parameters && { parameters }),
      answers: { [tableTypes.xlsx]: workbookSchema(schema, `${path}.csv`) },
      attachment: attachment(name, "2026-01-31", "xlsx"),
    },
  ]);
}
