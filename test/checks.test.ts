import t from "tap";
import {
  compileAnswerCheck,
  compileEventTime,
  compileFrameCheck,
  eventAge,
} from "../probe/checks.js";
import { retryAfterMs } from "../server/retry-after.js";

const none = new Map<string, unknown>();

void t.test("the head of a chain is read, or null, but never wrong", (t) => {
  const headOf = (encoding: "hex" | "integer", value: unknown) =>
    compileAnswerCheck({ proof: "$", head: { path: "$.h", encoding } })(
      Buffer.from(JSON.stringify({ h: value })),
      undefined,
    ).head;
  t.equal(headOf("hex", "0xff"), 255);
  t.equal(headOf("hex", "ff"), null);
  t.equal(headOf("hex", "0xffffffffffffffff"), null, "beyond safe integers");
  t.equal(headOf("integer", 7), 7);
  t.equal(headOf("integer", "7"), 7);
  t.equal(headOf("integer", 7.5), null);
  t.equal(headOf("integer", -7), null);
  t.equal(headOf("integer", ""), null);
  t.end();
});

void t.test("a frame is data when it matches and is not to be ignored", (t) => {
  const isData = compileFrameCheck({
    match: { path: "$.arg.channel", equals: "trades" },
    ignore: { path: "$.event" },
  });
  t.ok(isData({ arg: { channel: "trades" } }, none));
  t.notOk(isData({ arg: { channel: "books" } }, none));
  t.notOk(isData({ event: "subscribe", arg: { channel: "trades" } }, none));
  t.notOk(isData(null, none));
  t.end();
});

void t.test(
  "Bitfinex' frames are known by the number of their channel",
  (t) => {
    const isData = compileFrameCheck({
      match: { path: "$[0]", equals: "{chanId:ticker}" },
      ignore: { path: "$[1]", equals: "hb" },
    });
    const channels = new Map([["ticker", 17]]);
    t.notOk(isData([17, [1]], none), "not before the number is known");
    t.ok(isData([17, [1]], channels));
    t.notOk(isData([18, [1]], channels));
    t.notOk(isData([17, "hb"], channels));
    t.end();
  },
);

void t.test("the venue's time is read in each of its units", (t) => {
  const read = (unit: "ns" | "us" | "ms" | "s" | "iso", value: unknown) =>
    compileEventTime({ eventTime: { path: "$.t", unit } })({ t: value });
  const expected = 1_790_000_000_123;
  t.equal(Math.round(read("ns", "1790000000123000000")!), expected);
  t.equal(Math.round(read("us", 1_790_000_000_123_000)!), expected);
  t.equal(read("ms", expected), expected);
  t.equal(read("ms", `${expected}.4`), expected + 0.4);
  t.equal(read("s", 1_790_000_000), 1_790_000_000_000);
  t.equal(read("iso", new Date(expected).toISOString()), expected);
  for (const nonsense of [null, {}, "soon", undefined])
    t.equal(read("ms", nonsense), null);
  t.equal(compileEventTime({})({ t: 1 }), null);
  t.end();
});

void t.test("an event a day off has a wrong stamp, and no age", (t) => {
  const nowMs = 1_790_000_000_000;
  const ageOf = (ts: unknown) =>
    eventAge(
      compileEventTime({ eventTime: { path: "$.ts", unit: "ms" } })({ ts }),
      nowMs,
    );
  t.equal(ageOf(nowMs - 1234.4), 1234);
  t.equal(ageOf(nowMs + 10), -10);
  t.equal(ageOf(nowMs - 86_400_000), 86_400_000);
  for (const wrong of ["0", "1", 0, "1e300", -1e300, "1e400", 1e15, "", null])
    t.equal(ageOf(wrong), null, String(wrong));
  t.end();
});

void t.test(
  "Retry-After is seconds or a date, and at most ten minutes",
  (t) => {
    const nowMs = Date.parse("2026-09-01T00:00:00Z");
    t.equal(retryAfterMs("30", nowMs), 30_000);
    t.equal(retryAfterMs("Tue, 01 Sep 2026 00:01:00 GMT", nowMs), 60_000);
    t.equal(retryAfterMs("Mon, 31 Aug 2026 00:00:00 GMT", nowMs), 0);
    t.equal(retryAfterMs("86400", nowMs), 600_000);
    for (const nothing of [undefined, "", "soon", ["1", "2"]])
      t.equal(retryAfterMs(nothing, nowMs), 0);
    t.end();
  },
);
