/**
 * Measures how long a reader waits for all deposits and withdrawals after ninety days in which a flag changed each
 * minute, and what it costs to read a list of five megabytes.
 */
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { request } from "undici";
import { makeTransferReader } from "../server/core/transfers/reader.js";
import { tick } from "../server/core/engine/tick.js";
import { listen } from "../server/process/ports.js";
import { startWeb } from "../server/web/web.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, type Stage } from "./stage.js";

const promisedMs = 20;
/** The share of a core that all readings together may take, and their memory. */
const [promisedCore, promisedMib] = [0.01, 20];
const lists = 8;
const cadenceS = 300;

export async function benchTransfers(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await manyChanges(stage.pool);
    await stage.pool.script("analyze");
    await stage.pool.script("vacuum");
    return [...(await recomputed(stage)), ...(await readings())];
  } finally {
    await stage.close();
  }
}

/** Fifteen venues with thirty lines each, of which one direction changes each minute, one after the other. */
async function manyChanges(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into transfer_source (venue_id, kind)
    select venue_id, 'gate-currencies' from venue
    on conflict (venue_id) do update set kind = excluded.kind, because = null
  `);
  await pool.query(sql`update transfer_source set read_at = now()`);
  await pool.query(sql`
    insert into transfer_line (venue_id, asset, venue_network, network, first_seen_at)
    select v.venue_id, a.asset, n.network, n.network, now() - interval '91 days'
    from (select * from venue order by venue_id limit 15) v
    cross join lateral (
      select a.asset, n.network
      from transfer_asset a
      cross join transfer_network n
      order by a.position, n.network
      limit 30
    ) pair
    join transfer_asset a using (asset)
    join transfer_network n using (network)
  `);
  await pool.query(sql`
    with directions as (
      select line_id, direction, row_number() over (order by line_id, direction) as turn, count(*) over () as turns
      from transfer_line
      cross join (values ('deposit'), ('withdrawal')) as d (direction)
    ),
    -- each changes when it is its turn
    changes as (
      select d.line_id, d.direction, now() - interval '90 days' + n * interval '1 minute' as at, n / turns as number
      from directions d
      cross join lateral generate_series(d.turn - 1, 90 * 1440 - 1, d.turns) as n
    ),
    spans as (
      select c.*, lead(c.at) over (partition by c.line_id, c.direction order by c.at) as until_at from changes c
    ),
    running as (
      insert into transfer_state (line_id, direction, declared, state, since, counted_to)
      select s.line_id, s.direction, w.state, w.state, s.at, greatest(s.at, date_trunc('day', now()))
      from spans s
      cross join lateral (select case when s.number % 2 = 0 then 'open' else 'paused' end as state) w
      where s.until_at is null
    )
    insert into transfer_span (started_at, ended_at, line_id, direction, state, begins, unstable)
    select
      greatest(s.at, day), least(coalesce(s.until_at, date_trunc('day', now())), day + interval '1 day'), s.line_id, s.direction,
      case when s.number % 2 = 0 then 'open' else 'paused' end, s.at >= day, false
    from spans s
    cross join lateral generate_series(
      date_trunc('day', s.at), coalesce(s.until_at, date_trunc('day', now())) - interval '1 microsecond', interval '1 day'
    ) as day
    -- as they are written: when they end
    order by 2
  `);
  await pool.query(sql`call upkeep.refresh('transfer_day', null, date_trunc('day', now()), unasked => true)`);
  await pool.query(sql`call upkeep.refresh_transfers(now())`);
}

async function recomputed({ pool, registry }: Stage): Promise<Figure[]> {
  const web = await startWeb({
    ...{ pool, registry, port: 0, host: "127.0.0.1", rateLimit: 0, trustProxy: [], log },
    ...{ baseUrl: "http://127.0.0.1", siteUrl: "http://localhost" },
  });
  try {
    const url = `http://127.0.0.1:${web.port}/v1/transfers`;
    let at = Date.now();
    const nextTick = () => tick(pool, new Date((at += 10)));
    await nextTick();
    const { transfers } = JSON.parse((await read(url)).toString()) as { transfers: unknown[] };
    const uncached = spreadOf(await timesMs(30, () => read(url), nextTick));
    const roundTrip = spreadOf(await timesMs(200, () => pool.query(sql`select 1`)));
    return (["p50", "p95"] as const).flatMap((p): Figure[] => [
      {
        ...{ what: `/v1/transfers recomputed, ${transfers.length} lines, ${p}`, value: uncached[p], unit: "ms" },
        floor: { value: promisedMs, what: "the promised time" },
      },
      { what: `a round trip to the database, select 1, ${p}`, value: roundTrip[p], unit: "ms" },
    ]);
  } finally {
    await web.close();
  }
}

async function read(url: string): Promise<Buffer> {
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`expected 200 of ${url}, got ${statusCode}`);
  return Buffer.from(await body.arrayBuffer());
}

/** The largest list that a venue had, compressed as venues send it. */
async function readings(): Promise<Figure[]> {
  const chains = ["ETH", "BSC", "SOL"].map((name) => ({
    ...{ name, addr: "0xdAC17F958D2ee523a2206206994597C13D831ec7", withdraw_disabled: false },
    ...{ withdraw_delayed: false, deposit_disabled: false },
  }));
  const body = JSON.stringify([
    ...Array.from({ length: 9_000 }, (_, index) => ({ currency: `FOO${index}`, name: "Foo", delisted: false, chains })),
    { currency: "BTC", chains },
  ]);
  const zipped = gzipSync(body);
  const server = createServer((_request, response) => response.setHeader("content-encoding", "gzip").end(zipped));
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  const reader = makeTransferReader({ userAgent: "venuewatch/bench", pauseMs: 0 });
  const source = {
    ...{ kind: "gate-currencies" as const, api: `http://127.0.0.1:${port}/`, wanted: new Map([["btc", "BTC"]]) },
    ...{ listAt: null, listMovedAt: null },
  };
  const { signal } = new AbortController();
  const readOnce = async () => {
    const { problem } = await reader.read(source, new Date(), signal);
    if (problem !== null) throw new Error(problem);
  };
  await readOnce();
  globalThis.gc?.();
  const before = { cpu: process.cpuUsage(), rss: process.memoryUsage().rss };
  const times = 20;
  for (let i = 0; i < times; i += 1) await readOnce();
  const { user, system } = process.cpuUsage(before.cpu);
  const grownMib = Math.max(0, process.memoryUsage().rss - before.rss) / 2 ** 20;
  await reader.close();
  server.closeAllConnections();
  server.close();
  const cpuMs = (user + system) / 1000 / times;
  const size = `${(body.length / 1e6).toFixed(1)} MB`;
  return [
    { what: `processor time of reading a list of ${size}, with its server`, value: cpuMs, unit: "ms" },
    {
      ...{
        what: `${lists} such lists every ${cadenceS / 60} minutes`,
        value: (cpuMs * lists) / 1000 / cadenceS,
        unit: "of a core",
      },
      floor: { value: promisedCore, what: "the promised share" },
    },
    {
      ...{ what: `memory that ${times} readings add`, value: grownMib, unit: "MiB" },
      floor: { value: promisedMib, what: "the promised memory" },
    },
  ];
}
