import { connect } from "node:net";
import t from "tap";
import { type Api, serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured } from "../../support/fleet.js";

interface BadRequest {
  errors: { parameter: string; message: string }[];
}

/** Names of the parameters that a 400 rejects. */
async function refused(api: Api, path: string): Promise<string[]> {
  const { status, body } = await api.ask<BadRequest>(path);
  if (status !== 400) throw new Error(`${path}: expected 400, got ${status}`);
  return body.errors.map(({ parameter }) => parameter);
}

const never = [
  "",
  "%20",
  "%00",
  "%ff",
  "null",
  "undefined",
  "__proto__",
  "%F0%9F%92%A3",
  "x".repeat(3000),
  "'%20or%201=1--",
];
const noNumber = [
  ...never,
  "-1",
  "0",
  "1.5",
  "1e3",
  "0x10",
  "+5",
  "%2B5",
  "5%20",
  "1,2",
  "NaN",
  "Infinity",
  "9".repeat(30),
  "%D9%A5",
];
const bad: Record<string, [path: string, values: string[]]> = {
  category: ["/v1/status", [...never, "Exchange", "exchanges", "exchange,rpc"]],
  range: ["/v1/targets/okx", [...never, "1h", "24H", "24h%00"]],
  region: ["/v1/exchanges/okx", [...never, "EU-central", "mars"]],
  venue: ["/v1/incidents", [...never, "mtgox", "OKX"]],
  status: ["/v1/incidents", [...never, "closing", "OPEN"]],
  days: ["/v1/incidents", [...noNumber, "366"]],
  limit: ["/v1/incidents", [...noNumber, "201"]],
  before: [
    "/v1/incidents",
    [
      ...noNumber,
      "yesterday",
      "1700000000",
      "2026-01-31",
      "2026-01-31T12:00:00",
      "2026-01-31T12:00:00%2B02:00",
      "2026-02-30T00:00:00Z",
      "2026-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-01-31T24:00:00Z",
      "2026-01-31T12:60:00Z",
      "2026-01-31T12:00:60Z",
      "2026-01-31T12:00:00.1234567Z",
      "0000-01-01T00:00:00Z",
      "-0001-01-01T00:00:00Z",
      "+12026-01-01T00:00:00Z",
      "infinity",
      "2026-01-31T12:00:00Z%00",
      "2026-01-31t12:00:00z",
    ],
  ],
};

void t.test("requests are validated", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  await measured(pool, { from: ago(90), to: ago(0) });
  await decide(pool);

  await t.test("an invalid value is 400, and its parameter is named", async (t) => {
    for (const [name, [path, values]] of Object.entries(bad))
      for (const value of values)
        t.strictSame(await refused(api, `${path}?${name}=${value}`), [name], `${path}?${name}=${value.slice(0, 40)}`);
    t.strictSame(await refused(api, "/v1/incidents?before=2026-01-31T12:00:00Z&beforeId=9007199254740993"), [
      "beforeId",
    ]);
    t.strictSame(await refused(api, "/v1/incidents?beforeId=5"), ["beforeId"]);
  });

  await t.test("a repeated or structured parameter is 400", async (t) => {
    for (const [name, [path]] of Object.entries(bad))
      for (const query of [
        `${name}=1&${name}=2`,
        `${name}[]=1`,
        `${name}[a]=1`,
        `${name}%5B%5D=1`,
        `${name}[`,
        `x=1&${name}[0][b]=1`,
      ])
        t.strictSame(await refused(api, `${path}?${query}`), [name], query);
    t.strictSame(
      await refused(api, "/v1/status?category=rpc&category=rpc"),
      ["category"],
      "even if both values are the same",
    );
  });

  await t.test("all invalid parameters are named together, with the expected and the actual value", async (t) => {
    const { body } = await api.ask<BadRequest>(
      "/v1/incidents?venue=mtgox&category=x&status=&days=366&limit[]=3&before=now&beforeId=-1",
    );
    t.strictSame(
      body.errors.map(({ parameter }) => parameter),
      ["venue", "category", "status", "days", "limit", "before", "beforeId"],
    );
    t.match(
      body.errors.find(({ parameter }) => parameter === "days")!.message,
      'expected an integer from 1 to 365; got "366"',
    );
    t.match(
      body.errors.find(({ parameter }) => parameter === "status")!.message,
      "expected one of open, closed, all; got an empty value",
    );
  });

  await t.test("values are accepted up to their limits", async (t) => {
    const good = [
      ...["1", "365", "007"].map((days) => `/v1/incidents?days=${days}`),
      ...["1", "200"].map((limit) => `/v1/incidents?limit=${limit}`),
      "/v1/incidents?before=2026-01-31T12:00:00Z",
      "/v1/incidents?before=2024-02-29T23:59:59.123456Z",
      "/v1/incidents?before=2026-01-31T12:00:00%2B00:00",
      "/v1/incidents?before=9999-12-31T23:59:59Z",
      "/v1/incidents?before=0001-01-01T00:00:00Z",
      `/v1/incidents?before=2026-01-31T12:00:00Z&beforeId=${Number.MAX_SAFE_INTEGER}`,
      "/v1/status?%63ategory=rp%63",
    ];
    for (const path of good) t.equal((await api.ask(path)).status, 200, path);
  });

  await t.test("an unknown parameter is ignored", async (t) => {
    const { text } = await api.ask("/v1/status");
    for (const query of ["foo=1", "foo[]=1", "Category=nope", "__proto__=1", "&&=", "%ff=%ff", "?"])
      t.equal((await api.ask(`/v1/status?${query}`)).text, text, query);
  });

  await t.test("an unknown path is 404, and an invalid one 400", async (t) => {
    const paths: Record<string, number> = {
      "/": 404,
      "//": 404,
      "/v1": 404,
      "/v1/nothing": 404,
      "/v2/status": 404,
      "/v1/targets": 404,
      "/v1/targets/mtgox": 404,
      "/v1/targets/mtgox?range=nope": 404,
      "/v1/targets/OKX": 404,
      "/v1/targets/okx/more": 404,
      "/v1/targets/__proto__": 404,
      "/v1/targets/okx%00": 404,
      "/v1/targets/okx%2f..": 404,
      "/v1/targets/../../etc/passwd": 404,
      "/v1/targets/%F0%9F%92%A3": 404,
      "/v1/targets/%ff": 400,
      "/v1/targets/%": 400,
      "/v1/incidents/%ff": 400,
      "/v1/incidents/%00": 404,
      [`/v1/targets/${"x".repeat(10_000)}`]: 404,
      [`/v1/targets/${"x".repeat(20_000)}`]: 431,
      [`/v1/status?${"x".repeat(20_000)}`]: 431,
    };
    for (const [path, status] of Object.entries(paths))
      t.equal((await api.ask(path)).status, status, path.slice(0, 60));
  });

  await t.test("only read methods are allowed", async (t) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]) {
      const { status, headers } = await api.ask("/v1/status", { method });
      t.equal(status, 405, method);
      t.equal(headers.allow, "GET, HEAD, OPTIONS");
    }
    for (const path of ["/v1/status", "/v1/targets/okx", "/healthz"]) {
      const got = await api.ask(path);
      const head = await api.ask(path, { method: "HEAD" });
      t.equal(head.status, 200, path);
      if (path !== "/healthz") t.equal(head.headers.etag, got.headers.etag);
    }
    t.equal((await api.ask("/v1/none", { method: "HEAD" })).status, 404);
  });

  await t.test("any page may read: CORS, with preflight requests", async (t) => {
    const asked = await api.ask("/v1/status", {
      method: "OPTIONS",
      headers: {
        origin: "https://example.org",
        "access-control-request-method": "GET",
        "access-control-request-headers": "if-none-match",
      },
    });
    t.equal(asked.status, 204);
    t.match(asked.headers, {
      allow: "GET, HEAD, OPTIONS",
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": "*",
    });
    for (const path of ["/v1/status", "/v1/none", "/v1/status?category=x"]) {
      const { headers } = await api.ask(path);
      t.equal(headers["access-control-allow-origin"], "*", path);
      t.match(headers["access-control-expose-headers"], "ETag");
      t.equal(headers["x-content-type-options"], "nosniff");
      t.notOk(headers["x-powered-by"]);
    }
  });

  await t.test("every response has the headers of an open API", async (t) => {
    for (const path of [
      "/v1/status",
      "/v1/incidents?format=csv",
      "/v1/none",
      "/v1/status?category=x",
      "/v1/targets/%ff",
      "/healthz",
    ])
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
        const { headers } = await api.ask(path, { method });
        t.match(
          headers,
          {
            "access-control-allow-origin": "*",
            "content-security-policy": "default-src 'none'",
            "cross-origin-resource-policy": "cross-origin",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
          },
          `${method} ${path.slice(0, 30)}`,
        );
      }
  });

  await t.test("an absolute URL is accepted, as by a proxy", async (t) => {
    const { text } = await api.ask("/v1/status");
    const whole = await rawAnswer(
      api.port,
      "GET http://other.example/v1/status?category=exchange HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    t.ok(whole.endsWith(text), "the same response: all venues are exchanges");
  });

  await t.test("invalid HTTP gets an error status", async (t) => {
    for (const [sent, status] of [
      ["nonsense\r\n\r\n", 400],
      ["GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
      ["GET /v1/status HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", 400],
      ["GET /healthz HTTP/1.1\r\nHost: x\r\nHOST: x\r\n\r\n", 400],
      ["GET /v1/status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 400],
      ["GET /healthz\r\n\r\n", 400],
      ["GET /v1/sta tus HTTP/1.1\r\nHost: x\r\n\r\n", 400],
      ["POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400],
      ["CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
      ["BREW /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", 400],
      ["GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n", 417],
    ] as const) {
      const answer = await rawAnswer(api.port, sent);
      t.ok(answer.startsWith(`HTTP/1.1 ${status} `), JSON.stringify(sent));
    }
  });

  t.strictSame(api.logged, [], "no invalid request is logged");
});

function rawAnswer(port: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(sent));
    socket.on("data", (piece) => (text += piece.toString()));
    socket.on("close", () => resolve(text)).on("error", reject);
  });
}
