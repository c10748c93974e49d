/** The world stays on this machine, and records what its clients do wrong. `all-venues` measures all that it plays. */
import t from "tap";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, send } from "../../simulator/clients.js";
import { until } from "../support/until.js";
import { venueOf } from "../support/world-pages.js";
import { startDemoWorld } from "../../simulator/demo.js";
import { startWorld } from "../../simulator/world.js";

const registry = await loadRegistry("registry/default.json");
const everything = await loadRegistry("registry/all.json");

void t.test("the world's registry is valid, and leads only to the world", async (t) => {
  for (const timeScale of [1, 50]) {
    const world = await startWorld({ registry: everything, timeScale });
    t.teardown(() => world.close());
    parseRegistry(world.registry, `×${timeScale}`);
    const asked = world.registry.venues.map((venue) => ({ ...venue, sources: undefined, limits: undefined }));
    const urls = JSON.stringify(asked).match(/(https?|wss?):[^"]*/g)!;
    const elsewhere = urls.filter((url) => !/^(http|ws):..127\.0\.0\.1:/.test(url));
    t.same(elsewhere, []);
  }
});

void t.test("requests are counted by region, which the User-Agent names", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const [endpoint] = venueOf(world.registry, "okx").rest;
  for (const region of ["us-east", "us-east", "eu-central", undefined]) await ask(endpoint!, region);
  const count = (region?: string | null) => world.requests({ venue: "okx", component: "rest:time", region });
  t.same([count("us-east"), count("eu-central"), count(null), count()], [2, 1, 1, 4]);
});

void t.test("the node of a third party answers at each of its addresses", async (t) => {
  const world = await startWorld({ registry: everything });
  t.teardown(() => world.close());
  const { rest, socket } = venueOf(world.registry, "usdt");
  const endpoint = rest.find(({ name }) => name === "supply")!;
  for (const url of [endpoint.url, ...endpoint.alternatives!])
    t.match(await ask({ ...endpoint, url }), { status: 200, body: /"result":"0x/ }, url);
  for (const url of [socket!.url, ...socket!.alternatives!]) {
    const client = await connect(url);
    client.ws.terminate();
  }
});

void t.test("an address outside the registry is not found", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const { rest, socket } = venueOf(world.registry, "okx");
  const answer = await ask({ url: `${rest[0]!.url}/elsewhere`, method: "GET" });
  t.match(answer, { status: 404, body: "okx has no GET" });
  await t.rejects(connect(`${socket!.url}/elsewhere`), /404/);
});

void t.test("invalid client messages are recorded, and harm nothing", async (t) => {
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const clients = await Promise.all(world.registry.venues.map(async ({ socket }) => connect(socket!.url)));
  for (const client of clients)
    for (const nonsense of ["{", "hello", "[]", '{"op":7}', "null", '{"params":0}']) send(client, nonsense);
  for (const { id, rest } of world.registry.venues) t.equal((await ask(rest[0]!)).status, 200, id);
  const recorded = new Set(world.violations.map(({ venue }) => venue));
  for (const { id } of world.registry.venues) t.ok(recorded.has(id), id);
});

void t.test("plausible latency is noticeable", async (t) => {
  const world = await startWorld({ registry, latency: "plausible" });
  t.teardown(() => world.close());
  for (const id of ["binance", "okx", "gemini"]) {
    const begun = performance.now();
    await ask(venueOf(world.registry, id).rest[0]!, "eu-central");
    t.ok(performance.now() - begun >= 9, id);
  }
});

void t.test("the demo's script begins with the first request", async (t) => {
  const world = await startDemoWorld(registry);
  t.teardown(() => world.close());
  const { rest } = venueOf(world.registry, "binance");
  await until(async () => (await ask(rest[0]!, "us-east")).status === 451);
  t.equal((await ask(rest[0]!, "eu-central")).status, 200);
});
