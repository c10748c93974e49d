import t from "tap";
import type { Clock } from "../../../probe/schedule/clock.js";
import { nothingMeasured, type MeasurementOutcome } from "../../../probe/rest/measurement.js";
import { makeSchedule, phaseMsOf, type Task } from "../../../probe/schedule/schedule.js";
import { makeLog } from "../../../shared/log/log.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { makeFakeClock } from "../../support/fake-clock.js";

const good = { ...nothingMeasured, good: true };
const quiet = makeLog("test", "error", () => {});

function scheduled(measure: Task["measure"], { cadenceMs = 5000, clock }: { cadenceMs?: number; clock: Clock }) {
  const samples: Sample[] = [];
  const unmeasured: string[] = [];
  const task: Task = { venue: "v", component: "rest:a", cadenceMs, measure };
  const schedule = makeSchedule({
    region: "eu",
    clock,
    log: quiet,
    onSample: (sample) => samples.push(sample),
    onUnmeasured: (reason, slots) => unmeasured.push(`${reason} ${slots}`),
  });
  const end = schedule.begin([task]);
  const slots = () => samples.map(({ slotAt }) => slotAt.getTime());
  return { ...schedule, end, samples, unmeasured, slots, task };
}

void t.test("slots stay on the grid of cadence and phase, without drift", async (t) => {
  const { clock, walk } = makeFakeClock(1_790_000_000_123);
  const run = scheduled(() => good, { clock });
  await walk(24 * 3600_000);
  const slots = run.slots();
  t.equal(slots.length, (24 * 3600_000) / 5000);
  const phases = new Set(slots.map((slotMs) => slotMs % 5000));
  t.same([...phases], [phaseMsOf("eu", run.task)]);
  t.ok(slots.every((at, i, all) => i === 0 || at - all[i - 1]! === 5000));
  await run.close();
});

void t.test("phases spread over the cadence and never change", (t) => {
  const phaseMs = (component: string) => phaseMsOf("eu", { venue: "v", component, cadenceMs: 5000 });
  t.equal(phaseMs("rest:a"), phaseMs("rest:a"));
  const seconds = Array.from({ length: 500 }, (_, i) => Math.floor(phaseMs(`rest:${i}`) / 1000));
  for (const second of [0, 1, 2, 3, 4]) t.ok(seconds.filter((s) => s === second).length > 50, `second ${second}`);
  t.end();
});

void t.test("a slot that is due while the last one runs is unmeasured", async (t) => {
  const { clock, walk } = makeFakeClock(0);
  const ends: ((outcome: MeasurementOutcome) => void)[] = [];
  const run = scheduled(() => new Promise((end) => ends.push(end)), { clock });
  await walk(5000);
  await walk(10_000);
  t.equal(ends.length, 1, "one measurement is in flight");
  t.same(run.unmeasured, ["overlap 1", "overlap 1"]);
  ends[0]!(good);
  await new Promise(setImmediate);
  t.equal(run.samples.length, 1);
  await walk(5000);
  t.equal(ends.length, 2, "the next slot is measured again");
  ends[1]!(good);
  await run.close();
});

void t.test("slots missed while the machine slept are counted, and not measured later", async (t) => {
  const { clock, walk, jump } = makeFakeClock(0);
  const run = scheduled(() => good, { clock });
  await walk(5000);
  jump(61_500);
  await walk(5000);
  const missed = run.unmeasured.map((line) => Number(line.split(" ")[1])).reduce((sum, slots) => sum + slots, 0);
  const phaseMs = phaseMsOf("eu", run.task);
  const slots = Math.floor((71_500 - phaseMs) / 5000) + 1;
  t.equal(missed + run.samples.length, slots);
  t.match(run.unmeasured.join(), /^late \d+/);
  await run.close();
});

void t.test("slots return to the grid after the clock is set back", async (t) => {
  const { clock, walk, jump } = makeFakeClock(3600_000);
  const run = scheduled(() => good, { clock });
  await walk(5000);
  jump(-1800_000);
  await walk(20_000);
  t.ok(run.samples.length >= 3, "the schedule does not wait half an hour");
  await run.close();
});

void t.test("no sample is recorded after the stop", async (t) => {
  const { clock, walk } = makeFakeClock(0);
  let aborted = false;
  const run = scheduled(
    (_slotAt, signal) =>
      new Promise((end) =>
        signal.addEventListener("abort", () => {
          aborted = true;
          end(good);
        }),
      ),
    { clock },
  );
  await walk(5000);
  await run.close();
  await walk(60_000);
  t.ok(aborted, "the measurement in flight is aborted");
  t.same(run.samples, []);
});

void t.test("a bug in a measurement is logged and stops nothing", async (t) => {
  const { clock, walk } = makeFakeClock(0);
  const lines: string[] = [];
  const unmeasured: string[] = [];
  const schedule = makeSchedule({
    region: "eu",
    clock,
    log: makeLog("test", "error", (line) => lines.push(line)),
    onSample: () => t.fail("a bug must give no sample"),
    onUnmeasured: (reason) => unmeasured.push(reason),
  });
  schedule.begin([
    { venue: "v", component: "rest:a", cadenceMs: 1000, measure: () => Promise.reject(new Error("ours")) },
  ]);
  await walk(3000);
  t.same(unmeasured, ["broken", "broken", "broken"]);
  t.match(lines[0], /ours/);
  await schedule.close();
});

void t.test("an ended task records its measurement in flight, and no later slot", async (t) => {
  const { clock, walk } = makeFakeClock(0);
  const ends: ((outcome: MeasurementOutcome) => void)[] = [];
  const run = scheduled(() => new Promise((end) => ends.push(end)), { clock });
  await walk(5000);
  t.equal(ends.length, 1, "one slot is in flight");
  const ended = run.end();
  ends[0]!(good);
  await ended;
  await walk(60_000);
  t.equal(run.samples.length, 1, "the slot in flight gives a sample");
  t.equal(ends.length, 1, "no further slot is measured");
  await run.close();
});

void t.test("a sample records how late its slot was", async (t) => {
  const { clock, walk, jump } = makeFakeClock(0);
  const run = scheduled(() => good, { clock });
  await walk(5000);
  jump(50);
  await walk(5000);
  jump(51);
  await walk(5000);
  jump(900);
  await walk(5000);
  t.same(
    run.samples.map(({ lateMs }) => lateMs),
    [null, null, 51, 900],
    "only lateness beyond fifty milliseconds is recorded",
  );
  await run.close();
});
