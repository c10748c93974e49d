/** Why a socket closed or did not open: our own machine's failures are not the venue's. */
import t, { type Test } from "tap";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { type Down, openSocket } from "../../../../probe/measure/stream/socket.js";
import type { Connectivity } from "../../../../probe/network/own-network.js";
import { acknowledge, listening, serveOkx, serveSockets } from "../../../support/okx-server.js";
import { listeningLog } from "../../../support/listening-log.js";
import { until } from "../../../support/until.js";

/** An open socket, with or without a way out. */
async function open(t: Test, way: Connectivity) {
  const { url, server } = await serveSockets(t, () => {});
  const downs: Down[] = [];
  /** The instants since which a way out was sought. */
  const soughtMs: number[] = [];
  const wayOut = (_host: string, sinceMs: number) => {
    soughtMs.push(sinceMs);
    return Promise.resolve(way);
  };
  const socket = openSocket({
    ...{ url, userAgent: "test", resolver: { ...makeResolver([]), wayOut } },
    ...{ onOpen() {}, onHeard() {}, onMessage() {} },
    onDown: (down) => downs.push(down),
  });
  t.teardown(() => socket.close());
  await until(() => socket.opened !== null && server.clients.size === 1);
  const [peer] = server.clients;
  return { socket, downs, soughtMs, peer: peer! };
}

const network = { unmeasured: "network" };
const closed = { fault: "closed" };

for (const [code, cause] of Object.entries({
  ENOBUFS: { open: { unmeasured: "sockets" }, shut: { unmeasured: "sockets" } },
  ENETDOWN: { open: closed, unknown: network, shut: network },
  EHOSTUNREACH: { open: closed, unknown: network, shut: network },
  ECONNRESET: { open: closed, unknown: closed, shut: network },
}))
  for (const [way, expected] of Object.entries(cause))
    void t.test(`${code} on an open socket, with the way out ${way}, gets its cause`, async (t) => {
      const { socket, downs } = await open(t, way as Connectivity);
      const error = Object.assign(new Error(code), { code });
      socket.opened!.connection.socket.destroy(error);
      await until(() => downs.length > 0);
      t.same(downs[0]!.cause, expected);
      t.ok(socket.isEnded());
    });

void t.test("an unanswered keep-alive is the venue's fault only while there is a way out", async (t) => {
  for (const [way, expected] of [
    ["shut", network],
    ["open", { fault: "timeout" }],
  ] as const) {
    const { socket, downs, soughtMs } = await open(t, way);
    const openedMs = socket.opened!.atMs;
    socket.giveUp({ fault: "timeout" }, "nothing came back");
    await until(() => downs.length > 0);
    t.same(downs[0]!.cause, expected);
    t.same(soughtMs, [openedMs], "the way out is judged since the last sign of life");
  }
});

void t.test("a close by the venue is its fault, without a check of the way out", async (t) => {
  const { downs, soughtMs, peer } = await open(t, "shut");
  peer.close(1012, "restart");
  await until(() => downs.length > 0);
  t.same(downs[0]!.cause, closed);
  t.same(soughtMs, []);
});

void t.test("an acknowledgement that arrived during a standstill is read before it counts as missing", async (t) => {
  const patience = { answerWithinMs: 100, askAgainMs: 60_000 };
  let answered = 0;
  const { url } = await serveOkx(t, (ws, arg) => {
    acknowledge(ws, arg);
    answered += 1;
    const untilMs = performance.now() + 2 * patience.answerWithinMs;
    while (performance.now() < untilMs);
  });
  const { log, lines } = listeningLog("warn");
  const { subscriptions } = listening(t, url, { patience, log });
  await until(() => answered === subscriptions.length);
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  t.same(lines, []);
});
