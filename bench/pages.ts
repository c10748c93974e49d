/**
 * Measures the board as a page: its bytes, what rendering it costs beside the JSON of the same tick, and when a reader
 * on a phone and on a laptop sees it, against a bare page. With GATUS_STATIC, the folder web/static of a checkout of
 * Gatus, also against Gatus' page with as many endpoints.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { extname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Browser, chromium } from "playwright-core";
import { request } from "undici";
import { sql } from "../shared/database/pool.js";
import { categories } from "../shared/registry/registry.js";
import { startWeb, type Web } from "../server/web/web.js";
import { tick } from "../server/core/engine/tick.js";
import { listen } from "../server/process/ports.js";
import { chromiumMissing, chromiumPath } from "../test/support/chromium.js";
import { type Figure, spreadOf } from "./figure.js";
import { manyComponents } from "./many-components.js";
import { log, openStage, recordHistory, type Stage } from "./stage.js";

const promisedKb = { "15 venues": 14, "150 venues": 30, script: 8 };
const rounds = 7;

export async function benchPages(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await recordHistory(stage);
    await tick(stage.pool, new Date());
    const web = await serve(stage);
    const figures = [...(await sizes(web, "15 venues")), await scriptSize(web), ...(await renderings(stage))];
    if (chromiumMissing) console.log("notice: no paints are measured, because Chromium is not installed");
    else figures.push(...(await paints(web)));
    await web.close();
    return [...figures, ...(await ofManyVenues(stage))];
  } finally {
    await stage.close();
  }
}

function serve({ pool, registry }: Stage): Promise<Web> {
  return startWeb({
    ...{ pool, registry, port: 0, host: "127.0.0.1", rateLimit: 0, trustProxy: [], log },
    ...{ siteUrl: "http://localhost", baseUrl: "http://localhost" },
  });
}

async function get(web: Web, path: string) {
  const { statusCode, headers, body } = await request(`http://127.0.0.1:${web.port}${path}`, {
    headers: { "accept-encoding": "gzip", accept: "text/html,*/*;q=0.8" },
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (statusCode !== 200) throw new Error(`expected 200 for ${path}, got ${statusCode}`);
  return {
    bytes,
    text: () => (headers["content-encoding"] === "gzip" ? gunzipSync(bytes).toString() : bytes.toString()),
  };
}

/** The page, which contains its style: all that it needs to be drawn. */
async function sizes(web: Web, what: keyof typeof promisedKb): Promise<Figure[]> {
  const kb = (await get(web, "/")).bytes.length / 1000;
  return [{ what: `board and its style, gzip, ${what}`, value: kb, unit: "kB", ...promised(promisedKb[what]) }];
}

async function scriptSize(web: Web): Promise<Figure> {
  const page = (await get(web, "/")).text();
  const [, script = ""] = /src="([^"]+follow\.js)"/.exec(page) ?? [];
  const kb = gzipSync((await get(web, script)).text()).length / 1000;
  return { what: "our script, gzip", value: kb, unit: "kB", ...promised(promisedKb.script) };
}

function promised(value: number): Pick<Figure, "floor"> {
  return { floor: { value, what: "promised at most" } };
}

/**
 * Each round is a new tick, so all are made again, by separate programs: the JSON, the page whose regions a program has
 * asked for already, and the page as the first thing that anyone asks for.
 */
async function renderings(stage: Stage): Promise<Figure[]> {
  const [json, page, first] = [await serve(stage), await serve(stage), await serve(stage)];
  const times: Record<"json" | "page" | "first", number[]> = { json: [], page: [], first: [] };
  for (let round = -3; round < rounds * 3; round++) {
    await tick(stage.pool, new Date());
    const turns = [["json", json, "/v1/status"] as const, ["page", page, "/"] as const, ["first", first, "/"] as const];
    await get(page, "/v1/regions");
    for (const [name, web, path] of round % 2 === 0 ? turns : turns.reverse()) {
      const startMs = performance.now();
      await get(web, path);
      if (round >= 0) times[name].push(performance.now() - startMs);
    }
  }
  for (const web of [json, page, first]) await web.close();
  const value = spreadOf(times.json).p50;
  const floor = { value, what: "/v1/status of a new tick; at most 1.3" };
  const both = { value, what: "/v1/status of a new tick; the page also shows /v1/regions" };
  return [
    { what: "/ of a new tick", value: spreadOf(times.page).p50, unit: "ms", floor },
    { what: "/ of a new tick, with the regions", value: spreadOf(times.first).p50, unit: "ms", floor: both },
  ];
}

/**
 * A phone as Lighthouse emulates it in a browser, where the latency is that of a whole request, and a laptop with the
 * round trip and the rate of its desktop, which it only simulates (its core/config/constants.js: mobileSlow4G,
 * desktopDense4G). Latency in ms, throughput in bytes per second.
 */
const devices = {
  "a phone": {
    link: { latency: 562.5, downloadThroughput: 184_320, uploadThroughput: 84_375 },
    cpuSlowdown: 4,
    screen: { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true },
  },
  "a laptop": {
    link: { latency: 40, downloadThroughput: 1_280_000, uploadThroughput: 1_280_000 },
    cpuSlowdown: 1,
    screen: { viewport: { width: 1350, height: 940 } },
  },
};

/** The largest contentful paint on each device. */
async function paints(web: Web): Promise<Figure[]> {
  const bare = await listening((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><meta name=viewport content=width=device-width><h1>13 of 15 venues are healthy</h1>");
  });
  const gatus = gatusFolder && (await listening(gatusLike(gatusFolder)));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  const ports = { bare: bare.port, board: web.port, ...(gatus && { gatus: gatus.port }) };
  const figures: Figure[] = [];
  for (const [name, device] of Object.entries(devices)) {
    const times: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round++)
      for (const [page, port] of Object.entries(ports)) (times[page] ??= []).push(await paintMs(browser, port, device));
    const p50 = (page: string) => spreadOf(times[page]!).p50;
    const board = { what: `largest contentful paint of the board on ${name}`, value: p50("board"), unit: "ms" };
    figures.push({ ...board, floor: { value: p50("bare"), what: "bare page; at most 2.5" } });
    if (gatus) figures.push({ ...board, floor: { value: p50("gatus"), what: "Gatus' page; at most 0.33" } });
  }
  await browser.close();
  bare.close();
  if (gatus) gatus.close();
  return figures;
}

type Device = (typeof devices)[keyof typeof devices];

async function paintMs(browser: Browser, port: number, { link, cpuSlowdown, screen }: Device): Promise<number> {
  const context = await browser.newContext(screen);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.emulateNetworkConditions", { offline: false, ...link });
  await settled(browser);
  await session.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
  await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: "networkidle" });
  const ms = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1)!.startTime)).observe({
          type: "largest-contentful-paint",
          buffered: true,
        });
      }),
  );
  await context.close();
  return ms;
}

/**
 * Waits until a new window has started. Its own programs occupy two cores for longer than our page takes, so a paint
 * measured beside them is that of the window.
 */
async function settled(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const processorSeconds = async () =>
    (await session.send("SystemInfo.getProcessInfo")).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  let [before, now] = [-1, 0];
  for (let polls = 0; Math.abs(now - before) > 0.01; polls++) {
    if (polls > 100)
      throw new Error("expected Chromium to be idle within 20 s of opening a window; end what runs beside");
    await wait(200);
    [before, now] = [now, await processorSeconds()];
  }
  await session.detach();
}

async function listening(listener: RequestListener) {
  const server = createServer(listener);
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  return { port, close: () => (server.closeAllConnections(), server.close()) };
}

const gatusFolder = process.env["GATUS_STATIC"];

/** Gatus' own files, compressed as it compresses them, in front of invented results of fifteen endpoints. */
function gatusLike(folder: string): RequestListener {
  const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
  const results = JSON.stringify(endpointsOfGatus());
  return (incoming, response) => {
    const path = new URL(incoming.url!, "http://localhost").pathname;
    const file = join(folder, path === "/" ? "index.html" : path);
    const isApi = path.startsWith("/api/");
    if (!isApi && !existsSync(file)) return void response.writeHead(404).end();
    const text = isApi ? (path.includes("config") ? "{}" : results) : readFileSync(file);
    response.setHeader("content-type", isApi ? "application/json" : (types[extname(file)] ?? "image/png"));
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(text));
  };
}

function endpointsOfGatus() {
  return Array.from({ length: 15 }, (_, at) => ({
    ...{ name: `venue-${at}`, group: "exchanges", key: `exchanges_venue-${at}` },
    results: Array.from({ length: 50 }, (_, minute) => ({
      ...{ status: 200, hostname: "example.org", duration: 80_000_000 + minute, success: true },
      ...{ conditionResults: [], timestamp: new Date(Date.now() - minute * 60_000).toISOString() },
    })),
  }));
}

async function ofManyVenues(stage: Stage): Promise<Figure[]> {
  const own = stage.registry.venues.flatMap(({ rest, socket }) => [...rest, ...(socket?.streams ?? []), socket]);
  await manyComponents(stage, own.filter(Boolean).length * 10);
  await stage.pool.query(sql`
    update venue set category = (${categories}::text[])[1 + venue_id % ${categories.length}::int] where venue like '%-copy-%'
  `);
  await tick(stage.pool, new Date());
  const web = await serve(stage);
  try {
    return await sizes(web, "150 venues");
  } finally {
    await web.close();
  }
}
