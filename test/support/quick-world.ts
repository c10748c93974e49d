/** Trouble that begins and ends within seconds, measured as it happens, for engines that run in real time. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "../../shared/database/pool.js";
import { usualPace } from "../../server/engine/core.js";
import { type RulesRow, rulesRow } from "../../server/engine/rules.js";

export const cadenceMs = 500;
export const stepMs = 200;
/** A tenth of the usual step, cadence and window, and a still shorter hold: trouble begins and ends within seconds. */
const times = { step_ms: stepMs, window_ms: 6_000, vote_max_age_ms: 6_000, recovery_hold_ms: 2_000 };
export const quickRules: RulesRow = { ...rulesRow, ...times };
export const quickPace = { ...usualPace, leaseMs: 600 };

export interface Fault {
  venue: string;
  regions: string[];
  fromMs: number;
  toMs: number;
}

export interface World {
  startMs: number;
  endMs: number;
  /** At most one per venue, keyed by its name. */
  faults: Fault[];
}

const regions = ["ap-southeast", "eu-central", "us-east"];
const venues = ["binance", "bitfinex", "bybit", "coinbase", "gate", "gemini", "kraken", "kucoin", "okx"];

/** Makes one fault per venue; all have recovered some seconds before the end. One region alone sees some of them. */
export function makeWorld(random: () => number, nowMs: number): World {
  const startMs = Math.ceil(nowMs / cadenceMs) * cadenceMs;
  const faults = venues.map((venue) => {
    const alone = random() < 0.2;
    const spared = Math.floor(random() * regions.length);
    const fromMs = startMs + (4 + Math.floor(random() * 12)) * cadenceMs;
    return {
      venue,
      regions: regions.filter((_, i) => (alone ? i === spared : random() < 0.5 || i !== spared)),
      fromMs,
      toMs: fromMs + (12 + Math.floor(random() * 4)) * cadenceMs,
    };
  });
  return { startMs, endMs: startMs + 27_000, faults };
}

/** Inserts the samples of each slot when it is due. */
export async function measure(pool: Pool, world: World): Promise<void> {
  for (let ms = world.startMs; ms < world.endMs; ms += cadenceMs) {
    await sleep(Math.max(0, ms - Date.now()));
    const rows = world.faults.flatMap((fault) =>
      regions.map((region) => ({
        venue: fault.venue,
        region,
        good: !(ms >= fault.fromMs && ms < fault.toMs && fault.regions.includes(region)),
      })),
    );
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
      select
        s.ts, c.component_id, g.region_id, r.good, case when not r.good then 'timeout'::fault end, 80000,
        -- known only some time after its insertion, so that the duration of the insertion makes no difference
        greatest(3, ceil(extract(epoch from clock_timestamp() - s.ts))::int + 1)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (venue text, region text, good boolean)
      cross join (select ${new Date(ms)}::timestamptz) as s (ts)
      join venue v using (venue)
      join component c on c.venue_id = v.venue_id and c.component = 'rest:ticker'
      join region g using (region)
    `);
  }
}
