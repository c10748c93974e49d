import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";

// The runs of the demo's world, stored in a file: what venues posted in an earlier run stays on their feeds, while the
// faults begin again with each run.

export interface ScriptedRun {
  from: Date;
  /** Null: the run is in progress, or was cut off. */
  to: Date | null;
}

export interface Runs {
  /** Returns the runs, oldest first; each ends when the next begins, at the latest. */
  all(): ScriptedRun[];
  begin(at: Date): Promise<void>;
  /** Does nothing where no run has begun. */
  end(at: Date): Promise<void>;
}

/** @param file null: nothing is stored */
export function openRuns(file: string | null): Runs {
  const runs = file !== null && existsSync(file) ? readRuns(file) : [];
  let current: ScriptedRun | null = null;
  return { all, begin, end };

  function all() {
    return runs.map(({ from, to }, i) => ({
      from,
      to: to ?? runs[i + 1]?.from ?? null,
    }));
  }

  async function begin(at: Date) {
    current = { from: at, to: null };
    runs.push(current);
    await keep();
  }

  async function end(at: Date) {
    if (!current) return;
    current.to = at;
    await keep();
  }

  async function keep() {
    if (file === null) return;
    // written in full or not at all, because the world may be killed at any time
    await writeFile(`${file}.new`, JSON.stringify(runs));
    await rename(`${file}.new`, file);
  }
}

function readRuns(file: string): ScriptedRun[] {
  const kept = JSON.parse(readFileSync(file, "utf8")) as {
    from: string;
    to: string | null;
  }[];
  return kept.map(({ from, to }) => ({
    from: new Date(from),
    to: to === null ? null : new Date(to),
  }));
}
