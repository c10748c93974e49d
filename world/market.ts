/** The market that every venue of the world quotes: one price that wanders. */
import { createHash } from "node:crypto";

export interface Tick {
  /** Increases with every tick; serves as trade id and update id. */
  id: number;
  /** The number of a stream's frame: one more than the number of the previous frame on this socket. */
  place: number;
  /** The instant of the event on the venue's clock, Unix milliseconds. */
  ms: number;
  last: number;
  bid: number;
  ask: number;
  size: number;
  side: "buy" | "sell";
}

export interface Market {
  /** @param ageMs how long ago the event happened */
  tick(ageMs?: number): Tick;
}

export function makeMarket(now: () => Date): Market {
  let id = 1_000_000;
  let last = 64_000;
  return {
    tick(ageMs = 0) {
      id += 1;
      last = walked(last);
      return {
        id,
        place: id,
        ms: now().getTime() - Math.round(ageMs),
        last,
        bid: last - 0.5,
        ask: last + 0.5,
        size: rounded(0.01 + Math.random()),
        side: Math.random() < 0.5 ? "buy" : "sell",
      };
    },
  };
}

/** Takes a small step that tends towards 64,000, so that a world that runs for weeks keeps a plausible price. */
function walked(price: number): number {
  return rounded(price + (Math.random() - 0.5) * 4 + (64_000 - price) * 0.001, 2);
}

function rounded(value: number, digits = 5): number {
  return Number(value.toFixed(digits));
}

/** Returns `count` levels of a book, best first, as the strings [price, quantity] that most venues send. */
export function levels(tick: Tick, side: "bids" | "asks", count: number) {
  const [best, step] = side === "bids" ? [tick.bid, -0.5] : [tick.ask, 0.5];
  return Array.from({ length: count }, (_, level): [string, string] => [
    (best + step * level).toFixed(2),
    (tick.size + level / 10).toFixed(5),
  ]);
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns Unix nanoseconds as text: a JSON number would not be exact. */
export function nanoseconds(ms: number): string {
  return `${ms}000000`;
}

// The latency between each region and each venue, the same in every run, so that a board shows a stable picture.

export type Latency = "none" | "plausible";

/**
 * Returns how many milliseconds an answer takes: 10–180, depending on venue and region, with a jitter of a tenth; 0 for
 * `none`.
 */
export function latencyMs(latency: Latency, venue: string, region: string | null): number {
  if (latency === "none") return 0;
  return usualLatencyMs(venue, region) * (0.95 + Math.random() * 0.1);
}

/** The value around which `plausible` latencies vary. */
export function usualLatencyMs(venue: string, region: string | null): number {
  const digest = createHash("sha256").update(`${venue} ${region}`).digest();
  return 10 + (digest.readUInt16BE(0) / 0xffff) * 170;
}
