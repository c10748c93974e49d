import t from "tap";
import { nothingMeasured, type MeasurementOutcome } from "../../../probe/measure/measurement.js";
import { makeSchedule, type Task } from "../../../probe/schedule/schedule.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { makeFakeClock } from "../../support/fake-clock.js";
import { listeningLog } from "../../support/listening-log.js";

const cadenceMs = 5000;
const phaseMs = 1234;
const good = { ...nothingMeasured, good: true };

/** One task on a clock of its own. */
function startTask(measure: Task["measure"] = () => good, fromMs = 0) {
  const { clock, walk, jump } = makeFakeClock(fromMs);
  const { log, lines } = listeningLog();
  const samples: Sample[] = [];
  const unmeasured: string[] = [];
  const task: Task = { venue: "v", component: "rest:a", cadenceMs, measure };
  const schedule = makeSchedule({
    ...{ phaseOf: () => phaseMs, clock, log },
    onSample: (sample) => samples.push(sample),
    onUnmeasured: (reason, slots) => unmeasured.push(`${reason} ${slots}`),
  });
  const end = schedule.begin([task]);
  const close = () => schedule.close();
  return { close, walk, jump, end, samples, unmeasured, lines };
}

/** One task whose measurements end when the test says so. */
function startWaitingTask() {
  const ends: ((outcome: MeasurementOutcome) => void)[] = [];
  return { ends, ...startTask(() => new Promise((end) => ends.push(end))) };
}

void t.test("slots stay on the grid of cadence and phase, without drift", async (t) => {
  const { walk, samples, close } = startTask(() => good, 1_790_000_000_123);
  await walk(24 * 3600_000);
  const slots = samples.map(({ slotAt }) => +slotAt);
  t.equal(slots.length, (24 * 3600_000) / cadenceMs);
  t.equal(slots[0]! % cadenceMs, phaseMs);
  t.ok(slots.every((at, i) => i === 0 || at - slots[i - 1]! === cadenceMs));
  await close();
});

void t.test("a slot that is due while the last one runs is unmeasured", async (t) => {
  const { ends, walk, samples, unmeasured, close } = startWaitingTask();
  await walk(15_000);
  t.equal(ends.length, 1, "one measurement is in flight");
  t.same(unmeasured, ["overlap 1", "overlap 1"]);
  ends[0]!(good);
  await new Promise(setImmediate);
  t.equal(samples.length, 1);
  await walk(5000);
  t.equal(ends.length, 2, "the next slot is measured again");
  ends[1]!(good);
  await close();
});

void t.test("slots missed while the machine slept are counted, and not measured later", async (t) => {
  const { walk, jump, samples, unmeasured, close } = startTask();
  await walk(5000);
  jump(61_500);
  await walk(5000);
  const missed = unmeasured.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
  t.equal(missed + samples.length, Math.floor((71_500 - phaseMs) / cadenceMs) + 1);
  t.match(unmeasured.join(), /^late \d+/);
  await close();
});

void t.test("slots return to the grid after the clock is set back", async (t) => {
  const { walk, jump, samples, close } = startTask(() => good, 3600_000);
  await walk(5000);
  jump(-1800_000);
  await walk(20_000);
  t.ok(samples.length >= 3, "the schedule does not wait half an hour");
  await close();
});

void t.test("no sample is recorded after the stop", async (t) => {
  let isAborted = false;
  const untilAborted: Task["measure"] = (_slotAt, signal) =>
    new Promise((end) =>
      signal.addEventListener("abort", () => {
        isAborted = true;
        end(good);
      }),
    );
  const { walk, samples, close } = startTask(untilAborted);
  await walk(5000);
  await close();
  await walk(60_000);
  t.ok(isAborted, "the measurement in flight is aborted");
  t.same(samples, []);
});

void t.test("a bug in a measurement is logged and stops nothing", async (t) => {
  const { walk, samples, unmeasured, lines, close } = startTask(() => Promise.reject(new Error("ours")));
  await walk(15_000);
  t.same(unmeasured, ["broken 1", "broken 1", "broken 1"]);
  t.same(samples, []);
  t.match(lines[0], /ours/);
  await close();
});

void t.test("an ended task records its measurement in flight, and no later slot", async (t) => {
  const { ends, walk, samples, end, close } = startWaitingTask();
  await walk(5000);
  t.equal(ends.length, 1, "one slot is in flight");
  const ended = end();
  ends[0]!(good);
  await ended;
  await walk(60_000);
  t.equal(samples.length, 1, "the slot in flight gives a sample");
  t.equal(ends.length, 1, "no further slot is measured");
  await close();
});

void t.test("a sample records how late its slot was", async (t) => {
  const { walk, jump, samples, close } = startTask();
  await walk(5000);
  for (const lateMs of [50, 51, 900]) {
    jump(lateMs);
    await walk(5000);
  }
  const lateMs = samples.map((sample) => sample.lateMs);
  t.same(lateMs, [null, null, 51, 900], "only lateness beyond fifty milliseconds is recorded");
  await close();
});
