import type { Db, Pool } from "../../shared/database/pool.js";
import { type Part, within, type CopiedWindow } from "./part.js";

/** A batch is sent as one array, which has a few megabytes for any kind of row. */
const batchRows = 5_000;

/**
 * Copies the rows of a window, or of a whole table. Memory does not grow with their number.
 *
 * A row is transferred as the text of its composite type, the one form that every type has and that both sides read
 * alike: no column is named here, and JavaScript rounds no value.
 *
 * @param tx the transaction on the target that writes the rows
 * @returns the number of rows
 */
export async function copyRows(source: Pool, tx: Db, part: Part, window: CopiedWindow | null): Promise<number> {
  const [condition, values] = within(part, window);
  const rows = await source.textRows(
    `select row(${part.columns})::text from ${part.reads} where ${condition}`,
    values,
    batchRows,
  );
  let copied = 0;
  try {
    for (let batch = await rows.next(); batch; batch = await rows.next()) {
      await tx.text(
        `insert into ${part.writes} (${part.written}) overriding system value
         select ${part.written} from unnest($1::${part.writes}[])`,
        [batch.map(([row]) => row)],
      );
      copied += batch.length;
    }
  } finally {
    rows.close();
  }
  return copied;
}
