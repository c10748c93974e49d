/** What venues say inside their answers: that they refuse our country, limit us, or do not trade. */
import { gzipSync } from "node:zlib";
import t from "tap";
import { makePauses } from "../../../../probe/measure/pauses.js";
import { compileAnswerCheck } from "../../../../probe/measure/rest/checks.js";
import type { Measurement } from "../../../../probe/measure/measurement.js";
import type { AnyOf, RestEndpoint } from "../../../../shared/registry/registry.js";
import { maxBodyBytes } from "../../../../shared/http/limits.js";
import { endpointAt, measured, openRest, serve } from "../../../support/measured-endpoint.js";

const kraken: Partial<RestEndpoint> = {
  proof: "$.result.status",
  limited: [
    [{ path: "$.error[0]", includes: "too many requests" }],
    [{ path: "$.error[0]", includes: "rate limit exceeded" }],
  ],
  halted: { path: "$.result.status", equals: ["maintenance", "cancel_only", "post_only"] },
};
const bybit: Partial<RestEndpoint> = {
  proof: { path: "$.retCode", equals: 0 },
  limited: [[{ path: "$.retCode", equals: 10006 }], [{ path: "$", includes: "access too frequent" }]],
};
const deribit: Partial<RestEndpoint> = { proof: "$.result", limited: { path: "$.error.code", equals: 10028 } };
const kucoin: Partial<RestEndpoint> = {
  proof: { path: "$.code", equals: "200000" },
  blocked: { path: "$.code", equals: "400302" },
  limited: { path: "$.msg", includes: "unavailable" },
  halted: [
    { path: "$.code", equals: "200000" },
    { path: "$.data.status", equals: ["close", "cancelonly"] },
  ],
};
const exmo: Partial<RestEndpoint> = {
  proof: "$.price",
  limited: { path: "$.error", includes: "rate limit is exceeded" },
};
const node: Partial<RestEndpoint> = { proof: "$.result", limited: { path: "$.error.code", equals: [-32005, 15] } };
const bitfinex: Partial<RestEndpoint> = { proof: { path: "$[0]", equals: 1 }, halted: { path: "$[0]", equals: 0 } };
const maintained: Partial<RestEndpoint> = { halted: { path: "$", includes: "under maintenance" } };

const json = (value: unknown) => JSON.stringify(value);

const answers: [
  what: string,
  of: Partial<RestEndpoint>,
  status: number,
  body: string,
  expected: Partial<Measurement>,
][] = [
  ["a limit under 200", kraken, 200, json({ error: ["EGeneral:Too many requests"] }), { fault: "limited" }],
  ["another of its words", kraken, 200, json({ error: ["EAPI:Rate limit exceeded"] }), { fault: "limited" }],
  [
    "a limit in a sentence",
    exmo,
    200,
    json({ result: false, error: "Error 40034: Access is denied, rate limit is exceeded" }),
    { fault: "limited" },
  ],
  ["a limit under 403, in a text", bybit, 403, "403, Access Too Frequent.", { fault: "limited" }],
  ["a limit under 403, in a page", bybit, 403, "<html>access too frequent</html>", { fault: "limited" }],
  ["a limit under 200, by a code", bybit, 200, json({ retCode: 10006 }), { fault: "limited" }],
  ["a limit under 400", deribit, 400, json({ error: { code: 10028, message: "x" } }), { fault: "limited" }],
  ["a limit of a node under 500", node, 500, json({ error: { code: 15 } }), { fault: "limited" }],
  ["a limit of a node under 402", node, 402, json({ error: { code: -32005 } }), { fault: "limited" }],
  ["a country block without the words", bybit, 403, "The country is blocked", { fault: "blocked" }],
  ["a country block under 200", kucoin, 200, json({ code: "400302" }), { fault: "blocked" }],
  ["a country block under 400", kucoin, 400, json({ code: "400302" }), { fault: "blocked", httpStatus: 400 }],
  ["the block before the limit", kucoin, 200, json({ code: "400302", msg: "Unavailable" }), { fault: "blocked" }],
  ["an error that is no limit", deribit, 400, json({ error: { code: 10001 } }), { fault: "http" }],
  ["an error of a node that is no limit", node, 200, json({ error: { code: -32000 } }), { fault: "body" }],
  [
    "a venue that says maintenance",
    kraken,
    200,
    json({ error: [], result: { status: "maintenance" } }),
    { fault: "halted" },
  ],
  ["one of several words", kraken, 200, json({ error: [], result: { status: "cancel_only" } }), { fault: "halted" }],
  ["another word", kraken, 200, json({ error: [], result: { status: "online" } }), { good: true }],
  [
    "the limit before the halt",
    kraken,
    200,
    json({ error: ["EAPI:Rate limit exceeded"], result: { status: "post_only" } }),
    { fault: "limited" },
  ],
  ["all of a list", kucoin, 200, json({ code: "200000", data: { status: "close" } }), { fault: "halted" }],
  ["a part of a list", kucoin, 200, json({ code: "400100", data: { status: "close" } }), { fault: "body" }],
  ["a number", bitfinex, 200, "[0]", { fault: "halted" }],
  ["a number that proves", bitfinex, 200, "[1]", { good: true }],
  ["neither", bitfinex, 200, "[2]", { fault: "body" }],
  ["a halt under 503, in a page", maintained, 503, "<h1>Under maintenance</h1>", { fault: "halted" }],
  ["a halt in a JSON text", maintained, 503, `"under MAINTENANCE"`, { fault: "halted" }],
  ["the words elsewhere in JSON", maintained, 503, json({ text: "under maintenance" }), { fault: "http" }],
  ["an empty body", maintained, 200, "", { fault: "body" }],
];

for (const [what, of, status, body, expected] of answers)
  void t.test(`${what}: ${expected.fault ?? "good"}`, async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(status).end(body));
    const sample = await measured(t, endpointAt(url, of));
    t.match(sample, { good: false, unserved: null, httpStatus: status, latencyUs: Number, ...expected });
    if (!sample.good) t.same([sample.head, sample.eventAgeMs], [null, null]);
  });

void t.test("words of a limit pause the origin as 429 does, with Retry-After and without", async (t) => {
  let headers = {};
  let body = json({ error: { code: 10028 } });
  const url = await serve(t, (_request, response) => response.writeHead(400, headers).end(body));
  let nowMs = 0;
  const rest = openRest(t, { pauses: makePauses(() => nowMs) });
  const [first, second] = ["/first", "/second"].map((path) => rest(endpointAt(new URL(path, url).href, deribit)));
  t.match(await first!(), { fault: "limited" });
  t.same(await second!(), { unmeasured: "paused" });
  nowMs += 30_000;
  headers = { "retry-after": "7" };
  t.match(await first!(), { fault: "limited", httpStatus: 400 });
  t.match(await second!(), { fault: "limited", unserved: true });
  nowMs += 7_000;
  body = json({ result: 1 });
  t.match(await second!(), { fault: "http" }, "asked again");
});

void t.test("we keep asking a halted venue, unless its status also limits us", async (t) => {
  let status = 503;
  const url = await serve(t, (_request, response) => response.writeHead(status).end("under maintenance"));
  const measure = openRest(t)(endpointAt(url, maintained));
  for (let slot = 0; slot < 5; slot += 1) t.match(await measure(), { fault: "halted", httpStatus: 503 });
  status = 429;
  t.match(await measure(), { fault: "halted", httpStatus: 429 });
  t.same(await measure(), { unmeasured: "paused" });
});

void t.test("an unreadable body says nothing, so its status counts", async (t) => {
  const words = { limited: { path: "$", includes: "slow" } } as const;
  const long = `slow ${" ".repeat(maxBodyBytes.measured)}`;
  for (const [status, headers, body, fault] of [
    [403, {}, long, "blocked"],
    [429, {}, long, "limited"],
    [500, {}, long, "http"],
    [200, {}, long, "body"],
    [403, { "content-encoding": "gzip" }, "slow", "blocked"],
    [403, { "content-encoding": "gzip" }, gzipSync(long), "blocked"],
    [403, { "content-encoding": "gzip" }, gzipSync("slow"), "limited"],
  ] as const) {
    const url = await serve(t, (_request, response) => response.writeHead(status, headers).end(body));
    t.match(
      await measured(t, endpointAt(url, words)),
      { fault },
      `${status} ${JSON.stringify(headers)} ${body.length}`,
    );
  }
});

void t.test("words may be a condition, all of a list, or one of several lists", (t) => {
  const [a, b, c] = ["a", "b", "c"].map((key) => ({ path: `$.${key}`, equals: 1 }));
  const forms: [words: AnyOf, holds: object[], fails: object[]][] = [
    [a!, [{ a: 1 }], [{ a: 2 }, {}]],
    [[a!, b!], [{ a: 1, b: 1 }], [{ a: 1 }, { b: 1 }]],
    [
      [[a!, b!], [c!]],
      [{ a: 1, b: 1 }, { c: 1 }],
      [{ a: 1 }, { b: 1 }],
    ],
    [[a!, { unless: "$.b" }], [{ a: 1 }], [{ a: 1, b: 0 }, {}]],
    [[{ path: "$.a", is: "list" }], [{ a: [] }], [{ a: {} }, {}]],
    [{ path: "$.a", includes: "Slow" }, [{ a: "too SLOW" }], [{ a: ["slow"] }, { a: 1 }, {}]],
  ];
  for (const [words, holds, fails] of forms)
    for (const [field, other] of [
      ["limited", "halted"],
      ["halted", "limited"],
    ] as const) {
      const check = compileAnswerCheck({ proof: "$", [field]: words, [other]: { path: "$.never" } });
      const saidBy = (answer: object) => check(Buffer.from(json(answer)), undefined);
      for (const answer of holds) t.match(saidBy(answer), { said: field, good: false }, json(answer));
      for (const answer of fails) t.match(saidBy(answer), { said: null, good: true }, json(answer));
    }
  t.end();
});
