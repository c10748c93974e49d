/** A registry with secrets in every place, the venues that it names, and a search for those secrets. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Test } from "tap";
import { WebSocketServer } from "ws";
import { bodyOf, listening } from "./alert-receivers.js";

const random = () => randomBytes(15).toString("base64url").replace(/^[-_]/, "x");

/** By the place where each is planted. Those of `settings` and `files` are credentials. */
export const planted = {
  path: randomBytes(16).toString("hex"),
  query: `SECRETSECRET${randomBytes(2).toString("hex")}`,
  encoded: `a+b/${random()}==`,
  header: random(),
  body: `b"${random()}`,
  socket: `eyJ${random()}.${random()}`,
  subscription: random(),
  alternative: random(),
  feed: random(),
  unresolved: random(),
  closed: random(),
  plain: random(),
  setting: `s ${random()}&e`,
  file: `f/${random()}?"`,
};

/** Every form in which a secret may come out, for searches; of long ones also each half. */
const forms = Object.entries(planted).flatMap(([name, secret]) => {
  const halves = secret.length >= 32 ? [secret.slice(0, 16), secret.slice(-16)] : [];
  const json = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret);
  const html = secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const texts = [secret, ...halves, json, JSON.stringify(json).slice(1, -1), inUrl, inUrl.toLowerCase(), html];
  // base64 of a text that contains the secret depends on the place of its first byte
  const encoded = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString("base64");
    const certain = whole.slice(before === 0 ? 0 : 4);
    return [certain, certain.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...new Set([...texts, ...encoded])].map((form) => ({ name, form }));
});

/** Names of the secrets in a text. */
export function secretsIn(text: string): string[] {
  return [...new Set(forms.filter(({ form }) => text.includes(form)).map(({ name }) => name))];
}

const times = { cadenceMs: 1000, timeoutMs: 900 };

function venue(id: string, rest: object[], more: object = {}) {
  return {
    ...{ id, name: `Venue ${id}`, category: "rpc", symbol: null, quote: null, chain: null },
    ...{ rest, socket: null, official: null, ...more },
  };
}

function endpoint(url: string, more: object = {}) {
  return {
    name: "block",
    label: "Latest block",
    method: "GET",
    url,
    expectStatus: 200,
    proof: "$.result",
    ...times,
    ...more,
  };
}

function socketAt(url: string, subscribe: unknown, more: object = {}) {
  const stall = { afterMs: 3000, distribution: null };
  return {
    ...{ url, keepAlive: { send: { kind: "none" }, replyWithinMs: null, deadAfterMs: null }, maxConnectionMs: null },
    streams: [
      {
        ...{ name: "heads", label: "Heads", subscribe, acknowledge: [{ path: "$.ok" }], match: { path: "$.head" } },
        ...{ cadenceMs: 1000, typicalPerMinute: 60, rateBasis: "estimate", stall },
      },
    ],
    ...more,
  };
}

/** Venues whose trouble opens incidents: an error status, a wrong body, a refused subscription, a refused upgrade. */
export const troubled = ["statuspath", "bodyquery", "refusing", "handshake", "withfile"];

export interface PlantedWorld {
  registry: object;
  /** Headers and bodies that the venues received. */
  received: () => string;
  /** Begins the troubles. */
  fail: () => void;
}

/** Venues that repeat everything that they were sent in each answer, header, reason and refusal. */
export async function plantSecrets(t: Test): Promise<PlantedWorld> {
  let isFailing = false;
  let received = "";

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const echo = `${request.url} ${JSON.stringify(request.headers)} ${await bodyOf(request)}`;
    received += `${echo}\n`;
    const { pathname } = new URL(request.url!, "http://a");
    if (pathname.includes("incidents.json") || pathname.includes("maintenances")) return feedAnswer(request, response);
    if (isFailing && pathname.startsWith("/status/")) {
      const line = encodeURI(echo).replaceAll("%", "").slice(0, 200);
      response.writeHead(500, `no ${line}`, { location: request.url!, "x-echo": encodeURIComponent(echo) });
      return response.end(echo);
    }
    if (isFailing && pathname.startsWith("/redirect/"))
      return response.writeHead(302, { location: request.url! }).end();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ echo, ...(isFailing && pathname.startsWith("/body/") ? {} : { result: head() }) }));
  }

  function feedAnswer(request: IncomingMessage, response: ServerResponse) {
    const at = new Date().toISOString();
    const page = { id: "p", url: `http://${request.headers.host}`, updated_at: at };
    const notice = {
      ...{ id: "n", page_id: "p", name: `Trouble at ${request.url}`, status: "investigating", impact: "major" },
      ...{ shortlink: `https://status.example${request.url}`, created_at: at, started_at: at, resolved_at: null },
      components: [{ name: request.url }],
    };
    const isBroken = request.url!.startsWith("/broken");
    const lists = { incidents: isBroken ? request.url : [notice], scheduled_maintenances: [] };
    response.end(JSON.stringify({ page, ...lists }));
  }

  const server = createServer((request, response) => void answer(request, response));
  new WebSocketServer({
    server,
    verifyClient({ req }: { req: IncomingMessage }, done: (good: boolean, code?: number, text?: string) => void) {
      received += `${req.url} ${JSON.stringify(req.headers)}\n`;
      if (isFailing && req.url!.startsWith("/shut")) done(false, 500, `no ${req.url}`.replace(/[^ -~]/g, ""));
      else done(true);
    },
  }).on("connection", (ws, { url, headers }) => {
    const echo = `${url} ${JSON.stringify(headers)}`;
    const isOld = !isFailing;
    ws.on("error", () => {});
    ws.on("message", (frame: Buffer) => {
      received += `${frame.toString()}\n`;
      const words = `no ${echo} for ${frame.toString()}`;
      if (isFailing) ws.send(JSON.stringify({ error: { message: frame.toString().slice(0, 90), data: words } }));
      else ws.send(JSON.stringify({ ok: true, echo: words }));
    });
    const timer = setInterval(() => {
      if (!isFailing) return ws.send(JSON.stringify({ head: 1, echo }));
      if (isOld) ws.close(4000, `bye ${url}`.slice(0, 120));
    }, 400);
    ws.once("close", () => clearInterval(timer));
  });
  const port = await listening(t, server);
  const gone = createServer();
  const closedPort = await listening(t, gone);
  gone.close();
  // speaks no TLS, and repeats nothing
  const plain = createServer();
  plain.on("connection", (socket: Socket) => socket.end("plain"));
  const plainPort = await listening(t, plain);

  const otherPort = await listening(
    t,
    createServer((request, response) => void answer(request, response)),
  );

  const registry = registryAt(port, otherPort, closedPort, plainPort);
  return { registry, received: () => received, fail: () => void (isFailing = true) };
}

/** Of a chain with a block each second. */
function head(): string {
  return `0x${Math.floor(Date.now() / 1000).toString(16)}`;
}

/**
 * @param port of the venues that answer
 * @param otherPort of a second provider of their chain
 * @param closedPort at which nobody listens
 * @param plainPort of one that speaks no TLS
 */
function registryAt(port: string, otherPort: string, closedPort: string, plainPort: string): object {
  const [http, ws] = [`http://127.0.0.1:${port}`, `ws://127.0.0.1:${port}`];
  const { path, query, encoded, header, body, socket, subscription, alternative, feed, ...more } = planted;
  const subscribe = { op: "subscribe", args: ["heads"], auth: subscription };
  const feedAt = (start: string) => ({
    official: { kind: "statuspage", page: `${http}/`, api: `${http}/${start}/${feed}/incidents.json?token=${feed}` },
  });
  const ofChain = [port, otherPort].map((at, place) =>
    venue(
      `well${"ab"[place]}`,
      [
        endpoint(`http://127.0.0.1:${at}/well/${path}?key=${query}`, {
          head: { path: "$.result", encoding: "hex" },
        }),
      ],
      { chain: "planted" },
    ),
  );
  const well = Array.from({ length: 10 }, (_, place) =>
    venue(`well${"cdefghijkl"[place]}`, [endpoint(`${http}/well/x${place}`)]),
  );
  return {
    probeIntervalMs: 1000,
    regions: [{ id: "home", name: "Home" }],
    chains: { planted: { blockMs: 1000, source: "this file" } },
    venues: [
      venue("statuspath", [endpoint(`${http}/status/${path}/v3`)], feedAt("good")),
      venue(
        "bodyquery",
        [
          endpoint(`${http}/body/?api-key=${query}&sig=${encodeURIComponent(encoded)}`, {
            ...{
              method: "POST",
              body: { key: [body] },
              headers: { "X-Api-Key": header, "x-set": "{CREDENTIAL_SETTING}" },
            },
          }),
        ],
        feedAt("broken"),
      ),
      venue("refusing", [endpoint(`${http}/well/r`)], { socket: socketAt(`${ws}/open?t=${socket}`, subscribe) }),
      venue("handshake", [endpoint(`${http}/well/h`)], {
        socket: socketAt(
          `${ws}/shut/${socket}`,
          { token: "{CREDENTIAL_DISK}" },
          { headers: { auth: "{CREDENTIAL_DISK}" } },
        ),
      }),
      venue("withfile", [endpoint(`${http}/redirect/{CREDENTIAL_DISK}/x?k={CREDENTIAL_SETTING}`)]),
      venue("reading", [
        endpoint(`https://127.0.0.1:${plainPort}/${alternative}`, {
          alternatives: [`http://127.0.0.1:${closedPort}/${alternative}`],
        }),
      ]),
      venue("unresolved", [endpoint(`https://rpc.invalid/v3/${more.unresolved}`)], {
        socket: socketAt(`wss://ws.invalid/${more.unresolved}`, subscribe),
      }),
      venue("shutdown", [endpoint(`http://127.0.0.1:${closedPort}/${more.closed}`)], {
        socket: socketAt(`ws://127.0.0.1:${closedPort}/${more.closed}`, subscribe, {
          alternatives: [`${ws}/open?t=${socket}`],
        }),
      }),
      venue("plain", [endpoint(`https://127.0.0.1:${plainPort}/${more.plain}`)]),
      ...ofChain,
      ...well,
    ],
  };
}
