/**
 * The faults before the demo began: a few in its ninety days, and every typical kind of fault in the last twenty-four
 * hours.
 */
import type { Fault } from "../shared/measurement/sample.js";
import { rulesRow } from "../shared/rules/engine-rules.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface PastFault {
  /** Null: every venue. */
  venue: string | null;
  /** `rest:*` for all of REST; null: everything of the venue. During a fault of `ws:conn`, streams are not measured. */
  component: string | null;
  /** Null: all regions. */
  regions: string[] | null;
  /** The fault that the samples show; null: they are good, but slow. */
  shows: Fault | null;
  /** Added to the usual latency of good answers. */
  slowMs: number;
  from: Date;
  to: Date;
  /** How long the component must be well before its incident closes. */
  holdMs: number;
}

/** Returns the faults, oldest first. A fault that is still in progress ends at `now`. */
export function pastFaults(now: Date): PastFault[] {
  return [...oldFaults(now), ...lastDay(now)].sort((a, b) => +a.from - +b.from);
}

/** Midnight of the UTC day from which the days of old faults are counted back, Unix milliseconds. */
export function todayOf(now: Date): number {
  return Math.floor(+now / dayMs) * dayMs;
}

/** Returns the beginning of the last day, Unix milliseconds. */
export function lastDayOf(now: Date): number {
  return Math.floor(+now / minuteMs) * minuteMs - dayMs;
}

function oldFaults(now: Date): PastFault[] {
  const on = (daysAgo: number, utcHour: number, minutes: number) =>
    lasting(todayOf(now) - daysAgo * dayMs + utcHour * hourMs, minutes);
  const bybitIn = ["eu-central", "ap-southeast"];
  return [
    fault("kraken", null, null, "timeout", on(81, 14, 22)),
    // enough faults for a median of how long Deribit takes to report one
    fault("deribit", "rest:ticker", null, "http", on(74, 10, 6)),
    fault("deribit", "ws:trades", null, "stall", on(61, 15, 7)),
    fault("okx", "ws:trades", null, "stall", on(47, 9, 7)),
    fault("deribit", "rest:time", null, "timeout", on(44, 5, 6)),
    fault("binance", null, ["us-east"], "blocked", on(33, 0, 240)),
    fault("deribit", "rest:book", null, "http", on(29, 20, 8)),
    // within announced maintenance, and longer than that (past-posts.ts)
    fault("coinbase", "rest:*", null, "http", on(22, 9, 15)),
    fault("kraken-futures", "rest:*", null, "http", on(27, 6, 40)),
    fault("gemini", "rest:*", null, "http", on(12, 16, 31)),
    fault("bybit", "rest:ticker", bybitIn, "timeout", on(5, 11, 8)),
    fault("deribit", "rest:book", null, "body", on(2, 7, 12)),
  ];
}

/** One fault after another. The slow venue comes late in the day, when its usual latency is known. */
function lastDay(now: Date): PastFault[] {
  const begin = lastDayOf(now);
  const after = (hours: number, minutes: number, lastingMinutes: number) =>
    lasting(begin + hours * hourMs + minutes * minuteMs, lastingMinutes);
  const blocked = { ...after(3, 0, 0), to: now };
  const okxIn = ["eu-central", "us-east"];
  return [
    // geo-blocked in one region, from then on
    fault("binance", "rest:*", ["us-east"], "blocked", blocked),
    // an outage seen by two of three
    fault("okx", "rest:ticker", okxIn, "http", after(6, 0, 12)),
    // a stream that stalls while its socket lives
    fault("bybit", "ws:trades", null, "stall", after(9, 0, 9)),
    // a socket that is open in name only
    fault("kraken", "ws:conn", null, "timeout", after(12, 0, 6)),
    // flapping: three incidents, the last of them with two bad spells
    ...[0, 3].map((minute) => fault("gemini", "rest:ticker", null, "http", after(14, minute, 0.5))),
    ...[6, 9].map((minute) => ({
      ...fault("gemini", "rest:ticker", null, "http", after(14, minute, 0.5)),
      holdMs: rulesRow.flap_hold_ms,
    })),
    // rate limits: one for everybody, one in one region
    fault("kucoin", "rest:book", null, "limited", after(16, 0, 8)),
    fault("gate", "rest:*", ["ap-southeast"], "limited", after(16, 0, 8)),
    // slow, and never failing
    {
      ...fault("bitget", "rest:*", null, null, after(18, 0, 15)),
      slowMs: 2500,
    },
    // the network of a region
    fault(null, null, ["us-east"], "timeout", after(21, 0, 6)),
  ];
}

function lasting(fromMs: number, minutes: number) {
  return { from: new Date(fromMs), to: new Date(fromMs + minutes * minuteMs) };
}

function fault(
  venue: string | null,
  component: string | null,
  regions: string[] | null,
  shows: Fault | null,
  { from, to }: { from: Date; to: Date },
): PastFault {
  const holdMs = rulesRow.recovery_hold_ms;
  return { venue, component, regions, shows, slowMs: 0, from, to, holdMs };
}
