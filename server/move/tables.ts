import { type Pool, sql } from "../db.js";
import { copyRows } from "./copy-rows.js";
import type { Source } from "./endpoints.js";
import { isTable, type Part, type Table } from "./part.js";

/**
 * Copies every table, in one transaction that also begins the move: whoever finds its mark finds them all. They are small
 * beside what is moved by time.
 *
 * Nobody can lead on the target from then on, until the move is finished.
 */
export async function beginWithTables(
  source: Pool,
  target: Pool,
  parts: Part[],
  { identity, state }: Source,
): Promise<void> {
  const tables = parts.filter(isTable);
  const [fence] = await source.query<{ highest: number }>(
    sql`select coalesce(max(fence), 0) as highest from leader`,
  );
  await target.transaction(async (tx) => {
    await tx.file("move_begin");
    await tx.query(
      sql`insert into moving.state (identity, state) values (${identity}, ${state})`,
    );
    // what a migration filled from the registry has other ids
    await tx.script(
      `truncate leader, ${tables.map(({ writes }) => writes).join(", ")}`,
    );
    for (const table of tables) {
      await copyRows(source, tx, table, null);
      const last = await lastNumber(source, table);
      if (last !== null)
        await tx.query(
          sql`select setval(pg_get_serial_sequence(${table.writes}, ${table.identity}), ${last}::bigint)`,
        );
    }
    await tx.file("move_lead", [fence!.highest]);
  });
}

/** The newest that was given out, also to rows that are gone: null where there was none. */
async function lastNumber(
  source: Pool,
  { reads, identity }: Table,
): Promise<string | null> {
  if (identity === null) return null;
  const [row] = await source.query<{ last: string | null }>(
    sql`select pg_sequence_last_value(pg_get_serial_sequence(${reads}, ${identity})::regclass)::text as last`,
  );
  return row!.last;
}
