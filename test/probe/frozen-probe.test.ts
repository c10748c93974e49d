/** A probe's process is frozen while a market has its last trades: the frames that arrived meanwhile count. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { phaseMsOf } from "../../probe/schedule/schedule.js";
import { type Region, type Registry } from "../../shared/registry/registry.js";
import { startKillable } from "../support/killable.js";
import type { Measured, MeasuringOptions } from "../support/measuring-process.js";
import { okx, registry } from "../support/okx-server.js";
import { until } from "../support/until.js";
import { startWorld, type World } from "../../simulator/world.js";

const afterMs = 3000;
const cadenceMs = 5000;

/** OKX with only its trades, REST trades as counterpart, and a threshold short enough for a test. */
function tradesOnly(): Registry {
  const venue = structuredClone(okx);
  venue.rest = venue.rest.filter(({ name }) => name === "trades");
  const newest = { path: "$.data[0].ts", unit: "ms" };
  Object.assign(venue.rest[0]!, { cadenceMs: 1000, timeoutMs: 900, newest });
  const socket = venue.socket!;
  socket.streams = socket.streams.filter(({ name }) => name === "trades");
  const stall = { afterMs, distribution: null };
  Object.assign(socket.streams[0]!, { cadenceMs, counterpart: "trades", rateBasis: "estimate", stall });
  return { ...registry, venues: [venue] };
}

/** No trade from now on, on the stream and by REST. */
function fallSilent(world: World) {
  world.fault({ venue: "okx", component: "rest:trades", kind: "frozen" });
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
}

/** The next instant in the middle of a slot of the stream: so the slot before it is late when the probe goes on. */
function amidSlot(fromMs: number): number {
  const [{ id: region }] = registry.regions as [Region];
  const phaseMs = phaseMsOf(region, { venue: "okx", component: "ws:trades", cadenceMs }) + cadenceMs / 2;
  return Math.ceil((fromMs - phaseMs) / cadenceMs) * cadenceMs + phaseMs;
}

void t.test("a quiet stream does not stall because the probe's process was frozen", async (t) => {
  const world = await startWorld({ registry: tradesOnly(), messagesPerMinuteCap: 600 });
  t.teardown(() => world.close());
  const options: MeasuringOptions = { registry: world.registry, slots: null };
  let report = "";
  const probe = startKillable(t, "measuring-process", JSON.stringify(options), {}, (line) => (report = line));
  await until(() => world.openSockets() === 1);
  // Data within ten seconds of a subscription may be old, and does not show what the stream has missed.
  await sleep(12_000);
  fallSilent(world);
  await sleep(2000);
  probe.freeze();
  await world.clear();
  await sleep(2 * afterMs);
  fallSilent(world);
  await sleep(amidSlot(Date.now() + 1000) - Date.now());
  const requests = world.requests({ component: "rest:trades" });
  probe.thaw();
  await sleep(4 * cadenceMs);
  t.ok(world.requests({ component: "rest:trades" }) > requests + 10);
  await probe.stop();
  const { good, faults, unmeasured } = JSON.parse(report) as Measured;
  t.strictSame(faults, []);
  t.ok(good > 30, `${good} good samples`);
  t.ok(unmeasured.late! > 4, `${unmeasured.late} slots were late`);
});
