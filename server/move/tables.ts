import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { copyRows } from "./copy-rows.js";
import type { MoveSource } from "./endpoints.js";
import { isTable, type Part, type MovedTable } from "./part.js";
import { compare, noteVerified, type Verified } from "./verify.js";

/**
 * Begins a move: whoever finds its mark goes on with it. Nobody can lead on the target from then on, until it is
 * finished.
 */
export async function mark(source: Pool, target: Pool, parts: Part[], { identity, state }: MoveSource): Promise<void> {
  const [fence] = await source.query<{ highest: number }>(
    sql`select coalesce(max(fence), 0) as highest from leader where office = 'engine'`,
  );
  await target.transaction(async (tx) => {
    await tx.file("move_begin");
    await tx.query(sql`insert into moving.state (identity, state) values (${identity}, ${state})`);
    // what a migration filled from the registry has other ids
    await tx.script(
      `truncate leader, ${parts
        .filter(isTable)
        .map(({ writes }) => writes)
        .join(", ")}`,
    );
    await tx.file("move_lead", [fence!.highest]);
  });
}

/**
 * Copies every table, compares it, and notes that everything is there, in one transaction. They are small beside what
 * is moved by time, and come last: without venues and regions nobody can deliver samples, and there is no alert that a
 * core could send. So what is started on the target too early does no harm.
 *
 * @param timed what was compared before
 * @param asItWas asked last of all. @throws where the source has changed since the move began
 * @throws UserError where a table is not the same on both sides
 */
export async function copyTables(
  source: Pool,
  target: Pool,
  parts: Part[],
  timed: Verified[],
  asItWas: () => Promise<void>,
): Promise<void> {
  const tables = parts.filter(isTable);
  await target.transaction(async (tx) => {
    for (const table of tables) {
      await copyRows(source, tx, table, null);
      await goOnCounting(source, tx, table);
    }
    const compared = await compare(source, tx, tables);
    await asItWas();
    await noteVerified(tx, [...compared, ...timed]);
  });
}

/** From the newest number that was given out, also to rows that are gone. */
async function goOnCounting(source: Db, tx: Db, { reads, writes, identity }: MovedTable): Promise<void> {
  if (identity === null) return;
  const [row] = await source.query<{ last: string | null }>(
    sql`select pg_sequence_last_value(pg_get_serial_sequence(${reads}, ${identity})::regclass)::text as last`,
  );
  if (row!.last !== null)
    await tx.query(sql`select setval(pg_get_serial_sequence(${writes}, ${identity}), ${row!.last}::bigint)`);
}
