/** What the API costs: pages that are made again, and long lists as CSV. */
import { createServer } from "node:http";
import express, { type Express } from "express";
import { request } from "undici";
import { sendCsv } from "../server/api/csv.js";
import { startWeb } from "../server/api/web.js";
import { operations } from "../server/api/operations.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { tick } from "../server/engine/tick.js";
import { listen } from "../shared/config/listen.js";
import type { Registry } from "../shared/registry/registry.js";
import { manyIncidents } from "../test/support/fleet.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, recordHistory, type Stage } from "./stage.js";
import { load } from "./web-load.js";

const rounds = 3;
const csvRows = 100_000;
/** As promised for a server, and four times that for the embedded database. */
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
    return [...ofDemo, ...(await coldPages(stage, "")), ...(await longList(stage))];
  } finally {
    await stage.close();
  }
}

/**
 * The demo's history has a few samples a day, and a service of that age has every hour of every endpoint. So many
 * samples would take the better part of a day; what they are rolled up to takes seconds, written to where a refresh
 * puts it.
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
  // with those of the history some 25 a day, as many as the schema reckons with
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
  // what stands on the two, and they themselves not: they have no samples
  await pool.query(sql`call upkeep.refresh('venue_latency_day', null, time_bucket('1 day', now()) + interval '1 day')`);
  await pool.query(sql`call upkeep.refresh('usual_hour', null, time_bucket('5 days', now()))`);
  const [usual] = await pool.query<{ hours: number }>(sql`select sum(hours) as hours from usual_hour where is_p50`);
  if (!usual || usual.hours < 300_000)
    throw new Error(`expected 300,000 hours in usual_hour and more, got ${usual?.hours}`);
  // in this order, as core does
  await pool.script("analyze");
  await pool.script("vacuum");
}

/** Starts an app of the benchmark's own; ours is started as the program does. */
async function serve(app: Express) {
  const server = createServer(app);
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  return {
    port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Nothing that is kept holds: each answer is made anew. */
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
    // the answers are to be cold, and not a program that has just begun
    for (let i = 0; i < 5; i++) await ask();
    const before = trips();
    const times = await timesMs(15, ask);
    const ms = path === "/v1/status" ? promisedMs.board : promisedMs.page;
    figures.push({
      what: `${path} made anew, ${(trips() - before) / times.length} round trip${data}`,
      value: spreadOf(times).p50,
      unit: "ms",
      floor: { value: ms * patience, what: "promised" },
    });
  }
  await web.close();
  return figures;
}

/** Every route that asks the database, in every form that it answers in; and with the parameters that make it dear. */
async function pagesOf(pool: Pool, registry: Registry): Promise<string[]> {
  const [newest] = await pool.query<{ slug: string }>(
    sql`select slug from incident where closed_at is not null order by started_at desc limit 1`,
  );
  if (!newest) throw new Error("expected incidents in the history, got none");
  const venue = registry.venues[0]!.id;
  const pages = operations(registry, "http://localhost")
    .filter(({ asksDatabase }) => asksDatabase)
    .flatMap(({ path, table }) => {
      const filled = path.replace("{venue}", venue).replace("{slug}", newest.slug);
      return table ? [filled, `${filled}?format=csv`] : [filled];
    });
  return [...pages, `/v1/exchanges/${venue}?range=7d`, "/v1/incidents?limit=200", "/v1/incidents?limit=200&format=csv"];
}

/** To whoever asks whether a kept body still holds, much time has passed, and the database is not asked. */
export function withoutClock(pool: Pool) {
  let trips = 0;
  const counted: Pool = {
    ...pool,
    file: <Row>(name: string, values?: readonly unknown[]) => {
      if (name === "clock") return Promise.resolve([{ generated_at: new Date(8.64e15) } as Row]);
      trips++;
      return pool.file<Row>(name, values);
    },
    rows: (name, values, reading) => {
      trips++;
      return pool.rows(name, values, reading);
    },
  };
  return { counted, trips: () => trips };
}

/** No route has so long a list; what answers the routes is asked for one. */
async function longList({ pool }: Stage): Promise<Figure[]> {
  await pool.script("truncate incident cascade");
  await manyIncidents(pool, csvRows);
  await pool.script("analyze incident");
  const holdMs = 300_000;
  const open = () =>
    pool.rows("incidents_csv", [null, null, "all", 365, csvRows, null, null, "http://localhost"], { holdMs });
  const app = express();
  app.get("/", async (_request, response) => {
    await sendCsv(response, await open(), "bench");
  });
  const { port, close } = await serve(app);

  const readOnly = async () => {
    const rows = await open();
    let read = 0;
    for (let batch = await rows.next(); batch; batch = await rows.next()) read += batch.length;
    if (read !== csvRows) throw new Error(`expected ${csvRows}, got ${read}`);
  };
  let bytes = 0;
  const csvMs: number[] = [];
  const asCsv = async () => {
    const taken = await load(port, "/", 1, 0);
    bytes = taken.bytes;
    csvMs.push(taken.tookMs);
  };
  await readOnly();
  const beforeMiB = rssMiB();
  let mostMiB = beforeMiB;
  const watch = setInterval(() => {
    mostMiB = Math.max(mostMiB, rssMiB());
  }, 20);
  const floorMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    floorMs.push(...(await timesMs(1, readOnly)));
    await asCsv();
  }
  clearInterval(watch);
  close();
  const perSecond = (times: number[]) => csvRows / (spreadOf(times).p50 / 1000);
  return [
    {
      what: `${csvRows} incidents as CSV, ${Math.round(bytes / 2 ** 20)} MiB`,
      value: perSecond(csvMs),
      unit: "rows/s",
      floor: { value: perSecond(floorMs), what: "reading the same cursor" },
    },
    {
      what: "memory that this takes",
      value: mostMiB - beforeMiB,
      unit: "MiB",
      floor: { value: 50, what: "promised" },
    },
  ];
}

function rssMiB(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}
