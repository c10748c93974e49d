/**
 * Faults act on the wire as their script says, and only on the targets that it names. What they do to sockets is in
 * `stream.test.ts`, where the probe meets them.
 */
import { once } from "node:events";
import t, { type Test } from "tap";
import { blocksOff } from "../../simulator/heads.js";
import { ask, connect, outcomeOf, send } from "../../simulator/clients.js";
import type { ScriptedFault } from "../../simulator/faults.js";
import { startWorld } from "../../simulator/world.js";
import { registry, venueOf } from "../support/world-pages.js";

type Kind = Omit<ScriptedFault, "venue">;

/** The result of a request for OKX's ticker while the fault lasts. */
const restOutcomes: [Kind, number | string][] = [
  [{ kind: "reset" }, "ECONNRESET"],
  [{ kind: "timeout" }, "TIMED_OUT"],
  [{ kind: "status" }, 503],
  [{ kind: "status", status: 451 }, 451],
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
  const location = "http://127.0.0.1:1/";
  t.match(await answerTo({ kind: "status", status: 301, location }), { status: 301, headers: { location } });
  t.match(await answerTo({ kind: "limited", retryAfterS: 7 }), { headers: { "retry-after": "7" } });
  t.match(await answerTo({ kind: "wrong-body" }), { headers: { "content-type": "text/html" }, body: /^<!doctype/ });
  const begun = performance.now();
  await answerTo({ kind: "slow", latencyMs: 150 });
  t.ok(performance.now() - begun >= 149);
});

/** The result of an upgrade while the fault lasts. */
const upgradeOutcomes: [Kind, RegExp][] = [
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

void t.test("socket-closed and reset: open sockets of the region end, with the script's code", async (t) => {
  const { world, socketUrl } = await openWorld(t);
  for (const [kind, code] of [
    [{ kind: "socket-closed", closeCode: 4001 }, 4001],
    [{ kind: "reset" }, 1006],
  ] as [Kind, number][]) {
    const [near, far] = [await connect(socketUrl, "us-east"), await connect(socketUrl, "eu-central")];
    world.fault({ ...kind, venue: "okx", component: "ws:conn", regions: ["us-east"] });
    t.equal(await near.closed, code, kind.kind);
    t.equal(far.ws.readyState, far.ws.OPEN);
    far.ws.terminate();
    await world.clear();
  }
});

void t.test("frozen: data keep arriving, but do not change", async (t) => {
  const { world, socketUrl, streams, endpoint } = await openWorld(t);
  interface Row {
    data: [{ ts: string; tradeId?: string }];
  }
  const rowOf = (text: string) => (JSON.parse(text) as Row).data[0];
  const row = async (name: string, region = "us-east") => rowOf((await ask(endpoint(name), region)).body);
  const regions = ["us-east"];
  for (const component of ["rest:ticker", "rest:trades", "ws:trades"])
    world.fault({ kind: "frozen", venue: "okx", component, regions });
  const [ticker, trade] = [await row("ticker"), await row("trades")];
  const client = await connect(socketUrl, "us-east");
  for (const { subscribe } of streams) send(client, subscribe);
  const trades = () => client.frames.filter(isTrade).map(rowOf);
  while (trades().length < 3) await once(client.ws, "message");
  for (const { ts, tradeId } of trades())
    t.strictSame({ ts, tradeId }, { ts: trades()[0]!.ts, tradeId: trades()[0]!.tradeId });
  t.strictSame([await row("ticker"), await row("trades")], [ticker, trade]);
  t.ok(Number((await row("time")).ts) >= Number(ticker.ts), "another endpoint's time advances");
  const elsewhere = await row("trades", "eu-central");
  t.ok(Number(elsewhere.tradeId) > Number(trade.tradeId), "as in other regions");
  await world.clear();
  t.ok(Number((await row("trades")).tradeId) > Number(trade.tradeId));
});

void t.test("falls-behind: the head advances at half of the chain's pace, without end", (t) => {
  const off = (ofS: number, chain: string, from?: Date) =>
    blocksOff({ kind: "falls-behind", venue: "*", ...(from && { from }) }, 0, chain, new Date(ofS * 1000));
  t.equal(off(4000, "solana", new Date(3_600_000)), -500);
  t.equal(off(86_400 + 3600, "ethereum", new Date(3_600_000)), -3600);
  t.equal(off(3600, "ethereum", new Date(3_600_000)), 0, "not yet");
  t.equal(off(2400, "ethereum"), -100, "since ever");
  t.end();
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
  t.equal(await (await connect(socketUrl)).closed, 1012, "and fired again");
  aheadMs = 3_700_000;
  t.equal(await outcomeOf(endpoint("time")), 503);
  aheadMs = 7_300_000;
  t.equal(await outcomeOf(endpoint("time")), 200);
  (await connect(socketUrl)).ws.terminate();
});

void t.test("every venue has its own error envelope", async (t) => {
  const { world } = await openWorld(t);
  world.fault({ kind: "error-inside", venue: "*" });
  for (const { id, rest } of world.registry.venues) {
    const ticker = rest.find(({ name }) => name === "ticker")!;
    t.match(await ask(ticker), { status: 200, body: /err|code|message/i }, id);
  }
});

void t.test("a world with an invalid script or a port in use rejects, and leaves nothing open", async (t) => {
  await t.rejects(
    startWorld({ registry, faults: [{ kind: "silent", venue: "nowhere" }] }),
    /cannot play its script:\nfault 1 \(nowhere \* silent\)/,
  );
  const { world } = await openWorld(t);
  const { port } = new URL(world.registry.venues[3]!.rest[0]!.url);
  await t.rejects(startWorld({ registry, ports: { bybit: Number(port) } }), { code: "EADDRINUSE" });
});

async function openWorld(t: Test, options: object = {}) {
  const world = await startWorld({ registry, ...options });
  t.teardown(() => world.close());
  const okx = venueOf(world.registry, "okx");
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
