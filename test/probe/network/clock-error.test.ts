import t from "tap";
import { makeClockWatch, type ClockWatch } from "../../../probe/network/clock-error.js";
import { randomFrom } from "../../support/random-samples.js";

const noon = Date.parse("2026-11-20T12:00:00Z");

const dateOf = (atMs: number) => new Date(atMs).toUTCString();

/**
 * This machine. Its wall clock has this error and may be set; its monotonic clock stands still while the machine
 * sleeps.
 */
function makeMachine() {
  const machine = {
    trueMs: noon,
    errorMs: 0,
    sleptMs: 0,
    clocks: {
      wallMs: () => Math.floor(machine.trueMs + machine.errorMs),
      monotonicMs: () => machine.trueMs - noon - machine.sleptMs,
    },
  };
  return machine;
}

type Machine = ReturnType<typeof makeMachine>;

/** A host whose clock has this error answers; both directions take time. */
function answer(
  machine: Machine,
  watch: ClockWatch,
  host: string,
  { hostErrorMs = 0, thereMs = 20, backMs = 20, age = undefined as string | undefined } = {},
) {
  const sentAtMs = machine.clocks.wallMs();
  machine.trueMs += thereMs;
  const date = dateOf(machine.trueMs + hostErrorMs);
  machine.trueMs += backMs;
  watch.answered(host, date, age, sentAtMs, machine.clocks.wallMs());
}

const hosts = ["a", "b", "c", "d", "e"];

/** Each host answers about every five seconds, for this long. */
function watched(machine: Machine, watch: ClockWatch, forMs: number, wrong: Record<string, number> = {}) {
  const untilMs = machine.trueMs + forMs;
  while (machine.trueMs < untilMs)
    for (const host of hosts) {
      machine.trueMs += 1013;
      answer(machine, watch, host, { hostErrorMs: wrong[host] ?? 0 });
    }
}

void t.test("a right clock reads as right, a wrong one by its true error", (t) => {
  for (const errorMs of [0, 1700, -90_000, -50 * 365 * 86_400_000]) {
    const machine = makeMachine();
    machine.errorMs = errorMs;
    const watch = makeClockWatch(machine.clocks);
    t.equal(watch.read(), null, "no host has answered yet");
    watched(machine, watch, 120_000);
    const reading = watch.read()!;
    t.ok(Math.abs(reading.errorMs - errorMs) <= reading.withinMs, `${errorMs}`);
    t.ok(reading.withinMs < 150, `known within ${reading.withinMs} ms, from stamps of whole seconds`);
  }
  t.end();
});

void t.test("one or two hosts are not enough to call our clock wrong", (t) => {
  const machine = makeMachine();
  const watch = makeClockWatch(machine.clocks);
  for (const host of ["a", "b", "a", "b"]) answer(machine, watch, host);
  t.equal(watch.read(), null);
  answer(machine, watch, "c");
  machine.trueMs += 1000;
  t.not(watch.read(), null);
  t.end();
});

void t.test("venues with wrong clocks are outvoted, and half of the hosts prove nothing", (t) => {
  const machine = makeMachine();
  const watch = makeClockWatch(machine.clocks);
  watched(machine, watch, 120_000, { a: 60_000, b: -3_600_000 });
  const { errorMs, withinMs } = watch.read()!;
  t.ok(Math.abs(errorMs) <= withinMs && withinMs < 200, `${errorMs} ± ${withinMs}`);
  const torn = makeClockWatch(machine.clocks);
  watched(machine, torn, 60_000, { a: 60_000, b: 60_000, c: 60_001_000 });
  t.equal(torn.read(), null);
  t.end();
});

void t.test("a cached, malformed or missing Date says nothing about the time", (t) => {
  const machine = makeMachine();
  const watch = makeClockWatch(machine.clocks);
  const nowMs = machine.clocks.wallMs();
  for (const host of hosts) {
    answer(machine, watch, host, { age: "3" });
    for (const date of [
      undefined,
      "",
      "now",
      "2026-11-20T12:00:00Z",
      "Fri, 99 Nov 2026 12:00:00 GMT",
      "Friday, 20-Nov-26 12:00:00 GMT",
    ])
      watch.answered(host, date, undefined, nowMs, nowMs);
    // an answer before its request, and invalid times
    watch.answered(host, dateOf(nowMs), undefined, nowMs + 1, nowMs);
    watch.answered(host, dateOf(nowMs), undefined, NaN, nowMs);
  }
  t.equal(watch.read(), null);
  t.end();
});

void t.test("after the clock is set, its error is the new one", (t) => {
  const machine = makeMachine();
  const watch = makeClockWatch(machine.clocks);
  watched(machine, watch, 60_000);
  machine.errorMs = 30_000;
  const atOnce = watch.read()!;
  t.ok(Math.abs(atOnce.errorMs - 30_000) <= atOnce.withinMs, "known before any host has answered again");
  watched(machine, watch, 10_000);
  const reading = watch.read()!;
  t.ok(Math.abs(reading.errorMs - 30_000) <= reading.withinMs);
  t.ok(reading.withinMs < 600);
  t.end();
});

void t.test("an answer in flight while the clock was set or the machine slept is ignored", (t) => {
  for (const happens of [
    (machine: Machine) => (machine.errorMs -= 4000),
    (machine: Machine) => {
      machine.trueMs += 4000;
      machine.sleptMs += 4000;
    },
  ]) {
    const machine = makeMachine();
    const watch = makeClockWatch(machine.clocks);
    for (const host of hosts) {
      const sentMs = machine.clocks.monotonicMs();
      machine.trueMs += 30;
      const date = dateOf(machine.trueMs);
      happens(machine);
      const { wallMs, monotonicMs } = machine.clocks;
      const sentAtMs = wallMs() - (monotonicMs() - sentMs);
      watch.answered(host, date, undefined, sentAtMs, wallMs());
    }
    t.equal(watch.read(), null);
  }
  t.end();
});

void t.test("the true error is always within the reading while a majority of hosts is right", (t) => {
  let readings = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = randomFrom(seed);
    const machine = makeMachine();
    machine.errorMs = (random() - 0.5) * 20_000;
    const watch = makeClockWatch(machine.clocks);
    const ofUs = (random() - 0.5) * 1e-3;
    const honest = 3 + Math.floor(random() * 8);
    const wrong = Array.from({ length: Math.floor(random() * honest) }, () =>
      random() < 0.5 ? () => 5000 * seed : () => (random() - 0.5) * 10_000,
    );
    // all hosts with right clocks answer first: a majority of those that have answered must be right at any time
    for (let h = 0; h < honest; h += 1) answer(machine, watch, `right ${h}`);
    for (let step = 0; step < 400; step += 1) {
      const passMs = random() ** 3 * 8000;
      machine.trueMs += passMs;
      machine.errorMs += passMs * ofUs;
      if (random() < 0.01) machine.errorMs += (random() - 0.5) * 10 ** (1 + 5 * random());
      if (random() < 0.005) {
        const sleptMs = random() * 100_000;
        machine.trueMs += sleptMs;
        machine.sleptMs += sleptMs;
      }
      const h = Math.floor(random() * (honest + wrong.length));
      const ways = { thereMs: random() ** 4 * 3000, backMs: random() ** 4 * 3000 };
      if (h < honest) answer(machine, watch, `right ${h}`, { ...ways, hostErrorMs: -random() * 15 });
      else answer(machine, watch, `wrong ${h}`, { ...ways, hostErrorMs: wrong[h - honest]!() });
      const reading = watch.read();
      if (!reading) continue;
      readings += 1;
      const { errorMs, withinMs } = reading;
      if (Math.abs(machine.errorMs - errorMs) > withinMs)
        t.fail(`seed ${seed}, step ${step}: the clock is off by ${machine.errorMs}, read ${errorMs} ± ${withinMs}`);
    }
  }
  t.ok(readings > 20_000, `${readings} readings`);
  t.end();
});
