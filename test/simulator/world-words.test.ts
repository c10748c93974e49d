/**
 * What venues say instead of an answer, in the words of their registry entries: the probe reads each as it is meant.
 * Also nodes that fail alone, and entries that have aged.
 */
import t, { type Test } from "tap";
import { compileAnswerCheck } from "../../probe/rest/checks.js";
import { makeFrameWords, type FrameWords } from "../../probe/stream/frame-words.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Venue } from "../../shared/registry/registry.js";
import { ask, connect, outcomeOf, type VenueClient } from "../../simulator/clients.js";
import type { ScriptedFault } from "../../simulator/faults.js";
import { startWorld, type World, type WorldOptions } from "../../simulator/world.js";
import { venueOf } from "../support/world-pages.js";

const registry = await loadRegistry("registry/all.json");
const region = "us-east";
const node = "ethereum-rpc.publicnode.com";

void t.test("each endpoint says that it refuses or limits us, or does not trade, in its own words", async (t) => {
  const world = await openWorld(t);
  let heard = 0;
  for (const [kind, said] of [
    ["blocked-inside", "blocked"],
    ["limited-inside", "limited"],
    ["halted", "halted"],
  ] as const) {
    world.fault({ kind, venue: "*", component: "rest:*" });
    for (const { id, rest } of world.registry.venues)
      for (const endpoint of rest) {
        const { status, body } = await ask(endpoint, region);
        const verdict = compileAnswerCheck(endpoint)(Buffer.from(body), undefined);
        const expected = endpoint[said] ? said : null;
        if (expected !== null) heard += 1;
        t.match({ status, said: verdict.said }, { status: 200, said: expected }, `${id} ${endpoint.name} ${kind}`);
        if (expected === null) t.ok(verdict.good, `${id} ${endpoint.name} has no such words`);
      }
    await world.clear();
  }
  t.ok(heard > 100, `${heard} endpoints have words`);
});

void t.test("a socket that asks us to wait says so as soon as it is open", async (t) => {
  const world = await openWorld(t);
  world.fault({ kind: "limited-inside", venue: "*", component: "ws:conn" });
  const limiting = world.registry.venues.filter(({ socket }) => socket?.limited);
  t.ok(limiting.length > 5);
  for (const { id, socket } of limiting) {
    const words = makeFrameWords(socket!);
    const client = await connect(socket!.url, region);
    t.ok(await client.frame((text) => words.hear(JSON.parse(text)) === "limited"), id);
    client.ws.terminate();
  }
});

void t.test("a socket says that its venue does not trade, and later that it does again", async (t) => {
  const world = await openWorld(t);
  const halting = world.registry.venues.filter(({ socket }) => socket?.halted);
  t.ok(halting.length > 1);
  for (const { id, socket } of halting) {
    const open = await connect(socket!.url, region);
    world.fault({ kind: "halted", venue: id, component: "ws:conn", regions: [region] });
    for (const client of [open, await connect(socket!.url, region)]) {
      const words = makeFrameWords(socket!);
      await heard(client, 0, words, true);
      const frames = client.frames.length;
      await world.clear();
      await heard(client, frames, words, false);
      t.pass(id);
      client.ws.terminate();
      world.fault({ kind: "halted", venue: id, component: "ws:conn", regions: [region] });
    }
    await world.clear();
  }
});

void t.test("a ban has words of its own", async (t) => {
  const world = await openWorld(t);
  const [endpoint] = venueOf(world.registry, "bybit").rest;
  world.fault({ kind: "status", status: 403, text: "access too frequent", venue: "bybit" });
  const { status, body } = await ask(endpoint!, region);
  t.match({ status, body }, { status: 403, body: /<h1>access too frequent<.h1>/ });
  t.equal(compileAnswerCheck(endpoint!)(Buffer.from(body), undefined).said, "limited");
});

void t.test("a node fails alone, for every venue that reads it", async (t) => {
  const world = await openWorld(t);
  const supply = venueOf(world.registry, "usdt").rest.find(({ name }) => name === "supply")!;
  const [block] = venueOf(world.registry, "publicnode").rest;
  const outcomes = () => Promise.all([supply.url, ...supply.alternatives!].map((url) => outcomeOf({ ...supply, url })));
  t.ok(new Set([supply.url, ...supply.alternatives!].map((url) => new URL(url).port)).size > 1, "each at its own port");
  for (const [fault, outcome] of [
    [{ kind: "refused" }, "ECONNREFUSED"],
    [{ kind: "status" }, 503],
    [{ kind: "limited" }, 429],
  ] as [Pick<ScriptedFault, "kind">, string | number][]) {
    world.fault({ ...fault, venue: "*", host: node });
    const [first, ...others] = await outcomes();
    t.equal(first, outcome, fault.kind);
    t.same(new Set(others), new Set([200]), "the others answer");
    t.equal(await outcomeOf(block!), outcome, "the node's own venue");
    await world.clear();
    t.same(new Set(await outcomes()), new Set([200]));
  }
});

void t.test("an aged entry is one that the venue has left", async (t) => {
  const until = { date: "2026-03-01", what: "It closed.", source: "its page" };
  const world = await openWorld(t, {
    aged: [
      { venue: "okx", moved: "ws.okx.com" },
      { venue: "gemini", checkedAt: "2026-01-01", until },
    ],
  });
  const urlOf = (venues: typeof world.registry) => venueOf(venues, "okx").socket!.url;
  await t.rejects(connect(urlOf(world.registry)), { code: "ECONNREFUSED" });
  const client = await connect(urlOf(world.corrected));
  client.ws.terminate();
  t.equal(await outcomeOf(venueOf(world.registry, "okx").rest[0]!), 200, "another host of the venue");
  t.match(venueOf(world.registry, "gemini"), { checkedAt: "2026-01-01", until });
  t.notOk(venueOf(world.corrected, "gemini").until);
  for (const { id, ...entry } of world.corrected.venues)
    t.same(realPartsOf(entry as Venue), {}, `${id}: nothing of the real venue's calendar and limits`);
  const bad = [{ venue: "nowhere" }, { venue: "okx", moved: "example.com" }];
  await t.rejects(
    startWorld({ registry, aged: bad }),
    /no venue nowhere\nokx has no host example.com; expected one of /,
  );
});

function realPartsOf({ until, checkedAt, limits, edgeCacheMs }: Venue) {
  return JSON.parse(JSON.stringify({ until, checkedAt, limits, edgeCacheMs })) as object;
}

/** Waits until the frames after the first ones amount to this. */
async function heard(client: VenueClient, after: number, words: FrameWords, halted: boolean): Promise<void> {
  let place = 0;
  await client.frame((text) => {
    if (place++ < after) return false;
    words.hear(JSON.parse(text));
    return words.isHalted() === halted;
  });
}

async function openWorld(t: Test, options: Partial<WorldOptions> = {}): Promise<World> {
  const world = await startWorld({ registry, ...options });
  t.teardown(() => world.close());
  return world;
}
