/** Samples with random values, the same at each run. */
import { sql, type Db } from "../../shared/database/pool.js";
import { faults } from "../../shared/measurement/sample.js";
import type { RawSample } from "./rollup-model.js";

/** Mulberry32. @returns numbers from 0 to 1 */
export function randomFrom(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Makes up to `slots` samples per series within one minute. Some series are missing, sometimes nearly all samples are
 * bad, every fault occurs, and some good samples have no latency, like those of streams.
 */
export function samplesWithin(
  random: () => number,
  from: Date,
  slots: number,
  componentIds: readonly number[],
  regionIds: readonly number[],
): RawSample[] {
  const samples: RawSample[] = [];
  const outage = random() < 0.4;
  for (const component_id of componentIds)
    for (const region_id of regionIds) {
      const measured = random() < 0.8;
      const badShare = random() < 0.4 ? 0.7 * random() + 0.1 : outage ? 0.9 : 0.05;
      const stream = random() < 0.3;
      for (let slot = 0; measured && slot < slots; slot++) {
        if (random() < 0.1) continue;
        const bad = random() < badShare;
        samples.push({
          ts: new Date(+from + (slot * 60_000) / slots),
          component_id,
          region_id,
          fault: bad ? faults[Math.floor(random() * faults.length)]! : null,
          latency_us: stream || (bad && random() < 0.5) ? null : Math.floor(random() * 900_000),
          head: random() < 0.5 ? Math.floor(random() * 1e10) : null,
          messages: stream ? Math.floor(random() * 90) : null,
          quiet_ms: stream ? Math.floor(random() * 9_000) : null,
          event_age_ms: stream ? Math.floor(random() * 500) - 100 : null,
          // every other stream numbers its frames
          sequence_gaps: stream && component_id % 2 === 0 ? slot % 3 : null,
        });
      }
    }
  return samples;
}

export async function insertRaw(db: Db, samples: RawSample[]): Promise<void> {
  await db.query(sql`
    insert into sample (
      ts, component_id, region_id, good, fault, latency_us, head, messages, quiet_ms, event_age_ms, sequence_gaps
    )
    select
      s.ts, s.component_id, s.region_id, s.fault is null, s.fault, s.latency_us, s.head, s.messages, s.quiet_ms,
      s.event_age_ms, s.sequence_gaps
    from jsonb_populate_recordset(null::sample, ${JSON.stringify(samples)}::jsonb) s
  `);
}
