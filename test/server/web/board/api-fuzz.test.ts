/** A few thousand hostile requests, the same in every run; docs/testing.md describes how to send others and more. */
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import type { Express, IRouter } from "express";
import t from "tap";
import { makeApp } from "../../../../server/web/app.js";
import { tableTypes } from "../../../../server/web/board/tables.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { Parameters } from "../../../../server/web/api/parameters.js";
import { packagedFile } from "../../../../shared/config/package.js";
import type { Registry } from "../../../../shared/registry/registry.js";
import { serve } from "../../../support/api.js";
import { parseCsv } from "../../../support/csv.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { randomFrom } from "../../../support/random-samples.js";

const lastGood = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/**
 * Paths that are answered at once, after a statement, and row by row, each with a pattern that only its answer matches.
 */
const good: Record<string, RegExp> = {
  "/healthz": /"uptimeSeconds" ?:/,
  "/v1/thresholds": /"stalls" ?:/,
  "/v1/regions": /"quorum" ?:/,
  "/v1/targets/okx": /"incidentPatterns" ?:/,
  "/v1/incidents?format=csv": /^generatedAt,.*,officialObserved,counted,[\w,]+,maintenanceOverran\r\n/,
};
const keeping = ["", "Connection: keep-alive\r\n", "Connection: Keep-Alive, TE\r\n"];
/** Bytes that are no request, and that do not make the server wait for more. */
const garbage = [
  "\u0000\u0001\u0002\u0003\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
  "GET /v1/status HTTP/9.9\r\n\r\n",
  "GET / HTTP/1.1\r\nbroken header\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
  `GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n",
];

const pieces = [
  ..."aZ09.-_~!$&'()*+,;=:@/?[]{}|\\^`\"<>#",
  ..." \t\u00e9\u00ff\u007f\u0001",
  ..."%00 %0a %0d%0a %ff % %zz %25 %2e%2e %2f %C3%A9 %C0%AF %E2%80%AE %ED%A0%80 1e999 -0 null".split(" "),
];
const tricks = [
  "",
  ..."%20 %00 ' '%20or%201=1-- 1;drop%20table%20incident 1%20union%20select%20null %27)%3B-- $1 \\".split(" "),
  ..."../../../../etc/passwd ..%2f..%2fetc%2fpasswd %252e%252e%252f __proto__ constructor toString".split(" "),
  ..."[object%20Object] NaN Infinity -1 0 1.0 0x10 1e3 007 9007199254740993 99999999999999999999".split(" "),
  ..."%D9%A5 infinity epoch now 2026-02-30T00:00:00Z 9999-12-31T23:59:59.999999Z 0001-01-01T00:00:00Z".split(" "),
  ..."2026-01-31T12:00:00%2B00:00 =1%2B1 %3Cscript%3E ${7*7} %EF%BF%BE".split(" "),
];
const structures = ["[]", "[0]", "[a][b]", "[", "%5B%5D", ".x", "%00", " ", "["];
const oddPaths = [
  "",
  ..."* / // ///v1//status /v1/./status /v1/../v1/status /v1/%2e%2e/status /v1/status/ /V1/STATUS".split(" "),
  ..."/v1/status;a=b /v1/status#x /% /__proto__ /v1/targets/ http:// :// localhost:80".split(" "),
];
const methods = [
  ..."HEAD HEAD OPTIONS OPTIONS POST PUT PATCH DELETE TRACE CONNECT PROPFIND PURGE SEARCH get BREW".split(" "),
  "G\u0000T",
  "",
];
const versions = ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "XTTP/1.1", ""];
const headerNames = [
  ..."Accept Accept-Encoding Authorization Content-Length Content-Type Cookie Expect Forwarded Host".split(" "),
  ..."If-Match If-Modified-Since If-None-Match Origin Range TE Transfer-Encoding Upgrade".split(" "),
  ..."X-Forwarded-For X-Forwarded-Host X-HTTP-Method-Override".split(" "),
];
const headerValues = [
  "",
  ..."* 0 -1 5 99999999999999999999 chunked websocket 100-continue 200-ok bytes=0-1 for=[::1];by=x DELETE".split(" "),
  "gzip, chunked",
  "gzip;q=0, br;q=1e9, *;q=",
  'W/"x", "y"',
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "2001:db8::1, unknown, 192.0.2.1:80",
  "\u00ff\u00fe",
];

const requests = Number(process.env["FUZZ_REQUESTS"] ?? 2500);
const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const atOnce = 8;
/** No page takes this long, even on a busy machine: a request without an answer by then hangs. */
const hangsAfterMs = 30_000;

void t.test("hostile requests get valid answers and break nothing", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const log = makeLog("web", "warn", () => {});
  const app = makeApp({ pool, registry, rateLimit: 0, trustProxy: [], siteUrl: "", baseUrl: "http://localhost", log });
  const ground = await groundOf(app, registry);
  const api = await serve(t, { pool, registry, trustProxy: ["loopback"] });
  await measured(pool, { from: ago(90), to: ago(0) });
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(4000), minutes: 5 });
  await decide(pool);

  t.ok(ground.paths.includes("/v1/exchanges/:venue"), "the routes were found");
  t.ok(ground.paths.includes("/venues/:venue"), "so were those of the pages");
  for (const name of ["q", "category", "range", "region", "format", "decimal", "beforeId"])
    t.ok(ground.parameters[name], `parameter ${name} was found`);

  const statuses = new Map<number, number>();
  const random = randomFrom(seed);
  let left = requests;
  async function sendAll(): Promise<void> {
    while (left-- > 0) {
      const sent = hostileConversation(ground, random);
      const fault = await faultOf(api.port, sent, statuses);
      if (fault) t.fail(`${fault}: ${JSON.stringify(sent).slice(0, 1000)}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendAll));

  for (const status of [200, 204, 301, 400, 404, 405, 417, 431])
    t.ok(statuses.has(status), `some answer had status ${status}`);
  t.strictSame(api.logged, [], "no hostile request is logged");
  t.comment(JSON.stringify(Object.fromEntries(statuses)));
});

/** How the last record of a ZIP archive begins. */
const endOfZip = "PK\u0005\u0006";

/** The fault of the answers on one connection; null if they are valid. */
async function faultOf(port: number, sent: Sent, statuses: Map<number, number>): Promise<string | null> {
  let left = await answersTo(port, sent);
  for (const path of sent.before) {
    const answer = firstOf(left);
    if (answer === null) return sent.isHostile ? faultOfCut(left) : `${path}: no whole answer`;
    if (answer.status !== 200 || !good[path]!.test(answer.text))
      return `${path} was answered ${answer.status}: ${answer.text.slice(0, 300)}`;
    left = answer.behind;
  }
  if (!sent.isHostile && !good["/healthz"]!.test(left)) return `the last one was answered: ${left.slice(0, 300)}`;
  // after good requests the connection may end silently
  if (sent.before.length > 0 && left === "") return null;
  return faultOfLast(left, sent.behind, statuses);
}

/**
 * A client that sends garbage after a request may be disconnected, even in mid-answer; but nothing may be mixed into
 * that answer.
 */
function faultOfCut(text: string): string | null {
  if (text === "" || /^HTTP\/1\.1 200 (?!.*HTTP\/1\.1 )/s.test(text)) return null;
  return `expected the request's own answer only, got: ${text.slice(0, 1000)}`;
}

function faultOfLast(whole: string, sent: string, statuses: Map<number, number>): string | null {
  if (eventStream.test(whole)) return null;
  const isHead = sent.startsWith("HEAD ");
  const answer = firstOf(whole, isHead);
  if (answer === null) return whole === "" ? "no answer" : `half an answer: ${whole}`;
  // the answer to a supposed second request may follow it
  const { status, type, text } = answer;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  // the engine decided once, and that may be too long ago by now
  if (status === 503 && /^[A-Z]+ \/readyz\b/.test(sent)) return null;
  if (!(status >= 200 && status < 500)) return `answered ${status}`;
  if (status === 204 || status === 304 || isHead) return null;
  // another test checks that it can be decompressed
  if (/^content-encoding:/im.test(answer.head)) return null;
  if (status === 200) return faultOfGood(type, text);
  if (status === 301)
    return /^location: \/(venues\/[\w-]+(\?[\w.*+%=&-]+)?|[\w-]+|statuspage\/api\/v2\/[\w/-]+\.json)\r?$/im.test(
      answer.head,
    )
      ? null
      : `301 to ${answer.head}`;
  if (/^POST [^ ?]*\/mcp\b/i.test(sent) && type === "application/json") return faultOfRpcError(text);
  if (type !== "application/problem+json") return `${status} came as ${type}`;
  return faultOfProblem(status, text);
}

/** What agents get from their own path. */
function faultOfRpcError(text: string): string | null {
  const { jsonrpc, error } = JSON.parse(text) as { jsonrpc?: string; error?: { message?: string } };
  return jsonrpc === "2.0" && error?.message ? null : `no error of JSON-RPC: ${text}`;
}

/** Null if it is incomplete. */
function firstOf(answers: string, isHead = false) {
  const answer = answers.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, "");
  const [, head, body] = /^(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
  if (head === undefined || body === undefined) return null;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const type = /^content-type: ([^;\r]*)/im.exec(head)?.[1];
  const read = (text: string, taken: number) => ({ status, type, head, text, behind: body.slice(taken) });
  if (status === 204 || status === 304 || isHead) return read("", 0);
  if (/^transfer-encoding: chunked/im.test(head)) {
    const whole = unchunked(body);
    return whole && read(whole.text, whole.taken);
  }
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  const taken = length === undefined ? body.length : Number(length);
  return body.length < taken ? null : read(body.slice(0, taken), taken);
}

function faultOfGood(type: string | undefined, text: string): string | null {
  try {
    if (type === "text/csv") parseCsv(text, text.startsWith("generatedAt;") ? ";" : ",");
    else if (type === tableTypes.xlsx)
      return text.startsWith("PK") && text.includes(endOfZip) ? null : "200 with half a workbook";
    else if (type === "application/json") JSON.parse(text);
    else if (text === "") return "200 without a body";
    return null;
  } catch (error) {
    return `200 with a broken body: ${String(error)}`;
  }
}

/** RFC 9457. */
function faultOfProblem(status: number, text: string): string | null {
  type Body = Record<string, unknown> & { errors?: Record<string, unknown>[] };
  if (text === "") return `${status} without a body`;
  const body = JSON.parse(text) as Body;
  const words = [body["type"], body["title"], body["detail"]];
  for (const { parameter, message } of body.errors ?? []) words.push(parameter, message);
  if (!words.every((word) => typeof word === "string" && word !== "")) return `${status} lacks a field: ${text}`;
  return body["status"] === status ? null : `${status} says ${text}`;
}

/** A chunked body and its length on the wire; null if its end is missing. */
function unchunked(body: string): { text: string; taken: number } | null {
  const pieces: string[] = [];
  for (let at = 0; ;) {
    const end = body.indexOf("\r\n", at);
    const length = /^[\da-f]+$/i.test(body.slice(at, end)) ? parseInt(body.slice(at, end), 16) : NaN;
    const next = end + 2 + length + 2;
    if (end < 0 || !(body.slice(next - 2, next) === "\r\n")) return null;
    pieces.push(body.slice(end + 2, next - 2));
    at = next;
    if (length === 0) return { text: Buffer.from(pieces.join(""), "latin1").toString(), taken: at };
  }
}

/** An answer with the first events. */
const eventStream = /^HTTP\/1\.1 200 (?:(?!\r\n\r\n)[^])*content-type: text\/event-stream[^]*\r\n\r\n[^]+\n\n/im;

function answersTo(port: number, { beforeBytes, behind, waits }: Sent): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("latin1");
    socket.write(waits ? beforeBytes : beforeBytes + behind, "latin1");
    if (waits) socket.once("data", () => socket.write(behind, "latin1"));
    socket.setTimeout(hangsAfterMs, () => {
      text = "";
      socket.destroy();
    });
    socket.on("data", (piece) => {
      text += String(piece);
      // it never ends
      if (eventStream.test(text)) socket.destroy();
    });
    // a server that refuses a request midway may reset the connection after its answer
    socket.on("error", () => {}).on("close", () => resolve(text));
  });
}

/** What requests can ask for. */
interface Ground {
  /** As Express writes them: `/v1/targets/:venue`. */
  paths: string[];
  /** Allowed values of each parameter, by name. */
  parameters: Record<string, string[]>;
  /** Values of the parts of paths, by name. */
  inPaths: Record<string, string[]>;
}

/** Returns every route of the app, and every parameter of the modules with routes, so that new ones are included. */
async function groundOf(app: Express, registry: Registry): Promise<Ground> {
  const paths = routesOf(app.router);
  const parameters: Ground["parameters"] = {};
  for (const set of await parameterSets(registry))
    for (const [name, { schema }] of Object.entries(set)) {
      const { minimum = 1, maximum = 1, enum: words } = schema;
      const bounds = schema.type === "integer" ? [String(minimum), String(maximum)] : ["2026-01-31T12:00:00Z"];
      parameters[name] = words?.map(String) ?? bounds;
    }
  const slugs = ["kraken-2026-01-31-rest-outage", "okx-2026-01-31-ws-degraded-2"];
  return { paths, parameters, inPaths: { venue: registry.venues.map(({ id }) => id), slug: slugs } };
}

/** Also those of routers within the router. */
function routesOf({ stack }: IRouter): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (route) return route.path;
    return "stack" in handle ? routesOf(handle as unknown as IRouter) : [];
  });
}

/** Finds parameters by name: what a module of the API exports as `…Parameters` belongs to its route. */
async function parameterSets(registry: Registry): Promise<Parameters[]> {
  const sets: Parameters[] = [];
  const folders = ["board", "events", "badges", "pages"];
  const files = folders.flatMap((folder) =>
    readdirSync(packagedFile(`dist/server/web/${folder}`)).map((file) => `${folder}/${file}`),
  );
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const url = new URL(`../../../../server/web/${file}`, import.meta.url).href;
    const exported = (await import(url)) as Record<string, unknown>;
    for (const [name, set] of Object.entries(exported)) {
      if (!name.endsWith("Parameters") || name === "badParameters") continue;
      sets.push(typeof set === "function" ? (set as (of: Registry) => Parameters)(registry) : (set as Parameters));
    }
  }
  return sets;
}

/** What is sent over one connection. Bytes are latin1, so that any byte is possible. */
interface Sent {
  /** Paths of good requests that keep the connection open, each from `good`. */
  before: string[];
  beforeBytes: string;
  behind: string;
  /**
   * If false, `behind` is one more good request, for `/healthz`, and the server must not close the connection before
   * answering it.
   */
  isHostile: boolean;
  /** Whether `behind` is sent only after the first answer has begun, instead of in one packet with the others. */
  waits: boolean;
}

/** Makes a hostile request alone, or something sent behind good requests without waiting for their answers. */
function hostileConversation(ground: Ground, random: () => number): Sent {
  const one = oneBy(random);
  const hostile = hostileRequest(ground, random);
  if (random() < 0.8) return { before: [], beforeBytes: "", behind: hostile, isHostile: true, waits: false };
  const length = 1 + Math.floor(random() * 3);
  const before = Array.from({ length }, () => one(Object.keys(good)));
  const kept = before.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${one(keeping)}\r\n`);
  const isHostile = random() < 0.75;
  return {
    before,
    beforeBytes: kept.join(""),
    behind: isHostile ? one([...garbage, hostile]) : lastGood,
    isHostile,
    waits: random() < 0.3,
  };
}

function oneBy(random: () => number) {
  return <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
}

/** Returns one request, byte for byte. */
function hostileRequest(ground: Ground, random: () => number): string {
  const one = oneBy(random);
  const chance = (share: number) => random() < share;
  const times = (most: number) => Array.from({ length: Math.floor(random() * (most + 1)) });

  const noise = () =>
    chance(0.03)
      ? one(["x", "9", "%00", "../", "%F0%9F%92%A3"]).repeat(10_000 / 5)
      : times(6)
          .map(() => one(pieces))
          .join("");
  const value = (name: string) => {
    if (chance(0.55)) return one(ground.parameters[name]!);
    return chance(0.5) ? one(tricks) : noise();
  };
  const parameter = () => {
    const name = one(Object.keys(ground.parameters));
    const key = chance(0.9) ? name : `${name}${one(structures)}`;
    if (chance(0.05)) return noise();
    return chance(0.95) ? `${key}=${value(name)}` : key;
  };
  const path = () => {
    if (chance(0.05)) return one(oddPaths);
    const filled = one(ground.paths).replaceAll(/:(\w+)/g, (_, name: string) =>
      chance(0.6) ? one(ground.inPaths[name] ?? ["x"]) : noise(),
    );
    return chance(0.9) ? filled : filled + noise();
  };
  const target = () => {
    const query = times(4).map(parameter).join("&");
    const local = query ? `${path()}?${query}` : path();
    return chance(0.03) ? `http://other.example${local}` : local;
  };
  const header = () => {
    if (chance(0.1)) return noise();
    const text = chance(0.7) ? one(headerValues) : noise();
    return `${one(headerNames)}: ${chance(0.01) ? "h".repeat(20_000) : text}`;
  };

  const method = chance(0.8) ? "GET" : one(methods);
  const version = chance(0.97) ? "HTTP/1.1" : one(versions);
  const lines = [
    `${method} ${target()} ${version}`,
    ...(chance(0.98) ? ["Host: localhost"] : []),
    ...times(3).map(header),
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}
