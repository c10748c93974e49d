/** Boards at their usual URLs are served without Express. Clients must see no difference. */
import type { AnsweredRequest } from "../../../server/web/api/request.js";
import { createServer } from "node:http";
import t, { type Test } from "tap";
import { makeShortcut } from "../../../server/web/shortcut.js";
import { makeShared } from "../../../server/web/app.js";
import { listen } from "../../../server/process/ports.js";
import type { Pool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { makeClock } from "../../../server/web/board/snapshot.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured } from "../../support/fleet.js";
import { askRaw, type RawAnswer } from "../../support/raw-answer.js";
import { until } from "../../support/until.js";

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
  const serveOn = async (rateLimit: number, trustProxy: string[] = []) => {
    const { port } = await serve(t, {
      pool: failing,
      registry,
      rateLimit,
      trustProxy,
      log: makeLog("web", "warn", (line) => logged.push(line)),
      onAnswered: (one) => answered.push(one),
    });
    return port;
  };
  const port = await serveOn(10_000);
  /** A spelling that only Express handles. */
  const long = (path: string) => `${path}${path.includes("?") ? "&" : "?"}x=1`;
  const same = (t: Test, short: RawAnswer, full: RawAnswer, what: string) => {
    t.equal(short.status, full.status, `${what}: status`);
    t.strictSame(short.names, full.names, `${what}: the same header names`);
    // one request later, and perhaps one second later
    for (const one of [short, full]) for (const name of ["date", "ratelimit"]) delete one.headers[name];
    t.strictSame(short.headers, full.headers, `${what}: headers`);
    t.ok(short.bytes.equals(full.bytes), `${what}: body`);
  };

  /** Requests in the usual spelling and in the long one, which must be answered alike. Returns the usual answer. */
  const askBoth = async (t: Test, path: string, headers: Record<string, string> = {}, method = "GET") => {
    const short = await askRaw(port, path, headers, method);
    same(t, short, await askRaw(port, long(path), headers, method), `${method} ${path} ${JSON.stringify(headers)}`);
    return short;
  };
  const statuses = () => answered.map(({ route, status }) => `${route} ${status}`);

  const boards = ["/v1/status", "/v1/status?category=exchange"];
  const paths = [...boards, "/v1/targets/okx", "/v1/exchanges/okx", "/v1/regions", "/v1/notify"];
  await t.test("responds as the app does", async (t) => {
    for (const path of paths)
      for (const encoding of ["identity", "gzip", "br"]) {
        const accept = { "accept-encoding": encoding };
        const first = await askBoth(t, path, accept);
        t.equal(first.status, 200);
        t.equal((await askBoth(t, path, { ...accept, "if-none-match": first.headers.etag! })).status, 304);
        await askBoth(t, path, { ...accept, "if-none-match": '"other"' });
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
      ] as Record<string, string>[])
        await askBoth(t, "/v1/status", headers, method);
  });

  await t.test("serves these URLs", async (t) => {
    answered.length = 0;
    for (const path of paths) await askRaw(port, path);
    await until(() => answered.length === paths.length);
    const ofVenue = "/v1/targets/:venue";
    const routes = ["/v1/status", "/v1/status", ofVenue, ofVenue, "/v1/regions", "/v1/notify"];
    const expected = routes.map((route) => `${route} 200`);
    t.strictSame(statuses(), expected, "each request is counted once, under its route");
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
    const alone = makeShortcut(registry, boards, null, () => "", failures);
    const server = createServer((request, response) => {
      void Promise.resolve(alone(request, response)).then((answered) => answered || response.writeHead(501).end());
    });
    t.teardown(() => server.close());
    const port = await listen(server, 0, "127.0.0.1", "PORT");
    for (const path of paths) {
      t.equal((await askRaw(port, path)).status, 200, path);
      t.equal((await askRaw(port, long(path))).status, 501, long(path));
      for (const headers of [
        { "if-none-match": 'W/"weak"' },
        { "if-none-match": '"a", "b"' },
        { "if-none-match": '"a"', "cache-control": "no-cache" },
        { "if-modified-since": new Date(0).toUTCString() },
      ] as Record<string, string>[])
        t.equal((await askRaw(port, path, headers)).status, 501);
      for (const method of ["OPTIONS", "POST"]) t.equal((await askRaw(port, path, {}, method)).status, 501, method);
    }
  });

  await t.test("shares the rate limit with the app", async (t) => {
    const limited = await serveOn(3);
    const left = async (path: string) => {
      const { status, headers } = await askRaw(limited, path);
      return `${status} ${/remaining=\d+/.exec(headers.ratelimit as string)?.[0]}`;
    };
    for (const [nth, path] of ["/v1/status", "/v1/thresholds", "/v1/status"].entries())
      t.equal(await left(path), `200 remaining=${2 - nth}`);
    const headers = { "content-type": "application/problem+json", "retry-after": /./ };
    t.match(await askRaw(limited, "/v1/status"), { status: 429, headers });
    t.equal(await left("/v1/thresholds"), "429 remaining=0");
  });

  await t.test("recognises clients behind a trusted proxy", async (t) => {
    const behind = await serveOn(1, ["loopback"]);
    const from = async (address: string) => (await askRaw(behind, "/v1/status", { "x-forwarded-for": address })).status;
    t.equal(await from("192.0.2.1"), 200);
    t.equal(await from("192.0.2.1"), 429);
    t.equal(await from("192.0.2.2"), 200);
    t.equal(await from("2001:db8::1"), 200);
    t.equal(await from("2001:db8::2"), 429, "the same /56");
  });

  await t.test("leaves requests to the app without a database", async (t) => {
    logged.length = answered.length = 0;
    trouble = Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
    t.equal((await askBoth(t, "/v1/status")).status, 503);
    trouble = null;
    t.equal(logged.length, 1, "an outage is logged once");
    await until(() => answered.length === 2);
    t.strictSame(statuses(), ["/v1/status 503", "/v1/status 503"]);
    const before = await askRaw(port, "/v1/status");
    const after = await askRaw(port, "/v1/status");
    const used = (one: RawAnswer) => Number(/remaining=(\d+)/.exec(one.headers.ratelimit as string)![1]);
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
