/** What the demo notes of its history, in its data directory: when it ends, and how much of it is there. */
import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface HistoryNote {
  /** When it ends. */
  now: Date;
  /** Null: it was made by a release that made it all at once. */
  days: number | null;
  /** From when on all of it is there; null: it is being made. */
  filledFrom: Date | null;
  isComplete: boolean;
}

/** Null where none was begun. */
export function readHistoryNote(dir: string): HistoryNote | null {
  const file = fileIn(dir);
  if (!existsSync(file)) return null;
  const { now, days, filledFrom, isComplete } = JSON.parse(readFileSync(file, "utf8")) as {
    now: string;
    days?: number;
    filledFrom?: string | null;
    isComplete?: boolean;
  };
  return {
    now: new Date(now),
    days: days ?? null,
    filledFrom: filledFrom ? new Date(filledFrom) : null,
    isComplete: isComplete ?? false,
  };
}

export async function writeHistoryNote(dir: string, note: HistoryNote): Promise<void> {
  const file = fileIn(dir);
  await writeFile(`${file}.new`, JSON.stringify(note));
  await rename(`${file}.new`, file);
}

function fileIn(dir: string): string {
  return join(dir, "history.json");
}
