/**
 * The world stays on this machine, and records what its clients do wrong. `all-venues` measures all that it plays, and
 * `crowd-of-faults` meets its faults.
 */
import t from "tap";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, send } from "../../world/clients.js";
import { venueOf } from "../support/world-pages.js";
import { startWorld } from "../../world/world.js";

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
    const ofTheReal = world.registry.venues.filter(
      ({ until, checkedAt, limits, edgeCacheMs }) => until ?? checkedAt ?? limits ?? edgeCacheMs,
    );
    t.same(ofTheReal, [], "nothing of the real venue's calendar and limits");
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

void t.test("a world with an invalid script or a port in use rejects, and leaves nothing open", async (t) => {
  await t.rejects(
    startWorld({ registry, faults: [{ kind: "silent", venue: "nowhere" }] }),
    /cannot play its script:\nfault 1 \(nowhere \* silent\)/,
  );
  const world = await startWorld({ registry });
  t.teardown(() => world.close());
  const { port } = new URL(world.registry.venues[3]!.rest[0]!.url);
  await t.rejects(startWorld({ registry, ports: { bybit: Number(port) } }), { code: "EADDRINUSE" });
});
