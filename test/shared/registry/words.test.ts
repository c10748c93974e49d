/** What the registry reads in answers and frames: a block, a limit, a halt, or none. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { compileAnswerCheck, compileAnyOf } from "../../../probe/measure/rest/checks.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { RestEndpoint } from "../../../shared/registry/registry.js";
import { makeMarket } from "../../../world/market.js";
import { playerOf } from "../../../world/players.js";
import { bodyOf } from "../../../world/venues/any.js";

const { venues } = await loadRegistry(packagedFile("registry/all.json"));
const folder = fileURLToPath(new URL("../../../../../shared/recordings/", import.meta.url));
const skip = existsSync(folder) ? false : `there are no recordings in ${folder}`;

type Meaning = "blocked" | "limited" | "halted" | "good" | "bad";

/** The meaning of an answer of the expected status; a text is a body that is not JSON. */
function meaningOf(endpoint: RestEndpoint, body: unknown): Meaning {
  if (compileAnyOf(endpoint.blocked)(body)) return "blocked";
  if (compileAnyOf(endpoint.limited)(body)) return "limited";
  if (compileAnyOf(endpoint.halted)(body)) return "halted";
  return compileAnswerCheck(endpoint)(Buffer.from(JSON.stringify(body)), undefined).good ? "good" : "bad";
}

function endpointOf(component: string): RestEndpoint {
  const [venue, name] = component.split(" rest:");
  return venues.find(({ id }) => id === venue)!.rest.find((one) => one.name === name)!;
}

/** From the venues' documentation, the recordings, and the error tables of ccxt 4.5.90. */
const answers: [component: string, body: unknown, meaning: Meaning][] = [
  [
    "binance rest:ticker",
    { code: -1003, msg: "Too much request weight used; IP banned until 1790000000000." },
    "limited",
  ],
  ["binance rest:ticker", { code: -1121, msg: "Invalid symbol." }, "bad"],
  ["binance-futures rest:trades", { code: -1003, msg: "Too many requests queued." }, "limited"],
  ["coinbase rest:time", { message: "Public rate limit exceeded" }, "limited"],
  ["coinbase rest:book", { message: "System is under maintenance." }, "halted"],
  ["coinbase rest:book", { message: "Internal server error" }, "bad"],
  ["kraken rest:ticker", { error: ["EGeneral:Too many requests"] }, "limited"],
  ["kraken rest:book", { error: ["EAPI:Rate limit exceeded"] }, "limited"],
  ["kraken rest:time", { error: ["EService: Throttled: 1790000000"] }, "limited"],
  ["kraken rest:time", { error: ["EService:Unavailable"] }, "bad"],
  ...["maintenance", "cancel_only", "post_only"].map((status): [string, unknown, Meaning] => [
    "kraken rest:status",
    { error: [], result: { status, timestamp: "2026-11-28T00:00:00Z" } },
    "halted",
  ]),
  ["kraken rest:status", { error: [], result: { status: "online", timestamp: "2026-11-28T00:00:00Z" } }, "good"],
  ["okx rest:book", { code: "50011", data: [], msg: "Requests too frequent." }, "limited"],
  ["okx rest:book", { code: "50001", data: [], msg: "Service temporarily unavailable. Try again later." }, "bad"],
  ["bybit rest:ticker", { retCode: 10006, retMsg: "Too many visits!", result: {} }, "limited"],
  ["bybit rest:ticker", "403, access too frequent", "limited"],
  ["bybit rest:ticker", "The Amazon CloudFront distribution is configured to block access from your country.", "bad"],
  ["kucoin rest:trades", { code: "429000", msg: "Too many requests" }, "limited"],
  ["kucoin rest:trades", { code: "400302", msg: "Our services are currently unavailable in the U.S." }, "blocked"],
  ["kucoin-futures rest:ticker", { code: "400302", msg: "Our services are currently unavailable." }, "blocked"],
  ["kucoin rest:status", { code: "200000", data: { status: "close", msg: "upgrade match engine" } }, "halted"],
  ["kucoin-futures rest:status", { code: "200000", data: { status: "cancelonly", msg: "" } }, "halted"],
  ["kucoin-futures rest:status", { code: "200000", data: { status: "open", msg: "" } }, "good"],
  ["gate rest:time", { label: "TOO_MANY_REQUESTS", message: "Request Rate limit Exceeded" }, "limited"],
  ["gate rest:time", { label: "SERVER_ERROR", message: "Internal server error" }, "bad"],
  ["bitget rest:time", { code: "429", msg: "Too Many Requests", requestTime: 1, data: null }, "limited"],
  ["bitget rest:book", { code: "40200", msg: "Server upgrade, please try again later", data: null }, "halted"],
  ["bitget rest:book", { code: "40725", msg: "service return an error", data: null }, "bad"],
  ["bitfinex rest:ticker", ["error", 11010, "ratelimit: error"], "limited"],
  ["bitfinex rest:ticker", { error: "ERR_RATE_LIMIT" }, "limited"],
  ["bitfinex rest:book", ["error", 20060, "maintenance"], "halted"],
  ["bitfinex rest:status", [0], "halted"],
  ["bitfinex rest:status", [1], "good"],
  ["bitfinex rest:status", ["error", 10020, "symbol: invalid"], "bad"],
  ["bitstamp rest:ticker", { status: "error", reason: "Request rate limit exceeded", code: "400.002" }, "limited"],
  ["bitstamp rest:fx", { error: "Bitstamp.net is under scheduled maintenance. We'll be back soon." }, "halted"],
  [
    "gemini rest:book",
    { result: "error", reason: "RateLimit", message: "Requests were made too frequently" },
    "limited",
  ],
  [
    "gemini rest:stats",
    { result: "error", reason: "Maintenance", message: "The system is down for maintenance" },
    "halted",
  ],
  ["gemini rest:stats", { result: "error", reason: "System", message: "We are experiencing technical issues" }, "bad"],
  ["deribit rest:time", { jsonrpc: "2.0", error: { code: 10028, message: "too_many_requests" } }, "limited"],
  ["deribit rest:trades", { jsonrpc: "2.0", error: { code: 11051, message: "system_maintenance" } }, "halted"],
  ["deribit rest:status", { jsonrpc: "2.0", result: { locked: "true", locked_indices: ["btc_usd"] } }, "halted"],
  ["deribit rest:status", { jsonrpc: "2.0", result: { locked: "partial", locked_indices: ["sol_usdc"] } }, "good"],
  ["deribit rest:status", { jsonrpc: "2.0", result: { locked: false, locked_indices: [] } }, "good"],
  ["deribit rest:ticker", { jsonrpc: "2.0", result: { state: "closed", last_price: 64000, timestamp: 1 } }, "halted"],
  ["kraken-futures rest:book", { result: "error", error: "apiLimitExceeded" }, "limited"],
  [
    "kraken-futures rest:ticker",
    { result: "success", ticker: { last: 1, suspended: true, postOnly: false } },
    "halted",
  ],
  [
    "kraken-futures rest:ticker",
    { result: "success", ticker: { last: 1, suspended: false, postOnly: true } },
    "halted",
  ],
  ["drpc rest:block", { error: { code: 15, message: "You reached Public endpoint rate limit" }, id: 1 }, "limited"],
  ["drpc rest:block", { error: { code: 19, message: "Temporary internal error" }, id: 1 }, "bad"],
  ["publicnode rest:head", { error: { code: -32005, message: "request limit exceeded" }, id: 1 }, "limited"],
  ["publicnode rest:head", { error: { code: -32016, message: "over rate limit" }, id: 1 }, "limited"],
  ["chainlink rest:reference", { error: { code: 429, message: "Too Many Requests" }, id: 1 }, "limited"],
  ["chainlink rest:round", { error: { code: -32603, message: "Internal error" }, id: 1 }, "bad"],
  [
    "solana rest:slot",
    { error: { code: 429, message: "Too many requests for a specific RPC call" }, id: 1 },
    "limited",
  ],
  ["solana rest:health", { error: { code: -32005, message: "Node is behind by 42 slots" }, id: 1 }, "bad"],
];

for (const [component, body, meaning] of answers)
  void t.test(`${component} ${JSON.stringify(body).slice(0, 60)} is ${meaning}`, (t) => {
    t.equal(meaningOf(endpointOf(component), body), meaning);
    t.end();
  });

const frames: [venue: string, word: "limited" | "halted", frame: unknown, means: boolean][] = [
  [
    "kraken",
    "halted",
    { channel: "status", type: "update", data: [{ system: "maintenance", api_version: "v2" }] },
    true,
  ],
  ["kraken", "halted", { channel: "status", type: "update", data: [{ system: "online", api_version: "v2" }] }, false],
  ["kraken", "limited", { method: "subscribe", success: false, error: "EAPI:Rate limit exceeded" }, true],
  ["bitfinex", "halted", { event: "info", code: 20060, msg: "Entering in Maintenance mode" }, true],
  ["bitfinex", "halted", { event: "info", code: 20061, msg: "Maintenance ended" }, false],
  ["bitfinex", "halted", { event: "info", version: 2, platform: { status: 1 } }, false],
  ["okx", "limited", { event: "error", code: "60014", msg: "Requests too frequent." }, true],
  ["okx", "limited", { event: "error", code: "60012", msg: "Illegal request" }, false],
  ["bitget", "limited", { event: "error", code: 30006, msg: "too many requests" }, true],
  ["usdt", "limited", { id: 1, error: { code: 15, message: "You reached Public endpoint rate limit" } }, true],
  ["usdt", "limited", { id: 1, result: "0x1" }, false],
];

for (const [venue, word, frame, means] of frames)
  void t.test(`${venue}: ${JSON.stringify(frame).slice(0, 60)} is ${means ? "" : "not "}${word}`, (t) => {
    const socket = venues.find(({ id }) => id === venue)!.socket!;
    t.equal(compileAnyOf(socket[word])(frame), means);
    t.end();
  });

void t.test("no usual answer of a simulated venue is blocked, limited or halted", (t) => {
  const tick = makeMarket(() => new Date()).tick();
  for (const venue of venues)
    for (const endpoint of venue.rest) {
      const make = playerOf(venue).rest[endpoint.name];
      t.equal(
        meaningOf(endpoint, make ? make(tick) : bodyOf(endpoint, tick, 1)),
        "good",
        `${venue.id} ${endpoint.name}`,
      );
    }
  t.end();
});

void t.test("recorded answers have the meaning that was recorded", { skip }, (t) => {
  type Recorded = Record<"venue" | "component" | "body", string> & { good: boolean; status: number };
  const recorded = JSON.parse(readFileSync(`${folder}rest.json`, "utf8")) as Recorded[];
  for (const { venue, component, status, body, good } of recorded) {
    const endpoint = venues.find(({ id }) => id === venue)?.rest.find(({ name }) => name === component);
    if (status !== endpoint?.expectStatus || body.startsWith("<")) continue;
    t.equal(meaningOf(endpoint, JSON.parse(body)) === "good", good, `${venue} rest:${component}: ${body.slice(0, 80)}`);
  }
  t.end();
});
