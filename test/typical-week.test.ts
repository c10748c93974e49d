import t from "tap";
import { sql } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { migrate } from "../server/migrate.js";
import { migratedDatabase } from "./database.js";
import { insertRaw } from "./random-samples.js";

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/** Whole milliseconds, by how many days ago and how many minutes. */
const taken: Record<string, [daysAgo: number, minutes: number, ms: number][]> =
  {
    // of seven days with today the eighth is none
    okx: [[7, 20, 70], [6, 3, 30], [1, 2, 10]], // prettier-ignore
    kraken: [[1, 6, 50]],
  };

void t.test("what is typical of the last seven days", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const components = await pool.query<{ id: number; venue: string }>(sql`
    select component_id as id, venue from component join venue using (venue_id) where component = 'rest:ticker'
  `);
  const idOf = (venue: string) =>
    components.find((component) => component.venue === venue)!.id;
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  await insertRaw(
    pool,
    Object.entries(taken).flatMap(([venue, days]) =>
      days.flatMap(([daysAgo, minutes, ms]) =>
        Array.from({ length: minutes }, (_, i) => ({
          ts: new Date(midnight - daysAgo * dayMs + i * minuteMs),
          ...{ component_id: idOf(venue), region_id: 1, fault: null },
          ...{ latency_us: 1000 * ms, head: null, messages: null },
          ...{ quiet_ms: null, event_age_ms: null, sequence_gaps: null },
        })),
      ),
    ),
  );
  const typical = async () => {
    const rows = await pool.query<{ what: string; ms: number }>(sql`
      select coalesce(v.venue, t.category, 'all') as what, t.p50_ms as ms
      from api.typical t left join venue v using (venue_id)
    `);
    return Object.fromEntries(rows.map(({ what, ms }) => [what, ms]));
  };
  const expected = { okx: 30, kraken: 50, exchange: 50, all: 50 };
  const now = new Date();
  const from = new Date(+now - 8 * dayMs);

  t.strictSame(await typical(), {}, "nothing is rolled up yet");
  await pool.query(sql`call upkeep.refresh_all(${from}, ${now})`);
  t.strictSame(await typical(), expected);
  const held = await pool.query(
    sql`select from typical_week where today = (now() at time zone 'UTC')::date`,
  );
  t.equal(held.length, 4, "as upkeep has kept it");

  await pool.query(sql`update typical_week set p50_ms = p50_ms + 1`);
  t.strictSame(await typical(), {
    ...{ okx: 31, kraken: 51, exchange: 51, all: 51 },
  });
  await pool.query(sql`update typical_week set today = today - 1`);
  t.strictSame(await typical(), expected, "yesterday's is counted anew");

  await pool.query(sql`call upkeep.refresh_all(${from}, ${now})`);
  await Promise.all(
    Array.from({ length: 4 }, () =>
      pool.query(sql`call upkeep.keep_typical()`),
    ),
  );
  const keptAgain = await pool.query(sql`select from typical_week`);
  t.equal(keptAgain.length, 4, "once, whoever keeps it at the same time");

  const without = structuredClone(registry);
  without.venues = without.venues.filter(({ id }) => id !== "kraken");
  await migrate(pool, without, makeLog("test", "error"));
  t.strictSame(
    await typical(),
    { okx: 30, exchange: 30, all: 30 },
    "a venue that is watched no more is in none of them",
  );
});
