/**
 * A market, the stream that carries it, and the REST endpoint that shows it, on the test's own clock: hours pass in no
 * time.
 */
import type { NewestThing } from "../../probe/rest/answer-time.js";
import { makeCounterpart, type Counterpart } from "../../probe/stream/counterpart.js";
import { makeMeter, type Meter } from "../../probe/stream/meter.js";
import { makeFrameTimes } from "../../probe/stream/frame-times.js";
import { makeReadSlot } from "../../probe/stream/stream-slots.js";
import { makeStreamVerdict, type StreamFault } from "../../probe/stream/stream-verdict.js";
import type { Stream } from "../../shared/registry/registry.js";

/** Milliseconds since 1970 when the test's clock is at 0. */
export const epochMs = 1_790_000_000_000;

export interface Market {
  stream: Stream;
  /** When trades happen, in milliseconds of the test's clock. */
  trades: readonly number[];
  untilMs: number;
  /** When the stream stops sending trades; absent: never. */
  stopsAtMs?: number;
  /** From then on, frames carry the time of the last trade before it; absent: each frame carries its own. */
  freezesAtMs?: number;
  /** How often the stream repeats the last trade; absent: it sends each once. */
  resendsEveryMs?: number;
  /** Whether a frame without a time follows each frame. */
  hasTrailers?: boolean;
  /**
   * A span in which the probe stands still: it reads and requests nothing, and then finds everything that arrived
   * meanwhile.
   */
  standstill?: Span & {
    /**
     * The venue closes the socket meanwhile. The stream is resubscribed two seconds later, and sends nothing from
     * before.
     */
    reconnects?: boolean;
  };
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
  };
}

interface Span {
  fromMs: number;
  toMs: number;
}

export interface JudgedSlot {
  atMs: number;
  fault: StreamFault | null;
}

const slotMs = 10_000;
const streamLagMs = 50;
const reconnectMs = 2_000;

/** Judges every slot of ten seconds as the probe does. */
export function judgedSlots(market: Market): JudgedSlot[] {
  const { stream, rest, standstill } = market;
  const counterpart = rest && makeCounterpart(rest.cadenceMs);
  const meter = makeMeter(stream.eventTime && makeFrameTimes(stream.eventTime));
  const verdict = makeStreamVerdict(stream, counterpart, () => ({ errorMs: 0, withinMs: 100 }));
  let nowMs = 0;
  const readSlot = makeReadSlot(meter, verdict, {
    stoodStillSince: (sinceMs, forMs) =>
      standstill !== undefined &&
      standstill.toMs >= sinceMs &&
      standstill.toMs <= nowMs &&
      standstill.toMs - standstill.fromMs > forMs,
  });
  const slots: JudgedSlot[] = [];
  meter.subscribed(0);
  const steps: [atMs: number, run: () => void][] = [
    ...readsOf(market).map((atMs): [number, () => void] => [
      atMs,
      () => {
        const slot = readSlot(atMs, slotMs);
        if (slot) slots.push({ atMs, fault: slot.fault });
      },
    ]),
    ...framesOf(market).map(({ atMs, frames }): [number, () => void] => [
      atMs,
      () => {
        const arrival = { atMs, unixMs: epochMs + atMs };
        for (const frame of frames) meter.frame(frame, arrival);
      },
    ]),
    ...(counterpart ? asks(counterpart, market) : []),
    ...(standstill?.reconnects ? reconnection(meter, standstill) : []),
  ];
  for (const [atMs, run] of steps.sort(([a], [b]) => a - b)) {
    nowMs = atMs;
    run();
  }
  return slots;
}

/**
 * The times at which slots are read. After a standstill, timers run before the data that arrived is read, and a slot
 * that is late by a second is not measured.
 */
function readsOf({ untilMs, standstill, unread }: Market): number[] {
  return upTo(untilMs, slotMs)
    .filter((atMs) => !isWithin(atMs, unread))
    .map((atMs) => (isWithin(atMs, standstill) ? standstill!.toMs : atMs))
    .filter((atMs, n, all) => atMs % slotMs <= 1000 && atMs !== all[n + 1]);
}

function isWithin(atMs: number, span: Span | undefined): boolean {
  return span !== undefined && atMs > span.fromMs && atMs <= span.toMs;
}

function reconnection(meter: Meter, { toMs }: Span): [number, () => void][] {
  const againMs = toMs + reconnectMs;
  return [
    [toMs, () => meter.lost()],
    [againMs, () => meter.subscribed(againMs)],
  ];
}

/** The frames with their times of arrival; those of a standstill all arrive at its end. */
function framesOf(market: Market): { atMs: number; frames: unknown[] }[] {
  const { standstill, hasTrailers = false } = market;
  const arrivals = new Map<number, unknown[]>();
  for (const { atMs, tradeMs } of toldBy(market)) {
    const cameMs = isWithin(atMs, standstill) ? standstill!.toMs : atMs;
    const isLost = standstill?.reconnects && atMs > standstill.fromMs && atMs <= standstill.toMs + reconnectMs;
    if (isLost) continue;
    const frames: unknown[] = [frameOf(tradeMs)];
    if (hasTrailers) frames.push({});
    arrivals.set(cameMs, [...(arrivals.get(cameMs) ?? []), ...frames]);
  }
  return [...arrivals].map(([atMs, frames]) => ({ atMs, frames }));
}

/** The times at which the stream sends a frame, and the time in each frame. */
function toldBy(market: Market) {
  const { trades, untilMs, resendsEveryMs } = market;
  const { stopsAtMs = Infinity, freezesAtMs = Infinity } = market;
  const lastBefore = (ms: number) => trades.findLast((atMs) => atMs <= ms) ?? 0;
  const frozenMs = lastBefore(freezesAtMs);
  const told = trades.map((atMs) => ({ atMs, tradeMs: atMs }));
  const again = upTo(resendsEveryMs ? untilMs : 0, resendsEveryMs ?? 1).map((atMs) => ({
    atMs,
    tradeMs: lastBefore(atMs),
  }));
  return [...told, ...again]
    .filter(({ atMs }) => atMs <= stopsAtMs)
    .map(({ atMs, tradeMs }) => ({ atMs: atMs + streamLagMs, tradeMs: atMs > freezesAtMs ? frozenMs : tradeMs }));
}

function asks(counterpart: Counterpart, { trades, untilMs, rest, standstill }: Market): [number, () => void][] {
  const { cadenceMs, shows, oldestMs = Infinity, failsFromMs = Infinity } = rest!;
  return upTo(untilMs, cadenceMs, 2_345)
    .filter((atMs) => atMs < failsFromMs && !isWithin(atMs, standstill))
    .map((atMs) => [
      atMs,
      () => {
        const place = trades.findLastIndex((tradeMs) => tradeMs <= atMs);
        const tradeMs = trades[place];
        const isShown = tradeMs !== undefined && atMs - tradeMs <= oldestMs;
        const newest: NewestThing = shows === "id" ? { id: `${place}` } : { atMs: epochMs + (tradeMs ?? 0) };
        counterpart.answered(atMs, isShown ? newest : null);
      },
    ]);
}

function upTo(untilMs: number, everyMs: number, fromMs = everyMs): number[] {
  const count = Math.floor((untilMs - fromMs) / everyMs) + 1;
  return Array.from({ length: count }, (_, n) => fromMs + n * everyMs);
}

function frameOf(tradeMs: number): unknown {
  return { at: epochMs + tradeMs };
}
