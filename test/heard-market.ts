/** A market, the stream that tells of it, and the REST endpoint that shows it, by a clock of the test's own: hours pass in no time. */
import type { NewestThing } from "../probe/answer-time.js";
import { makeCounterpart, type Counterpart } from "../probe/counterpart.js";
import { makeMeter } from "../probe/meter.js";
import { makeNewestEvent } from "../probe/newest-event.js";
import {
  makeStreamVerdict,
  type StreamFault,
} from "../probe/stream-verdict.js";
import type { Stream } from "../server/registry.js";

/** When the test's clock is at 0, milliseconds since 1970. */
export const epochMs = 1_790_000_000_000;

export interface Market {
  stream: Stream;
  /** When trades happen, milliseconds of the test's clock. */
  trades: readonly number[];
  untilMs: number;
  /** From when on the stream brings none; absent: it never stops. */
  stopsAtMs?: number;
  /** From when on its frames bear the time of the last trade before; absent: each bears its own. */
  freezesAtMs?: number;
  /** The stream tells of the last trade again so often; absent: of each once. */
  resendsEveryMs?: number;
  /** How REST shows trades; null: there is no counterpart. */
  rest: null | {
    cadenceMs: number;
    /** Absent: `time`. */
    shows?: "time" | "id";
    /** Trades older than that are not in the answer; absent: the last one always is. */
    oldestMs?: number;
    /** When it does not answer. */
    failsFromMs?: number;
  };
}

export interface JudgedSlot {
  atMs: number;
  fault: StreamFault | null;
}

const slotMs = 10_000;
const streamLagMs = 50;

/** Every slot of ten seconds, judged as the probe does it. */
export function judgedSlots(market: Market): JudgedSlot[] {
  const { stream, untilMs, rest } = market;
  const counterpart = rest && makeCounterpart(rest.cadenceMs);
  const meter = makeMeter(
    stream.eventTime && makeNewestEvent(stream.eventTime),
  );
  const verdictOn = makeStreamVerdict(stream, counterpart, () => ({
    errorMs: 0,
    withinMs: 100,
  }));
  const slots: JudgedSlot[] = [];
  meter.subscribed(0);
  const steps: [atMs: number, run: () => void][] = [
    ...framesOf(market).map(({ atMs, tradeMs }): [number, () => void] => [
      atMs,
      () => meter.frame(frameOf(tradeMs), { atMs, unixMs: epochMs + atMs }),
    ]),
    ...(counterpart ? asks(counterpart, market) : []),
    ...upTo(untilMs, slotMs).map((atMs): [number, () => void] => [
      atMs,
      () => {
        const reading = meter.read(atMs, slotMs);
        if (reading) slots.push({ atMs, fault: verdictOn(reading, atMs) });
      },
    ]),
  ];
  for (const [, run] of steps.sort(([a], [b]) => a - b)) run();
  return slots;
}

/** When frames come, and the time that they bear. */
function framesOf(market: Market) {
  const { trades, untilMs, resendsEveryMs } = market;
  const { stopsAtMs = Infinity, freezesAtMs = Infinity } = market;
  const lastBefore = (ms: number) => trades.findLast((atMs) => atMs <= ms) ?? 0;
  const frozenMs = lastBefore(freezesAtMs);
  const told = trades.map((atMs) => ({ atMs, tradeMs: atMs }));
  const again = upTo(resendsEveryMs ? untilMs : 0, resendsEveryMs ?? 1).map(
    (atMs) => ({ atMs, tradeMs: lastBefore(atMs) }),
  );
  return [...told, ...again]
    .filter(({ atMs }) => atMs <= stopsAtMs)
    .map(({ atMs, tradeMs }) => ({
      atMs: atMs + streamLagMs,
      tradeMs: atMs > freezesAtMs ? frozenMs : tradeMs,
    }));
}

function asks(
  counterpart: Counterpart,
  { trades, untilMs, rest }: Market,
): [number, () => void][] {
  const {
    cadenceMs,
    shows,
    oldestMs = Infinity,
    failsFromMs = Infinity,
  } = rest!;
  return upTo(untilMs, cadenceMs, 2_345)
    .filter((atMs) => atMs < failsFromMs)
    .map((atMs) => [
      atMs,
      () => {
        const place = trades.findLastIndex((tradeMs) => tradeMs <= atMs);
        const tradeMs = trades[place];
        const isShown = tradeMs !== undefined && atMs - tradeMs <= oldestMs;
        const newest: NewestThing =
          shows === "id"
            ? { id: `${place}` }
            : { atMs: epochMs + (tradeMs ?? 0) };
        counterpart.answered(atMs, isShown ? newest : null);
      },
    ]);
}

function upTo(untilMs: number, everyMs: number, fromMs = everyMs): number[] {
  const count = Math.floor((untilMs - fromMs) / everyMs) + 1;
  return Array.from({ length: count }, (_, n) => fromMs + n * everyMs);
}

function frameOf(tradeMs: number): Buffer {
  return Buffer.from(JSON.stringify({ at: epochMs + tradeMs }));
}
