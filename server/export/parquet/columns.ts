import type { SchemaElement } from "hyparquet-writer";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { datasets } from "../datasets.js";
import { columnsOf, type RecordFilter } from "../records.js";
import { columnType, type ColumnType } from "./column-types.js";

export interface ParquetColumn extends ColumnType {
  name: string;
  /** What it is, in one sentence; null where the view does not say. */
  description: string | null;
  /** The words that a text may be; null: any text. */
  words: string[] | null;
  /** Whether it is a part of what identifies a row. Such a column is never null. */
  isKey: boolean;
}

export interface ParquetTable {
  columns: readonly ParquetColumn[];
  /** What a row is. */
  description: string | null;
}

interface DescribedColumn {
  name: string;
  type: string;
  words: string[] | null;
  description: string | null;
}

/** The columns that an export of these records has, as the view describes them to analysts. */
export async function tableOf(pool: Pool, wanted: RecordFilter): Promise<ParquetTable> {
  const view = `analytics.${wanted.what}`;
  const described = new Map((await pool.file<DescribedColumn>("export_columns", [view])).map((one) => [one.name, one]));
  const key: readonly string[] = datasets[wanted.what].parquet.key;
  const columns = (await columnsOf(pool, wanted)).map((name) => {
    const found = described.get(name);
    if (!found) throw new Error(`${view} has no column ${name}, which its export has`);
    const { type, words, description } = found;
    return { ...columnType(type), name, words, description, isKey: key.includes(name) };
  });
  const [view_] = await pool.query<{ description: string | null }>(
    sql`select obj_description(${view}::regclass, 'pg_class') as description`,
  );
  return { columns, description: view_!.description };
}

/** The schema of a file with these columns, from its root. */
export function parquetSchemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [
    { name: "root", num_children: columns.length },
    ...columns.flatMap(({ name, isKey, elements: [own, ...inner] }) => [
      { ...own!, name, repetition_type: isKey ? ("REQUIRED" as const) : ("OPTIONAL" as const) },
      ...inner,
    ]),
  ];
}
