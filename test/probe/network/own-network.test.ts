/** Whether silence is the venue's fault or our network's, in a simulated fleet of hosts. */
import t from "tap";
import { makeConnectivityMonitor } from "../../../probe/network/own-network.js";
import { makeFakeClock } from "../../support/fake-clock.js";

interface Played {
  /** Milliseconds between the slots of each endpoint of each host, by host. */
  cadences: Record<string, number[]>;
  /** Hosts that stop answering, and when. */
  hanging?: Record<string, number>;
  /** Spans in which the way out is shut, in milliseconds. */
  shut?: [fromMs: number, toMs: number][];
  /** Hanging hosts fail with an error at once instead. */
  errors?: boolean;
  /** A span in which our resolver fails: nothing is sent. */
  unresolved?: [fromMs: number, toMs: number];
  /** A span in which all hosts but the first are measured by another probe. */
  unwatched?: [fromMs: number, toMs: number];
  lastMs?: number;
}

const latencyMs = 150;

/** The verdict on each failure. An endpoint has one exchange in flight at a time, as in a probe. */
async function play({ cadences, hanging = {}, shut = [], errors, unresolved, unwatched, lastMs = 180_000 }: Played) {
  const { clock, walk } = makeFakeClock(0);
  const reach = makeConnectivityMonitor(clock);
  /** `tookMs` is the time after the failure. */
  const verdicts: { isVenues: boolean; tookMs: number }[] = [];
  const isShut = (fromMs: number, toMs: number) => shut.some(([from, to]) => fromMs < to && toMs >= from);

  async function failed(host: string, beganMs: number) {
    const failedMs = clock.now();
    const way = await reach.wayOut(host, beganMs);
    verdicts.push({ isVenues: way !== "shut", tookMs: clock.now() - failedMs });
  }

  function slot(host: string, cadenceMs: number, isBusy: boolean) {
    let busy = isBusy;
    clock.after(cadenceMs, () => slot(host, cadenceMs, busy));
    const isIn = ([fromMs, toMs] = [0, 0]) => clock.now() >= fromMs && clock.now() < toMs;
    if (busy || isIn(unresolved) || (isIn(unwatched) && host !== Object.keys(cadences)[0])) return;
    busy = true;
    const beganMs = clock.now();
    const over = () => (busy = false);
    const fail = () => void failed(host, beganMs).finally(over);
    reach.asked(host);
    const isHanging = beganMs >= (hanging[host] ?? Infinity);
    if (isHanging && errors && !isShut(beganMs, beganMs)) clock.after(latencyMs, fail);
    else if (isHanging || isShut(beganMs, beganMs + latencyMs)) clock.after(cadenceMs - 500, fail);
    else
      clock.after(latencyMs, () => {
        reach.answered(host, beganMs);
        over();
      });
  }

  const endpoints = Object.entries(cadences).flatMap(([host, each]) => each.map((cadenceMs) => ({ host, cadenceMs })));
  for (const [place, { host, cadenceMs }] of endpoints.entries()) {
    // Spread, and the same in each run.
    const phaseMs = ((place + 1) * 0.618_034 * cadenceMs) % cadenceMs;
    clock.after(phaseMs, () => slot(host, cadenceMs, false));
  }
  if (unwatched) clock.after(unwatched[0] + cadences.b![0]!, () => reach.forget(Object.keys(cadences).slice(1)));
  await walk(lastMs);
  return verdicts;
}

const usual = [5000, 5000, 10_000, 15_000];
const fleet = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`host-${i}`, usual]));
const three = { a: usual, b: usual, c: usual };
const two = { a: [5000], b: [5000] };

const cut: Played["shut"] = [[60_250, 120_000]];
const flapping: Played["shut"] = Array.from({ length: 15 }, (_, i) => [60_000 + i * 20_000, 70_000 + i * 20_000]);

for (const [name, cadences] of Object.entries({ fleet, three, two })) {
  for (const [how, shut] of Object.entries({ cut, flapping }))
    void t.test(`while our way out is ${how}, no failure is a venue's fault: ${name}`, async (t) => {
      const verdicts = await play({ cadences, shut, lastMs: 400_000 });
      t.ok(verdicts.length > 2 * Object.keys(cadences).length);
      t.notOk(verdicts.some(({ isVenues }) => isVenues));
    });

  for (const errors of [false, true])
    void t.test(`one of ${name} that ${errors ? "refuses" : "hangs"} is at fault, and judged soon`, async (t) => {
      const hanging = { [Object.keys(cadences)[0]!]: 60_000 };
      const verdicts = await play({ cadences, hanging, errors });
      t.ok(verdicts.length >= 10);
      t.ok(verdicts.every(({ isVenues }) => isVenues));
      const longestMs = Math.max(...verdicts.map(({ tookMs }) => tookMs));
      const tolerableMs = { fleet: 1000, three: 2500, two: 5000 }[name]!;
      t.ok(longestMs <= tolerableMs, `judged at most ${longestMs} ms after it failed`);
    });
}

for (const [what, shut] of [
  ["a network break of five seconds", [60_000, 65_000]],
  ["a network that never had a way out", [0, Infinity]],
] as [string, [number, number]][])
  void t.test(`${what} is no venue's fault`, async (t) => {
    const verdicts = await play({ cadences: fleet, shut: [shut] });
    t.ok(verdicts.length > 15);
    t.notOk(verdicts.some(({ isVenues }) => isVenues));
  });

void t.test("a probe that starts without a way out blames no venue, not even when it opens", async (t) => {
  const verdicts = await play({ cadences: { ...three, d: usual }, shut: [[0, 57_600]] });
  t.ok(verdicts.length > 20);
  t.notOk(verdicts.some(({ isVenues }) => isVenues));
});

void t.test("usual intervals are not forgotten while our resolver fails", async (t) => {
  const verdicts = await play({ cadences: three, unresolved: [60_000, 100_000], shut: [[125_000, 150_000]] });
  t.ok(verdicts.length > 10);
  t.notOk(verdicts.some(({ isVenues }) => isVenues));
});

void t.test("usual intervals leave out the time in which another probe measures", async (t) => {
  const verdicts = await play({ cadences: three, unwatched: [60_000, 100_000], shut: [[125_000, 150_000]] });
  t.ok(verdicts.length > 10);
  t.notOk(verdicts.some(({ isVenues }) => isVenues));
});

void t.test("two hosts of three that hang are both at fault", async (t) => {
  const verdicts = await play({ cadences: three, hanging: { a: 60_000, b: 62_000 } });
  t.ok(verdicts.length > 50);
  t.ok(verdicts.every(({ isVenues }) => isVenues));
});

void t.test("without another host to compare with, a failure is the venue's fault", async (t) => {
  const seldom = { a: [60_000], b: [60_000] };
  for (const cadences of [{ a: usual }, seldom]) {
    const verdicts = await play({ cadences, hanging: { a: 60_000 } });
    t.ok(verdicts.length > 0);
    t.ok(verdicts.every(({ isVenues, tookMs }) => isVenues && tookMs === 0));
  }
});
