/** What venues say instead of an answer, in their entries' words: the probe reads each as it is meant. */
import t, { type Test } from "tap";
import { compileAnswerCheck } from "../../probe/measure/rest/checks.js";
import { makeFrameWords, type FrameWords } from "../../probe/measure/stream/session.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, type VenueClient } from "../../world/clients.js";
import { startWorld, type World } from "../../world/world.js";

const registry = await loadRegistry("registry/all.json");
const region = "us-east";

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

void t.test("every venue has its own error envelope", async (t) => {
  const world = await openWorld(t);
  world.fault({ kind: "error-inside", venue: "*" });
  for (const { id, rest } of world.registry.venues.slice(0, 15)) {
    const ticker = rest.find(({ name }) => name === "ticker")!;
    t.match(await ask(ticker), { status: 200, body: /err|code|message/i }, id);
  }
});

/** Waits until the frames after the first ones amount to this. */
async function heard(client: VenueClient, after: number, words: FrameWords, halted: boolean): Promise<void> {
  let place = 0;
  await client.frame((text) => {
    if (place++ < after) return false;
    words.hear(JSON.parse(text));
    return words.isHalted() === halted;
  });
}

async function openWorld(t: Test): Promise<World> {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  return world;
}
