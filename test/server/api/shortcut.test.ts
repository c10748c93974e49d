/** Boards at their usual URLs are served without Express. Clients must see no difference. */
import { createServer, request, type IncomingHttpHeaders } from "node:http";
import t, { type Test } from "tap";
import type { AnsweredRequest } from "../../../server/api/request-log.js";
import { makeShared } from "../../../server/api/app.js";
import { makeShortcut } from "../../../server/api/shortcut.js";
import { startWeb } from "../../../server/api/web.js";
import { listen } from "../../../shared/config/listen.js";
import type { Pool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { makeClock } from "../../../server/api/clock.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured } from "../../support/fleet.js";
import { until } from "../../support/until.js";

interface Raw {
  status: number;
  headers: IncomingHttpHeaders;
  names: string[];
  text: string;
}

function ask(port: number, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", path, headers, method };
    request({ ...options, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject).on("end", () => {
        const { statusCode, headers, rawHeaders } = response;
        const names = rawHeaders.filter((_, i) => i % 2 === 0).sort();
        const text = Buffer.concat(pieces).toString("latin1");
        resolve({ status: statusCode!, headers, names, text });
      });
    })
      .on("error", reject)
      .end();
  });
}

void t.test("the shortcut past Express", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(90), to: ago(0) });
  await decide(pool);
  let trouble: Error | null = null;
  const failing: Pool = {
    ...pool,
    file: (name, values) => (trouble ? Promise.reject(trouble) : pool.file(name, values)),
  };
  const answered: AnsweredRequest[] = [];
  const logged: string[] = [];
  const serve = async (rateLimit: number, trustProxy: string[] = []) => {
    const web = await startWeb({
      pool: failing,
      registry,
      rateLimit,
      trustProxy,
      baseUrl: "https://api.example.org",
      siteUrl: "http://localhost",
      log: makeLog("web", "warn", (line) => logged.push(line)),
      port: 0,
      host: "127.0.0.1",
      onAnswered: (one) => answered.push(one),
    });
    t.teardown(web.close);
    return web.port;
  };
  const port = await serve(10_000);
  /** A spelling that only Express handles. */
  const long = (path: string) => `${path}${path.includes("?") ? "&" : "?"}x=1`;
  const same = (t: Test, short: Raw, full: Raw, what: string) => {
    t.equal(short.status, full.status, `${what}: status`);
    t.strictSame(short.names, full.names, `${what}: the same header names`);
    // one request later, and perhaps one second later
    for (const one of [short, full]) for (const name of ["date", "ratelimit"]) delete one.headers[name];
    t.strictSame(short.headers, full.headers, `${what}: headers`);
    t.equal(short.text, full.text, `${what}: body`);
  };

  const paths = [
    "/v1/status",
    "/v1/status?category=exchange",
    "/v1/targets/okx",
    "/v1/exchanges/okx",
    "/v1/regions",
    "/v1/notify",
  ];
  await t.test("responds as the app does", async (t) => {
    for (const path of paths)
      for (const encoding of ["identity", "gzip", "br"]) {
        const accept = { "accept-encoding": encoding };
        const what = `${path} ${encoding}`;
        const short = await ask(port, path, accept);
        t.equal(short.status, 200);
        same(t, short, await ask(port, long(path), accept), what);
        const known = { ...accept, "if-none-match": short.headers.etag! };
        const again = await ask(port, path, known);
        t.equal(again.status, 304);
        same(t, again, await ask(port, long(path), known), `${what} again`);
        const other = { ...accept, "if-none-match": '"other"' };
        same(t, await ask(port, path, other), await ask(port, long(path), other), `${what}, another tag`);
      }
  });

  await t.test("responds as the app does to other headers of a client", async (t) => {
    for (const method of ["GET", "HEAD", "OPTIONS", "POST"])
      for (const headers of [
        {},
        { "accept-encoding": "br;q=0, gzip;q=0.5" },
        { "accept-encoding": "*" },
        { "accept-encoding": "zstd, identity;q=0" },
        { accept: "text/csv" },
        { accept: "image/png" },
        { "if-none-match": "*" },
        { "if-none-match": 'W/"a", "b"' },
        { "if-none-match": '"a"', "cache-control": "no-cache" },
        { "if-modified-since": new Date(0).toUTCString() },
        { range: "bytes=0-9" },
        { expect: "something" },
        { connection: "close" },
        { host: "" },
        { origin: "https://example.org" },
      ] as Record<string, string>[]) {
        const path = "/v1/status";
        const what = `${method} ${JSON.stringify(headers)}`;
        const short = await ask(port, path, headers, method);
        same(t, short, await ask(port, long(path), headers, method), what);
      }
  });

  await t.test("serves these URLs", async (t) => {
    answered.length = 0;
    for (const path of paths) await ask(port, path);
    await until(() => answered.length === paths.length);
    t.strictSame(
      answered.map(({ route, status }) => `${route} ${status}`),
      [
        ...["/v1/status 200", "/v1/status 200"],
        ...["/v1/targets/:venue 200", "/v1/targets/:venue 200"],
        ...["/v1/regions 200", "/v1/notify 200"],
      ],
      "each request is counted once, under its route",
    );
  });

  await t.test("serves no other URL", async (t) => {
    const { boards, failures } = makeShared({
      pool,
      registry,
      rateLimit: 0,
      trustProxy: [],
      baseUrl: "https://api.example.org",
      siteUrl: "http://localhost",
      log: makeLog("web", "warn"),
    });
    const ipOf = () => "";
    const alone = makeShortcut(registry, boards, null, ipOf, failures);
    const server = createServer((request, response) => {
      void Promise.resolve(alone(request, response)).then((answered) => answered || response.writeHead(501).end());
    });
    t.teardown(() => server.close());
    const port = await listen(server, 0, "127.0.0.1", "PORT");
    for (const path of paths) {
      t.equal((await ask(port, path)).status, 200, path);
      t.equal((await ask(port, long(path))).status, 501, long(path));
      for (const headers of [
        { "if-none-match": 'W/"weak"' },
        { "if-none-match": '"a", "b"' },
        { "if-none-match": '"a"', "cache-control": "no-cache" },
        { "if-modified-since": new Date(0).toUTCString() },
      ] as Record<string, string>[])
        t.equal((await ask(port, path, headers)).status, 501);
      for (const method of ["OPTIONS", "POST"]) t.equal((await ask(port, path, {}, method)).status, 501, method);
    }
  });

  await t.test("shares the rate limit with the app", async (t) => {
    const limited = await serve(3);
    const left = async (path: string) => {
      const { status, headers } = await ask(limited, path);
      return `${status} ${/remaining=\d+/.exec(headers.ratelimit as string)?.[0]}`;
    };
    t.equal(await left("/v1/status"), "200 remaining=2");
    t.equal(await left("/v1/thresholds"), "200 remaining=1");
    t.equal(await left("/v1/status"), "200 remaining=0");
    const refused = await ask(limited, "/v1/status");
    t.equal(refused.status, 429);
    t.match(refused.headers["content-type"], "application/problem+json");
    t.ok(refused.headers["retry-after"]);
    t.equal(await left("/v1/thresholds"), "429 remaining=0");
  });

  await t.test("recognises clients behind a trusted proxy", async (t) => {
    const behind = await serve(1, ["loopback"]);
    const from = async (address: string) => (await ask(behind, "/v1/status", { "x-forwarded-for": address })).status;
    t.equal(await from("192.0.2.1"), 200);
    t.equal(await from("192.0.2.1"), 429);
    t.equal(await from("192.0.2.2"), 200);
    t.equal(await from("2001:db8::1"), 200);
    t.equal(await from("2001:db8::2"), 429, "the same /56");
  });

  await t.test("leaves requests to the app without a database", async (t) => {
    logged.length = answered.length = 0;
    trouble = Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
    const short = await ask(port, "/v1/status");
    t.equal(short.status, 503);
    same(t, short, await ask(port, long("/v1/status")), "503");
    trouble = null;
    t.equal(logged.length, 1, "an outage is logged once");
    await until(() => answered.length === 2);
    t.strictSame(
      answered.map(({ route, status }) => `${route} ${status}`),
      ["/v1/status 503", "/v1/status 503"],
    );
    const before = await ask(port, "/v1/status");
    const after = await ask(port, "/v1/status");
    const used = (one: Raw) => Number(/remaining=(\d+)/.exec(one.headers.ratelimit as string)![1]);
    t.equal(used(before) - used(after), 1, "no request counts twice");
  });
});

void t.test("a reading of the clock is reused until it expires", async (t) => {
  let at = 0;
  const pool = { file: () => Promise.resolve([{ generated_at: new Date(++at), moved_at: null }]) };
  const clock = makeClock(pool as never, 60_000);
  const read = async () => +(await clock.read()).generated_at;
  t.equal(await read(), 1);
  t.equal(await read(), 1, "reused while it is fresh");
  clock.expire();
  t.equal(await read(), 2, "read again after it expired");
  const underWay = makeClock(pool as never, 60_000);
  const reading = underWay.read();
  underWay.expire();
  t.equal(+(await reading).generated_at, 3);
  t.equal(+(await underWay.read()).generated_at, 4, "a reading in flight at the expiry is not reused");
  const untrusted = makeClock(pool as never);
  await untrusted.read();
  t.equal(+(await untrusted.read()).generated_at, 6);
});
