/**
 * A probe's process is frozen while a market has its last trades for some time: the frames that arrived meanwhile
 * count.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { phaseMsOf } from "../../probe/schedule/schedule.js";
import { packagedFile } from "../../shared/config/package.js";
import { type Region, type Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Measured, MeasuringOptions } from "../support/measuring-process.js";
import { until } from "../support/until.js";
import { startWorld, type World } from "../../simulator/world.js";

const { venues, ...registry } = await loadRegistry(packagedFile("registry.json"));
const afterMs = 3000;
const cadenceMs = 5000;

/** OKX with only its trades, REST trades as counterpart, and a threshold short enough for a test. */
function tradesOnly(): Registry {
  const okx = structuredClone(venues.find(({ id }) => id === "okx")!);
  okx.rest = okx.rest.filter(({ name }) => name === "trades");
  const [endpoint] = okx.rest;
  Object.assign(endpoint!, { ...{ cadenceMs: 1000, timeoutMs: 900 }, newest: { path: "$.data[0].ts", unit: "ms" } });
  const { socket } = okx;
  socket!.streams = socket!.streams.filter(({ name }) => name === "trades");
  const [stream] = socket!.streams;
  Object.assign(stream!, {
    ...{ cadenceMs, counterpart: "trades", rateBasis: "estimate" },
    stall: { afterMs, distribution: null },
  });
  return { ...registry, venues: [okx] };
}

/** No trade from now on, on the stream and by REST. */
function fallSilent(world: World) {
  world.fault({ venue: "okx", component: "rest:trades", kind: "frozen" });
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
}

/** The next instant in the middle of a slot of the stream: so the slot before it is late when the probe goes on. */
function amidSlot(fromMs: number): number {
  const [{ id: region }] = registry.regions as [Region];
  const component = { venue: "okx", component: "ws:trades", cadenceMs };
  const phaseMs = phaseMsOf(region, component) + cadenceMs / 2;
  return Math.ceil((fromMs - phaseMs) / cadenceMs) * cadenceMs + phaseMs;
}

function measuring(t: Test, registry: Registry) {
  const options: MeasuringOptions = { registry, slots: null };
  const child = spawn(
    process.execPath,
    [packagedFile("dist/test/support/measuring-process.js"), JSON.stringify(options)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  // a frozen process, too
  t.teardown(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  return {
    signal: (name: NodeJS.Signals) => child.kill(name),
    async ended(): Promise<Measured> {
      child.kill("SIGTERM");
      await once(child, "close");
      return JSON.parse(text) as Measured;
    },
  };
}

void t.test("a quiet stream does not stall because the probe's process was frozen", async (t) => {
  const world = await startWorld({ registry: tradesOnly(), messagesPerMinuteCap: 600 });
  t.teardown(() => world.close());
  const probe = measuring(t, world.registry);
  await until(() => world.openSockets() === 1, 20_000);
  // Data within ten seconds of a subscription may be old, and does not show what the stream has missed.
  await sleep(12_000);
  fallSilent(world);
  await sleep(2000);
  probe.signal("SIGSTOP");
  await world.clear();
  await sleep(2 * afterMs);
  fallSilent(world);
  await sleep(amidSlot(Date.now() + 1000) - Date.now());
  const asked = world.requests({ component: "rest:trades" });
  probe.signal("SIGCONT");
  await sleep(4 * cadenceMs);
  t.ok(world.requests({ component: "rest:trades" }) > asked + 10);
  const { good, faults, unmeasured } = await probe.ended();
  t.strictSame(faults, []);
  t.ok(good > 30, `${good} good samples`);
  t.ok(unmeasured.late! > 4, `${unmeasured.late} slots were late`);
});
