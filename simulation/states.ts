/** Notes the states of the engine now and then, for the checker that compares them with those of the second opinion. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "../shared/database/pool.js";
import { engineLines } from "../test/support/engine-on-worlds.js";
import type { EngineStates } from "./ledger.js";

const everyMs = 20_000;

/** Runs until its process is killed. */
export async function noteStates(pool: Pool, note: (states: EngineStates) => void): Promise<void> {
  for (;;) {
    await sleep(everyMs);
    try {
      const before = await newestInstantMs(pool);
      const lines = await engineLines(pool);
      const isOfOneInstant = before === (await newestInstantMs(pool));
      if (before !== null && isOfOneInstant) note({ instantMs: before, lines });
    } catch {
      // the database is down: the next time will do
    }
  }
}

async function newestInstantMs(pool: Pool): Promise<number | null> {
  const [clock] = await pool.query<{ ticked_at: Date }>(sql`select ticked_at from engine_clock`);
  return clock ? +clock.ticked_at : null;
}
