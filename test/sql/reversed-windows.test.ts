/** Callers round the ends of a window and limit them by what is already made: it may end before it begins. */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { rollupsOfDays, rollupsOfHours } from "../../server/engine/reconcile.js";
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
  for (const rollup of [...rollupsOfHours, ...rollupsOfDays])
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

void t.test("reconciling waits without an error until an upgrade has rebuilt the day", async (t) => {
  await insertRaw(pool, samplesAround(new Date(+now - 90 * minuteMs), 3));
  const windowsMadeFrom = async (madeFrom: string) => {
    await pool.query(sql`update rollups_made set made_from = ${madeFrom}::timestamptz`);
    return pool.file("reconcile_window", [now, null]);
  };
  t.ok((await windowsMadeFrom("-infinity")).length > 0, "there is something to reconcile");
  t.strictSame(await windowsMadeFrom(now.toISOString()), []);
  t.strictSame(await windowsMadeFrom("tomorrow"), []);
});
