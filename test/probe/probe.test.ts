import t from "tap";
import { probeWorld, quickly } from "../support/recording-probe.js";
import { until } from "../support/until.js";

void t.test("a probe delivers each slot once, also those measured while the database was away", async (t) => {
  const region = "ap-southeast";
  let away = true;
  const registry = quickly(["binance", "kraken", "okx", "bitfinex", "kucoin", "gate"]);
  const options = { registry, timeScale: 5, messagesPerMinuteCap: 120 };
  const { world, probe, samples } = await probeWorld(t, options, { region, isAway: () => away });
  await until(() => probe.status().waiting > 500);
  away = false;
  await until(() => samples.length > 500);
  await probe.close();

  const { length } = samples;
  t.match(probe.status(), { shipped: length, taken: length, waiting: 0, dropped: 0 });
  const slots = samples.map((one) => `${one.venue} ${one.component} ${+one.slotAt}`);
  t.equal(new Set(slots).size, length, "each slot is stored once");
  t.notOk(samples.find(({ good, fault }) => !good || fault !== null));
  t.equal(probe.status().socketsOpen, 0, "closing the probe closes its sockets");
  t.ok(world.requests({ region }) > 0, "the probe's requests name its region");
});
