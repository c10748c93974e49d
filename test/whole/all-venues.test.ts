/**
 * The real probe measures all 33 simulated venues: every sample is good, each chain head is right, and a fault in each
 * category is recognised.
 */
import t from "tap";
import { startProbe } from "../../probe/probe.js";
import { accepted, tick } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { componentsOf } from "../../shared/registry/components.js";
import { categories } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Fault, Sample } from "../../shared/measurement/sample.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";
import type { ScriptedFault } from "../../world/faults.js";
import { headAt } from "../../world/chain-heads.js";
import { startWorld } from "../../world/world.js";

const region = "eu-central";
const behind = 4;

/** One venue of each category, each with a different kind of fault. */
const troubles: [ScriptedFault & { component: string }, Fault][] = [
  [{ venue: "kraken", component: "rest:ticker", kind: "status" }, "http"],
  [{ venue: "solana", component: "ws:conn", kind: "socket-closed" }, "closed"],
  [{ venue: "coingecko", component: "rest:ping", kind: "limited" }, "limited"],
  // next to a good endpoint of the same origin, which keeps a connection open
  [{ venue: "redstone", component: "rest:price", kind: "reset" }, "closed"],
  [{ venue: "usdc", component: "rest:ping", kind: "wrong-body" }, "body"],
  [{ venue: "cctp", component: "rest:fees", kind: "error-inside" }, "body"],
  [{ venue: "moonpay", component: "rest:countries", kind: "status", status: 403 }, "blocked"],
];

void t.test("all venues", async (t) => {
  const { pool } = await migratedDatabase(t);
  const log = makeLog("test", "error", () => {});
  const world = await startWorld({
    registry: await loadRegistry("registry/all.json"),
    timeScale: 5,
    messagesPerMinuteCap: 120,
  });
  t.teardown(() => world.close());
  world.fault({ venue: "drpc", component: "rest:block", kind: "lags", blocks: behind });
  world.fault({ venue: "publicnode", component: "rest:head", kind: "head-back", blocks: 2 });
  const registry = structuredClone(world.registry);
  for (const { rest, socket } of registry.venues) {
    for (const endpoint of rest) endpoint.cadenceMs = 1000;
    for (const stream of socket?.streams ?? []) stream.cadenceMs = 1000;
  }
  await migrate(pool, registry, log);
  const api = await serve(t, { pool, registry });
  const samples: Sample[] = [];
  const probe = startProbe({
    spool: await someSpool(t),
    ...{ registry, region, log, version: "1.2.3", siteUrl: "http://localhost" },
    async record(batch) {
      const recorded = await recordSamples(pool, region, batch);
      samples.push(...batch);
      return recorded;
    },
  });
  t.teardown(() => probe.close());
  const nameOf = (one: { venue: string; component: string }) => `${one.venue} ${one.component}`;

  await t.test("every endpoint and stream is good", async (t) => {
    const wanted = registry.venues.flatMap((venue) => componentsOf(venue).map(({ id }) => `${venue.id} ${id}`));
    // a chain is measured once it has a new block
    const measured = () => new Set(samples.map(nameOf).filter((name) => !name.includes("-chain ")));
    await until(() => measured().size === wanted.length);
    t.strictSame(measured(), new Set(wanted));
    const bad = samples.filter(({ good }) => !good);
    t.strictSame(bad, []);
    t.strictSame(world.violations, []);
  });

  await t.test("each chain head is that of its provider", (t) => {
    for (const venue of registry.venues)
      for (const { name, head } of venue.rest) {
        const what = `${venue.id} rest:${name}`;
        const read = samples.filter((one) => nameOf(one) === what);
        const off = what === "drpc rest:block" ? behind : 0;
        const slack = what === "publicnode rest:head" ? 2 : 0;
        // the chain may advance until the answer arrives
        const most = headAt(venue.chain, Date.now()) - off;
        const wrong = read.filter(({ slotAt, head: named }) => {
          if (head === undefined) return named !== null;
          const least = headAt(venue.chain, +slotAt) - off - slack;
          return named === null || named < least || named > most;
        });
        t.strictSame(wrong, [], what);
      }
    t.end();
  });

  await t.test("the API shows the lags that were injected", async (t) => {
    interface Page {
      endpoints: { component: string; lag: { blocks: number; backwards: number } | null }[];
    }
    const lagOf = async (venue: string, component: string) => {
      const { body } = await api.ask<Page>(`/v1/targets/${venue}?region=${region}`);
      return body.endpoints.find((one) => one.component === component)!.lag;
    };
    const seen = new Set<number>();
    const isBehind = async () => {
      accepted(await tick(pool, new Date()));
      // null until a head is known: a sample counts from the next whole second after its slot
      const others = await lagOf("publicnode", "rest:block");
      const lag = await lagOf("drpc", "rest:block");
      if (others !== null && lag !== null) seen.add(lag.blocks);
      return seen.has(behind);
    };
    await until(isBehind, 60_000, 500);
    // one less only if a block came after the last request to another provider
    const wrong = [...seen].filter((blocks) => blocks !== behind && blocks !== behind - 1);
    t.same(wrong, []);
    t.match(await lagOf("publicnode", "rest:block"), { blocks: 0, backwards: 0 });
    t.ok((await lagOf("publicnode", "rest:head"))!.backwards > 0);
    t.match(await lagOf("solana", "rest:slot"), { backwards: 0 });
    for (const { id, category, chain } of registry.venues.slice(15))
      if (chain && category !== "rpc") t.match(await lagOf(id, "rest:head"), { blocks: 0 }, id);
    t.equal(await lagOf("kraken", "rest:ticker"), null);
    t.equal(await lagOf("redstone", "rest:price"), null, "reads no chain");
  });

  await t.test("a fault in each category is recognised", async (t) => {
    const categoryOf = (id: string) => registry.venues.find((venue) => venue.id === id)!.category;
    t.strictSame(troubles.map(([{ venue }]) => categoryOf(venue)).sort(), [...categories].sort());
    for (const [fault] of troubles) world.fault(fault);
    const bad = () => samples.filter(({ good }) => !good);
    const seen = () => new Set(bad().map((one) => `${nameOf(one)} ${one.fault}`));
    const wanted = troubles.map(([fault, shows]) => `${nameOf(fault)} ${shows}`);
    await until(() => wanted.every((one) => seen().has(one)));
    const affected = new Set(troubles.map(([{ venue }]) => venue));
    const others = bad().filter(({ venue }) => !affected.has(venue));
    t.strictSame(others, [], "no other venue is bad");
  });
});
