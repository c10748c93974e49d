/** Malicious WebSocket servers: each gets the right fault, and takes limited time and memory. */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { mebibyte } from "../../../../shared/config/byte-units.js";
import { refusalWords, refusedSubscription } from "../../../../probe/measure/stream/refusals.js";
import { startSession } from "../../../../probe/measure/stream/session.js";
import { type Down, openSocket } from "../../../../probe/measure/stream/socket.js";
import { makeSubscription } from "../../../../probe/measure/stream/subscription.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import {
  type Attack,
  attacks,
  firstFragment,
  frame,
  lastFragment,
  ping,
  talkOf,
  text,
  writing,
} from "../../../support/hostile-sockets.js";
import { listeningLog } from "../../../support/listening-log.js";
import { keepAlive, listening, serveOkx, streams } from "../../../support/okx-server.js";
import { serveTcp } from "../../../support/tcp-server.js";
import { until } from "../../../support/until.js";

/** Eight sockets, each with a frame of the greatest length, in pieces and joined; plus the attackers' own memory. */
const mostMemory = 96 * mebibyte;

for (const [what, bytes] of [
  ["a message", frame(text, "{}")],
  ["a ping within a message", Buffer.concat([frame(firstFragment, "{"), frame(ping, "x"), frame(lastFragment, "}")])],
] as const)
  await t.test(`${what} is allowed`, async (t) => {
    const { downs, heard } = await openHostile(t, { act: writing(bytes) });
    await until(() => heard() === 1);
    t.same(downs, []);
  });
const memoryBefore = memoryNow();
let memoryMost = 0;
const memoryTimer = setInterval(() => {
  memoryMost = Math.max(memoryMost, memoryNow());
}, 10);

await t.test("each attack gets its fault", (t) => {
  t.jobs = 8;
  for (const attack of attacks)
    void t.test(`a server that ${attack.what}`, async (t) => {
      const { downs } = await openHostile(t, attack);
      await until(() => downs.length > 0);
      t.same(downs[0]!.cause, attack.cause, downs[0]!.detail);
      // The socket reports its end only once, whatever the server does next.
      await sleep(50);
      t.equal(downs.length, 1);
    });
  t.end();
});

void t.test("eight attacks at a time take little memory", (t) => {
  clearInterval(memoryTimer);
  const took = memoryMost - memoryBefore;
  t.ok(took < mostMemory, `${(took / mebibyte).toFixed(0)} MiB more`);
  t.end();
});

async function openHostile(t: Test, attack: Omit<Attack, "what" | "cause">) {
  const { answer, flow } = attack;
  const port = await serveTcp(t, talkOf(attack));
  const downs: Down[] = [];
  let heard = 0;
  const socket = openSocket({
    ...{ url: `ws://127.0.0.1:${port}`, userAgent: "test", resolver: makeResolver([]) },
    ...(flow && { flow }),
    ...{ onOpen() {}, onHeard() {} },
    onMessage: () => (heard += 1),
    onDown: (down) => downs.push(down),
  });
  t.teardown(() => socket.close());
  if (!answer) await until(() => socket.opened !== null || downs.length > 0);
  return { downs, heard: () => heard };
}

function memoryNow(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// Frames that break a program which trusts their shape.

/** Deep enough to exhaust the stack of code that recurses. All frames together fit into the limit of one socket. */
const deep = "[".repeat(13_000) + "]".repeat(13_000);
const deepFields = `${'{"a":'.repeat(6_500)}1${"}".repeat(6_500)}`;

const hostile = [
  `{"event":{"toString":null,"valueOf":null}}`,
  `{"type":{"toString":null}}`,
  `{"event":${deep}}`,
  `{"type":${deepFields}}`,
  `{"error":1,"arg":${deep}}`,
  `{"error":1,"arg":{"channel":${deep},"instId":"BTC-USDT"}}`,
  `{"error":1,"id":${deep}}`,
  `{"error":1,"channel":{"toString":null},"feed":${deepFields}}`,
  `{"__proto__":{"error":1},"constructor":null,"hasOwnProperty":1}`,
  `{"error":{"__proto__":null},"arg":{"__proto__":null}}`,
  `{"status":1e400,"id":1e400,"arg":-1e400}`,
  `{"event":"subscribed","channel":"tickers","chanId":${deep}}`,
  `{"event":"subscribed","channel":{"toString":null},"chanId":{}}`,
  `{"arg":{"channel":${deep}},"data":[{"ts":${deep}}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":{"toString":null}}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":"1e400"},{"ts":1e308}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":${"9".repeat(100_000)}}]}`,
  `{"arg":{"channel":"books5"},"arg":{"channel":"trades"},"data":[],"data":null}`,
  deep,
  deepFields,
];

/** Invalid JSON of any kind is skipped. */
const malformed = [
  deep.slice(1),
  deepFields.slice(0, -1),
  "[".repeat(13_000),
  `{"arg":{"channel":"trades","instId":"BTC-USDT"},"data":[{"ts":"1`,
  `{"event":"error","arg":{"channel":"trades","instId":"BTC-USDT"}`,
  Buffer.from([0x22, 0xc3, 0x28, 0x22]),
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  "\ufeff{}",
  "pong",
  "",
];

/** Valid JSON that no venue sends. */
const shapeless = ["null", "[]", "7", `{"arg":null}`];

/** As long as a control frame that is read may be, and as deep as that allows. */
const deepRefusals = [
  `{"event":"error","arg":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  `${'{"error":'.repeat(6_000)}1${"}".repeat(6_000)}`,
];

void t.test("a deep refusal gets a readable reason", (t) => {
  for (const text of deepRefusals) t.match(refusalWords(JSON.parse(text)), /^.{1,200}$/su, text.slice(0, 40));
  t.end();
});

void t.test("a hostile frame names no stream", (t) => {
  const subscriptions = streams.map(makeSubscription);
  for (const text of hostile)
    t.equal(refusedSubscription(JSON.parse(text), subscriptions, subscriptions), null, text.slice(0, 60));
  t.end();
});

void t.test("a socket survives hostile frames, and later frames are understood", async (t) => {
  const { url, subscribed } = await serveSilent(t);
  const { log, lines } = listeningLog();
  const { line } = listening(t, url, { log });
  await until(() => subscribed.length === streams.length);
  const [ws] = subscribed;
  let isAnswered = false;
  ws!.on("pong", () => (isAnswered = true));
  for (const frame of [...hostile, ...malformed, ...shapeless]) ws!.send(frame);
  ws!.ping();
  await until(() => isAnswered);
  t.ok(line.opened());
  t.same(lines, []);
});

void t.test("a frame that triggers a bug closes only its socket, and is logged", async (t) => {
  const { url, subscribed } = await serveSilent(t);
  const { log, lines } = listeningLog();
  let down: Down | undefined;
  const session = startSession({
    ...{ url, keepAlive, resolver: makeResolver([]), log, subscriptions: streams.map(makeSubscription) },
    ...{ userAgent: "test", onOpen() {}, onServed() {}, onData() {} },
    onTrouble() {
      throw new Error("a bug");
    },
    onDown: (_session, ending) => (down = ending),
  });
  t.teardown(() => session.close());
  await until(() => subscribed.length > 0);
  subscribed[0]!.send(`{"event":"error"}`);
  await until(() => down !== undefined);
  t.same(down!.cause, { unmeasured: "broken" });
  t.match(lines.join(""), /error test: .*bug of the probe.*a bug/);
});

/** An OKX that answers no subscription; `subscribed` has its socket once for each. */
async function serveSilent(t: Test) {
  const subscribed: WebSocket[] = [];
  const { url } = await serveOkx(t, (ws) => subscribed.push(ws));
  return { url, subscribed };
}
