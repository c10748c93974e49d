/** Measures what it costs to compare ninety days of incidents with as many notices of the venues, without a cache. */
import { startWeb } from "../server/web/web.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { tick } from "../server/core/engine/tick.js";
import { request } from "undici";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, type Stage } from "./stage.js";

const incidents = 5_000;
const notices = 5_000;
/** The promised time for a server, and four times that for the embedded database. */
const promisedMs = process.env["DATABASE_URL"] ? 100 : 400;

export async function benchNotices(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await feedsOfAll(stage.pool);
    await measuredAllDays(stage.pool);
    await manyOfBoth(stage.pool);
    // in the order that core uses
    await stage.pool.script("analyze");
    await stage.pool.script("vacuum");
    return await cold(stage);
  } finally {
    await stage.close();
  }
}

/** Gives every venue its own feed, which has been read for a long time. */
async function feedsOfAll(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into feed (api, kind) select 'http://' || venue, 'statuspage' from venue
  `);
  await pool.query(sql`
    update venue v set official_kind = 'statuspage', feed_id = s.feed_id, official_about = null
    from feed s where s.api = 'http://' || v.venue
  `);
  await pool.query(sql`
    insert into feed_poll (feed_id, from_at, until_at, covers_from)
    select feed_id, now() - interval '1 day' * n, now() - interval '1 day' * n + interval '1 day',
      now() - interval '1 day' * n
    from feed cross join generate_series(1, 95) n
  `);
}

/**
 * Writes rows to the hypertables that a refresh fills. A complete day needs no minutes, so only days with a gap have
 * them: one day in ten lacks four hours. Some other days lack a minute, as in production.
 */
async function measuredAllDays(pool: Pool): Promise<void> {
  const [days, minutes] = await Promise.all(["venue_day", "venue_minute"].map((view) => materialized(pool, view)));
  await pool.query(sql`
    insert into ${days!} (day, venue_id, measured_minutes, down_minutes, degraded_minutes)
    select t.day, v.venue_id, case when n % 10 = 0 then 1200 else 1440 - n % 2 end, 3, 5
    from venue v
    cross join generate_series(date_trunc('day', now()) - interval '91 days', now(), '1 day') with ordinality as t (day, n)
  `);
  await pool.query(sql`
    insert into ${minutes!} (minute, venue_id, components, components_down, components_bad, down, bad)
    select m.minute, v.venue_id, 8, 0, 0, false, false
    from venue v
    cross join generate_series(date_trunc('day', now()) - interval '91 days', now(), '1 day') with ordinality as t (day, n)
    cross join generate_series(t.day + interval '4 hours', t.day + interval '23 hours 59 minutes', '1 minute') as m (minute)
    where n % 10 = 0
  `);
}

async function materialized(pool: Pool, view: string) {
  const [row] = await pool.query<{ schema: string; name: string }>(sql`
    select materialization_hypertable_schema as schema, materialization_hypertable_name as name
    from timescaledb_information.continuous_aggregates where view_name = ${view}
  `);
  return sql.ident(row!.schema, row!.name);
}

/**
 * Spreads both over the venues and the days, in bursts: an outage affects several components, and a notice seldom comes
 * alone.
 */
async function manyOfBoth(pool: Pool): Promise<void> {
  await pool.query(sql`select setseed(0.5)`);
  await pool.query(sql`
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, closed_at, evidence
    )
    select
      v.venue || '-' || n || '-' || c.no, c.component_id, 'outage', 'outage', at, at + interval '20 s', at + interval '20 s',
      at + interval '9 minutes', '{}'
    from (
      select n, n % 15 + 1 as venue_no, date_trunc('milliseconds', now() - interval '12 hours' - random() * interval '88 days') as began
      from generate_series(0, ${incidents}::int / 4 - 1) n
    ) outage
    join venue v on v.position = outage.venue_no
    cross join lateral (
      select c.component_id, row_number() over (order by c.position) as no
      from component c where c.venue_id = v.venue_id limit 4
    ) c
    cross join lateral (select outage.began + c.no * interval '2 s' as at) a
  `);
  await pool.query(sql`
    insert into notice (
      feed_id, scope, external_id, kind, title, status, started_at, posted_at, over, subjects, raw,
      first_seen_at, last_seen_at
    )
    select
      v.feed_id, 'incidents', 'n' || n, 'incident', 'Elevated error rates of the REST API', 'resolved', at, at, true,
      array['REST API', 'WebSocket'], repeat('x', 3000), at, at
    from (
      select n, n % 15 + 1 as venue_no, date_trunc('milliseconds', now() - interval '12 hours' - random() * interval '88 days') as at
      from generate_series(0, ${notices}::int - 1) n
    ) posted
    join venue v on v.position = posted.venue_no
  `);
}

interface Compared {
  fleet: { oursCompared: number; theirsCompared: number; paired: number };
}

async function cold({ pool, registry }: Stage): Promise<Figure[]> {
  await tick(pool, new Date());
  const web = await startWeb({
    pool: neverHeld(pool),
    registry,
    port: 0,
    host: "127.0.0.1",
    rateLimit: 0,
    trustProxy: [],
    siteUrl: "http://localhost",
    baseUrl: "http://localhost",
    log,
  });
  const ask = async (path: string) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${web.port}${path}`);
    const answer = await body.json();
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
    return answer;
  };
  const { fleet } = (await ask("/v1/detection?days=90")) as Compared;
  const expected = `${incidents} of ours and ${notices} of theirs`;
  // some notices fell into the hours without measurements
  if (fleet.oursCompared !== incidents || fleet.theirsCompared < 0.97 * notices)
    throw new Error(`expected ${expected}, got ${fleet.oursCompared} and ${fleet.theirsCompared}`);
  const floor = await timesMs(15, () =>
    pool.query(sql`
      select count(*) from incident i join component c using (component_id)
      union all select count(*) from notice
    `),
  );
  const figures: Figure[] = [];
  for (const path of ["/v1/detection?days=90", "/v1/detection?days=7", `/v1/targets/${registry.venues[0]!.id}`]) {
    const times = await timesMs(15, () => ask(path));
    const { p50 } = spreadOf(times);
    figures.push(
      {
        what: `${path} recomputed, ${expected}, ${fleet.paired} pairs`,
        value: p50,
        unit: "ms",
        floor: { value: promisedMs, what: "promised" },
      },
      {
        what: `${path} recomputed`,
        value: p50,
        unit: "ms",
        floor: {
          value: spreadOf(floor).p50,
          what: "counting the rows of both",
        },
      },
    );
  }
  await web.close();
  return figures;
}

/** Wraps the pool so that any cached body counts as expired. */
function neverHeld(pool: Pool): Pool {
  return {
    ...pool,
    file: <Row>(name: string, values?: readonly unknown[]) =>
      name === "clock" ? Promise.resolve([{ generated_at: new Date(8.64e15) } as Row]) : pool.file<Row>(name, values),
  };
}
