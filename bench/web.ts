/** Measures what the API costs: recomputed pages and tables. */
import { request } from "undici";
import { startWeb } from "../server/web/web.js";
import { operations } from "../server/web/operations.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { tick } from "../server/core/engine/tick.js";
import type { Registry } from "../shared/registry/registry.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, recordHistory, type Stage } from "./stage.js";

/** The promised time for a server, and four times that for the embedded database. */
const promisedMs = { board: 20, page: 100 };
const patience = process.env["DATABASE_URL"] ? 1 : 4;

export async function benchWeb(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await recordHistory(stage);
    await tick(stage.pool, new Date());
    const ofDemo = await coldPages(stage, " (the demo's data)");
    await rollUpAllOfIt(stage.pool);
    await tick(stage.pool, new Date());
    return [...ofDemo, ...(await coldPages(stage, ""))];
  } finally {
    await stage.close();
  }
}

/**
 * Gives the history every hour of every endpoint. The demo's history has only a few samples a day, while a service of
 * that age has all hours. Inserting that many samples would take most of a day; inserting their roll-ups, into the
 * hypertables that a refresh fills, takes seconds.
 */
async function rollUpAllOfIt(pool: Pool): Promise<void> {
  const kept = await pool.query<{ view: string; schema: string; name: string }>(
    sql`
      select view_name as view, materialization_hypertable_schema as schema, materialization_hypertable_name as name
      from timescaledb_information.continuous_aggregates
      where view_name in ('sample_hour', 'latency_day')
    `,
  );
  const ofView = (view: string) => {
    const { schema, name } = kept.find((one) => one.view === view)!;
    return sql.ident(schema, name);
  };
  const hours = ofView("sample_hour");
  const days = ofView("latency_day");
  await pool.query(sql`
    insert into ${hours} (hour, component_id, region_id, samples, good, p50_us, p95_us)
    select t.hour, c.component_id, g.region_id, 720, 719, 40000 + (random() * 40000)::int, 90000 + (random() * 90000)::int
    from component c
    cross join region g
    cross join generate_series(date_trunc('day', now()) - interval '89 days', now() - interval '1 hour', '1 hour') as t (hour)
    where c.kind = 'rest' and c.published and g.published
      and not exists (
        select from ${hours} h
        where h.hour = t.hour and h.component_id = c.component_id and h.region_id = g.region_id
      )
  `);
  // together with the history's own, some 25 per day, which is the number that the schema assumes
  await pool.query(sql`
    insert into ${days} (day, component_id, region_id, p50_ms, minutes)
    select t.day, c.component_id, g.region_id, ms, 57
    from component c
    cross join region g
    cross join generate_series(date_trunc('day', now()) - interval '89 days', now(), '1 day') as t (day)
    cross join generate_series(50, 69) as ms
    where c.kind = 'rest' and c.published and g.published
      and not exists (
        select from ${days} d
        where d.day = t.day and d.component_id = c.component_id and d.region_id = g.region_id and d.p50_ms = ms
      )
  `);
  // refreshes the roll-ups that are built on the two, but not the two themselves: they have no samples
  await pool.query(sql`call upkeep.refresh('venue_latency_day', null, time_bucket('1 day', now()) + interval '1 day')`);
  await pool.query(sql`call upkeep.refresh('usual_hour', null, time_bucket('5 days', now()))`);
  const [usual] = await pool.query<{ hours: number }>(sql`select sum(hours) as hours from usual_hour where is_p50`);
  if (!usual || usual.hours < 300_000)
    throw new Error(`expected 300,000 hours in usual_hour and more, got ${usual?.hours}`);
  // in the order that core uses
  await pool.script("analyze");
  await pool.script("vacuum");
}

/** Measures pages without a cache: each answer is recomputed. */
async function coldPages({ pool, registry }: Stage, data: string): Promise<Figure[]> {
  const { counted, trips } = withoutClock(pool);
  const web = await startWeb({
    pool: counted,
    registry,
    port: 0,
    host: "127.0.0.1",
    rateLimit: 0,
    trustProxy: [],
    siteUrl: "http://localhost",
    baseUrl: "http://localhost",
    log,
  });
  const figures: Figure[] = [];
  for (const path of await pagesOf(pool, registry)) {
    const url = `http://127.0.0.1:${web.port}${path}`;
    const ask = async () => {
      const { statusCode, body } = await request(url, {
        headers: { "accept-encoding": "br, gzip" },
      });
      await body.arrayBuffer();
      if (statusCode !== 200) throw new Error(`${url}: ${statusCode}`);
    };
    // the answers must be cold, but not the program
    for (let i = 0; i < 5; i++) await ask();
    const before = trips();
    const times = await timesMs(15, ask);
    const ms = path === "/v1/status" ? promisedMs.board : promisedMs.page;
    figures.push({
      what: `${path} recomputed, ${(trips() - before) / times.length} round trip${data}`,
      value: spreadOf(times).p50,
      unit: "ms",
      floor: { value: ms * patience, what: "promised" },
    });
  }
  await web.close();
  return figures;
}

/**
 * Returns every route that queries the database, in every format, and with the parameters that make it expensive; but
 * not the event stream, whose answer does not end.
 */
async function pagesOf(pool: Pool, registry: Registry): Promise<string[]> {
  const [newest] = await pool.query<{ slug: string }>(
    sql`select slug from incident where closed_at is not null order by started_at desc limit 1`,
  );
  if (!newest) throw new Error("expected incidents in the history, got none");
  const venue = registry.venues[0]!.id;
  const pages = operations(registry, "http://localhost")
    .filter(({ asksDatabase, answers }) => asksDatabase && !("text/event-stream" in answers))
    .map(({ path }) => path.replace("{venue}", venue).replace("{slug}", newest.slug));
  return [...pages, `/v1/exchanges/${venue}?range=7d`, "/v1/incidents?limit=200", "/v1/incidents?limit=200&format=csv"];
}

/** Wraps the pool so that any cached body counts as expired, without asking the database. */
export function withoutClock(pool: Pool) {
  let trips = 0;
  const counted: Pool = {
    ...pool,
    file: <Row>(name: string, values?: readonly unknown[]) => {
      if (name === "clock") return Promise.resolve([{ generated_at: new Date(8.64e15) } as Row]);
      trips++;
      return pool.file<Row>(name, values);
    },
  };
  return { counted, trips: () => trips };
}
