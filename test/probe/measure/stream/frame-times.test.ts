/** Event times of a stream's frames, and the age that follows from them. */
import t from "tap";
import { compileNewest, compileTime } from "../../../../probe/measure/rest/checks.js";
import { makeFrameTimes } from "../../../../probe/measure/stream/meter.js";

const expected = 1_790_000_000_123;
const epochMs = 1_790_000_000_000;

void t.test("the venue's time is read in every unit", (t) => {
  const timeOf = (unit: "ns" | "us" | "ms" | "s" | "iso", value: unknown) =>
    compileTime({ path: "$.t", unit })({ t: value }, expected);
  t.ok(Math.abs(timeOf("ns", "1790000000123456789")! - expected - 0.457) < 0.01);
  t.equal(Math.round(timeOf("us", 1_790_000_000_123_000)!), expected);
  t.equal(timeOf("ms", expected), expected);
  t.equal(timeOf("ms", `${expected}.4`), expected + 0.4);
  t.equal(timeOf("ms", 1.790000000123e12), expected);
  for (const s of [1_790_000_000, "1790000000"]) t.equal(timeOf("s", s), 1_790_000_000_000);
  t.equal(timeOf("iso", new Date(expected).toISOString()), expected);
  t.equal(timeOf("iso", "2026-09-21T14:13:20.123456789Z"), expected);
  for (const unread of [null, undefined, "soon", "", {}, [], true])
    for (const unit of ["ms", "iso"] as const) t.equal(timeOf(unit, unread), null, JSON.stringify(unread));
  t.equal(timeOf("iso", 1_790_000_000), null, "a number is not an ISO 8601 time");
  t.end();
});

void t.test("an impossible time is ignored, and an old one is not", (t) => {
  const timeOf = compileTime({ path: "$.ts", unit: "ms" });
  const nowMs = 1_790_000_000_000;
  const hourMs = 3_600_000;
  for (const right of [nowMs - 1234.4, nowMs + 10, nowMs - 30 * hourMs, nowMs - 9 * 365 * 24 * hourMs])
    t.equal(timeOf({ ts: right }, nowMs), right);
  const inOtherUnits = [nowMs / 1000, nowMs * 1000, nowMs * 1e6];
  for (const wrong of [
    "0",
    "1",
    0,
    "1e300",
    -1e300,
    "1e400",
    "",
    null,
    nowMs + 10_001,
    nowMs + hourMs,
    ...inOtherUnits,
  ])
    t.equal(timeOf({ ts: wrong }, nowMs), null, String(wrong));
  t.end();
});

void t.test("one impossible time among the entries of an answer hides no other", (t) => {
  const nowMs = 1_790_000_000_000;
  const trade = (ts: number) => ({ ts });
  const newestOf = compileNewest({ list: "$", path: "$.ts", unit: "ms" });
  t.strictSame(newestOf([trade(nowMs - 9), trade(nowMs * 1000), trade(0)], nowMs), { atMs: nowMs - 9 });
  t.strictSame(newestOf([trade(nowMs + 86_400_000)], nowMs), null);
  t.end();
});

void t.test("a stream's age is that of its last frame with a time", (t) => {
  const events = makeFrameTimes({ path: "$.sent", unit: "ms" });
  const came = (atMs: number, { sent, ...frame }: { sent?: unknown }) =>
    events.came({ ...frame, sent: typeof sent === "number" ? epochMs + sent : sent }, { atMs, unixMs: epochMs + atMs });
  const taken = () => events.take().ageMs;
  t.equal(taken(), null, "nothing came");
  for (let atMs = 0; atMs < 1000; atMs += 10) came(atMs, { sent: atMs - atMs / 10 });
  t.match(events.take(), { ageMs: 99, behindMs: 99, newestMs: epochMs + 891 }, "the age of the last frame");
  t.equal(taken(), null, "each slot has its own age");
  came(2000, { sent: 1990 });
  came(2300, {});
  came(2310, { sent: 2290 });
  came(2320, { sent: "soon" });
  t.equal(taken(), 20, "a frame without a time changes nothing");
  events.subscribed(3000);
  came(4000, { sent: 1000 });
  t.match(events.take(), { ageMs: 3000, behindMs: null, newestMs: epochMs + 1000 });
  came(13_000, { sent: 1000 });
  t.match(events.take(), { ageMs: 12_000, behindMs: 12_000 }, "data right after the subscription may be old");
  came(20_000, { sent: 19_990 });
  came(20_400, { sent: 5000 });
  t.match(events.take(), { ageMs: 15_400, behindMs: 410 }, "a repeated event does not age the newest one");
  t.end();
});
