/**
 * Whether silence is the venue's fault or our network's, in a simulated fleet of hosts; what a probe reports as its own
 * trouble; and how it names its machine.
 */
import { join } from "node:path";
import t from "tap";
import { type ClockError, exceedsTolerance } from "../../../probe/measure/clock-error.js";
import { thisMachine } from "../../../probe/network/machine.js";
import { makeConnectivityMonitor } from "../../../probe/network/own-network.js";
import { makeTroubles } from "../../../probe/network/probe-troubles.js";
import { makeFakeClock } from "../../support/fake-clock.js";
import { listeningLog } from "../../support/listening-log.js";

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

// What a probe reports as its own trouble.

function standing() {
  const state = { nowMs: 1_790_000_000_000, clock: null as ClockError | null, spool: null as string | null };
  const { log, lines } = listeningLog("info");
  const troubles = makeTroubles({
    clockError: () => state.clock,
    spoolTrouble: () => state.spool,
    ...{ log, now: () => state.nowMs },
  });
  return { state, troubles, lines };
}

void t.test("slots lost to the machine's own network are probe trouble, until a minute passes without one", (t) => {
  const { state, troubles, lines } = standing();
  const startMs = state.nowMs;
  for (const venue of ["kraken", "kraken", "okx"]) {
    troubles.unmeasured("network", 1, venue);
    state.nowMs += 20_000;
  }
  const detail = "there is no way out of this machine: 3 slots of 2 venues not measured";
  t.strictSame(troubles.read(), [{ kind: "network", since: new Date(startMs), detail }]);
  state.nowMs += 39_000;
  t.equal(troubles.read().length, 1, "the trouble lasts while a slow endpoint may still report");
  state.nowMs += 1_000;
  t.strictSame(troubles.read(), [], "the trouble is over");
  t.match(lines, [/warn .*network/, /info .*is over.*network/]);
  t.equal(lines.length, 2, "one line when the trouble begins and one when it ends");
  t.end();
});

void t.test("slots lost for reasons that every probe meets now and then are no trouble", (t) => {
  const { troubles } = standing();
  for (const reason of ["overlap", "subscribing", "starting", "stale"] as const)
    troubles.unmeasured(reason, 1, "kraken");
  t.strictSame(troubles.read(), []);
  t.end();
});

void t.test("each kind of trouble begins and ends independently, oldest first", (t) => {
  const { state, troubles, lines } = standing();
  const kinds = () => troubles.read().map(({ kind }) => kind);
  troubles.unmeasured("late", 12, "kraken");
  state.nowMs += 1;
  troubles.unmeasured("sockets", 1, "okx");
  state.nowMs += 1;
  state.spool = "/srv/venuewatch/spool is full";
  troubles.read();
  state.nowMs += 1;
  troubles.unmeasured("resolver", 1, "okx");
  t.same(kinds(), ["starved", "sockets", "spool", "resolver"]);
  t.notMatch(JSON.stringify(troubles.read()), /srv/, "the public detail hides the path");
  t.match(lines.join("\n"), /srv/, "the operator's log names the path");
  state.spool = null;
  t.same(kinds(), ["starved", "sockets", "resolver"]);
  t.end();
});

void t.test("a wrong clock is reported once its error is certain", (t) => {
  const { state, troubles } = standing();
  const details = () => troubles.read().map(({ detail }) => detail);
  t.same(details(), [], "the error is unknown");
  state.clock = { errorMs: 900, withinMs: 450 };
  t.same(details(), [], "the error may be half as large");
  state.clock = { errorMs: -900, withinMs: 40.2 };
  t.same(details(), ["this machine's clock is 900 ms behind the venues' clocks, give or take 41 ms"]);
  t.notOk(exceedsTolerance(state.clock), "event times are corrected by the known error");
  state.clock = { errorMs: 2_100, withinMs: 40 };
  t.match(details(), [/2100 ms ahead of .* nothing is recorded until/]);
  t.ok(exceedsTolerance(state.clock));
  t.notOk(exceedsTolerance({ errorMs: 2_100, withinMs: 200 }), "not certain");
  t.end();
});

// How a probe recognises its machine.

const id = "4ac5a2c0b1d24a7f9f3f0b7d1c2e3f4a";
const bootId = "0f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11";

void t.test("a machine's fingerprint is stable and hides the machine's id", async (t) => {
  const folder = t.testdir({
    id: `${id}\n`,
    upper: id.toUpperCase(),
    boot: `${bootId}\n`,
    unborn: "uninitialized\n",
    empty: "",
    zeros: `${"0".repeat(32)}\n`,
    directory: {},
  });
  const file = (name: string, source: "machine id" | "boot id") => ({ path: join(folder, name), source });
  const none = ["missing", "unborn", "empty", "zeros", "directory"].map((name) => file(name, "machine id"));
  const own = await thisMachine([file("id", "machine id")], "host");
  t.match(own, { source: "machine id", fingerprint: /^[0-9a-f]{16}$/ });
  t.notMatch(id, own.fingerprint, "the fingerprint does not contain the id");
  const renamed = await thisMachine([file("upper", "machine id")], "renamed");
  t.strictSame(renamed, own, "the fingerprint depends neither on the id's spelling nor on the host's name");
  const boot = await thisMachine([...none, file("boot", "boot id")], "host");
  t.equal(boot.source, "boot id", "an invalid machine id is skipped");
  t.not(boot.fingerprint, own.fingerprint);
  const named = await thisMachine(none, "host");
  t.equal(named.source, "host name");
  const other = await thisMachine(none, "another");
  t.not(other.fingerprint, named.fingerprint, "the host's name decides where there is no id");
  t.strictSame(await thisMachine(), await thisMachine(), "two reads give the same fingerprint");
});
