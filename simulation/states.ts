/**
 * Notes the states of the engine: all of them now and then, for the checker that compares them with those of the second
 * opinion, and those of venues and components at each decision.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "../shared/database/pool.js";
import { engineLines } from "../test/support/engine-on-worlds.js";
import { rulesOfTheBook } from "../test/support/random-runs.js";
import type { EngineStates, NotedStates } from "./ledger.js";

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

/** Runs until its process is killed. An engine that catches up decides several instants in the meantime. */
export async function noteDecisions(pool: Pool, note: (states: NotedStates) => void): Promise<void> {
  let notedMs = -Infinity;
  for (;;) {
    await sleep(rulesOfTheBook.step_ms / 2);
    // the database may be down
    const states = await statesNow(pool).catch(() => null);
    if (!states || states.instantMs === notedMs) continue;
    notedMs = states.instantMs;
    note(states);
  }
}

async function statesNow(pool: Pool): Promise<NotedStates | undefined> {
  const [row] = await pool.query<{ states: NotedStates }>(sql`
    select jsonb_build_object('instantMs', extract(epoch from k.ticked_at) * 1000, 'venues', (
      select jsonb_agg(jsonb_build_object('venue', v.venue, 'state', s.state, 'components', (
        select coalesce(jsonb_agg(jsonb_build_object('component', c.component, 'state', n.state)), '[]')
        from component c
        join component_state n using (component_id)
        where c.venue_id = v.venue_id
      )))
      from venue v
      join venue_state s using (venue_id)
    )) as states
    from engine_clock k
    where exists (select from venue_state)
  `);
  return row?.states;
}
