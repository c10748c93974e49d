/** A market, its stream, and the REST endpoint that shows it, on the test's own clock: hours pass in no time. */
import { compileNewest, type NewestIn } from "../../probe/rest/answer-time.js";
import { makeCounterpart } from "../../probe/stream/counterpart.js";
import { makeMeter } from "../../probe/stream/stream-meter.js";
import { makeFrameTimes } from "../../probe/stream/frame-times.js";
import { makeReadSlot } from "../../probe/stream/stream-slots.js";
import { makeStreamVerdict, type StreamFault } from "../../probe/stream/stream-verdict.js";
import type { Stream } from "../../shared/registry/registry.js";

/** Milliseconds since 1970 when the test's clock is at 0. */
const epochMs = 1_790_000_000_000;

export interface Market {
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

export interface JudgedSlot {
  atMs: number;
  fault: StreamFault | null;
}

const slotMs = 10_000;
const streamLagMs = 50;
const reconnectMs = 2_000;

/** Judges every slot of ten seconds as the probe does. */
export function judgeSlots(market: Market): JudgedSlot[] {
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

const newestOf = compileNewest({ path: "$.at", unit: "ms" });

function upTo(untilMs: number, everyMs: number, fromMs = everyMs): number[] {
  const count = Math.floor((untilMs - fromMs) / everyMs) + 1;
  return Array.from({ length: count }, (_, n) => fromMs + n * everyMs);
}
