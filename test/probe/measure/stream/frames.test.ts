/** Finds the stream to which a frame belongs, whatever a venue sends. */
import t from "tap";
import { type ChannelNumbers, compileNewest, compileTime } from "../../../../probe/measure/rest/checks.js";
import { makeFrameTimes } from "../../../../probe/measure/stream/meter.js";
import { compileFrameMatch, parsedFrame, withChannel } from "../../../../probe/measure/stream/session.js";
import type { Stream } from "../../../../shared/registry/registry.js";
import { randomFrom } from "../../../support/random-samples.js";

/** The streams to which a frame's data belong. */
function matcherOf(streams: Pick<Stream, "match" | "ignore">[]) {
  const tests = streams.map(compileFrameMatch);
  return (frame: unknown, channels: ChannelNumbers = new Map()): number[] => {
    const bytes = Buffer.isBuffer(frame)
      ? frame
      : Buffer.from(typeof frame === "string" ? frame : JSON.stringify(frame));
    const value = parsedFrame(bytes);
    if (value === undefined) return [];
    return [...tests.keys()].filter((place) => tests[place]!(value, channels));
  };
}

void t.test("a frame is data when it matches and is not ignored", (t) => {
  const read = matcherOf([{ match: { path: "$.arg.channel", equals: "trades" }, ignore: { path: "$.event" } }]);
  const arg = { channel: "trades" };
  t.same(read({ arg }), [0]);
  t.same(read({ event: null, arg }), [0]);
  for (const other of [{ arg: { channel: "books" } }, { event: "subscribe", arg }, { arg, event: "subscribe" }, null])
    t.same(read(other), []);
  t.end();
});

void t.test("a frame is data when all conditions of a list match", (t) => {
  const read = matcherOf(
    ["trades", "books"].map((equals) => ({ match: [{ path: "$.arg.channel", equals }, { path: "$.data" }] })),
  );
  const arg = { channel: "books" };
  t.same(read({ arg, data: [] }), [1]);
  t.same(read({ data: 0, arg }), [1], "keys match in any order");
  for (const other of [{ arg }, { data: [] }, { arg, data: null }, { arg: { channel: "x" }, data: [] }])
    t.same(read(other), []);
  t.end();
});

void t.test("a truncated frame is no data", (t) => {
  const read = matcherOf([{ match: { path: "$.e", equals: "trade" } }]);
  const whole = `{"e":"trade","data":[1,2,{"x":"}"}]}`;
  t.equal(read(whole).length, 1);
  t.equal(read(`  ${whole}\n`).length, 1, "white space around a frame does not matter");
  for (let length = 0; length < whole.length; length += 1)
    t.same(read(whole.slice(0, length)), [], whole.slice(0, length));
  t.end();
});

void t.test("a frame that is invalid JSON anywhere is no data", (t) => {
  const read = matcherOf([{ match: [{ path: "$.arg.channel", equals: "books" }, { path: "$.data" }] }]);
  const begin = `{"arg":{"channel":"books"},"data":[1],"more":`;
  t.same(read(`${begin}1}`), [0]);
  for (const end of [
    ...["}", "what?}", "[}", "]}", "[1,]}", "{'a':1}}", "01}", "1.}", "NaN}"],
    ...["1}}", "1} {}", "1},", `"a\nb"}`.replace("\\n", "\n"), `"\\x"}`, "1]", "1"],
  ])
    t.same(read(`${begin}${end}`), [], end);
  t.same(read(`\ufeff${begin}1}`), [], "a byte order mark is invalid JSON");
  t.end();
});

void t.test("the last of duplicate keys counts", (t) => {
  const read = matcherOf([
    { match: { path: "$.e", equals: "trade" }, ignore: { path: "$.event" } },
    { match: { path: "$.e.x", equals: 1 } },
  ]);
  t.same(read(`{"e":"book","e":"trade"}`), [0]);
  t.same(read(`{"e":"trade","e":"book"}`), []);
  t.same(read(`{"e":"book","\\u0065":"trade"}`), [0], "an escaped key is the same key");
  t.same(read(`{"e":"trade","event":null,"event":"subscribe"}`), []);
  t.same(read(`{"e":"trade","event":"subscribe","event":null}`), [0]);
  t.same(read(`{"e":{"x":1},"e":{"y":1}}`), [], "the last value replaces the first entirely");
  t.end();
});

void t.test("invalid UTF-8 does no harm", (t) => {
  const read = matcherOf([{ match: { path: "$.e", equals: "trade" } }]);
  const frame = (...bytes: number[]) =>
    Buffer.concat([Buffer.from(`{"e":"trade","x":"`), Buffer.from(bytes), Buffer.from(`"}`)]);
  for (const bytes of [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0x80]])
    t.same(read(frame(...bytes)), [0], "invalid bytes within a string do not matter");
  t.same(read(frame(0)), [], "a control character in a string is invalid JSON");
  t.same(read(Buffer.from([0xff, 0xfe, 0x7b, 0x7d])), []);
  t.end();
});

void t.test("corrupt, truncated and scrambled frames throw no error", (t) => {
  const random = randomFrom(1);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!;
  const scraps = [...'{}[]",:\\0-e.tn u', "\u0000", "é", "\\u12", "\ufeff"];
  const read = matcherOf([
    { match: { path: "$.data[0].x" }, ignore: { path: "$['e v']" } },
    { match: { path: "$[0]", equals: "{chanId:a}" } },
    { match: { path: "$.constructor" } },
    { match: { path: "$.__proto__.x" } },
    { match: { path: "$.length" } },
  ]);
  const channels = new Map([["a", 17]]);
  for (let i = 0; i < 4000; i += 1) {
    let text = pick([
      `{"data":[{"x":1e400},[]],"e v":null,"__proto__":{"y":"\\ud83d\\ude00"}}`,
      `[17,"hb",[1,-2.5E-7,true,false,null]]`,
    ]);
    for (let cuts = 0; cuts < 1 + random() * 3; cuts += 1) {
      const at = Math.floor(random() * (text.length + 1));
      const width = Math.floor(random() * 4);
      text = text.slice(0, at) + pick(scraps) + text.slice(at + width);
      if (random() < 0.2) text = text.slice(0, at);
    }
    const bytes = Buffer.from(text);
    if (random() < 0.2 && bytes.length > 0) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    for (const place of read(bytes, channels)) t.ok(place < 2, `an inherited property matched: ${text}`);
  }
  t.end();
});

const shapes: Record<string, (size: number) => string> = {
  "deep arrays": (size) => "[".repeat(size / 2) + "]".repeat(size / 2),
  "deep objects": (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
  "many keys": (size) => `{${keys(size / 12)},"y":1}`,
  "the same key": (size) => `{${`"\\u0061b":1,`.repeat(size / 12)}"y":1}`,
  "numbers for keys": (size) => `{${keys(size / 12, 7919)},"y":1}`,
  "one text": (size) => `["${'\\"'.repeat(size / 2 - 2)}"]`,
  "many texts": (size) => `[${`"",`.repeat(size / 3)}1]`,
  "arrays never closed": (size) => "[".repeat(size),
  "texts never closed": (size) => `{"x":[${'"'.repeat(size - 8)}}`,
  "a long number": (size) => `[${"1".repeat(size - 2)}]`,
  "many numbers": (size) => `[${"1.5,".repeat(size / 4)}1]`,
  "empty objects": (size) => `[${"{},".repeat(size / 3)}1]`,
  blanks: (size) => `[${" ".repeat(size - 2)}]`,
};

void t.test("reading time grows in proportion to a frame's length", (t) => {
  const read = matcherOf([{ match: { path: "$.e", equals: "trade" } }, { match: { path: "$[0][0][0]", equals: 7 } }]);
  for (const [what, make] of Object.entries(shapes)) {
    // Both do the same amount of work: a run that takes no time cannot be compared.
    const leastMs = (size: number, times: number) => {
      const bytes = Buffer.from(make(size));
      const run = () => {
        for (let i = 0; i < times; i += 1) read(bytes);
      };
      return Math.min(cpuMs(run), cpuMs(run), cpuMs(run));
    };
    const ratio = leastMs(100_000, 10) / leastMs(1000, 1000);
    // Quadratic time would take a hundred times as long.
    t.ok(ratio < 20, `${what}: ${ratio.toFixed(1)} times as long`);
  }
  t.end();
});

void t.test("a frame with too many parts is not read", (t) => {
  const read = matcherOf([{ match: { path: "$.e", equals: "trade" } }]);
  const frame = (parts: number) => `{"e":"trade","x":[${"[],".repeat((parts - 6) / 2)}{}]}`;
  t.same(read(frame(100_000)), [0]);
  t.same(read(frame(100_002)), []);
  t.same(read(`{"e":"trade","x":${JSON.stringify("[,:".repeat(100_000))}}`), [0], "what is in strings does not count");
  const levels = JSON.stringify(Array(5000).fill(["118.25", "0.0143", "1"]));
  t.same(read(`{"e":"trade","bids":${levels},"asks":${levels}}`), [0]);
  const text = JSON.stringify("x".repeat(4_000_000));
  t.same(read(`{"e":"trade","x":${text}}`), [0], "the longest allowed");
  t.end();
});

void t.test("the longest frames do not block the probe noticeably", (t) => {
  for (const [what, make] of Object.entries(shapes)) {
    const bytes = Buffer.from(make(4 * 1024 * 1024));
    const tookMs = cpuMs(() => parsedFrame(bytes));
    // tolerableMs.answer: a process that stands still for longer measures nothing.
    t.ok(tookMs < 250, `${what}: ${tookMs.toFixed(0)} ms of processor`);
  }
  t.end();
});

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Members of an object with distinct keys. */
function keys(count: number, step?: number): string {
  return Array.from({ length: count }, (_, i) => JSON.stringify(step ? String(i * step) : `k${i.toString(36)}`))
    .map((key) => `${key}:1`)
    .join(",");
}

void t.test("Bitfinex' frames are recognised by their channel number", (t) => {
  const read = matcherOf([
    { match: { path: "$[0]", equals: "{chanId:ticker}" }, ignore: { path: "$[1]", equals: "hb" } },
  ]);
  const channels = new Map([["ticker", 17]]);
  t.same(read([17, [1]]), [], "no match before the channel number is known");
  t.equal(read([17, [1]], channels).length, 1);
  t.same(read([18, [1]], channels), []);
  t.same(read([17, "hb"], channels), []);
  const nameless = withChannel({ event: "subscribed", channel: "ticker" }, new Map(), 1);
  for (const frame of [[], {}, [null], 17])
    t.same(read(frame, nameless), [], "a channel without a number matches no frame");
  t.end();
});

void t.test("one frame may be data of several streams", (t) => {
  const read = matcherOf([{ match: { path: "$.a" } }, { match: { path: "$.b", equals: 7 } }, { match: { path: "$" } }]);
  t.same(read({ a: 1, b: 7, t: 1 }), [0, 1, 2]);
  t.same(read({ t: 1, b: 7.0 }), [1, 2]);
  t.same(read({ b: "7" }), [2]);
  t.end();
});

// Event times of a stream's frames, and the age that follows from them.

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
