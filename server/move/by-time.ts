import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { UserError } from "../../shared/process/user-error.js";
import { copyRows } from "./copy-rows.js";
import { type Timed, type CopiedWindow, windowsOf } from "./part.js";

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
      await advance(tx, part.part, doneTo, window.to);
      await copyRows(source, tx, part, window);
    });
    doneTo = window.to;
    // once a day; roll-ups of raw samples that still exist are refreshed at the end, and compressed only then
    if (dayOf(window.to) > dayOf(window.from))
      await compress(target, part.kind === "samples" || doneTo < rawFrom ? doneTo : rawFrom);
  }
  if (part.kind === "samples") await target.file("move_chunks", [false]);
}

function dayOf(at: Date): number {
  return Math.floor(+at / dayMs);
}

/** @throws UserError if the part was not done up to `from`: another move is running */
export async function advance(tx: Db, part: string, from: Date | null, to: Date): Promise<void> {
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
export async function compress(target: Db, endsBy: Date): Promise<void> {
  for (;;) {
    const [row] = await target.file<{ chunk: string | null }>("move_compress", [endsBy]);
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
