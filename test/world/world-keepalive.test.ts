/**
 * The fifteen venues, and those with rules of other kinds, enforce their keep-alive rules; in `stream.test.ts` the
 * probe follows them. Venue time runs fifty times faster, so that minutes take seconds.
 */
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import type { SocketConfig } from "../../shared/registry/registry.js";
import { connect, send, type VenueClient } from "../../world/clients.js";
import { startWorld, type World } from "../../world/world.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { registry as fifteen, venueOf } from "../support/world-pages.js";

/** Venues that are not among the fifteen, and have players of their own. */
const others = ["crypto-com", "htx", "upbit"];

const { venues } = await loadRegistry("registry/all.json");
const registry = {
  ...fifteen,
  venues: [...fifteen.venues, ...others.map((id) => venues.find((one) => one.id === id)!)],
};

interface Offence {
  venue: string;
  /** The offending action; afterwards the client only waits. Absent: no action. */
  act?: (client: VenueClient, socket: SocketConfig) => void;
  autoPong?: false;
  /** The violation that the venue records. */
  missed: RegExp;
  /** The close code; null: no document says that the venue drops the client, so the socket stays open. */
  code: number | null;
}

const offences: Offence[] = [
  { venue: "binance", autoPong: false, missed: /no pong within 60000 ms/, code: 1006 },
  {
    venue: "binance",
    act: ({ ws }) => [1, 2, 3, 4, 5, 6].forEach(() => ws.ping()),
    missed: /more than 5 frames in a second/,
    code: 1008,
  },
  { venue: "coinbase", missed: /no subscribe message within 5000 ms/, code: 1000 },
  { venue: "kraken", act: subscribe, missed: /no valid request for 60000 ms/, code: 1000 },
  { venue: "okx", missed: /no ping for 30000 ms/, code: 4004 },
  { venue: "kucoin", act: subscribe, missed: /no frame from the client for 60000 ms/, code: 1000 },
  { venue: "gate", missed: /neither a subscription nor a frame .* for 30000 ms/, code: 1000 },
  { venue: "gate", act: subscribe, autoPong: false, missed: /no pong within 30000 ms/, code: 1006 },
  { venue: "bitget", act: subscribe, missed: /no ping for 120000 ms/, code: 1006 },
  { venue: "bitfinex", missed: /no subscription and no frame .* for 60000 ms/, code: 1000 },
  {
    venue: "bitstamp",
    act: (client) => send(client, { event: "x".repeat(512) }),
    missed: /a frame that is too long/,
    code: 1009,
  },
  { venue: "bitstamp", autoPong: false, missed: /no pong within 54000 ms/, code: null },
  { venue: "gemini", autoPong: false, missed: /no pong within 20000 ms/, code: null },
  {
    venue: "deribit",
    act: (client, { keepAlive }) => keepAlive.send.kind === "once" && send(client, keepAlive.send.message),
    missed: /test_request unanswered for 10000 ms/,
    code: 4000,
  },
  { venue: "kraken-futures", act: subscribe, missed: /no ping for 60000 ms/, code: 1000 },
  { venue: "kucoin-futures", missed: /no frame from the client for 60000 ms/, code: 1000 },
  { venue: "crypto-com", act: subscribe, missed: /two heartbeats without an answer/, code: 1000 },
  { venue: "htx", act: subscribe, missed: /two pings without a pong/, code: 1000 },
  { venue: "upbit", act: subscribe, missed: /nothing sent for 120000 ms/, code: 1000 },
];

/** These two wait ten minutes, so they get a separate world that runs still faster. */
const patient: Offence[] = [
  { venue: "bybit", missed: /no ping and no push for 600000 ms/, code: 1000 },
  { venue: "binance-futures", autoPong: false, missed: /no pong within 600000 ms/, code: 1006 },
];

void t.test("a rule of each of these venues is tested", (t) => {
  const tested = new Set([...offences, ...patient].map(({ venue }) => venue));
  t.same([...tested].sort(), registry.venues.map(({ id }) => id).sort());
  t.end();
});

for (const [rules, timeScale] of [
  [offences, 50],
  [patient, 400],
] as const) {
  void t.test(`a client that breaks the rule is dropped (×${timeScale})`, async (t) => {
    const world = await openWorld(t, timeScale);
    await Promise.all(rules.map((offence) => offend(t, world, offence)));
  });
}

void t.test("OKX: a silent stream does not keep a client alive", async (t) => {
  const world = await openWorld(t, 50);
  world.fault({ kind: "silent", venue: "okx" });
  const { socket } = venueOf(world.registry, "okx");
  const client = await connect(socket!.url);
  subscribe(client, socket!);
  t.equal(await client.closed, 4004);
});

void t.test("a connection is closed after its documented lifetime", async (t) => {
  const short = structuredClone(registry);
  venueOf(short, "bitstamp").socket!.maxConnectionMs = 10_000;
  const world = await openWorld(t, 50, short);
  const { socket } = venueOf(world.registry, "bitstamp");
  t.equal(socket!.maxConnectionMs, 200, "scaled for the client too");
  const client = await connect(socket!.url);
  await client.closed;
  t.match(world.violations[0]?.missed, /a connection older than 10000 ms/);
});

async function openWorld(t: Test, timeScale: number, played = registry): Promise<World> {
  const world = await startWorld({ registry: played, timeScale, messagesPerMinuteCap: 12 });
  t.teardown(() => world.close());
  return world;
}

function subscribe(client: VenueClient, { streams }: SocketConfig): void {
  for (const { subscribe } of streams) send(client, subscribe);
}

async function offend(t: Test, world: World, { venue, act, autoPong, missed, code }: Offence) {
  const { socket } = venueOf(world.registry, venue);
  const client = await connect(socket!.url, undefined, autoPong);
  act?.(client, socket!);
  const isRecorded = () =>
    world.violations.some((one) => one.venue === venue && missed.test(one.missed) && one.dropped === (code !== null));
  if (code === null) {
    while (!isRecorded()) await delay(10);
    t.equal(client.ws.readyState, client.ws.OPEN, `${venue} keeps the socket`);
    return;
  }
  t.equal(await client.closed, code, `${venue} drops: ${missed}`);
  t.ok(isRecorded(), `${venue} records: ${missed}`);
}
