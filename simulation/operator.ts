/**
 * The operator of the service, who brings a new build with a larger registry: migrates the database while everything
 * runs, and then restarts all programs, one after the other.
 */
import { appendFile, cp } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { sqlFolder } from "../shared/database/sql-files.js";
import { supervise, type Supervised } from "./supervised.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Operator extends Supervised {
  /** Begins another migration. It is repeated at each start until it succeeds. */
  migrate: () => void;
  isDone: () => boolean;
}

export interface OperatorOptions {
  time: VirtualTime;
  machine: Machine;
  /** Resolves when the database is migrated. `number` is that of the migration. */
  migrate: (number: number) => Promise<void>;
  /** Called after each migration. */
  onMigrated: () => void;
}

export function makeOperator({ time, machine, migrate, onMigrated }: OperatorOptions): Operator {
  let wanted = 0;
  let done = 0;
  async function migrateToWanted() {
    const number = wanted;
    if (done >= number) return;
    await migrate(number);
    done = number;
    onMigrated();
  }
  const supervised = supervise(time, machine, () => {
    void migrateToWanted();
    return undefined;
  });
  return {
    ...supervised,
    migrate() {
      wanted += 1;
      supervised.process()?.kill();
      supervised.start();
    },
    isDone: () => done === wanted,
  };
}

/** Writes the SQL of two builds, which make all definitions in turn. @returns their folders */
export async function writeTwoBuilds(directory: string): Promise<readonly [URL, URL]> {
  const other = pathToFileURL(`${directory}/sql/`);
  await cp(sqlFolder, other, { recursive: true });
  await appendFile(new URL("database/grants.sql", other), "\n-- another build\n");
  return [sqlFolder, other];
}

/** From one restart to the next, and from the end of the migration to the first. */
export const restartEveryMs = 3_000;
/** A program that has not ended by then is killed. */
export const closesWithinMs = 2_500;

/**
 * Stops and starts programs. Those that are down start with the new build later.
 *
 * @param onRestart called when a program is asked to end; what it returns, when it starts again
 */
export function restartInTurn(
  time: VirtualTime,
  programs: readonly Supervised[],
  onRestart: (program: Supervised) => () => void,
): void {
  const restart = (program: Supervised) => {
    const process = program.process();
    if (!process?.isAlive()) return;
    const onStart = onRestart(program);
    program.stop();
    const startAgain = () => {
      onStart();
      // unless it has died meanwhile, and is down or running again
      if (program.process() !== process || !process.isAlive()) return;
      process.kill();
      program.start();
    };
    time.schedule(closesWithinMs, startAgain, null);
  };
  programs.forEach((program, place) => time.schedule((place + 1) * restartEveryMs, () => restart(program), null));
}
