import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { copyRows } from "./copy-rows.js";
import type { MoveSource } from "./endpoints.js";
import { isTable, type Part, type MovedTable } from "./part.js";
import { compare, noteVerified, type Verified } from "./verify.js";

/**
 * Records in the target that a move has begun, so that later runs continue it. From then on no core can lead on the
 * target until the move is finished.
 */
export async function mark(source: Pool, target: Pool, parts: Part[], { identity, state }: MoveSource): Promise<void> {
  const [fence] = await source.query<{ highest: number }>(
    sql`select coalesce(max(fence), 0) as highest from leader where office = 'engine'`,
  );
  await target.transaction(async (tx) => {
    await tx.file("move_begin");
    await tx.query(sql`insert into moving.state (identity, state) values (${identity}, ${state})`);
    // rows that a migration inserted from the registry have other ids
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
 * Copies and compares every table, and records that everything is there, in one transaction. The tables are small
 * compared to the samples and roll-ups. They are copied last: without venues and regions no probe can deliver samples,
 * and there is no alert that a core could send. So a program that is started on the target too early does no harm.
 *
 * @param timed the results for the samples and roll-ups, which were compared before
 * @param asItWas called last. @throws if the source has changed since the move began
 * @throws UserError if a table differs between the two sides
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

/** Continues after the last number that the sequence issued, even if its row has been deleted. */
async function goOnCounting(source: Db, tx: Db, { reads, writes, identity }: MovedTable): Promise<void> {
  if (identity === null) return;
  const [row] = await source.query<{ last: string | null }>(
    sql`select pg_sequence_last_value(pg_get_serial_sequence(${reads}, ${identity})::regclass)::text as last`,
  );
  if (row!.last !== null)
    await tx.query(sql`select setval(pg_get_serial_sequence(${writes}, ${identity}), ${row!.last}::bigint)`);
}
