/** How long the engine takes to decide, against the bare reading of what it decides from. */
import { sql } from "../server/db.js";
import { tick } from "../server/engine/tick.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { openStage, recordLive } from "./stage.js";

const times = 40;
/** The longest span that a component is judged by is six of the slowest cadence, 30 s. */
const windowMs = 180_000;

export async function benchTick(): Promise<Figure[]> {
  const stage = await openStage();
  const { pool } = stage;
  try {
    const now = Date.now();
    await recordLive(stage, new Date(now - windowMs), new Date(now));
    await pool.script("analyze");
    let at = now;
    const ticks = await timesMs(times, () => tick(pool, new Date((at += 10))));
    const reads = await timesMs(times, () =>
      pool.query(sql`
        select component_id, region_id, count(*), count(*) filter (where good),
          percentile_cont(0.5) within group (order by latency_us) filter (where good)
        from sample
        where ts > ${new Date(at - windowMs)} and ts <= ${new Date(at)}
        group by component_id, region_id
      `),
    );
    const [ours, floor] = [spreadOf(ticks), spreadOf(reads)];
    const what = `one grouped read of the last ${windowMs / 1000} s`;
    return [
      {
        what: "a tick, every series live, p50",
        value: ours.p50,
        unit: "ms",
        floor: { value: floor.p50, what },
      },
      {
        what: "a tick, every series live, p95",
        value: ours.p95,
        unit: "ms",
        floor: { value: floor.p95, what },
      },
    ];
  } finally {
    await stage.close();
  }
}
