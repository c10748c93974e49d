/**
 * A server injects known silences, counts and ages, and notes the instant of each send: recorded values are within the
 * stated error. QUIET_GAPS_SLOTS sets more slots.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import type { WebSocket } from "ws";
import { acknowledge, measuringStreams, okx, serveOkx, type Arg } from "../../../support/okx-server.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";

const slots = Number(process.env.QUIET_GAPS_SLOTS ?? 6);
const slotMs = 500;

/** docs/methodology.md: the errors of a silence and of an age, besides the lateness of this process's own loop. */
const statedMs = 5;

const clockErrorMs = 3200;
const eventAgeMs = 137;

const random = randomFrom(7);

void t.test("recorded silences and ages equal the injected ones", async (t) => {
  const venue = structuredClone(okx);
  const subscribed: { ws: WebSocket; arg: Arg }[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    acknowledge(ws, arg);
    if (arg.channel === "trades") subscribed.push({ ws, arg });
  });
  venue.socket!.url = url;
  for (const stream of venue.socket!.streams) stream.cadenceMs = slotMs;
  // Our clock is ahead by this much, and the probe knows it.
  const clock = { read: () => ({ errorMs: clockErrorMs, withinMs: 5 }) };
  const { measure } = measuringStreams(t, venue, { clock });
  const measured = () => measure("ws:trades");
  await until(async () => !("unmeasured" in (await measured())), 10_000, slotMs);

  const [{ ws, arg }] = subscribed as [{ ws: WebSocket; arg: Arg }];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let sentMs = performance.now();
  const send = () => {
    // The venue's clock is right, ours is ahead.
    const ts = Date.now() - clockErrorMs - eventAgeMs;
    sentMs = performance.now();
    ws.send(JSON.stringify({ arg, data: [{ ts: String(ts) }] }));
  };
  send();
  await sleep(50);
  await measured();
  let slotBegunMs = performance.now();
  let compared = 0;
  for (let slot = 0; slot < slots; slot += 1) {
    loop.reset();
    let sent = 0;
    let longestMs = 0;
    while (performance.now() - slotBegunMs < slotMs - 60) {
      await sleep(5 + random() ** 3 * 250);
      const before = sentMs;
      send();
      sent += 1;
      longestMs = Math.max(longestMs, sentMs - before);
    }
    // The last frame is in flight.
    await sleep(30);
    const outcome = await measured();
    const readMs = performance.now();
    longestMs = Math.max(longestMs, readMs - sentMs);
    slotBegunMs = readMs;
    // A machine that stood still for half a slot does not measure it.
    if ("unmeasured" in outcome) continue;
    compared += 1;
    // Our own loop's lateness affects both ends of a silence.
    const toleranceMs = statedMs + (2 * loop.max) / 1e6;
    t.equal(outcome.messages, sent, "messages");
    const isNear = (recordedMs: number | null, injectedMs: number, what: string) => {
      const isFine = Math.abs(recordedMs! - injectedMs) <= toleranceMs;
      t.ok(isFine, `${what}: ${recordedMs} ms recorded, ${injectedMs} ms injected, within ${toleranceMs}`);
    };
    isNear(outcome.quietMs, longestMs, "silence");
    isNear(outcome.eventAgeMs, eventAgeMs, "age");
    t.equal(outcome.good, true);
  }
  loop.disable();
  t.ok(compared >= slots / 2, `${compared} of ${slots} slots compared`);
});
