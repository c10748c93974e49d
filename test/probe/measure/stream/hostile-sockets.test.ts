/** Malicious WebSocket servers: each gets the right fault, and takes limited time and memory. */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { type Down, openSocket } from "../../../../probe/measure/stream/socket.js";
import {
  type Attack,
  attacks,
  firstFragment,
  frame,
  lastFragment,
  mebibyte,
  ping,
  talkOf,
  text,
  writing,
} from "../../../support/hostile-sockets.js";
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
