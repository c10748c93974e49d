import t from "tap";
import { startProbe } from "../../probe/probe.js";
import { makeLog } from "../../shared/log/log.js";
import { componentsOf } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";
import { startWorld } from "../../simulator/world.js";

const quiet = makeLog("test", "error", () => {});

void t.test("every component of the fifteen venues is measured, also while the database is away", async (t) => {
  const world = await startWorld({
    registry: await loadRegistry("registry.json"),
    timeScale: 5,
    messagesPerMinuteCap: 120,
  });
  t.teardown(() => world.close());
  const registry = structuredClone(world.registry);
  for (const { rest, socket } of registry.venues) {
    for (const endpoint of rest) endpoint.cadenceMs = 1000;
    for (const stream of socket?.streams ?? []) stream.cadenceMs = 1000;
  }
  const samples: Sample[] = [];
  let away = true;
  const probe = startProbe({
    registry,
    region: "ap-southeast",
    version: "1.2.3",
    siteUrl: "http://localhost",
    spool: await someSpool(t),
    log: quiet,
    record(batch) {
      if (away) return Promise.reject(new Error("the database is away"));
      samples.push(...batch);
      return Promise.resolve({ stored: batch.length, duplicates: 0, refused: 0 });
    },
  });
  t.teardown(() => probe.close());
  const wanted = registry.venues.flatMap((venue) => componentsOf(venue).map(({ id }) => `${venue.id} ${id}`));
  await until(() => probe.status().waiting > 500, 20_000);
  away = false;
  const measured = () => new Set(samples.map((one) => `${one.venue} ${one.component}`));
  await until(() => wanted.every((one) => measured().has(one)), 20_000);
  await probe.close();

  t.equal(measured().size, wanted.length);
  t.same(
    samples.filter(({ good }) => !good),
    [],
  );
  t.ok(samples.every(({ good, fault }) => good === (fault === null)));
  const keys = samples.map((one) => `${one.venue} ${one.component} ${+one.slotAt}`);
  t.equal(new Set(keys).size, keys.length, "each slot is stored once");
  const status = probe.status();
  t.equal(status.shipped, samples.length);
  t.equal(status.taken, samples.length);
  t.equal(status.waiting, 0);
  t.equal(status.dropped, 0);
  t.equal(status.socketsOpen, 0, "closing the probe closes its sockets");
  t.same(world.violations, []);
  t.ok(world.requests({ region: "ap-southeast" }) > 0, "the probe's requests name its region");
});
