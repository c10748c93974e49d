import { connect } from "node:net";
import t from "tap";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";

interface BadRequest {
  errors: { parameter: string; message: string }[];
}

/** Names of the parameters that a 400 rejects. */
async function refused(api: Api, path: string): Promise<string[]> {
  const { status, body } = await api.ask<BadRequest>(path);
  if (status !== 400) throw new Error(`${path}: expected 400, got ${status}`);
  return body.errors.map(({ parameter }) => parameter);
}

const words = (text: string) => text.split(" ");
const never = ["", ...words("%20 %00 %ff null undefined __proto__ %F0%9F%92%A3 '%20or%201=1--"), "x".repeat(3000)];
const numerals = words("-1 0 1.5 1e3 0x10 +5 %2B5 5%20 1,2 NaN Infinity %D9%A5");
const noNumber = [...never, ...numerals, "9".repeat(30)];
const noInstant = [
  ...words("yesterday infinity 1700000000 2026-01-31 2026-01-31T12:00:00 2026-01-31T12:00:00%2B02:00"),
  ...words("2026-02-30T00:00:00Z 2026-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-01-31T24:00:00Z"),
  ...words("2026-01-31T12:60:00Z 2026-01-31T12:00:60Z 2026-01-31T12:00:00.1234567Z 0000-01-01T00:00:00Z"),
  ...words("-0001-01-01T00:00:00Z +12026-01-01T00:00:00Z 2026-01-31T12:00:00Z%00 2026-01-31t12:00:00z"),
];
const bad: Record<string, [path: string, values: string[]]> = {
  category: ["/v1/status", [...never, "Exchange", "exchanges", "exchange,rpc"]],
  range: ["/v1/targets/okx", [...never, "1h", "24H", "24h%00"]],
  region: ["/v1/exchanges/okx", [...never, "EU-central", "mars"]],
  venue: ["/v1/incidents", [...never, "mtgox", "OKX"]],
  format: ["/v1/reliability", [...never, "xls", "CSV", "xlsx%20"]],
  decimal: ["/v1/reliability.csv", [...never, ",", "Comma", "semicolon"]],
  status: ["/v1/incidents", [...never, "closing", "OPEN"]],
  days: ["/v1/incidents", [...noNumber, "366"]],
  limit: ["/v1/incidents", [...noNumber, "201"]],
  before: ["/v1/incidents", [...noNumber, ...noInstant]],
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
    for (const query of ["before=2026-01-31T12:00:00Z&beforeId=9007199254740993", "beforeId=5"])
      for (const place of ["/v1/incidents", "/v1/incidents.csv", "/v1/incidents.xlsx"])
        t.strictSame(await refused(api, `${place}?${query}`), ["beforeId"], query);
  });

  await t.test("a repeated or structured parameter is 400", async (t) => {
    for (const [name, [path]] of Object.entries(bad)) {
      const structured = ["[]=1", "[a]=1", "%5B%5D=1", "["].map((end) => `${name}${end}`);
      for (const query of [`${name}=1&${name}=2`, ...structured, `x=1&${name}[0][b]=1`])
        t.strictSame(await refused(api, `${path}?${query}`), [name], query);
    }
    const repeated = await refused(api, "/v1/status?category=rpc&category=rpc");
    t.strictSame(repeated, ["category"], "even if both values are the same");
  });

  await t.test("all invalid parameters are named together, with the expected and the actual value", async (t) => {
    const { body } = await api.ask<BadRequest>(
      "/v1/incidents?venue=mtgox&category=x&status=&days=366&limit[]=3&before=now&beforeId=-1",
    );
    const names = body.errors.map(({ parameter }) => parameter);
    t.strictSame(names, ["venue", "category", "status", "days", "limit", "before", "beforeId"]);
    t.match(body.errors[2]!.message, "expected one of open, closed, all; got an empty value");
    t.match(body.errors[3]!.message, 'expected an integer from 1 to 365; got "366"');
  });

  await t.test("a decimal comma is refused where there is no CSV", async (t) => {
    for (const path of ["/v1/reliability", "/v1/incidents", "/v1/targets/okx", "/v1/exchanges/okx"])
      for (const format of ["json", "xlsx"]) {
        const { status, body } = await api.ask<BadRequest>(`${path}?format=${format}&decimal=comma`);
        const message = `expected comma only together with format=csv; got format=${format}`;
        t.strictSame({ status, errors: body.errors }, { status: 400, errors: [{ parameter: "decimal", message }] });
        t.equal((await api.ask(`${path}?format=${format}&decimal=point`)).status, 200);
      }
    t.strictSame(await refused(api, "/v1/incidents?beforeId=5&decimal=comma"), ["beforeId", "decimal"]);
    const { body } = await api.ask<BadRequest>("/v1/reliability?format=xls&decimal=,");
    t.match(
      body.errors.map(({ message }) => message),
      ['expected one of json, csv, xlsx; got "xls"', 'expected one of point, comma; got ","'],
    );
  });

  await t.test("values are accepted up to their limits", async (t) => {
    const numbers = ["days=1", "days=365", "days=007", "limit=1", "limit=200"];
    const instants = [
      ...words("2026-01-31T12:00:00Z 2024-02-29T23:59:59.123456Z 2026-01-31T12:00:00%2B00:00"),
      ...words("9999-12-31T23:59:59Z 0001-01-01T00:00:00Z"),
      `2026-01-31T12:00:00Z&beforeId=${Number.MAX_SAFE_INTEGER}`,
    ];
    const queries = [...numbers, ...instants.map((instant) => `before=${instant}`)];
    for (const path of [...queries.map((query) => `/v1/incidents?${query}`), "/v1/status?%63ategory=rp%63"])
      t.equal((await api.ask(path)).status, 200, path);
  });

  await t.test("an unknown parameter is ignored", async (t) => {
    const { text } = await api.ask("/v1/status");
    for (const query of ["foo=1", "foo[]=1", "Category=nope", "__proto__=1", "&&=", "%ff=%ff", "?"])
      t.equal((await api.ask(`/v1/status?${query}`)).text, text, query);
  });

  await t.test("an unknown path is 404, and an invalid one 400", async (t) => {
    const long = "x".repeat(20_000);
    const paths = {
      404: [
        ...words("/board /v1 /v1/nothing /v2/status /v1/targets /v1/targets/mtgox /v1/targets/mtgox?range=nope"),
        ...words("/v1/targets/OKX /v1/targets/okx/more /v1/targets/__proto__ /v1/targets/okx%00 /v1/targets/okx%2f.."),
        ...words("/v1/targets/../../etc/passwd /v1/targets/%F0%9F%92%A3 /v1/incidents/%00"),
        `/v1/targets/${"x".repeat(10_000)}`,
      ],
      400: ["/v1/targets/%ff", "/v1/targets/%", "/v1/incidents/%ff"],
      431: [`/v1/targets/${long}`, `/v1/status?${long}`],
    };
    for (const [status, all] of Object.entries(paths))
      for (const path of all) t.equal((await api.ask(path)).status, Number(status), path.slice(0, 60));
  });

  await t.test("an unknown venue is answered with the one that is probably meant", async (t) => {
    const meant = {
      ...{ OKX: "okx", Kraken: "kraken", "coinbase-exchange": "coinbase", okex: "okx", bitstanp: "bitstamp" },
      // ids of ccxt
      ...{ krakenfutures: "kraken-futures", kucoinfutures: "kucoin-futures", gateio: "gate" },
      ...{ binanceusdm: "binance-futures", coinbaseexchange: "coinbase" },
      // within the word, else the shortest name that has it
      ...{ "binance-us": "binance", "binance-futures-usdm": "binance-futures", coinb: "coinbase", deribi: "deribit" },
    };
    for (const [asked, id] of Object.entries(meant))
      for (const path of ["/v1/targets/*", "/v1/exchanges/*/state", "/feeds/*/incidents.atom", "/badges/*.json"]) {
        const { body } = await api.ask(path.replace("*", asked));
        t.match(body, { status: 404, detail: `Unknown venue "${asked}". Did you mean ${id}? ` }, path);
      }
    for (const path of ["/is-bitstanp-down", "/venues/bitstanp", "/embed/bitstanp"])
      t.match((await api.ask(path)).body, { detail: /Did you mean bitstamp\?/ }, path);
    for (const asked of ["mtgox", "usd", "swap", "fut", "%F0%9F%92%A3", "x".repeat(500)])
      t.notMatch((await api.ask(`/v1/targets/${asked}`)).text, "Did you mean", asked);
    const { venues } = (await api.ask<{ venues: { id: string; ccxtId: string | null }[] }>("/v1/status")).body;
    const ids = Object.fromEntries(venues.map(({ id, ccxtId }) => [id, ccxtId]));
    t.match(ids, { coinbase: "coinbaseexchange", "binance-futures": "binanceusdm", okx: "okx" });
  });

  await t.test("only read methods are allowed", async (t) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]) {
      const answer = await api.ask("/v1/status", { method });
      t.match(answer, { status: 405, headers: { allow: /^GET, HEAD, OPTIONS$/ } }, method);
    }
    t.equal((await api.ask("/healthz", { method: "HEAD" })).status, 200);
    t.equal((await api.ask("/v1/none", { method: "HEAD" })).status, 404);
  });

  await t.test("any page may read: CORS, with preflight requests", async (t) => {
    const headers = {
      origin: "https://example.org",
      "access-control-request-method": "GET",
      "access-control-request-headers": "if-none-match",
    };
    const preflight = await api.ask("/v1/status", { method: "OPTIONS", headers });
    t.equal(preflight.status, 204);
    t.match(preflight.headers, {
      allow: "GET, HEAD, OPTIONS",
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": "*",
    });
  });

  await t.test("every response has the headers of an open API", async (t) => {
    const open = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag",
      "content-security-policy": "default-src 'none'",
      "cross-origin-resource-policy": "cross-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    };
    const failing = ["/v1/none", "/v1/status?category=x", "/v1/targets/%ff"];
    for (const path of ["/v1/status", "/v1/incidents?format=csv", ...failing, "/healthz"])
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
        const { headers } = await api.ask(path, { method });
        t.match(headers, open, `${method} ${path}`);
        t.notOk(headers["x-powered-by"]);
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
      t.match(await rawAnswer(api.port, sent), new RegExp(`^HTTP/1.1 ${status} `), JSON.stringify(sent));
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
