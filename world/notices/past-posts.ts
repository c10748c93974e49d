/**
 * The venues' posts in the ninety days before the demo began. They report a few of the faults of that time (past.ts)
 * late, a few early, and most not at all. Many posts are about nothing that we measure.
 */
import { lastDayOf, todayOf } from "../past.js";
import type { ScriptedPost } from "./posts.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** @param now when the history ends, as `pastFaults` takes it */
export function pastPosts(now: Date): ScriptedPost[] {
  /** Returns an instant such as `"10:04"` of the UTC day that many days ago. */
  const on = (daysAgo: number, time: string) => new Date(todayOf(now) - daysAgo * dayMs + msOf(time));
  /** Returns the instant that many hours and minutes after the last day began. */
  const after = (time: string) => new Date(lastDayOf(now) + msOf(time));
  return [...often(on), ...seldom(on), ...ofTransfers(on), ...ofLastDay(after)];
}

type Instant = (time: string) => Date;
type OldInstant = (daysAgo: number, time: string) => Date;

/** Deribit reports each of its faults, and Coinbase each listing, which fills more than one page. */
function often(on: OldInstant): ScriptedPost[] {
  const deribit = (title: string, impact: string, daysAgo: number, from: string, to: string): ScriptedPost => ({
    venue: "deribit",
    title,
    impact,
    postedAt: on(daysAgo, from),
    endedAt: on(daysAgo, to),
    components: ["REST API"],
  });
  return [
    deribit("Elevated API errors", "major", 74, "10:04", "10:20"),
    {
      ...deribit("Trade feed interrupted", "minor", 61, "15:11", "15:30"),
      components: ["WebSocket"],
      startedAt: on(61, "15:00"),
    },
    deribit("API instability", "minor", 44, "04:57", "05:25"),
    {
      ...deribit("Order book endpoint down", "minor", 29, "20:03", "20:40"),
      changes: [
        { at: on(29, "20:05"), status: "identified" },
        { at: on(29, "20:12"), impact: "major", status: "monitoring" },
        { at: on(28, "12:00"), status: "postmortem" },
      ],
    },
    // a fault that no region saw
    deribit("Options expiry is delayed", "minor", 16, "08:18", "09:00"),
    deribit("Errors in public book data", "minor", 2, "07:06", "07:35"),
    {
      venue: "coinbase",
      title: "Listing: a new asset is open for trading",
      impact: "none",
      postedAt: on(89, "15:00"),
      endedAt: on(89, "16:00"),
      components: ["Website"],
      everyMs: 40 * hourMs,
    },
  ];
}

function seldom(on: OldInstant): ScriptedPost[] {
  return [
    {
      venue: "kraken",
      title: "All services unreachable",
      impact: "critical",
      postedAt: on(81, "14:07"),
      startedAt: on(81, "14:00"),
      endedAt: on(81, "14:40"),
      components: ["REST API", "WebSocket"],
      changes: [
        { at: on(81, "14:12"), status: "identified" },
        { at: on(81, "14:24"), status: "monitoring" },
      ],
    },
    {
      venue: "kraken",
      title: "Staking rewards are delayed",
      impact: "minor",
      postedAt: on(38, "08:00"),
      endedAt: on(38, "13:30"),
    },
    {
      venue: "kraken",
      title: "Futures engine upgrade",
      impact: "maintenance",
      postedAt: on(30, "09:00"),
      startedAt: on(27, "06:00"),
      endedAt: on(27, "06:30"),
      components: ["Futures"],
    },
    {
      venue: "okx",
      title: "Spot market data push interrupted",
      impact: "disruption",
      postedAt: on(47, "09:05"),
      endedAt: on(47, "09:12"),
      components: ["WebSocket"],
    },
    {
      venue: "okx",
      title: "Options system upgrade",
      impact: "scheduled",
      postedAt: on(20, "02:00"),
      startedAt: on(18, "04:00"),
      endedAt: on(18, "05:00"),
      components: ["Options"],
    },
    // nothing reads this post, because Gemini's page has moved
    {
      venue: "gemini",
      title: "Exchange API outage",
      impact: "major",
      postedAt: on(12, "16:05"),
      endedAt: on(12, "16:45"),
    },
    {
      venue: "bybit",
      title: "Ticker latency",
      impact: "incident",
      postedAt: on(5, "11:06"),
      startedAt: on(5, "11:00"),
      endedAt: on(5, "11:15"),
      components: ["Market data"],
    },
    {
      venue: "bybit",
      title: "Trading system upgrade",
      impact: "planned",
      postedAt: on(12, "03:00"),
      startedAt: on(9, "07:00"),
      endedAt: on(9, "07:20"),
      components: ["Trading"],
    },
    ...["Degraded order placement", "Login problems"].map((title, i): ScriptedPost => ({
      venue: "bitfinex",
      title,
      impact: "minor",
      postedAt: on(52 - 21 * i, "18:20"),
      endedAt: on(52 - 21 * i, "19:05"),
      components: ["Website"],
    })),
    {
      venue: "bitfinex",
      title: "Posted to the wrong page",
      impact: "minor",
      postedAt: on(7, "09:00"),
      deletedAt: on(7, "09:30"),
    },
    {
      venue: "bitstamp",
      title: "Scheduled maintenance of the matching engine",
      impact: "maintenance",
      postedAt: on(26, "12:00"),
      startedAt: on(25, "05:00"),
      endedAt: on(25, "05:45"),
      components: ["REST API"],
    },
    {
      venue: "coinbase",
      title: "Exchange API upgrade",
      impact: "maintenance",
      postedAt: on(24, "16:00"),
      startedAt: on(22, "09:00"),
      endedAt: on(22, "09:30"),
      components: ["REST API"],
    },
  ];
}

/** What venues post about deposits and withdrawals that their lists show paused. */
function ofTransfers(on: OldInstant): ScriptedPost[] {
  return [
    {
      venue: "kraken",
      title: "Ethereum (ETH) withdrawals delayed",
      impact: "minor",
      postedAt: on(82, "09:20"),
      endedAt: on(82, "12:30"),
      components: ["Deposits and Withdrawals"],
    },
    {
      venue: "bitstamp",
      title: "XRP deposits and withdrawals: wallet upgrade",
      impact: "maintenance",
      postedAt: on(25, "10:00"),
      startedAt: on(24, "06:00"),
      endedAt: on(24, "14:00"),
      components: ["Deposits"],
    },
    {
      venue: "kraken",
      title: "Solana (SOL) deposits and withdrawals temporarily unavailable",
      impact: "minor",
      postedAt: on(1, "11:25"),
      components: ["Deposits and Withdrawals"],
    },
  ];
}

function ofLastDay(after: Instant): ScriptedPost[] {
  return [
    {
      venue: "okx",
      title: "Spot ticker errors",
      impact: "disruption",
      postedAt: after("6:09"),
      startedAt: after("6:00"),
      endedAt: after("6:16"),
      components: ["Spot"],
    },
    {
      venue: "bybit",
      title: "Public trade stream unstable",
      impact: "incident",
      postedAt: after("8:56"),
      endedAt: after("9:12"),
      components: ["Market data"],
    },
    {
      venue: "kraken",
      title: "Card purchases fail for some customers",
      impact: "minor",
      postedAt: after("19:30"),
      endedAt: after("20:10"),
      components: ["Website"],
    },
    {
      venue: "bitstamp",
      title: "Deposits of XYZ delayed",
      impact: "minor",
      postedAt: after("13:00"),
      endedAt: after("15:00"),
      components: ["Deposits"],
    },
  ];
}

/** Parses hours and minutes. */
function msOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return hours! * hourMs + minutes! * minuteMs;
}
