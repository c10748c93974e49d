/** Callers round the ends of a window and limit them to the time already rolled up, so it may end before it begins. */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { rollupsOf, spansToReconcile } from "../../server/core/rollups/reconcile.js";
import { migratedDatabase } from "../support/database.js";
import { insertRaw } from "../support/random-samples.js";
import { minuteMs, refreshEverything, rowsOfRollups, samplesAround } from "../support/rollup-upkeep.js";

const { pool } = await migratedDatabase(t);
const now = new Date();

void t.test("a window that ends before it begins, or at once, has no parts and refreshes nothing", async (t) => {
  await insertRaw(pool, samplesAround(new Date(+now - 90 * minuteMs), 3));
  await refreshEverything(pool, now);
  const before = await rowsOfRollups(pool);
  t.ok(before.sample_minute!.length > 0);
  // a refresh of anything would find no samples, and erase rows
  await pool.script("truncate sample");
  for (const rollup of [...rollupsOf.hour, ...rollupsOf.day])
    for (const span of ["0", "1 microsecond", "1 hour", "40 days"]) {
      const [parts] = await pool.query(sql`
        select upkeep.backed(${rollup}, ${now}, ${now}::timestamptz - ${span}::interval) = '{}' as none
      `);
      t.strictSame(parts, { none: true }, `${rollup}, ${span}`);
      for (const unasked of [true, false])
        await pool.query(sql`
          call upkeep.refresh(${rollup}, ${now}, ${now}::timestamptz - ${span}::interval, force => true, unasked => ${unasked})
        `);
    }
  t.strictSame(await rowsOfRollups(pool), before);
});

void t.test("days that were written as days are not reconciled", async (t) => {
  await insertRaw(pool, samplesAround(new Date(+now - 90 * minuteMs), 3));
  const daysFrom = async (from: string) => {
    await pool.query(sql`update added_up set days_from = ${from}::timestamptz`);
    const spans = await spansToReconcile(pool, new Date(+now + 2 * 24 * 60 * minuteMs), { expiring: false });
    return spans.filter(({ level }) => level === "day");
  };
  await pool.query(sql`update added_up set days_to = now() + interval '1 day'`);
  t.ok((await daysFrom("-infinity")).length > 0, "there is something to reconcile");
  t.strictSame(await daysFrom(new Date(+now + 5 * 24 * 60 * minuteMs).toISOString()), []);
});
