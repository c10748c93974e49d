import t from "tap";
import { retryAfterMs } from "../../../shared/http/retry-after.js";

const nowMs = Date.parse("2026-09-01T00:00:00Z");
const atS = nowMs / 1000;
const dateIn = (ms: number) => new Date(nowMs + ms).toUTCString();
const hourMs = 3_600_000;

const waits: [what: string, header: unknown, waitMs: number][] = [
  ["seconds", "30", 30_000],
  ["seconds with a fraction", "1.5", 1_500],
  ["spaces around it", " 30 ", 30_000],
  ["none at all", "0", 0],
  ["ten minutes", "600", 600_000],
  ["longer than is honoured", "601", 600_000],
  ["the longest credible wait", "3600", 600_000],
  ["more than an hour", "3601", 0],
  ["a day", "86400", 0],
  ["weeks", "1209600", 0],
  ["the time itself, in seconds since 1970", String(atS + 2), 0],
  ["the time itself, in milliseconds since 1970", String(nowMs + 2000), 0],
  ["the time itself, with a fraction", `${atS + 2}.25`, 0],
  ["more digits than a number has", "9".repeat(400), 0],
  ["negative", "-1", 0],
  ["a negative time", `-${atS}`, 0],
  ["a date in a minute", dateIn(60_000), 60_000],
  ["a date in half an hour", dateIn(hourMs / 2), 600_000],
  ["a date in an hour", dateIn(hourMs), 600_000],
  ["a date far ahead", dateIn(hourMs + 1000), 0],
  ["a date next century", "Wed, 21 Oct 2099 07:28:00 GMT", 0],
  ["a date in the past", dateIn(-1000), 0],
  ["now", dateIn(0), 0],
  ["an ISO date", new Date(nowMs + 60_000).toISOString(), 60_000],
  ["a year alone", "2099", 600_000],
  ["two numbers", "1, 2", 0],
  ["exponents", "1e3", 0],
  ["words", "soon", 0],
  ["words with a colon", "wait: soon", 0],
  ["empty", "", 0],
  ["missing", undefined, 0],
  ["repeated", ["1", "2"], 0],
];

void t.test("Retry-After is a credible wait, of ten minutes at most, or says nothing", (t) => {
  for (const [what, header, waitMs] of waits) t.equal(retryAfterMs(header, nowMs), waitMs, what);
  t.end();
});

void t.test("a client whose own wait harms nobody believes any wait, up to its limit", (t) => {
  const believing = { longestMs: hourMs, credibleMs: Infinity };
  for (const [header, waitMs] of [
    ["86400", hourMs],
    [String(atS), hourMs],
    ["9".repeat(400), hourMs],
    ["1800", hourMs / 2],
    ["soon", 0],
    ["-5", 0],
  ] as const)
    t.equal(retryAfterMs(header, nowMs, believing), waitMs, header);
  t.end();
});
