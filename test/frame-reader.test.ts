import t from "tap";
import { eventAge, type ChannelNumbers } from "../probe/checks.js";
import { compileFrameReader, type DataFrame } from "../probe/frame-reader.js";
import { loadRegistry, type Stream } from "../server/registry.js";
import { randomFrom } from "./random-samples.js";

const { venues } = await loadRegistry("registry.json");
const [anyStream] = venues[0]!.socket!.streams;

/** What a reader of these streams makes of a frame: of which of them it is data, and what it says. */
function readerOf(streams: Pick<Stream, "match" | "ignore" | "eventTime">[]) {
  const { name, label, subscribe, cadenceMs, stall } = anyStream!;
  const reader = compileFrameReader(
    streams.map((stream) => ({
      ...{ name, label, subscribe, cadenceMs, stall },
      ...{ typicalPerMinute: 60, rateBasis: "probed" as const },
      ...stream,
    })),
  );
  return (frame: unknown, channels: ChannelNumbers = new Map()) => {
    const told: (DataFrame & { stream: number })[] = [];
    const bytes = Buffer.from(
      typeof frame === "string" ? frame : JSON.stringify(frame),
    );
    const isData = reader.read(bytes, channels, (stream, said) =>
      told.push({ stream, ...said }),
    );
    t.equal(isData, told.length > 0);
    return told;
  };
}

void t.test("a frame is data when it matches and is not to be ignored", (t) => {
  const read = readerOf([
    {
      match: { path: "$.arg.channel", equals: "trades" },
      ignore: { path: "$.event" },
    },
  ]);
  t.equal(read({ arg: { channel: "trades" } }).length, 1);
  t.equal(read({ event: null, arg: { channel: "trades" } }).length, 1);
  for (const other of [
    { arg: { channel: "books" } },
    { event: "subscribe", arg: { channel: "trades" } },
    { arg: { channel: "trades" }, event: "subscribe" },
    null,
    "trades",
  ])
    t.same(read(other), []);
  t.end();
});

void t.test("what came before changes nothing in how a frame is read", (t) => {
  const time = { path: "$.data[0].ts", unit: "ms" as const };
  const streams = ["trades", "tickers", "books"].map((equals) => ({
    match: { path: "$.arg.channel", equals },
    ignore: { path: "$.event" },
    eventTime: time,
  }));
  const read = readerOf([...streams, { match: { path: "$.data" } }]);
  const readNew = (frame: string) =>
    readerOf([...streams, { match: { path: "$.data" } }])(frame);
  const random = randomFrom(7);
  const pick = (texts: string[]) => texts[Math.floor(random() * texts.length)]!;
  let data = 0;
  for (let i = 0; i < 400; i += 1) {
    const channel = pick(["trades", "trades", "tickers", "books", "trade"]);
    const ts = pick([`"${i}"`, `${i}`, `"1\\u0030"`, "null", "{}", `"${i}`]);
    const more = pick(["", "", `,{"ts":"7"}`, `,[]`]);
    const event = pick(["", "", "", `,"event":"x"`, `,"event":null`]);
    const end = pick(["}", "}", "}", "} ", "}}", "]"]);
    const frame = `{"arg":{"channel":"${channel}"},"data":[{"px":${i},"ts":${ts}}${more}]${event}${end}`;
    const told = read(frame);
    t.same(told, readNew(frame), frame);
    data += told.length;
  }
  t.ok(data > 200);
  t.end();
});

void t.test("a frame that was cut off is no data", (t) => {
  const read = readerOf([{ match: { path: "$.e", equals: "trade" } }]);
  const whole = `{"e":"trade","data":[1,2,{"x":"}"}]}`;
  t.equal(read(whole).length, 1);
  t.equal(read(`  ${whole}\n`).length, 1, "blanks are none of it");
  for (let length = 0; length < whole.length - 1; length += 1) {
    if (whole[length - 1] === "}") continue;
    t.same(read(whole.slice(0, length)), [], whole.slice(0, length));
  }
  t.end();
});

void t.test(
  "Bitfinex' frames are known by the number of their channel",
  (t) => {
    const read = readerOf([
      {
        match: { path: "$[0]", equals: "{chanId:ticker}" },
        ignore: { path: "$[1]", equals: "hb" },
      },
    ]);
    const channels = new Map([["ticker", 17]]);
    t.same(read([17, [1]]), [], "not before the number is known");
    t.equal(read([17, [1]], channels).length, 1);
    t.same(read([18, [1]], channels), []);
    t.same(read([17, "hb"], channels), []);
    t.end();
  },
);

void t.test("one frame may be data of two streams, or of another one", (t) => {
  const read = readerOf([
    { match: { path: "$.a" }, eventTime: { path: "$.t", unit: "ms" } },
    { match: { path: "$.b", equals: 7 } },
    { match: { path: "$" } },
  ]);
  const of = (frame: unknown) => read(frame).map(({ stream }) => stream);
  t.same(of({ a: 1, b: 7, t: 1 }), [0, 1, 2]);
  t.same(of({ t: 1, b: 7.0 }), [1, 2]);
  t.same(of({ b: "7" }), [2]);
  t.same(read({ t: 5, a: {} })[0]!.eventMs, 5, "whatever stands first");
  t.end();
});

const expected = 1_790_000_000_123;

void t.test("the venue's time is read in each of its units", (t) => {
  const timeOf = (unit: "ns" | "us" | "ms" | "s" | "iso", value: unknown) =>
    readerOf([{ match: { path: "$" }, eventTime: { path: "$.t", unit } }])({
      t: value,
    })[0]!.eventMs;
  t.equal(Math.round(timeOf("ns", "1790000000123000000")!), expected);
  t.equal(Math.round(timeOf("us", 1_790_000_000_123_000)!), expected);
  t.equal(timeOf("ms", expected), expected);
  t.equal(timeOf("ms", `${expected}.4`), expected + 0.4);
  t.equal(timeOf("ms", 1.790000000123e12), expected);
  t.equal(timeOf("s", 1_790_000_000), 1_790_000_000_000);
  t.equal(timeOf("iso", new Date(expected).toISOString()), expected);
  t.equal(timeOf("iso", "2026-09-21T14:13:20.123456789Z"), expected);
  for (const nonsense of [null, {}, "soon", undefined])
    t.equal(timeOf("ms", nonsense), null);
  t.end();
});

void t.test("an event a day off has a wrong stamp, and no age", (t) => {
  const read = readerOf([
    { match: { path: "$" }, eventTime: { path: "$.ts", unit: "ms" } },
  ]);
  const nowMs = 1_790_000_000_000;
  const ageOf = (ts: unknown) => eventAge(read({ ts })[0]!.eventMs, nowMs);
  t.equal(ageOf(nowMs - 1234.4), 1234);
  t.equal(ageOf(nowMs + 10), -10);
  t.equal(ageOf(nowMs - 86_400_000), 86_400_000);
  for (const wrong of ["0", "1", 0, "1e300", -1e300, "1e400", 1e15, "", null])
    t.equal(ageOf(wrong), null, String(wrong));
  t.end();
});
