import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

// The note that the demo stores in its data directory about its history: when it ends, and how much of it exists.

export interface HistoryNote {
  /** When the history ends. */
  now: Date;
  days: number;
  /** From this instant on, all measurements exist. Null: the history is still being made. */
  filledFrom: Date | null;
  isComplete: boolean;
}

/** Returns null where no history was started. */
export function readHistoryNote(dir: string): HistoryNote | null {
  const file = fileIn(dir);
  if (!existsSync(file)) return null;
  const note = JSON.parse(readFileSync(file, "utf8")) as {
    now: string;
    days: number;
    filledFrom: string | null;
    isComplete: boolean;
  };
  return {
    ...note,
    now: new Date(note.now),
    filledFrom: note.filledFrom === null ? null : new Date(note.filledFrom),
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
