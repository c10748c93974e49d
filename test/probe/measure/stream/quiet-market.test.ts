/** Silence of a stream is no fault while the venue shows no trade, but a stream that stops is found. */
import { existsSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { makeCounterpart } from "../../../../probe/measure/counterpart.js";
import { compileNewest, type NewestIn } from "../../../../probe/measure/rest/checks.js";
import { makeFrameTimes, makeMeter } from "../../../../probe/measure/stream/meter.js";
import { makeStreamVerdict, type StreamFault } from "../../../../probe/measure/stream/stream-verdict.js";
import { makeReadSlot } from "../../../../probe/measure/stream/stream.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import type { Stream } from "../../../../shared/registry/registry.js";
import { probeLimits } from "../../../../shared/rules/probe-rules.js";
import { acknowledge, type Arg, measuringStreams, okx, serveOkx } from "../../../support/okx-server.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";

/** Milliseconds since 1970 when the test's clock is at 0. */
const epochMs = 1_790_000_000_000;

const slotMs = 10_000;
const streamLagMs = 50;
const reconnectMs = 2_000;

const newestOf = compileNewest({ path: "$.at", unit: "ms" });

const minuteMs = 60_000;
const secondMs = 1000;

/** Bitstamp's trades, with an estimated rate of thirty a minute. */
const trades: Stream = {
  name: "trades",
  label: "Trades",
  subscribe: {},
  match: { path: "$.at" },
  eventTime: { path: "$.at", unit: "ms" },
  counterpart: "trades",
  cadenceMs: 10_000,
  typicalPerMinute: 30,
  rateBasis: "estimate",
  stall: { afterMs: 120_000, distribution: null },
};
const distribution = {
  ...{ periods: 20_000, from: "2026-01-01", to: "2026-01-08" },
  ...{ p50Ms: 900, p99Ms: 20_000, p999Ms: 60_000 },
};
const measured: Stream = { ...trades, stall: { afterMs: 120_000, distribution } };
const untimed: Stream = { ...trades };
delete untimed.eventTime;
const streams = [trades, measured, untimed];
const unmeasuredAfter = (afterMs: number) => ({ ...trades, stall: { afterMs, distribution: null } });

const rest = { cadenceMs: 15_000, oldestMs: minuteMs };
const ways = (["time", "id"] as const).map((shows) => ({ ...rest, shows }));

const random = randomFrom(11);

/** One or several trades in each minute that has any. */
function tradesOf(hasTrades: readonly boolean[]): number[] {
  return hasTrades
    .flatMap((has, minute) =>
      Array.from({ length: has ? 1 + Math.floor(random() * 4) : 0 }, () => Math.floor((minute + random()) * minuteMs)),
    )
    .sort((a, b) => a - b);
}

function faultsOf(market: Market) {
  return judgeSlots(market).filter(({ fault }) => fault !== null);
}

/** From the first bad slot to the end, every slot is bad. */
function lasts(t: Test, faults: readonly JudgedSlot[], untilMs: number) {
  t.equal(faults.length, (untilMs - faults[0]!.atMs) / 10_000 + 1, "the fault lasts");
}

/** A trade every this many seconds, for an hour. */
const every = (seconds: number) => Array.from({ length: 3600 / seconds }, (_, n) => (n + 1) * seconds * secondMs);

void t.test("no fault where a fifth of all minutes have no trade", (t) => {
  for (let run = 0; run < 4; run += 1) {
    const minutes = Array.from({ length: 600 }, () => random() > 0.2);
    // and some silences as long as the longest recorded ones
    for (const from of [100, 250, 400]) minutes.fill(false, from, from + 6);
    for (const stream of streams)
      for (const rest of ways)
        t.strictSame(faultsOf({ stream, rest, trades: tradesOf(minutes), untilMs: 600 * minuteMs }), []);
  }
  t.end();
});

void t.test("a silent stream stays stalled through reconnects, until it delivers something", (t) => {
  const stream: Stream = { ...trades, rateBasis: "documented", stall: { afterMs: 25_000, distribution: null } };
  const sent = every(1).filter((atMs) => atMs <= minuteMs || atMs > 4 * minuteMs);
  const reconnectsAtMs = [105_000, 150_000, 195_000];
  const slots = judgeSlots({ stream, rest: null, trades: sent, reconnectsAtMs, untilMs: 6 * minuteMs });
  const [silent, other] = [
    slots.filter(({ atMs }) => atMs >= 100_000 && atMs <= 4 * minuteMs),
    slots.filter(({ atMs }) => atMs <= minuteMs || atMs > 4 * minuteMs + 20_000),
  ];
  t.ok(silent.length > 10);
  t.strictSame([...new Set(silent.map(({ fault }) => fault))], ["stall"]);
  t.ok(other.length > 10);
  t.strictSame([...new Set(other.map(({ fault }) => fault))], [null]);
  t.end();
});

void t.test("one impossible time of a trade makes no later silence a fault", (t) => {
  // quiet in every second minute, with trades each second in the others
  const market = { trades: every(1).filter((atMs) => atMs % (2 * minuteMs) < minuteMs), untilMs: 60 * minuteMs };
  const stream = unmeasuredAfter(30_000);
  for (const wrong of [{ times: 1000 }, { times: 1.001 }, { plusMs: 3_600_000 }, { plusMs: 15_000 }, { plusMs: 9_000 }])
    t.strictSame(
      faultsOf({ ...market, stream, rest: { ...rest, wrong: { atMs: 5 * minuteMs, ...wrong } } }),
      [],
      JSON.stringify(wrong),
    );
  t.end();
});

void t.test("impossible times in frames make no later silence a fault, and hide no stall", (t) => {
  const slow = { stream: unmeasuredAfter(30_000), untilMs: 60 * minuteMs, rest };
  // one frame, those of a minute, and those of five
  for (const forMs of [26 * secondMs, minuteMs, 5 * minuteMs])
    for (const wrong of [{ times: 1000 }, { times: 1e-3 }, { times: 0 }, { times: -1 }, { plusMs: 86_400_000 }]) {
      const wrongFrames = { fromMs: 10 * minuteMs, toMs: 10 * minuteMs + forMs, ...wrong };
      const said = `${JSON.stringify(wrong)} for ${forMs} ms`;
      for (const seconds of [12, 26, 50, 100])
        t.strictSame(faultsOf({ ...slow, trades: every(seconds), wrongFrames }), [], `each ${seconds} s: ${said}`);
      const [stopped] = faultsOf({ ...slow, trades: every(12), wrongFrames, stopsAtMs: wrongFrames.toMs });
      t.match(stopped, { fault: "stall" }, said);
      t.ok(stopped!.atMs - wrongFrames.toMs <= 2 * minuteMs, said);
    }
  t.end();
});

void t.test("a counterpart whose times cannot be true neither accuses nor excuses a silent stream", (t) => {
  const stopped = { trades: every(5), stopsAtMs: 600_000, untilMs: 15 * minuteMs };
  const first = (stream: Stream, rest: Market["rest"]) => faultsOf({ ...stopped, stream, rest })[0]?.atMs ?? null;
  const failing = first(measured, { ...rest, failsFromMs: 590_000 });
  t.ok(failing);
  for (const wrong of [{ times: 1000 }, { times: 0.001 }, { times: 0 }, { plusMs: 86_400_000 }, { plusMs: 20_000 }]) {
    const lasting = { ...rest, wrong: { atMs: 590_000, untilMs: Infinity, ...wrong } };
    t.equal(first(measured, lasting), failing, `as if it did not answer: ${JSON.stringify(wrong)}`);
    t.equal(first(trades, lasting), null, "an estimated rate proves nothing without it");
  }
  const quiet = { ...stopped, trades: stopped.trades.filter((atMs) => atMs <= 600_000) };
  t.strictSame(faultsOf({ ...quiet, stream: measured, rest }), [], "an empty answer is a quiet minute");
  t.end();
});

void t.test("data that were old before the probe began are stale", (t) => {
  const stream = { ...measured, stall: { afterMs: 20_000, distribution } };
  for (const ageMs of [60 * minuteMs, 30 * 60 * minuteMs, 400 * 24 * 60 * minuteMs]) {
    const faults = faultsOf({ stream, rest: null, trades: every(1), untilMs: 60 * minuteMs, oldByMs: ageMs });
    t.ok(faults.length > 350 && faults.every(({ fault }) => fault === "stale"), `${ageMs} ms: ${faults.length} slots`);
  }
  t.end();
});

const recorded = "../shared/recordings/quiet-minutes.json";
const skip = !existsSync(recorded) && `${recorded} is not there`;

void t.test("recorded silences of real markets are no fault", { skip }, (t) => {
  type Recorded = Record<"windows", { from: number; to: number; zero: number[] }[]>;
  const { windows } = JSON.parse(readFileSync(recorded, "utf8")) as Recorded;
  for (const { from, to, zero } of windows) {
    const minutes = Array.from({ length: (to - from) / 60 }, (_, minute) => !zero.includes(from + minute * 60));
    for (const stream of streams)
      t.strictSame(faultsOf({ stream, rest, trades: tradesOf(minutes), untilMs: minutes.length * minuteMs }), []);
  }
  t.end();
});

void t.test("a stream that stops is found within a minute after its threshold", (t) => {
  const stopsAtMs = 20 * minuteMs;
  const dueMs = stopsAtMs + trades.stall.afterMs;
  const untilMs = 30 * minuteMs;
  for (const stream of streams)
    for (const rest of ways)
      for (const seconds of [1, 5, 12]) {
        const faults = faultsOf({ stream, stopsAtMs, trades: every(seconds), untilMs, rest });
        t.match(faults[0], { fault: "stall" });
        t.ok(faults[0]!.atMs > dueMs - seconds * secondMs, "not before the threshold");
        const third = faults[2]!.atMs - dueMs;
        t.ok(third <= minuteMs, `the third bad slot ended ${third / secondMs} s after the threshold`);
        lasts(t, faults, untilMs);
      }
  t.end();
});

void t.test("every stream of the registry is found as soon, at any phase of its slots", async (t) => {
  for (const probes of [1, 3]) {
    const { venues } = await loadRegistry("registry/all.json", probes);
    for (const { id, rest, socket } of venues)
      for (const { name, counterpart, cadenceMs } of socket?.streams ?? []) {
        const endpoint = rest.find((one) => one.name === counterpart);
        if (!endpoint) continue;
        const threeSlots = endpoint.cadenceMs + probeLimits.counterpart_settle_ms + 3 * cadenceMs;
        t.ok(threeSlots < minuteMs, `${id} ${name}, ${probes} probes on an address: ${threeSlots} ms`);
      }
  }
});

void t.test("a stream that resumes is good again", (t) => {
  const stream = unmeasuredAfter(30_000);
  const untilMs = 15 * minuteMs;
  // REST showed the trades meanwhile, the stream did not send them
  const stopped = faultsOf({ stream, trades: every(5), untilMs, stopsAtMs: 600_000, rest });
  t.match(stopped[0], { fault: "stall" });
  const quiet = every(5).filter((atMs) => atMs < 600_000 || atMs > 700_000);
  t.strictSame(faultsOf({ stream, trades: quiet, untilMs, rest }), []);
  t.end();
});

void t.test("frames that the probe itself missed are no fault of a stream", (t) => {
  // The trade of the 590th second is the last before the standstill; the others arrive during it, or are lost with the
  // socket.
  const before = every(5).filter((atMs) => atMs <= 590_000);
  const untilMs = 30 * minuteMs;
  for (const during of [[730_000], [605_000, 730_000], [748_000]])
    for (const stream of streams)
      for (const shows of ["time", "id"] as const)
        for (const reconnects of [false, true])
          for (const hasTrailers of [false, true])
            for (const toMs of [750_000, 751_000, 754_000, 759_000]) {
              const slots = judgeSlots({
                ...{ stream, hasTrailers, untilMs, trades: [...before, ...during] },
                rest: { cadenceMs: 15_000, shows },
                standstill: { fromMs: 600_000, toMs, reconnects },
              });
              t.ok(slots.every(({ fault }) => fault === null));
              t.ok(slots.filter(({ atMs }) => atMs > 800_000).length > 90);
            }
  // A slot that is skipped while the probe runs: frames that arrived in it count.
  const skipped = { trades: [600_000, 725_000], unread: { fromMs: 725_000, toMs: 735_000 } };
  for (const stream of [trades, measured])
    t.strictSame(faultsOf({ stream, untilMs, rest: { cadenceMs: 15_000 }, ...skipped }), []);
  t.end();
});

void t.test("a stream that stops near a standstill of the probe is found", (t) => {
  const toMs = 750_000;
  const untilMs = 30 * minuteMs;
  for (const stopsAtMs of [500_000, 600_500, 700_000, 760_000])
    for (const stream of streams)
      for (const reconnects of [false, true]) {
        const standstill = { fromMs: 600_000, toMs, reconnects };
        const faults = faultsOf({ stream, stopsAtMs, trades: every(5), untilMs, rest, standstill });
        const dueMs = Math.max(stopsAtMs, toMs + 10_000) + trades.stall.afterMs;
        t.match(faults[0], { fault: "stall" });
        const afterMs = faults[0]!.atMs - dueMs;
        t.ok(afterMs <= minuteMs, `${afterMs / secondMs} s after the threshold`);
        lasts(t, faults, untilMs);
      }
  t.end();
});

void t.test("a silent stream without a counterpart's evidence stalls unless its rate is an estimate", (t) => {
  const stopped = { trades: every(5), stopsAtMs: 600_000, untilMs: 15 * minuteMs };
  const first = (stream: Stream, rest: Market["rest"]) => faultsOf({ ...stopped, stream, rest })[0]?.atMs ?? null;
  const dueMs = 600_000 + 120_000;
  t.equal(first(trades, null), null);
  for (const stream of [measured, { ...trades, rateBasis: "documented" }, { ...trades, rateBasis: "probed" }] as const)
    t.equal(first(stream, null), dueMs + 10_000);

  const failing = { ...rest, failsFromMs: 590_000 };
  t.equal(first(trades, failing), null, "an estimated rate proves nothing without the counterpart");
  const waitedMs = probeLimits.counterpart_wait_cadences * rest.cadenceMs;
  const afterMs = first(measured, failing)! - dueMs;
  t.ok(afterMs > waitedMs && afterMs <= waitedMs + 10_000, "any other rate waits for the counterpart only a while");
  t.end();
});

void t.test("a stream whose event times stand still is stale", (t) => {
  const freezesAtMs = 600_000;
  const book: Stream = { ...unmeasuredAfter(10_000), name: "book", rateBasis: "documented" };
  delete book.counterpart;
  const playing = { trades: every(1), untilMs: 30 * minuteMs };
  const after = (stream: Stream, rest: Market["rest"] = null) => {
    const [found] = faultsOf({ ...playing, stream, freezesAtMs, rest });
    t.match(found, { fault: "stale" });
    return (found!.atMs - freezesAtMs) / secondMs;
  };
  t.equal(after(book), 40, "after thirty seconds, plus a slot of ten");
  t.equal(after({ ...book, staleAfterMs: 5_000 }), 10, "by the registry");
  t.equal(after({ ...book, stall: { afterMs: 60_000, distribution: null } }), 190);
  t.strictSame(faultsOf({ ...playing, stream: book, rest: null }), []);
  t.ok(after(unmeasuredAfter(15_000), rest) <= 45 + rest.cadenceMs / secondMs + 13, "by a counterpart's new trades");

  const dayMs = 24 * 60 * minuteMs;
  const trades = Array.from({ length: (25 * 60 * minuteMs) / 5000 }, (_, n) => n * 5000);
  const slots = judgeSlots({ stream: book, trades, rest: null, freezesAtMs, untilMs: dayMs + 45 * minuteMs });
  t.equal(slots.at(-1)!.fault, "stale", "also after a day, when its times are no longer believed");
  t.end();
});

void t.test("a repeated old time in a quiet market is not stale", (t) => {
  // a ticker with the time of the last trade, sent every second; after ten minutes trades end
  const repeating = {
    ...{ stream: unmeasuredAfter(15_000), untilMs: 30 * minuteMs, resendsEveryMs: secondMs },
    trades: every(1).filter((atMs) => atMs <= 600_000),
  };
  t.strictSame(faultsOf({ ...repeating, rest: { cadenceMs: 15_000 } }), []);
  t.strictSame(faultsOf({ ...repeating, rest }), []);
  const [first] = faultsOf({ ...repeating, rest: null });
  t.match(first, { fault: "stale" }, "it is stale without a counterpart that shows a quiet market");
  t.end();
});

void t.test("data right after the subscription may be old", (t) => {
  const stream = { ...measured, staleAfterMs: 500 };
  t.strictSame(faultsOf({ stream, trades: [1_000, 2_000], freezesAtMs: 0, untilMs: 60_000, rest: null }), []);
  t.end();
});

void t.test("nodes that alternate with older answers show nothing new", (t) => {
  const counterpart = makeCounterpart(5_000);
  for (let n = 0; n < 40; n += 1) counterpart.answered(n * 5_000, { id: n % 2 === 0 ? "7" : "6" });
  const wentOn = (heardMs: number, byMs: number, nowMs: number) =>
    counterpart.wentOn({ atMs: heardMs, eventMs: null }, byMs, nowMs);
  t.equal(wentOn(12_000, 60_000, 200_000), false);
  counterpart.answered(200_000, { id: "8" });
  t.equal(wentOn(12_000, 60_000, 201_000), false, "not at the moment of the answer");
  t.equal(wentOn(12_000, 60_000, 204_000), true);
  t.equal(wentOn(196_000, 3_000, 204_000), false, "the stream may have sent it already");
  t.equal(wentOn(199_000, 3_000, 204_000), null, "the counterpart has not been asked since");
  t.end();
});

interface Market {
  stream: Stream;
  /** When trades happen, in milliseconds of the test's clock. */
  trades: readonly number[];
  untilMs: number;
  /** When the stream stops sending trades. */
  stopsAtMs?: number;
  /** From then on, frames carry the time of the last trade before it. */
  freezesAtMs?: number;
  /** How much older the times in frames are than the trades. */
  oldByMs?: number;
  /** The times in frames of this span are multiplied, or added to. */
  wrongFrames?: Span & { times?: number; plusMs?: number };
  /** How often the stream repeats the last trade. */
  resendsEveryMs?: number;
  /** Whether a frame without a time follows each frame. */
  hasTrailers?: boolean;
  /**
   * A span in which the probe stands still: it reads and requests nothing, and then finds everything that arrived
   * meanwhile. With `reconnects`, the venue closes the socket; the stream is resubscribed two seconds later, and sends
   * nothing from before.
   */
  standstill?: Span & { reconnects?: boolean };
  /** When the socket closes; the stream is resubscribed two seconds later. */
  reconnectsAtMs?: readonly number[];
  /** Slots that end in this span are not read, although the probe is running. */
  unread?: Span;
  /** How REST shows trades; null: the stream has no counterpart. */
  rest: null | {
    cadenceMs: number;
    /** Absent: `time`. */
    shows?: "time" | "id";
    /** The answer leaves out older trades; absent: it always has the last one. */
    oldestMs?: number;
    /** When REST fails to answer. */
    failsFromMs?: number;
    /** The first answer after `atMs`, or each one up to `untilMs`, multiplies its time, or adds to it. */
    wrong?: { atMs: number; times?: number; plusMs?: number; untilMs?: number };
  };
}

type Span = Record<"fromMs" | "toMs", number>;

interface JudgedSlot {
  atMs: number;
  fault: StreamFault | null;
}

/** Judges every slot of ten seconds as the probe does, on a clock of its own: hours pass in no time. */
function judgeSlots(market: Market): JudgedSlot[] {
  const { stream, rest, standstill } = market;
  const counterpart = rest && makeCounterpart(rest.cadenceMs);
  const meter = makeMeter(stream.eventTime && makeFrameTimes(stream.eventTime));
  const verdict = makeStreamVerdict(stream, counterpart, () => ({ errorMs: 0, withinMs: 100 }));
  let nowMs = 0;
  const readSlot = makeReadSlot(meter, verdict, {
    stalledSince: (sinceMs, forMs) =>
      standstill !== undefined &&
      standstill.toMs >= sinceMs &&
      standstill.toMs <= nowMs &&
      standstill.toMs - standstill.fromMs > forMs,
  });
  const slots: JudgedSlot[] = [];
  meter.subscribed(0);
  // in this order where several are due at once
  const steps: [atMs: number, run: () => void][] = [];
  const at = (atMs: number, run: () => void) => steps.push([atMs, run]);
  for (const atMs of readsOf(market))
    at(atMs, () => {
      const slot = readSlot(atMs, slotMs);
      if (slot) slots.push({ atMs, fault: slot.fault });
    });
  for (const [atMs, frames] of framesOf(market)) {
    const arrival = { atMs, unixMs: epochMs + atMs };
    at(atMs, () => frames.forEach((frame) => meter.frame(frame, arrival)));
  }
  if (counterpart)
    for (const atMs of requestsOf(market)) at(atMs, () => counterpart.answered(atMs, shownAt(market, atMs)));
  const { reconnectsAtMs = standstill?.reconnects ? [standstill.toMs] : [] } = market;
  for (const lostMs of reconnectsAtMs) {
    const againMs = lostMs + reconnectMs;
    at(lostMs, () => meter.lost());
    at(againMs, () => meter.subscribed(againMs));
  }
  for (const [atMs, run] of steps.sort(([a], [b]) => a - b)) {
    nowMs = atMs;
    run();
  }
  return slots;
}

/** When slots are read. After a standstill, timers run before data is read; a slot late by a second is not measured. */
function readsOf({ untilMs, standstill, unread }: Market): number[] {
  return upTo(untilMs, slotMs)
    .filter((atMs) => !isWithin(atMs, unread))
    .map((atMs) => (isWithin(atMs, standstill) ? standstill!.toMs : atMs))
    .filter((atMs, n, all) => atMs % slotMs <= 1000 && atMs !== all[n + 1]);
}

function isWithin(atMs: number, span: Span | undefined): boolean {
  return span !== undefined && atMs > span.fromMs && atMs <= span.toMs;
}

/** The frames with their times of arrival; those of a standstill all arrive at its end. */
function framesOf(market: Market): Map<number, object[]> {
  const { standstill, hasTrailers, oldByMs = 0, wrongFrames } = market;
  const arrivals = new Map<number, object[]>();
  for (const { atMs, tradeMs } of sentBy(market)) {
    if (standstill?.reconnects && atMs > standstill.fromMs && atMs <= standstill.toMs + reconnectMs) continue;
    const cameMs = isWithin(atMs, standstill) ? standstill!.toMs : atMs;
    const frames = arrivals.get(cameMs) ?? [];
    const { times = 1, plusMs = 0 } = (isWithin(atMs, wrongFrames) && wrongFrames) || {};
    frames.push({ at: (epochMs + tradeMs - oldByMs) * times + plusMs }, ...(hasTrailers ? [{}] : []));
    arrivals.set(cameMs, frames);
  }
  return arrivals;
}

/** The times at which the stream sends a frame, and the time in each frame. */
function sentBy({ trades, untilMs, resendsEveryMs, stopsAtMs = Infinity, freezesAtMs = Infinity }: Market) {
  const lastBefore = (ms: number) => trades.findLast((atMs) => atMs <= ms) ?? 0;
  const frozenMs = lastBefore(freezesAtMs);
  const sent = trades.map((atMs) => ({ atMs, tradeMs: atMs }));
  if (resendsEveryMs) sent.push(...upTo(untilMs, resendsEveryMs).map((atMs) => ({ atMs, tradeMs: lastBefore(atMs) })));
  return sent
    .filter(({ atMs }) => atMs <= stopsAtMs)
    .map(({ atMs, tradeMs }) => ({ atMs: atMs + streamLagMs, tradeMs: atMs > freezesAtMs ? frozenMs : tradeMs }));
}

function requestsOf({ untilMs, rest, standstill }: Market): number[] {
  const { cadenceMs, failsFromMs = Infinity } = rest!;
  return upTo(untilMs, cadenceMs, 2_345).filter((atMs) => atMs < failsFromMs && !isWithin(atMs, standstill));
}

/** The newest trade that REST shows. */
function shownAt({ trades, rest }: Market, atMs: number): NewestIn {
  const { shows, cadenceMs, oldestMs = Infinity, wrong } = rest!;
  const place = trades.findLastIndex((tradeMs) => tradeMs <= atMs);
  const tradeMs = trades[place];
  if (tradeMs === undefined || atMs - tradeMs > oldestMs) return "none";
  if (shows === "id") return { id: `${place}` };
  const isWrong = wrong && atMs > wrong.atMs && atMs <= (wrong.untilMs ?? wrong.atMs + cadenceMs);
  const { times = 1, plusMs = 0 } = isWrong ? wrong : {};
  return newestOf({ at: (epochMs + tradeMs) * times + plusMs }, epochMs + atMs);
}

function upTo(untilMs: number, everyMs: number, fromMs = everyMs): number[] {
  const count = Math.floor((untilMs - fromMs) / everyMs) + 1;
  return Array.from({ length: count }, (_, n) => fromMs + n * everyMs);
}

// A server injects known silences, counts and ages, and notes the instant of each send: recorded values are within the
// stated error. QUIET_GAPS_SLOTS sets more slots.

const slots = Number(process.env.QUIET_GAPS_SLOTS ?? 6);
const playedSlotMs = 500;

/** docs/methodology.md: the errors of a silence and of an age, besides the lateness of this process's own loop. */
const statedMs = 5;

const clockErrorMs = 3200;
const eventAgeMs = 137;

const randomGaps = randomFrom(7);

void t.test("recorded silences and ages equal the injected ones", async (t) => {
  const venue = structuredClone(okx);
  const subscribed: { ws: WebSocket; arg: Arg }[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    acknowledge(ws, arg);
    if (arg.channel === "trades") subscribed.push({ ws, arg });
  });
  venue.socket!.url = url;
  for (const stream of venue.socket!.streams) stream.cadenceMs = playedSlotMs;
  // Our clock is ahead by this much, and the probe knows it.
  const clock = { read: () => ({ errorMs: clockErrorMs, withinMs: 5 }) };
  const { measure } = measuringStreams(t, venue, { clock });
  const measured = () => measure("ws:trades");
  await until(async () => !("unmeasured" in (await measured())), 10_000, playedSlotMs);

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
    while (performance.now() - slotBegunMs < playedSlotMs - 60) {
      await sleep(5 + randomGaps() ** 3 * 250);
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
