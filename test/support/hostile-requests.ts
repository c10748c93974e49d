/** Random hostile requests to every route, with every parameter that exists. */
import { readdirSync } from "node:fs";
import type { Express, IRouter } from "express";
import type { Parameters } from "../../server/api/parameters.js";
import { packagedFile } from "../../shared/config/package.js";
import type { Registry } from "../../shared/registry/registry.js";

/** What requests can ask for. */
export interface Ground {
  /** As Express writes them: `/v1/targets/:venue`. */
  paths: string[];
  /** Allowed values of each parameter, by name. */
  parameters: Record<string, string[]>;
  /** Values of the parts of paths, by name. */
  inPaths: Record<string, string[]>;
}

/** Returns every route of the app, and every parameter of the modules with routes, so that new ones are included. */
export async function groundOf(app: Express, registry: Registry): Promise<Ground> {
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
  const files = readdirSync(packagedFile("dist/server/api")).map((file) => `api/${file}`);
  for (const file of [...files, "pages/board/filter.js"]) {
    if (!file.endsWith(".js")) continue;
    const url = new URL(`../../server/${file}`, import.meta.url).href;
    const exported = (await import(url)) as Record<string, unknown>;
    for (const [name, set] of Object.entries(exported)) {
      if (!name.endsWith("Parameters") || name === "badParameters") continue;
      sets.push(typeof set === "function" ? (set as (of: Registry) => Parameters)(registry) : (set as Parameters));
    }
  }
  return sets;
}

/** What is sent over one connection. Bytes are latin1, so that any byte is possible. */
export interface Sent {
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
export function hostileConversation(ground: Ground, random: () => number): Sent {
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

const lastGood = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/**
 * Paths that are answered at once, after a statement, and row by row, each with a pattern that only its answer matches.
 */
export const good: Record<string, RegExp> = {
  "/healthz": /"uptimeSeconds" ?:/,
  "/v1/thresholds": /"stalls" ?:/,
  "/v1/regions": /"quorum" ?:/,
  "/v1/targets/okx": /"incidentPatterns" ?:/,
  "/v1/incidents?format=csv": /^generatedAt,.*,officialObserved,counted\r\n/,
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
