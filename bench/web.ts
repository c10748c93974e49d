/** What the API costs: a board that is made already, pages that are made anew, and long lists as CSV. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import express, { type Express } from "express";
import { sendCsv } from "../server/api/csv.js";
import { limiter } from "../server/api/rate-limit.js";
import { startWeb } from "../server/api/web.js";
import type { Pool } from "../server/db.js";
import { tick } from "../server/engine/tick.js";
import { listen } from "../server/listen.js";
import { makeLog } from "../server/log.js";
import { packagedFile } from "../server/package.js";
import { manyIncidents } from "../test/fleet.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, recordHistory, type Stage } from "./stage.js";

const connections = 32;
const roundSeconds = 3;
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
    return [
      ...(await coldPages(stage)),
      ...(await warmBoard(stage)),
      ...(await longList(stage)),
    ];
  } finally {
    await stage.close();
  }
}

interface Taken {
  answers: number;
  bytes: number;
  tookMs: number;
}

async function load(
  port: number,
  path: string,
  over: number,
  seconds: number,
): Promise<Taken> {
  const client = fork(packagedFile("dist/bench/web-client.js"), [
    ...[port, path, over, seconds].map(String),
  ]);
  const exited = once(client, "exit");
  const taken = once(client, "message") as Promise<[Taken]>;
  const [first] = await Promise.race([taken, exited]);
  if (typeof first !== "object") throw new Error("the client failed");
  await exited;
  return first as Taken;
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

/** By turns, so that what else the machine does touches both. */
async function warmBoard({ pool, registry }: Stage): Promise<Figure[]> {
  const rateLimit = 1_000_000_000;
  const web = await startWeb({
    pool,
    registry,
    port: 0,
    host: "127.0.0.1",
    rateLimit,
    trustProxy: [],
    siteUrl: "http://localhost",
    baseUrl: "http://localhost",
    log: makeLog("bench", "info"),
  });
  const path = "/v1/status";
  const text = await (
    await fetch(`http://127.0.0.1:${web.port}${path}`)
  ).text();
  const app = express();
  app.use(limiter(rateLimit));
  app.get(path, (_request, response) => {
    response.type("application/json").send(text);
  });
  const bare = await serve(app);
  const rates: Record<"web" | "bare", number[]> = { web: [], bare: [] };
  for (const port of [web.port, bare.port])
    await load(port, path, connections, 1);
  for (let round = 0; round < rounds; round++)
    for (const [name, { port }] of [
      ["web", web],
      ["bare", bare],
    ] as const) {
      const taken = await load(port, path, connections, roundSeconds);
      rates[name].push((taken.answers / taken.tookMs) * 1000);
    }
  await web.close();
  bare.close();
  return [
    {
      what: `/v1/status within a tick, ${connections} connections`,
      value: spreadOf(rates.web).p50,
      unit: "answers/s",
      floor: {
        value: spreadOf(rates.bare).p50,
        what: `a bare Express app with the same limiter and bytes (${Math.round(text.length / 1024)} KiB)`,
      },
    },
  ];
}

/** Nothing is kept: each time a new app, on connections that are open. */
async function coldPages({ pool, registry }: Stage): Promise<Figure[]> {
  const [venue] = registry.venues;
  const promises = {
    "/v1/status": promisedMs.board,
    [`/v1/exchanges/${venue!.id}`]: promisedMs.page,
    [`/v1/exchanges/${venue!.id}?range=7d`]: promisedMs.page,
    [`/v1/exchanges/${venue!.id}?format=csv`]: promisedMs.page,
    "/v1/regions": promisedMs.page,
    "/v1/incidents?limit=200": promisedMs.page,
  };
  const figures: Figure[] = [];
  for (const [path, ms] of Object.entries(promises)) {
    const { counted, trips } = countingTrips(pool);
    let web: Awaited<ReturnType<typeof startWeb>> | undefined;
    const times = await timesMs(
      15,
      async () => {
        const url = `http://127.0.0.1:${web!.port}${path}`;
        const response = await fetch(url);
        await response.text();
        if (!response.ok) throw new Error(`${url}: ${response.status}`);
      },
      async () => {
        await web?.close();
        web = await startWeb({
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
      },
    );
    await web!.close();
    figures.push({
      what: `${path} made anew, ${trips() / times.length} round trip`,
      value: spreadOf(times).p50,
      unit: "ms",
      floor: { value: ms * patience, what: "promised" },
    });
  }
  return figures;
}

function countingTrips(pool: Pool) {
  let trips = 0;
  const counted: Pool = {
    ...pool,
    file: (name, values) => {
      trips++;
      return pool.file(name, values);
    },
    rows: (name, values, holdMs) => {
      trips++;
      return pool.rows(name, values, holdMs);
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
    pool.rows(
      "incidents_csv",
      [null, null, "all", 365, csvRows, null, null, "http://localhost"],
      holdMs,
    );
  const app = express();
  app.get("/", async (_request, response) => {
    await sendCsv(response, await open(), "bench");
  });
  const { port, close } = await serve(app);

  const readOnly = async () => {
    const rows = await open();
    let read = 0;
    for (let batch = await rows.next(); batch; batch = await rows.next())
      read += batch.length;
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
