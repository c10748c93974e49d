import t, { type Test } from "tap";
import { makeClockWatch } from "../../../probe/measure/clock-error.js";
import { randomFrom } from "../../support/random-samples.js";

const noon = Date.parse("2026-11-20T12:00:00Z");

const dateOf = (atMs: number) => new Date(atMs).toUTCString();

const hosts = ["a", "b", "c", "d", "e"];

/** This machine: its monotonic clock stands still while it sleeps, and its wall clock may be set. */
function makeMachine(errorMs = 0) {
  const machine = { trueMs: noon, errorMs, sleptMs: 0 };
  const wallMs = () => Math.floor(machine.trueMs + machine.errorMs);
  const monotonicMs = () => machine.trueMs - noon - machine.sleptMs;
  const watch = makeClockWatch({ wallMs, monotonicMs });

  function sleep(ms: number) {
    machine.trueMs += ms;
    machine.sleptMs += ms;
  }

  /** Both directions take time. */
  function answer(host: string, { hostErrorMs = 0, thereMs = 20, backMs = 20 } = {}) {
    const sentAtMs = wallMs();
    machine.trueMs += thereMs;
    const date = dateOf(machine.trueMs + hostErrorMs);
    machine.trueMs += backMs;
    watch.answered(host, date, undefined, sentAtMs, wallMs());
  }

  /** Each host answers about every five seconds, for this long. */
  function run(forMs: number, wrong: Record<string, number> = {}) {
    const untilMs = machine.trueMs + forMs;
    while (machine.trueMs < untilMs)
      for (const host of hosts) {
        machine.trueMs += 1013;
        answer(host, { hostErrorMs: wrong[host] ?? 0 });
      }
  }

  return { machine, watch, wallMs, monotonicMs, sleep, answer, run };
}

/** Asserts that the machine's error is known to within this many milliseconds. */
function isKnown(t: Test, { machine, watch }: ReturnType<typeof makeMachine>, mostMs: number, why = "") {
  const { errorMs, withinMs } = watch.read()!;
  const isRight = Math.abs(errorMs - machine.errorMs) <= withinMs && withinMs < mostMs;
  t.ok(isRight, `${errorMs} ± ${withinMs} instead of ${machine.errorMs} ${why}`);
}

void t.test("a right clock reads as right, a wrong one by its true error", (t) => {
  for (const errorMs of [0, 1700, -90_000, -50 * 365 * 86_400_000]) {
    const made = makeMachine(errorMs);
    t.equal(made.watch.read(), null, "no host has answered yet");
    made.run(120_000);
    isKnown(t, made, 150, "from stamps of whole seconds");
  }
  t.end();
});

void t.test("one or two hosts are not enough to call our clock wrong", (t) => {
  const { machine, watch, answer } = makeMachine();
  for (const host of ["a", "b", "a", "b"]) answer(host);
  t.equal(watch.read(), null);
  answer("c");
  machine.trueMs += 1000;
  t.not(watch.read(), null);
  t.end();
});

void t.test("venues with wrong clocks are outvoted, and half of the hosts prove nothing", (t) => {
  const made = makeMachine();
  made.run(120_000, { a: 60_000, b: -3_600_000 });
  isKnown(t, made, 200);
  const torn = makeMachine();
  torn.run(60_000, { a: 60_000, b: 60_000, c: 60_001_000 });
  t.equal(torn.watch.read(), null);
  t.end();
});

void t.test("hosts whose clocks differ by some tenths of a second still show that ours is far off", (t) => {
  const made = makeMachine(-16_000);
  made.run(120_000, { a: 300, b: -310, c: 160, d: -140 });
  isKnown(t, made, 2500);
  const three = makeMachine();
  for (const errorMs of [0, 0, 2000])
    for (let n = 0; n < 60; n += 1) {
      three.machine.trueMs += 1013;
      three.answer(`${errorMs} of ${three.machine.trueMs % 2}`, { hostErrorMs: errorMs });
    }
  isKnown(t, three, 2500, "where one of three hosts is wrong");
  t.end();
});

void t.test("a cached, malformed or missing Date says nothing about the time", (t) => {
  const { watch, wallMs } = makeMachine();
  const nowMs = wallMs();
  const wrong = ["", "now", "2026-11-20T12:00:00Z", "Fri, 99 Nov 2026 12:00:00 GMT", "Friday, 20-Nov-26 12:00:00 GMT"];
  for (const host of hosts) {
    watch.answered(host, dateOf(nowMs), "3", nowMs, nowMs);
    for (const date of [undefined, ...wrong]) watch.answered(host, date, undefined, nowMs, nowMs);
    // an answer before its request, and invalid times
    watch.answered(host, dateOf(nowMs), undefined, nowMs + 1, nowMs);
    watch.answered(host, dateOf(nowMs), undefined, NaN, nowMs);
  }
  t.equal(watch.read(), null);
  t.end();
});

void t.test("after the clock is set, its error is the new one", (t) => {
  const made = makeMachine();
  made.run(60_000);
  made.machine.errorMs = 30_000;
  isKnown(t, made, Infinity, "known before any host has answered again");
  made.run(10_000);
  isKnown(t, made, 600);
  t.end();
});

void t.test("an answer in flight while the clock was set or the machine slept is ignored", (t) => {
  type Made = ReturnType<typeof makeMachine>;
  for (const happens of [({ machine }: Made) => (machine.errorMs -= 4000), ({ sleep }: Made) => sleep(4000)]) {
    const made = makeMachine();
    const { machine, watch, wallMs, monotonicMs } = made;
    for (const host of hosts) {
      const sentMs = monotonicMs();
      machine.trueMs += 30;
      const date = dateOf(machine.trueMs);
      happens(made);
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
    const { machine, watch, sleep, answer } = makeMachine((random() - 0.5) * 20_000);
    const driftPerMs = (random() - 0.5) * 1e-3;
    const honest = 3 + Math.floor(random() * 8);
    const wrong = Array.from({ length: Math.floor(random() * honest) }, () =>
      random() < 0.5 ? () => 5000 * seed : () => (random() - 0.5) * 10_000,
    );
    // all hosts with right clocks answer first: a majority of those that have answered must be right at any time
    for (let h = 0; h < honest; h += 1) answer(`right ${h}`);
    for (let step = 0; step < 400; step += 1) {
      const passMs = random() ** 3 * 8000;
      machine.trueMs += passMs;
      machine.errorMs += passMs * driftPerMs;
      if (random() < 0.01) machine.errorMs += (random() - 0.5) * 10 ** (1 + 5 * random());
      if (random() < 0.005) sleep(random() * 100_000);
      const h = Math.floor(random() * (honest + wrong.length));
      const ways = { thereMs: random() ** 4 * 3000, backMs: random() ** 4 * 3000 };
      if (h < honest) answer(`right ${h}`, { ...ways, hostErrorMs: -random() * 15 });
      else answer(`wrong ${h}`, { ...ways, hostErrorMs: wrong[h - honest]!() });
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
