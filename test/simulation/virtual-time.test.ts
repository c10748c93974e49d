import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { makeSeededRandom } from "../../simulation/seeded-random.js";
import { installVirtualGlobals } from "../../simulation/virtual-globals.js";
import { makeVirtualTime, type Machine } from "../../simulation/virtual-time.js";

const startMs = Date.UTC(2030, 0, 1);
const time = makeVirtualTime(startMs);
installVirtualGlobals(time, makeSeededRandom("1"));
const hourMs = 3_600_000;

void t.test("hours of timers pass in order, and quickly", async (t) => {
  const seen: string[] = [];
  const process = time.startProcess("program", machine());
  const note = (what: string) => seen.push(`${what} at ${(Date.now() - startMs) / 1000} s`);
  process.run(() => {
    setTimeout(() => note("timeout"), 5_000);
    clearTimeout(setTimeout(() => note("cancelled"), 6_000));
    const every = setInterval(() => note("interval"), 2_000);
    setTimeout(() => clearInterval(every), 5_000);
    setImmediate(() => note("immediate"));
    void sleep(3 * hourMs).then(() => note("slept"));
  });
  await time.pass(startMs + 4 * hourMs);
  t.strictSame(seen, ["immediate at 0 s", "interval at 2 s", "interval at 4 s", "timeout at 5 s", "slept at 10800 s"]);
});

void t.test("a killed process stops at what it awaits, and others go on", async (t) => {
  const seen: string[] = [];
  const work = async (name: string) => {
    for (let step = 1; ; step += 1) {
      await sleep(1_000);
      seen.push(`${name} ${step}`);
    }
  };
  const [first, second] = [time.startProcess("first", machine()), time.startProcess("second", machine())];
  first.run(() => void work("first"));
  second.run(() => void work("second"));
  await time.pass(time.nowMs() + 2_500);
  first.kill();
  await time.pass(time.nowMs() + 2_000);
  second.kill();
  t.strictSame(seen, ["first 1", "second 1", "first 2", "second 2", "second 3", "second 4"]);
});

void t.test("a paused process continues late, with all of its timers", async (t) => {
  const seen: number[] = [];
  const process = time.startProcess("program", machine());
  const fromMs = time.nowMs();
  process.run(() => [1_000, 2_000, 9_000].forEach((ms) => setTimeout(() => seen.push(Date.now() - fromMs), ms)));
  process.pause(fromMs + 5_000);
  await time.pass(fromMs + 10_000);
  t.strictSame(seen, [5_000, 5_000, 9_000]);
});

void t.test("after a pause, timers run in the order in which they were due, and cancelled ones do not", async (t) => {
  const seen: string[] = [];
  const process = time.startProcess("program", machine());
  const fromMs = time.nowMs();
  process.run(() => {
    setTimeout(() => seen.push("deadline"), 4_500);
    const every = setInterval(() => seen.push("interval"), 3_000);
    setTimeout(() => {
      seen.push("answer");
      clearInterval(every);
    }, 2_000);
  });
  process.pause(fromMs + 5_000);
  process.pause(fromMs + 1_000);
  await time.pass(fromMs + 20_000);
  t.strictSame(seen, ["answer", "deadline"]);
});

void t.test("each machine has a clock of its own, which may be wrong", async (t) => {
  const late = machine({ errorMs: -60_000, rate: 1 });
  const quick = machine({ errorMs: 0, rate: 2 });
  const fromMs = time.nowMs();
  const read = () => ({ wall: Date.now(), date: +new Date(), monotonic: performance.now() });
  const before = time.startProcess("quick", quick).run(read);
  t.equal(time.startProcess("late", late).run(read).wall, fromMs - 60_000);
  let firedAtMs = 0;
  time.startProcess("quick", quick).run(() => setTimeout(() => (firedAtMs = time.nowMs()), 1_000));
  await time.pass(fromMs + 1_000);
  t.equal(firedAtMs - fromMs, 500, "its timers are early");
  t.equal(time.startProcess("quick", quick).run(read).monotonic - before.monotonic, 2_000);
});

void t.test("an error that a process does not catch is noted", async (t) => {
  time.startProcess("faulty", machine()).run(() =>
    setTimeout(() => {
      throw new Error("a bug");
    }, 1),
  );
  await time.pass(time.nowMs() + 10);
  t.match(time.crashes, [{ process: "faulty", error: { message: "a bug" } }]);
});

void t.test("outside of processes, time and timers are real", async (t) => {
  t.ok(Date.now() < startMs);
  await sleep(1);
  const timer = setTimeout(() => {}, 0);
  t.notMatch(timer.constructor.name, "VirtualTimer");
});

function machine(clock = { errorMs: 0, rate: 1 }): Machine {
  return { name: "machine", clock };
}
