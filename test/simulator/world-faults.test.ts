/** Each kind of fault has its effect on the wire as a client sees it, and only on the targets that the script names. */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, outcomeOf, send } from "../../simulator/clients.js";
import type { ScriptedFault } from "../../simulator/faults.js";
import { startWorld, type World } from "../../simulator/world.js";

const registry = await loadRegistry("registry.json");

type Kind = Omit<ScriptedFault, "venue">;

/** The result of a request for OKX's ticker while the fault lasts. */
const restOutcomes: [Kind, number | string][] = [
  [{ kind: "reset" }, "ECONNRESET"],
  [{ kind: "timeout" }, "TIMED_OUT"],
  [{ kind: "status" }, 503],
  [{ kind: "status", status: 403 }, 403],
  [{ kind: "status", status: 451 }, 451],
  [{ kind: "status", status: 418 }, 418],
  [{ kind: "limited" }, 429],
  [{ kind: "wrong-body" }, 200],
  [{ kind: "error-inside" }, 200],
  [{ kind: "slow", latencyMs: 150 }, 200],
  [{ kind: "drip" }, "TIMED_OUT"],
  [{ kind: "endless" }, "TOO_LARGE"],
];

void t.test("REST: a fault affects only its component and region", async (t) => {
  const { world, endpoint } = await openWorld(t);
  for (const [kind, expected] of restOutcomes) {
    const what = JSON.stringify(kind);
    world.fault({ ...kind, venue: "okx", component: "rest:ticker", regions: ["us-east"] });
    // a request that must be answered gets more time, because the machine may be busy
    const timeoutMs = expected === "TIMED_OUT" ? 300 : 5000;
    t.equal(await outcomeOf(endpoint("ticker"), "us-east", timeoutMs), expected, what);
    t.equal(await outcomeOf(endpoint("ticker"), "eu-central"), 200, "another region");
    t.equal(await outcomeOf(endpoint("ticker")), 200, "a client without a region");
    t.equal(await outcomeOf(endpoint("book"), "us-east"), 200, "another endpoint");
    await world.clear();
    t.equal(await outcomeOf(endpoint("ticker"), "us-east"), 200, "afterwards");
  }
});

void t.test("REST: the details of faulty answers", async (t) => {
  const { world, endpoint } = await openWorld(t);
  const answerTo = async (kind: Kind) => {
    await world.clear();
    world.fault({ ...kind, venue: "okx" });
    return ask(endpoint("ticker"), "us-east");
  };
  const redirect = await answerTo({
    kind: "status",
    status: 301,
    location: "http://127.0.0.1:1/",
  });
  t.match(redirect, {
    status: 301,
    headers: { location: "http://127.0.0.1:1/" },
  });
  const limited = await answerTo({ kind: "limited", retryAfterS: 7 });
  t.match(limited.headers, { "retry-after": "7" });
  const html = await answerTo({ kind: "wrong-body" });
  t.match(html, { headers: { "content-type": "text/html" }, body: /^<!doctype/ });
  const error = await answerTo({ kind: "error-inside" });
  t.match(JSON.parse(error.body), { code: "50001", data: [] });
  const begun = performance.now();
  await answerTo({ kind: "slow", latencyMs: 150 });
  t.ok(performance.now() - begun >= 149);
});

void t.test("refused: connecting is refused, sockets end, and the port comes back", async (t) => {
  const { world, endpoint, socketUrl } = await openWorld(t);
  const client = await connect(socketUrl);
  world.fault({ kind: "refused", venue: "okx" });
  t.equal(await outcomeOf(endpoint("time"), "us-east"), "ECONNREFUSED");
  t.equal(await client.closed, 1006);
  await t.rejects(connect(socketUrl), { code: "ECONNREFUSED" });
  const [kraken] = world.registry.venues.find(({ id }) => id === "kraken")!.rest;
  t.equal(await outcomeOf(kraken!), 200, "another venue is unaffected");
  await world.clear();
  t.equal(await outcomeOf(endpoint("time"), "us-east"), 200);
});

/** The result of an upgrade while the fault lasts. */
const upgradeOutcomes: [Kind, RegExp][] = [
  [{ kind: "handshake-refused" }, /503/],
  [{ kind: "handshake-refused", status: 403 }, /403/],
  [{ kind: "status", status: 451 }, /451/],
  [{ kind: "limited" }, /429/],
  [{ kind: "reset" }, /ECONNRESET|socket hang up/],
];

void t.test("sockets: an upgrade is refused only in its region", async (t) => {
  const { world, socketUrl, endpoint } = await openWorld(t);
  for (const [kind, expected] of upgradeOutcomes) {
    world.fault({ ...kind, venue: "okx", component: "ws:conn", regions: ["us-east"] });
    await t.rejects(connect(socketUrl, "us-east"), expected, kind.kind);
    (await connect(socketUrl, "eu-central")).ws.terminate();
    t.equal(await outcomeOf(endpoint("time"), "us-east"), 200, "REST is unaffected");
    await world.clear();
    (await connect(socketUrl, "us-east")).ws.terminate();
  }
});

void t.test("timeout: an upgrade is never answered", async (t) => {
  const { world, socketUrl } = await openWorld(t);
  world.fault({ kind: "timeout", venue: "okx", component: "ws:conn" });
  const pending = connect(socketUrl).then(
    () => "opened",
    () => "failed",
  );
  t.equal(await Promise.race([pending, delay(200, "still waiting")]), "still waiting");
  await world.close();
  t.equal(await pending, "failed");
});

void t.test("socket-closed and reset: open and new sockets end", async (t) => {
  const { world, socketUrl } = await openWorld(t);
  for (const [kind, code] of [
    [{ kind: "socket-closed" }, 1012],
    [{ kind: "socket-closed", closeCode: 4001 }, 4001],
    [{ kind: "reset" }, 1006],
  ] as [Kind, number][]) {
    const near = await connect(socketUrl, "us-east");
    const far = await connect(socketUrl, "eu-central");
    world.fault({ ...kind, venue: "okx", component: "ws:conn", regions: ["us-east"] });
    t.equal(await near.closed, code, kind.kind);
    t.equal(far.ws.readyState, far.ws.OPEN);
    if (kind.kind === "socket-closed") t.equal(await (await connect(socketUrl, "us-east")).closed, code);
    t.equal(world.openSockets({ venue: "okx", region: "eu-central" }), 1);
    far.ws.terminate();
    await far.closed;
    await world.clear();
  }
});

void t.test("silent: the stream sends nothing, the others and the pings continue", async (t) => {
  const { world, socketUrl, streams } = await openWorld(t);
  world.fault({ kind: "silent", venue: "okx", component: "ws:trades", regions: ["us-east"] });
  const client = await connect(socketUrl, "us-east");
  for (const { subscribe } of streams) send(client, subscribe);
  send(client, "ping");
  await client.frame((text) => text === "pong");
  await client.frame((text) => text.includes('"subscribe"') && text.includes("trades"));
  const books = () => client.frames.filter((text) => text.includes("books5"));
  while (books().length < 20) await once(client.ws, "message");
  t.notOk(client.frames.some(isTrade), "no trades");
  await world.clear();
  t.ok(await client.frame(isTrade), "trades again");
});

void t.test("frozen: data keep arriving, but do not change", async (t) => {
  const { world, socketUrl, streams, endpoint } = await openWorld(t);
  interface Row {
    data: [{ ts: string; tradeId?: string }];
  }
  const rowOf = (text: string) => (JSON.parse(text) as Row).data[0];
  const asked = async (name: string, region = "us-east") => rowOf((await ask(endpoint(name), region)).body);
  const regions = ["us-east"];
  for (const component of ["rest:ticker", "rest:trades", "ws:trades"])
    world.fault({ kind: "frozen", venue: "okx", component, regions });
  const [ticker, trade] = [await asked("ticker"), await asked("trades")];
  const client = await connect(socketUrl, "us-east");
  for (const { subscribe } of streams) send(client, subscribe);
  const trades = () => client.frames.filter(isTrade).map(rowOf);
  while (trades().length < 3) await once(client.ws, "message");
  for (const { ts, tradeId } of trades())
    t.strictSame({ ts, tradeId }, { ts: trades()[0]!.ts, tradeId: trades()[0]!.tradeId });
  t.strictSame(await asked("ticker"), ticker);
  t.strictSame(await asked("trades"), trade);
  t.ok(Number((await asked("time")).ts) >= Number(ticker.ts), "another endpoint's time advances");
  const elsewhere = await asked("trades", "eu-central");
  t.ok(Number(elsewhere.tradeId) > Number(trade.tradeId), "as in other regions");
  await world.clear();
  t.ok(Number((await asked("trades")).tradeId) > Number(trade.tradeId));
});

void t.test("dead-socket: nothing arrives, not even a pong, until it ends", async (t) => {
  const { world, socketUrl, streams } = await openWorld(t);
  const client = await connect(socketUrl, "us-east");
  for (const { subscribe } of streams) send(client, subscribe);
  await client.frame(isTrade);
  const leaving = await connect(socketUrl, "us-east");
  world.fault({ kind: "dead-socket", venue: "okx" });
  leaving.ws.close();
  // Data in flight may still arrive; after a pause nothing does.
  await delay(50);
  let came = 0;
  for (const event of ["message", "ping", "pong"]) client.ws.on(event, () => (came += 1));
  client.ws.ping();
  send(client, "ping");
  await delay(300);
  t.equal(came, 0);
  t.equal(client.ws.readyState, client.ws.OPEN);
  t.equal(leaving.ws.readyState, leaving.ws.CLOSING, "the closing handshake stays unanswered");
  await world.clear();
  await leaving.closed;
  client.ws.ping();
  await once(client.ws, "pong");
});

void t.test("faults begin, end and repeat by the world's clock", async (t) => {
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const inMs = (ms: number) => new Date(now().getTime() + ms);
  const { endpoint, socketUrl } = await openWorld(t, {
    now,
    faults: [
      { kind: "socket-closed", venue: "okx", from: inMs(200), to: inMs(250), everyMs: 300 },
      { kind: "status", venue: "okx", component: "rest:*", from: inMs(3_600_000), to: inMs(7_200_000) },
    ],
  });
  const first = await connect(socketUrl);
  t.equal(await outcomeOf(endpoint("time")), 200);
  t.equal(await first.closed, 1012, "the timer fired");
  let again = await connect(socketUrl);
  t.equal(await again.closed, 1012, "and fired again");
  aheadMs = 3_700_000;
  t.equal(await outcomeOf(endpoint("time")), 503);
  aheadMs = 7_300_000;
  t.equal(await outcomeOf(endpoint("time")), 200);
  again = await connect(socketUrl);
  again.ws.terminate();
});

void t.test("every venue has its own error envelope", async (t) => {
  const { world } = await openWorld(t);
  world.fault({ kind: "error-inside", venue: "*" });
  for (const { id, rest } of world.registry.venues) {
    const ticker = rest.find(({ name }) => name === "ticker")!;
    const { status, body } = await ask(ticker);
    t.equal(status, 200, id);
    t.match(body, /err|code|message/i, `${id}: ${body}`);
  }
});

void t.test("a world with an invalid script does not start", async (t) => {
  await t.rejects(
    startWorld({ registry, faults: [{ kind: "silent", venue: "nowhere" }] }),
    /cannot play its script:\nfault 1 \(nowhere \* silent\)/,
  );
});

void t.test("a world whose port is in use rejects, and leaves nothing open", async (t) => {
  const { world } = await openWorld(t);
  const { port } = new URL(world.registry.venues[3]!.rest[0]!.url);
  await t.rejects(startWorld({ registry, ports: { bybit: Number(port) } }), { code: "EADDRINUSE" });
});

async function openWorld(t: Test, options: object = {}) {
  const world: World = await startWorld({ registry, ...options });
  t.teardown(() => world.close());
  const okx = world.registry.venues.find(({ id }) => id === "okx")!;
  return {
    world,
    endpoint: (name: string) => okx.rest.find((one) => one.name === name)!,
    socketUrl: okx.socket!.url,
    streams: okx.socket!.streams,
  };
}

function isTrade(text: string): boolean {
  return text.includes('"tradeId"');
}
