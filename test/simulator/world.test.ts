/**
 * The world plays every venue as its registry entry describes it: proofs, acknowledgements, data frames, time stamps.
 */
import t, { type Test } from "tap";
import { parsePath } from "../../shared/registry/json-path.js";
import {
  conditionsOf,
  type Match,
  type Proof,
  type Registry,
  type RestEndpoint,
  type Stream,
  type TimeUnit,
} from "../../shared/registry/registry.js";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, send } from "../../simulator/clients.js";
import { until } from "../support/until.js";
import { startDemoWorld } from "../../simulator/demo.js";
import { startWorld } from "../../simulator/world.js";

const registry = await loadRegistry("registry.json");
const everything = await loadRegistry("registry-all.json");

for (const [name, file] of Object.entries({ registry, everything })) {
  void t.test(`${name}: every endpoint's answer passes its proof`, async (t) => {
    const world = await startWorld({ registry: file });
    t.teardown(() => world.close());
    for (const { id, rest } of world.registry.venues)
      for (const endpoint of rest) {
        const { status, body } = await ask(endpoint);
        const what = `${id} rest:${endpoint.name}`;
        t.equal(status, endpoint.expectStatus, what);
        const answer: unknown = JSON.parse(body);
        t.ok(isProven(answer, endpoint.proof), `${what}: ${body}`);
        if (endpoint.head) t.ok(Number(valueAt(answer, endpoint.head.path)), what);
        checkAnswerTimes(t, endpoint, answer, what);
      }
  });

  void t.test(`${name}: every stream is acknowledged and sends data`, async (t) => {
    const world = await startWorld({
      registry: file,
      // Coinbase then waits for half a second, and the rarest frame arrives within nine
      timeScale: 10,
      messagesPerMinuteCap: 12,
    });
    t.teardown(() => world.close());
    await Promise.all(
      world.registry.venues.flatMap(({ id, socket }) =>
        (socket?.streams ?? []).map(async (stream) => {
          const client = await connect(stream.url ?? socket!.url, "us-east");
          send(client, stream.subscribe);
          const component = `ws:${stream.name}`;
          const data = await client.frame((text) => isData(stream, text, client.frames));
          t.pass(`${id} ${component}`);
          checkTime(t, stream, data, `${id} ${component}`);
          const seen = world.requests({ venue: id, component });
          t.equal(seen, 1, `${id} counts ${component}`);
        }),
      ),
    );
    t.same(world.violations, []);
  });
}

void t.test("the world's registry is valid, and leads only to the world", async (t) => {
  for (const timeScale of [1, 50]) {
    const world = await startWorld({ registry: everything, timeScale });
    t.teardown(() => world.close());
    parseRegistry(world.registry, `×${timeScale}`);
    const urls = JSON.stringify(world.registry.venues).match(/(https?|wss?):[^"]*/g)!;
    t.same(
      urls.filter((url) => !/^(http|ws):..127\.0\.0\.1:/.test(url)),
      [],
    );
  }
});

void t.test("regions are distinguished by the User-Agent", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const [endpoint] = venueOf(world.registry, "okx").rest;
  await ask(endpoint!, "us-east");
  await ask(endpoint!, "us-east");
  await ask(endpoint!, "eu-central");
  await ask(endpoint!);
  const okx = { venue: "okx", component: "rest:time" };
  t.equal(world.requests({ ...okx, region: "us-east" }), 2);
  t.equal(world.requests({ ...okx, region: "eu-central" }), 1);
  t.equal(world.requests({ ...okx, region: null }), 1);
  t.equal(world.requests(okx), 4);
});

void t.test("an address outside the registry is not found", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const { url } = venueOf(world.registry, "okx").rest[0]!;
  const answer = await ask({ url: `${url}/elsewhere`, method: "GET" });
  t.equal(answer.status, 404);
  t.match(answer.body, "okx has no GET");
  const { socket } = venueOf(world.registry, "okx");
  await t.rejects(connect(`${socket!.url}/elsewhere`), /404/);
});

void t.test("invalid client messages are recorded, and harm nothing", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const clients = await Promise.all(world.registry.venues.map(async ({ socket }) => connect(socket!.url)));
  for (const client of clients)
    for (const nonsense of ["{", "hello", "[]", '{"op":7}', "null", '{"params":0}']) send(client, nonsense);
  for (const { id, rest } of world.registry.venues) t.equal((await ask(rest[0]!)).status, 200, id);
  for (const { id } of world.registry.venues)
    t.ok(
      world.violations.some(({ venue }) => venue === id),
      id,
    );
});

void t.test("plausible latency is constant per venue and region", async (t) => {
  const world = await startWorld({ registry, latency: "plausible" });
  t.teardown(() => world.close());
  const tookMs = async (id: string) => {
    const begun = performance.now();
    await ask(venueOf(world.registry, id).rest[0]!, "eu-central");
    return performance.now() - begun;
  };
  for (const id of ["binance", "okx", "gemini"]) t.ok((await tookMs(id)) >= 9, `${id} has a noticeable latency`);
});

void t.test("the demo's script begins with the first request", async (t) => {
  const world = await startDemoWorld(registry);
  t.teardown(() => world.close());
  const { rest } = venueOf(world.registry, "binance");
  await until(async () => (await ask(rest[0]!, "us-east")).status === 451);
  t.equal((await ask(rest[0]!, "eu-central")).status, 200);
});

void t.test("a busy world closes without delay", async () => {
  const world = await startWorld({ registry });
  const clients = await Promise.all(
    world.registry.venues.map(async ({ socket }) => {
      const client = await connect(socket!.url);
      for (const { subscribe } of socket!.streams) send(client, subscribe);
      return client;
    }),
  );
  await world.close();
  await Promise.all(clients.map(({ closed }) => closed));
});

function venueOf({ venues }: Registry, id: string) {
  return venues.find((venue) => venue.id === id)!;
}

function valueAt(value: unknown, path: string): unknown {
  return parsePath(path)(value) ?? undefined;
}

function isData({ match, ignore }: Stream, text: string, frames: string[]): boolean {
  if (!/^[{[]/.test(text)) return false;
  const frame: unknown = JSON.parse(text);
  return conditionsOf(match).every((one) => holds(one, frame, frames)) && !(ignore && holds(ignore, frame, frames));
}

function holds({ path, equals }: Match, frame: unknown, frames: string[]) {
  const found = valueAt(frame, path);
  if (found === undefined || equals === undefined) return found !== undefined;
  return found === (/^{chanId:/.test(String(equals)) ? chanId(frames) : equals);
}

/** Each client here has a single subscription, so the number is that of its only channel. */
function chanId(frames: string[]): unknown {
  const subscribed = frames.find((text) => text.includes('"subscribed"'));
  return subscribed && valueAt(JSON.parse(subscribed), "$.chanId");
}

function isProven(answer: unknown, proof: Proof): boolean {
  if (typeof proof === "string") return valueAt(answer, proof) !== undefined;
  return conditionsOf(proof).every((condition) => {
    if ("unless" in condition) return [undefined, null].includes(valueAt(answer, condition.unless) as undefined);
    const found = valueAt(answer, condition.path);
    if ("is" in condition) return Array.isArray(found);
    const wanted: unknown[] = [condition.equals ?? found].flat();
    return found !== undefined && wanted.includes(found);
  });
}

/** Where an answer states the time of its data or of its newest trade, it must be just now. */
function checkAnswerTimes(t: Test, { newest, dataTime }: RestEndpoint, answer: unknown, what: string) {
  if (dataTime) {
    const { path, word, unit } = dataTime;
    const found = valueAt(answer, path);
    const time = word === undefined ? found : `0x${String(found).slice(2 + word * 64, 66 + word * 64)}`;
    t.ok(isNow(time, unit), `${what}: ${String(time)}`);
  }
  if (!newest) return;
  const { path, list, unit } = newest;
  const found =
    list === undefined
      ? [valueAt(answer, path)]
      : (valueAt(answer, list) as unknown[]).map((one) => valueAt(one, path));
  if (unit === "id") t.ok(found.every(Boolean), what);
  else t.ok(found.length === 0 || found.some((one) => isNow(one, unit)), what);
}

const perMs = { ns: 1e6, us: 1e3, ms: 1, s: 1e-3 };

function checkTime(t: Test, { eventTime }: Stream, data: string, what: string) {
  if (!eventTime) return;
  const value = valueAt(JSON.parse(data), eventTime.path);
  if (value === undefined) return;
  t.ok(isNow(value, eventTime.unit), `${what}: ${data}`);
}

function isNow(value: unknown, unit: TimeUnit): boolean {
  const ms = unit === "iso" ? Date.parse(String(value)) : Number(value) / perMs[unit];
  return Math.abs(Date.now() - ms) < 10_000;
}
