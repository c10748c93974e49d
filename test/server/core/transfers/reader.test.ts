/** Lists of real servers that answer as venues do, and as no server should. */
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { makeTransferReader, type TransferReaderOptions } from "../../../../server/core/transfers/reader.js";
import type { TransferSource } from "../../../../server/core/transfers/transfer-list.js";
import { mebibyte } from "../../../../shared/config/byte-units.js";
import { at, type FeedAnswer, json, never, serve, userAgent } from "../../../support/feed-server.js";

const wanted = new Map([["btc", "BTC"]]);

const chain = { name: "BTC", deposit_disabled: false, withdraw_disabled: true };
const list = [{ currency: "BTC", chains: [chain] }];

/** Reads a list of Gate's kind, again and again, from a server that answers so. */
async function readingFrom(t: Test, respond: FeedAnswer, more: Partial<TransferReaderOptions> = {}) {
  const server = await serve(t, respond);
  const reader = makeTransferReader({ userAgent, pauseMs: 0, ...more });
  t.teardown(() => reader.close());
  const source: TransferSource = {
    ...{ kind: "gate-currencies", api: `${server.origin}/currencies`, wanted, listAt: null, listMovedAt: null },
  };
  return { server, read: (other: Partial<TransferSource> = {}) => reader.read({ ...source, ...other }, at, never) };
}

const paused = { problem: null, list: { lines: [{ asset: "BTC", withdrawal: { state: "paused" } }] } };

void t.test("a list of five megabytes is read, in gzip too", async (t) => {
  const others = Array.from({ length: 12_000 }, (_, index) => ({
    ...{ currency: `FOO${index}`, name: "x".repeat(250), chains: [chain, { ...chain, name: "ETH" }, chain] },
  }));
  const body = Buffer.from(JSON.stringify([...others, ...list]));
  t.ok(body.length > 5_000_000);
  const plain = await readingFrom(t, (_url, response) => response.end(body));
  t.match(await plain.read(), paused);
  const zipped = await readingFrom(t, (_url, response) =>
    response.setHeader("content-encoding", "gzip").end(gzipSync(body)),
  );
  t.match(await zipped.read(), paused);
});

void t.test("a body beyond the limit is refused, also when it is small before decompression", async (t) => {
  const bomb = gzipSync(Buffer.alloc(17 * mebibyte, " "));
  const { read } = await readingFrom(t, (_url, response) => response.setHeader("content-encoding", "gzip").end(bomb));
  t.match(await read(), { problem: /at most 16777216 bytes/, list: null, unanswered: false });
  const deep = await readingFrom(t, (_url, response) => response.end("[".repeat(2_000_000)));
  t.match(await deep.read(), { problem: /at most 16 levels/, list: null });
});

void t.test("a page instead of a list is a problem", async (t) => {
  const typed = await readingFrom(t, (_url, response) =>
    response.setHeader("content-type", "text/html").end("<html>Just a moment...</html>"),
  );
  t.match(await typed.read(), { problem: "answered HTML instead of JSON", list: null });
  const untyped = await readingFrom(t, (_url, response) => response.end("<!doctype html>"));
  t.match(await untyped.read(), { problem: "answered HTML instead of JSON", list: null });
});

void t.test("a refusal with Retry-After names its wait", async (t) => {
  const { read } = await readingFrom(t, (_url, response) => {
    response.statusCode = 429;
    response.setHeader("retry-after", "900").end();
  });
  t.match(await read(), { problem: "answered 429", list: null, retryAfterMs: 900_000 });
});

void t.test("an old copy of a cache is not the present", async (t) => {
  let age = "120";
  const { read } = await readingFrom(t, (_url, response) => json(response.setHeader("age", age), list));
  t.match(await read(), paused, "two minutes are nothing");
  age = "5400";
  t.match(await read(), { problem: /cache's copy that is 90 minutes old/, list: null });
  age = "soon";
  t.match(await read(), paused, "what is no age is ignored");
});

void t.test("a list whose own time stands still is an old copy, whatever the clocks say", async (t) => {
  const ms = +at - 3 * 3_600_000;
  const coins = [{ coin: "BTC", chains: [{ chain: "BTC", rechargeable: "true", withdrawable: "false" }] }];
  const body = { code: "00000", requestTime: String(ms), data: coins };
  const { read } = await readingFrom(t, (_url, response) => json(response, body));
  const kind = "bitget-coins";
  t.match(await read({ kind }), paused, "a clock that is three hours behind is no problem");
  const listAt = new Date(ms);
  const minutesAgo = (minutes: number) => new Date(+at - minutes * 60_000);
  t.match(await read({ kind, listAt, listMovedAt: minutesAgo(5) }), paused);
  t.match(await read({ kind, listAt, listMovedAt: minutesAgo(15) }), {
    problem: /^expected a newer list than that of 2026-09-04T09:00:00.000Z/,
    list: null,
  });
  t.match(await read({ kind, listAt: minutesAgo(200), listMovedAt: minutesAgo(15) }), paused, "it moves");
});

void t.test("a list that has not changed is not sent again", async (t) => {
  const { server, read } = await readingFrom(t, (_url, response, request) => {
    response.setHeader("etag", '"a"');
    if (request.headers["if-none-match"] === '"a"') response.writeHead(304).end();
    else json(response, list);
  });
  t.match(await read(), paused);
  t.match(await read(), paused);
  t.equal(server.requests[1]!.headers["if-none-match"], '"a"');
  t.match(
    await read({ wanted: new Map([["eth", "ETH"]]) }),
    { problem: /at least one of the assets/ },
    "other assets are looked for in a list that is requested again",
  );
  t.equal(server.requests[2]!.headers["if-none-match"], undefined);
});
