import type { Db } from "../../../shared/database/pool.js";

/**
 * A table, the samples, the spans of transfers or a roll-up, as `sql/database/move_parts.sql` describes it. Names are
 * quoted already.
 */
export type Part = MovedTable | Timed;

interface Named {
  part: string;
  reads: string;
  writes: string;
  columns: string;
  written: string;
}

export interface MovedTable extends Named {
  kind: "table";
  /** Its column with a sequence, not quoted. */
  identity: string | null;
}

/** Data that is moved one window of time after another. */
export interface Timed extends Named {
  kind: "samples" | "spans" | "rollup";
  at: string;
  windowMs: number;
}

export interface CopiedWindow {
  from: Date;
  to: Date;
}

export function isTable(part: Part): part is MovedTable {
  return part.kind === "table";
}

export function isTimed(part: Part): part is Timed {
  return part.kind !== "table";
}

/** The windows from its first to its last row in the source, in order. They begin at multiples of their length. */
export async function windowsOf(source: Db, part: Timed): Promise<CopiedWindow[]> {
  const [range] = await source.text<{ oldest: Date | null; newest: Date }>(
    `select min(${part.at}) as oldest, max(${part.at}) as newest from ${part.reads}`,
    [],
  );
  const { oldest, newest } = range!;
  if (oldest === null) return [];
  const { windowMs } = part;
  const windows: CopiedWindow[] = [];
  for (let ms = floorTo(+oldest, windowMs); ms <= +newest; ms += windowMs)
    windows.push({ from: new Date(ms), to: new Date(ms + windowMs) });
  return windows;
}

/** The condition that selects a window's rows, with `$1` and `$2`. For a table it selects all rows. */
export function windowCondition(part: Part, window: CopiedWindow | null): [string, Date[]] {
  if (window === null || part.kind === "table") return ["true", []];
  return [`${part.at} >= $1 and ${part.at} < $2`, [window.from, window.to]];
}

/** The state of the source database: see `sql/database/move_source.sql`. */
export interface MoveSource {
  identity: string;
  state: string;
  rawFrom: Date | null;
}

function floorTo(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}
