/**
 * Measures how fast a cached board is sent, plain and compressed, against a bare server that sends the same bytes, head
 * and body.
 */
import { createServer, type OutgoingHttpHeaders } from "node:http";
import { request } from "undici";
import { makeWebMetrics, startWeb } from "../server/web/web.js";
import { clockTrustedMs } from "../server/cli/web.js";
import { tick } from "../server/core/engine/tick.js";
import { listen } from "../server/process/ports.js";
import { makeLog } from "../shared/log/log.js";
import { makeOwnMetrics } from "../shared/log/own-metrics.js";
import { type Figure, spreadOf } from "./figure.js";
import { openStage, recordHistory, type Stage } from "./stage.js";
import { load } from "./web-load.js";

const path = "/v1/status";
const connections = 32;
const roundSeconds = 3;
const rounds = 5;

export async function benchCached(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await recordHistory(stage);
    await tick(stage.pool, new Date());
    const figures: Figure[] = [];
    for (const encoding of ["identity", "gzip", "br"]) figures.push(await cachedBoard(stage, encoding));
    return figures;
  } finally {
    await stage.close();
  }
}

/** The two servers take turns, so that other load on the machine slows both. */
async function cachedBoard({ pool, registry }: Stage, encoding: string): Promise<Figure> {
  const web = await startWeb({
    pool,
    registry,
    port: 0,
    host: "127.0.0.1",
    // counted as in production, but never reached
    rateLimit: 1_000_000_000,
    trustProxy: [],
    siteUrl: "http://localhost",
    baseUrl: "http://localhost",
    log: makeLog("bench", "info"),
    onAnswered: makeWebMetrics(makeOwnMetrics("web")),
    clockTrustedMs,
  });
  const same = await answerOf(web.port, encoding);
  const bare = await startBare(same);
  const rates: Record<"ours" | "bare", number[]> = { ours: [], bare: [] };
  for (const { port } of [web, bare]) await load(port, path, connections, 1, encoding);
  for (let round = 0; round < rounds; round++)
    for (const [name, { port }] of [
      ["ours", web],
      ["bare", bare],
    ] as const) {
      const taken = await load(port, path, connections, roundSeconds, encoding);
      rates[name].push((taken.answers / taken.tookMs) * 1000);
    }
  await web.close();
  bare.close();
  return {
    what: `${path} within a tick, ${encoding}, ${connections} connections`,
    value: spreadOf(rates.ours).p50,
    unit: "answers/s",
    floor: {
      value: spreadOf(rates.bare).p50,
      what: `bare node:http with the same ${(same.body.length / 1024).toFixed(1)} KiB`,
    },
  };
}

interface WholeAnswer {
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

async function answerOf(port: number, encoding: string): Promise<WholeAnswer> {
  const { headers, body } = await request(`http://127.0.0.1:${port}${path}`, {
    headers: { "accept-encoding": encoding },
  });
  // Node adds these headers itself
  const { date, connection, "keep-alive": keepAlive, ...ours } = headers;
  void [date, connection, keepAlive];
  return { headers: ours, body: Buffer.from(await body.arrayBuffer()) };
}

async function startBare({ headers, body }: WholeAnswer) {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  return {
    port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
