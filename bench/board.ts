/** Measures how long a reader waits for the board of a database with ninety days of history. */
import { createServer } from "node:http";
import { request } from "undici";
import { startWeb } from "../server/web/web.js";
import { sql } from "../shared/database/pool.js";
import { tick } from "../server/core/engine/tick.js";
import { listen } from "../server/process/ports.js";
import { spreadOf, timesMs, type Figure } from "./figure.js";
import { log, openStage, recordHistory, type Stage } from "./stage.js";

export async function benchBoard(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await recordHistory(stage);
    const { pool, registry } = stage;
    const web = await startWeb({
      pool,
      registry,
      port: 0,
      host: "127.0.0.1",
      rateLimit: 0,
      trustProxy: [],
      baseUrl: "http://127.0.0.1",
      siteUrl: "http://localhost",
      log,
    });
    try {
      return await measure(stage, `http://127.0.0.1:${web.port}/v1/status`);
    } finally {
      await web.close();
    }
  } finally {
    await stage.close();
  }
}

async function measure({ pool }: Stage, url: string): Promise<Figure[]> {
  let at = Date.now();
  const nextTick = () => tick(pool, new Date((at += 10)));
  await nextTick();
  const uncached = spreadOf(await timesMs(30, () => read(url), nextTick));
  const cached = spreadOf(await timesMs(200, () => read(url)));
  const roundTrip = spreadOf(await timesMs(200, () => pool.query(sql`select 1`)));
  const body = await read(url);
  const bare = spreadOf(await bareTimes(body));
  const roundTripIs = "a round trip to the database, select 1";
  const bareIs = "a bare HTTP server with the same bytes";
  return (["p50", "p95"] as const).flatMap((p): Figure[] => [
    {
      what: `/v1/status recomputed, ${p}`,
      value: uncached[p],
      unit: "ms",
      floor: { value: roundTrip[p] + bare[p], what: "the sum of both floors below" },
    },
    {
      what: `/v1/status within one tick, ${p}`,
      value: cached[p],
      unit: "ms",
      floor: { value: roundTrip[p] + bare[p], what: "the sum of both floors below" },
    },
    { what: `${roundTripIs}, ${p}`, value: roundTrip[p], unit: "ms" },
    {
      what: `${bareIs} (${Math.round(body.length / 1024)} KiB), ${p}`,
      value: bare[p],
      unit: "ms",
    },
  ]);
}

async function bareTimes(body: Buffer): Promise<number[]> {
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json; charset=utf-8");
    response.end(body);
  });
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  const times = await timesMs(200, () => read(`http://127.0.0.1:${port}`));
  server.closeAllConnections();
  server.close();
  return times;
}

/**
 * Reads to the last byte without decoding: Node's fetch takes 3 ms to decompress and decode the body, which the server
 * does not cause.
 */
async function read(url: string): Promise<Buffer> {
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  return Buffer.from(await body.arrayBuffer());
}
