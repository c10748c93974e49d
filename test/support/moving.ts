/** Creates a database with a past, and compares two databases, for tests that move data from one to another. */
import { addChannel } from "../../server/alerts/channels/add-channel.js";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { sealing } from "./alerts.js";
import { ago, decide, measured, pastIncident } from "./fleet.js";
import { member } from "./member.js";
import { insertRaw, randomFrom, samplesWithin } from "./random-samples.js";
import { notice, said, whole } from "./stored-notices.js";
import { allLevels, compressAll, dayMs, hourMs } from "./rollup-upkeep.js";

/**
 * Creates roll-ups of two months, whose raw samples are kept from the middle of a day on; an open incident with a
 * waiting alert; past incidents, one of them retracted; notices, a probe that has gone, and a channel.
 */
export async function makePast(pool: Pool): Promise<void> {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  const lastDay = midnight - 8 * dayMs;
  const long = [60, 20].map((days) => midnight - days * dayMs);
  const dropped = [...long, lastDay + hourMs, lastDay + 5 * hourMs];
  const recent = [3, 1].map((days) => midnight - days * dayMs + hourMs);
  const random = randomFrom(5);
  const hours = [...dropped, lastDay + 7 * hourMs, ...recent];
  for (const ms of hours) await insertRaw(pool, samplesWithin(random, new Date(ms), 6, [1, 2, 3, 4, 9], [1, 2, 3]));
  for (const ms of hours) await pool.query(sql`call upkeep.refresh_all(${new Date(ms)}, ${new Date(ms + hourMs)})`);
  await pool.query(sql`call upkeep.retain(${new Date(lastDay + 8 * dayMs + 6 * hourMs)})`);
  await compressAll(pool, new Date(midnight - 2 * dayMs));

  const gone = member(pool, { unmeasured: { late: 3 } });
  await gone.renew();
  await gone.leave();
  await addChannel(pool, sealing, {
    ...{ format: "native", serviceRegion: null, description: "über 'alles'" },
    credential: { text: "https://hooks.example.com/1", shownAs: "hooks.example.com" },
    ...{ floor: "degraded", venues: ["okx", "kraken"], categories: null, open: false },
  });
  const past = { venue: "okx", component: "rest:ticker", minutes: 7 };
  await pastIncident(pool, { ...past, startedAt: new Date(midnight - 50 * dayMs) });
  await pastIncident(pool, { ...past, startedAt: new Date(midnight - 40 * dayMs), retracted: true });
  await said(pool, "kraken", ago(200), [
    whole(notice("a", ago(9_000), { title: 'Late "deposits", {and} \\ so\non' }), notice(null, ago(200_000))),
  ]);
  const newest = { from: ago(100), to: ago(0) };
  await measured(pool, newest);
  await measured(pool, { ...newest, venue: "kraken", component: "rest:ticker", fault: "timeout" });
  await decide(pool, ago(60));
  await decide(pool, ago(20));
  // includes the hours of finished days, which routine upkeep leaves out: a move rolls them up
  await pool.query(sql`call upkeep.refresh_all('-infinity', now())`);
}

/** Tables that record up to when hours are rolled up. */
export const hourMarks = ["hours_kept", "added_up"];

/** Returns every row of the roll-ups as text, and up to when those of a week are kept and added up. */
export function historyOf(db: Db): Promise<Record<string, string[]>> {
  return rowsOf(db, [...allLevels, ...hourMarks]);
}

/** Returns every row of all data as text, except the count of upkeep's changes to the past since the last tick. */
export async function everythingIn(db: Db): Promise<Record<string, string[]>> {
  const tables = await db.query<{ name: string }>(sql`
    select relname as name from pg_class
    where relnamespace = 'venuewatch'::regnamespace and relkind = 'r' and relname not in ('migration', 'definition', 'leader', 'timeline', 'typical_week', 'open_hour')
    order by 1
  `);
  return rowsOf(db, [...tables.map(({ name }) => name), ...allLevels]);
}

async function rowsOf(db: Db, names: string[]) {
  const all: Record<string, string[]> = {};
  for (const name of names) {
    // reads columns, not the row: a table of the target has no record of dropped columns
    const rows = await db.text<{ row: string }>(
      `select (to_jsonb(r) - 'revision')::text as row from venuewatch.${name} r order by 1`,
      [],
    );
    all[name] = rows.map(({ row }) => row);
  }
  return all;
}
