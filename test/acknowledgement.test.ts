/** A subscription is served, refused, or not answered in time; each is told from the others, and from a socket that fell. */
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { compileAcknowledgement } from "../probe/acknowledgement.js";
import { makeFeed } from "../probe/feed.js";
import { isRefusal } from "../probe/refusal.js";
import { loadRegistry, type Venue } from "../server/registry.js";
import {
  acknowledge,
  listening,
  refuse,
  sendData,
  serveOkx,
  streams,
  type Arg,
} from "./okx-server.js";
import { until } from "./until.js";
import { connect, send } from "./world/clients.js";
import { startWorld } from "./world/world.js";

t.jobs = 4;

const { venues } = await loadRegistry("registry-all.json");
const spoken = venues.filter(({ socket }) => socket !== null);

const patience = { answerWithinMs: 600, askAgainMs: 600_000 };
const names = streams.map(({ name }) => name);

for (const venue of spoken)
  void t.test(`each subscription is acknowledged: ${venue.id}`, async (t) => {
    const world = await silentWorld(t, venue);
    const { socket } = world.registry.venues[0]!;
    for (const url of new Set(
      socket!.streams.map((stream) => stream.url ?? socket!.url),
    )) {
      const feeds = socket!.streams
        .filter((stream) => (stream.url ?? socket!.url) === url)
        .map(makeFeed);
      const acknowledged = compileAcknowledgement(feeds);
      const client = await connect(url);
      const waiting = new Set(feeds);
      client.ws.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as unknown;
        const feed = isRefusal(frame) ? null : acknowledged(frame, waiting);
        if (feed) waiting.delete(feed);
      });
      for (const { stream } of feeds) {
        t.equal(
          feeds.length - waiting.size,
          feeds.findIndex((f) => f.stream === stream),
        );
        send(client, stream.subscribe);
        await until(() => ![...waiting].some((feed) => feed.stream === stream));
      }
      client.ws.terminate();
    }
  });

function silentWorld(t: Test, venue: Venue) {
  return startWorld({
    registry: {
      probeIntervalMs: 5000,
      regions: [{ id: "eu-central", name: "Europe" }],
      venues: [{ ...venue, rest: [], official: null }],
    },
    faults: [{ kind: "silent", venue: venue.id, component: "ws:*" }],
  }).then((world) => {
    t.teardown(() => world.close());
    return world;
  });
}

void t.test(
  "a stream that is never answered is a fault of its own",
  async (t) => {
    const { url } = await serveOkx(t, (ws, arg) => {
      if (arg.channel !== "trades") acknowledge(ws, arg);
    });
    const { line, feed } = listening(t, url, { patience });
    await until(
      () =>
        names.filter((name) => feed(name).meter.isSubscribed()).length === 2,
    );
    await until(() => feed("trades").trouble !== null);
    const { kind, askedMs } = feed("trades").trouble!;
    t.equal(kind, "unanswered");
    t.ok(
      performance.now() - askedMs >= patience.answerWithinMs,
      "not before its time is up",
    );
    t.notOk(feed("trades").meter.isSubscribed());
    t.same([feed("ticker").trouble, feed("book").trouble], [null, null]);
    t.ok(line.opened());
    t.equal(line.down(), null, "the socket stands");
  },
);

void t.test("an acknowledgement that comes late ends the fault", async (t) => {
  let tell = () => {};
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel === "trades") tell = () => acknowledge(ws, arg);
    else acknowledge(ws, arg);
  });
  const { feed } = listening(t, url, { patience });
  await until(() => feed("trades").trouble?.kind === "unanswered");
  tell();
  await until(() => feed("trades").trouble === null);
  t.ok(feed("trades").meter.isSubscribed());
});

void t.test("data acknowledge, too", async (t) => {
  let speak = () => {};
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel === "trades") speak = () => sendData(ws, arg);
  });
  const { feed } = listening(t, url, { patience });
  await until(() => feed("trades").trouble?.kind === "unanswered");
  speak();
  await until(() => feed("trades").meter.isSubscribed());
  t.equal(feed("trades").trouble, null);
  t.equal(feed("ticker").trouble?.kind, "unanswered", "but for itself alone");
});

void t.test(
  "a refusal is told from an answer that did not come, and asked for again",
  async (t) => {
    let refusing = true;
    const asked: string[] = [];
    const { url } = await serveOkx(t, (ws, arg) => {
      asked.push(arg.channel);
      if (arg.channel === "trades" && refusing) refuse(ws, arg);
      else acknowledge(ws, arg);
    });
    const { feed } = listening(t, url, {
      patience: { answerWithinMs: 10_000, askAgainMs: 300 },
    });
    await until(() => feed("trades").trouble?.kind === "refused");
    await until(() => asked.filter((name) => name === "trades").length >= 3);
    refusing = false;
    await until(() => feed("trades").trouble === null);
    t.ok(feed("trades").meter.isSubscribed());
    t.equal(asked.filter((name) => name === "tickers").length, 1);
  },
);

void t.test(
  "what was not answered is nobody's fault once the socket has fallen",
  async (t) => {
    const open: WebSocket[] = [];
    const { url, server } = await serveOkx(t, (ws, arg: Arg) => {
      if (arg.channel !== "trades") acknowledge(ws, arg);
      open.push(ws);
    });
    const { line, feed, feeds } = listening(t, url, { patience });
    await until(() => feed("trades").trouble?.kind === "unanswered");
    server.close();
    open[0]!.terminate();
    await until(() => line.down() !== null);
    t.same(line.down(), { fault: "closed" });
    t.ok(
      feeds.every(({ trouble, meter }) => !trouble && !meter.isSubscribed()),
    );
  },
);
