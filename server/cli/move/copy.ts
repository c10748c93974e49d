import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import {
  type CopiedWindow,
  isTable,
  type MovedTable,
  type MoveSource,
  type Part,
  type Timed,
  windowsOf,
  windowCondition,
} from "./parts.js";
import { type Verified, compareParts } from "./verify.js";

const dayMs = 86_400_000;

export interface ByTime {
  source: Pool;
  target: Pool;
  /** Start of the raw samples in the source. */
  rawFrom: Date;
  /** Called before each window, with the share of the windows that are done. @throws to stop the move */
  onWindow: (part: string, share: number) => void;
}

/**
 * Copies those windows of the samples or of a roll-up that the target does not have yet. The transaction that copies a
 * window also records it, so that after a crash a window is there completely or not at all. Complete chunks are
 * compressed during the move, so that the target never holds much more than at the end.
 */
export async function copyByTime(part: Timed, move: ByTime): Promise<void> {
  const { source, target, rawFrom, onWindow } = move;
  let doneTo = await doneUntil(target, part.part);
  const chunks = part.kind === "samples" ? chunkSetter(rawFrom) : null;
  const windows = await windowsOf(source, part);
  for (const [i, window] of windows.entries()) {
    if (doneTo !== null && window.to <= doneTo) continue;
    onWindow(part.part, i / windows.length);
    await target.transaction(async (tx) => {
      await chunks?.(tx, window);
      await noteProgress(tx, part.part, doneTo, window.to);
      await copyRows(source, tx, part, window);
    });
    doneTo = window.to;
    // once a day; roll-ups of raw samples that still exist are refreshed at the end, and compressed only then
    if (dayOf(window.to) > dayOf(window.from))
      await compressChunks(target, part.kind === "samples" || doneTo < rawFrom ? doneTo : rawFrom);
  }
  if (part.kind === "samples") await target.file("move_chunks", [false]);
}

function dayOf(at: Date): number {
  return Math.floor(+at / dayMs);
}

/** @throws UserError if the part was not done up to `from`: another move is running */
export async function noteProgress(tx: Db, part: string, from: Date | null, to: Date): Promise<void> {
  const noted = await tx.file("move_advance", [part, from, to]);
  if (noted.length === 0)
    throw new UserError(
      "another move into this database is running; wait until it ends, or stop it and run this again",
    );
}

export async function doneUntil(db: Db, part: string): Promise<Date | null> {
  const [row] = await db.query<{ until_at: Date }>(sql`select until_at from moving.done where part = ${part}`);
  return row?.until_at ?? null;
}

/** Compresses every chunk that is due and ends by `endsBy`. */
export async function compressChunks(target: Db, endsBy: Date): Promise<void> {
  for (;;) {
    // upkeep chooses, as it does later
    const [row] = await target.query<{ chunk: string | null }>(
      sql`select upkeep.compress_next(least(now(), ${endsBy}::timestamptz + upkeep.compressed_after())) as chunk`,
    );
    if (row!.chunk === null) return;
  }
}

/** Each remaining hour of the first day gets its own chunk: see move_chunks.sql. */
function chunkSetter(rawFrom: Date) {
  const firstWholeDay = Math.ceil(+rawFrom / dayMs) * dayMs;
  let now: boolean | undefined;
  return async (tx: Db, { from }: CopiedWindow) => {
    const byHour = +from < firstWholeDay;
    if (byHour !== now) await tx.file("move_chunks", [byHour]);
    now = byHour;
  };
}

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
async function copyRows(source: Pool, tx: Db, part: Part, window: CopiedWindow | null): Promise<number> {
  const [condition, values] = windowCondition(part, window);
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

/**
 * Records in the target that a move has begun, so that later runs continue it. From then on no core can lead on the
 * target until the move is finished.
 */
export async function markBegun(
  source: Pool,
  target: Pool,
  parts: Part[],
  { identity, state }: MoveSource,
): Promise<void> {
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
    // blocks leadership in this database; fences continue, so that a core that led there does not lead here
    await tx.query(sql`
      insert into leader (office, holder, fence, expires_at)
      values ('engine', 'venuewatch move', ${fence!.highest}, 'infinity')
    `);
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
    const compared = await compareParts(source, tx, tables);
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

async function noteVerified(tx: Db, verified: Verified[]): Promise<void> {
  const placed = verified.map((part, place) => ({ ...part, place }));
  await tx.query(sql`
    with verified as (
      insert into moving.verified
      select * from jsonb_populate_recordset(null::moving.verified, ${JSON.stringify(placed)}::jsonb)
    )
    update moving.state set verified_at = now()
  `);
}
