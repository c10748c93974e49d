import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { accepted, tick } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { migratedDatabase } from "../support/database.js";

const dayMs = 86_400_000;

/** Whole milliseconds, for a number of days ago and a number of minutes. */
const taken: [venue: string, daysAgo: number, minutes: number, ms: number][] = [
  // the seven days include today, so the one seven days ago is not among them; the median lies between two middle
  // values
  ["okx", 7, 20, 70],
  ["okx", 6, 2, 31],
  ["okx", 1, 2, 10],
  ["kraken", 1, 6, 50],
];

void t.test("typical latencies are percentiles of the last seven days, counted once a day", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  for (const [venue, daysAgo, minutes, ms] of taken)
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, latency_us)
      select ${new Date(midnight - daysAgo * dayMs)}::timestamptz + i * interval '1 minute', component_id, 1, true, ${1000 * ms}
      from generate_series(0, ${minutes - 1}::int) i, component join venue using (venue_id)
      where venue = ${venue} and component = 'rest:ticker'
    `);
  const typical = async () => {
    const rows = await pool.query<{ what: string; ms: number }>(sql`
      select coalesce(v.venue, t.category, 'all') as what, t.p50_ms as ms
      from api.typical t left join venue v using (venue_id)
    `);
    return Object.fromEntries(rows.map(({ what, ms }) => [what, ms]));
  };
  // 20.5; a half rounds to the even neighbour
  const expected = { okx: 20, kraken: 50, exchange: 50, all: 50 };
  const now = new Date();
  const from = new Date(+now - 8 * dayMs);

  const nextTick = async () => accepted(await tick(pool, new Date()));
  await nextTick();
  t.strictSame(await typical(), {}, "no roll-up exists yet");
  await pool.query(sql`call upkeep.refresh_all(${from}, ${now})`);
  t.strictSame(await typical(), {}, "a version counted later is not shown");
  await nextTick();
  t.strictSame(await typical(), expected);

  await Promise.all(Array.from({ length: 4 }, () => pool.query(sql`call upkeep.store_typical()`)));
  await pool.query(
    sql`update typical_week set p50_ms = p50_ms + 1 where holds_from = (select max(holds_from) from typical_week)`,
  );
  t.strictSame(await typical(), expected, "the earlier version is still shown");
  await nextTick();
  t.strictSame(
    await typical(),
    { okx: 21, kraken: 51, exchange: 51, all: 51 },
    "the newest version applies from then on, and concurrent counts store it once",
  );
  await pool.query(sql`update typical_week set holds_from = holds_from - interval '1 day'`);
  await pool.query(sql`call upkeep.store_typical()`);
  const versions = await pool.query(sql`select distinct holds_from from typical_week`);
  t.equal(versions.length, 2, "two versions are kept: the newest and one that may still be shown");

  const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "kraken") };
  await migrate(pool, without, makeLog("test", "error"));
  await nextTick();
  t.strictSame(
    await typical(),
    { okx: 20, exchange: 20, all: 20 },
    "no version contains a venue that is no longer watched",
  );
});
