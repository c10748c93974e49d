/** Reads of the TypeScript client, even from hostile servers, and its size. */
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import t from "tap";
import ts from "typescript";
import { Venuewatch, VenuewatchError } from "@venuewatch/client";
import { packagedFile } from "../../../shared/config/package.js";
import { jsonLimits, maxBodyBytes, maxChunks } from "../../../shared/http/limits.js";
import { type FeedAnswer, serve } from "../../support/feed-server.js";

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): FeedAnswer =>
  (_url, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

void t.test("paths and parameters are those of the API", async (t) => {
  const { origin, requests } = await serve(t, answering(200, "{}"));
  const client = new Venuewatch({ url: `${origin}/behind/a/path/?x=1` });
  await client.state("a/b?");
  await client.incidents({ venue: "okx", beforeId: 7 });
  await client.status();
  await client.venue("okx", { range: "7d" });
  await client.incident("okx-1");
  await client.reliability({ days: 30 });
  await client.regions();
  t.strictSame(
    requests.map(({ url }) => url),
    [
      "/behind/a/path/v1/targets/a%2Fb%3F/state",
      "/behind/a/path/v1/incidents?venue=okx&beforeId=7",
      "/behind/a/path/v1/status",
      "/behind/a/path/v1/targets/okx?range=7d",
      "/behind/a/path/v1/incidents/okx-1",
      "/behind/a/path/v1/reliability?days=30",
      "/behind/a/path/v1/regions",
    ],
  );
});

void t.test("what is not said to be open cannot be withdrawn", async (t) => {
  const line = (network: string | null, state: string) => ({
    ...{ network, venueNetwork: network && network.toUpperCase(), withdrawal: { state }, deposit: { state: "open" } },
  });
  const body = (stale: boolean, ...transfers: object[]) => JSON.stringify({ stale, transfers });
  for (const [answer, network, expected] of [
    [body(false, line("tron", "paused"), line("ethereum", "open")), undefined, true],
    [body(false, line("tron", "paused"), line("ethereum", "open")), "tron", false],
    [body(false, line("tron", "paused"), line("ethereum", "open")), "ETHEREUM", true],
    [body(false, line("tron", "paused"), line("ethereum", "unknown")), undefined, "unknown"],
    [body(false, line("tron", "paused")), undefined, false],
    [body(false, line("tron", "open")), "solana", "unknown"],
    [body(false, line(null, "open")), undefined, true],
    [body(false, line(null, "open")), "solana", "unknown"],
    [body(false, line(null, "paused")), "solana", false],
    [body(false), undefined, "unknown"],
    [body(true, line("tron", "open")), undefined, "unknown"],
  ] as const) {
    const { origin, requests } = await serve(t, answering(200, answer));
    const client = new Venuewatch({ url: origin });
    t.equal(await client.canWithdraw("kraken", "usdt", network), expected, answer);
    t.equal(requests[0]!.url, "/v1/transfers?venue=kraken&asset=USDT");
  }
  const { origin } = await serve(t, answering(200, body(false, line("tron", "paused"))));
  t.equal(await new Venuewatch({ url: origin }).canDeposit("kraken", "USDT"), true);
});

void t.test("an error says what came, and what to do", async (t) => {
  const problem = { detail: "Invalid parameter: days.", errors: [{ parameter: "days", message: "expected 1" }] };
  for (const [answer, expected] of [
    [
      answering(400, JSON.stringify(problem), { "content-type": "application/problem+json" }),
      { status: 400, problem, message: /v1\/status: 400, Invalid parameter: days\. days: expected 1\.$/ },
    ],
    [answering(429, "<h1>Slow down</h1>", { "retry-after": "7" }), { status: 429, problem: null, retryAfterMs: 7_000 }],
    [answering(503, "", { "retry-after": "99999999999" }), { retryAfterMs: 600_000 }],
    [answering(503, "", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }), { retryAfterMs: null }],
    [answering(503, "", { "retry-after": "soon" }), { retryAfterMs: null }],
    [
      answering(200, "<h1>", { "content-type": "text/html" }),
      { message: /expected application\/json, got text\/html/ },
    ],
    [answering(302, "", { location: "http://login.example.org/" }), { message: /a redirect to http:\/\/login/ }],
    ...['{"detail":"x","errors":"no list"}', '{"detail":"x","errors":[null,5]}', "[null]"].map(
      (body) => [answering(404, body), { status: 404, problem: null }] as const,
    ),
    [answering(200, "[".repeat(100_000)), { message: /JSON of at most 64 levels/ }],
    [answering(200, `["${"[".repeat(100)}"`), { message: /JSON/ }],
    [answering(200, "{"), { status: null, message: /JSON/ }],
    [answering(200, " ".repeat(2_000_000)), { message: /at most 1000000 bytes/ }],
    [((_url, response) => response.destroy()) as FeedAnswer, { status: null, message: /fetch failed: / }],
    [((_url, response) => void response.writeHead(200).write("{")) as FeedAnswer, { message: /got no type/ }],
  ] as const) {
    const { origin } = await serve(t, answer);
    const client = new Venuewatch({ url: origin, maxBytes: 1_000_000 });
    const error: unknown = await client.status().catch((error: unknown) => error);
    t.ok(error instanceof VenuewatchError);
    t.match(error, expected);
  }
});

void t.test("the client has the same limits as every other reader of a service", async (t) => {
  const { parts, levels } = jsonLimits.service;
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  for (const [what, largest, larger] of [
    ["bytes", ["{}".padEnd(maxBodyBytes.service)], ["{}".padEnd(maxBodyBytes.service + 1)]],
    ["pieces", ["{}", ...Array<string>(maxChunks - 1).fill(" ")], ["{}", ...Array<string>(maxChunks).fill(" ")]],
    ["brackets", [`[${"1,".repeat(parts - 1)}1]`], [`[${"1,".repeat(parts)}1]`]],
    ["levels", [nested(levels)], [nested(levels + 1)]],
  ] as const) {
    t.ok(await clientOf(largest).status(), what);
    await t.rejects(clientOf(larger).status(), { message: new RegExp(`at most \\d+.*${what}`) });
  }

  function clientOf(pieces: readonly string[]): Venuewatch {
    const fetch = () => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "application/json" } }));
    };
    return new Venuewatch({ url: "https://status.example.org", fetch });
  }
});

void t.test("an answer that drips is cut off", async (t) => {
  const { origin } = await serve(t, (_url, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const dripping = setInterval(() => response.write(" "), 20);
    response.once("close", () => clearInterval(dripping));
  });
  const client = new Venuewatch({ url: origin, timeoutMs: 200 });
  await t.rejects(client.status(), { message: /no whole answer within 200 ms/ });
});

void t.test("addresses are checked", (t) => {
  for (const url of ["status.example.org", "ftp://status.example.org", "https://"])
    t.throws(() => new Venuewatch({ url }), TypeError, url);
  t.end();
});

void t.test("the client is small", (t) => {
  const folder = packagedFile("clients/typescript/src");
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, removeComments: true };
  const code = readdirSync(folder)
    .map(
      (name) => ts.transpileModule(readFileSync(`${folder}/${name}`, "utf8"), { compilerOptions: options }).outputText,
    )
    .join("")
    .replaceAll(/^ +/gm, "");
  const bytes = gzipSync(code, { level: 9 }).length;
  t.comment(`${bytes} bytes compressed, without comments and indentation`);
  // names are not shortened here: a minifier saves another fifth, down to less than 7 kB
  t.ok(bytes < 8_700, `${bytes} bytes`);
  t.end();
});
