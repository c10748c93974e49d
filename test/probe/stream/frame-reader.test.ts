import t from "tap";
import { eventAge, type ChannelNumbers } from "../../../probe/rest/checks.js";
import { compileEventTime } from "../../../probe/stream/event-time.js";
import { compileFrameReader } from "../../../probe/stream/frame-reader.js";
import type { FrameNumbers } from "../../../probe/stream/sequence.js";
import { type Stream } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { randomFrom } from "../../support/random-samples.js";

const { venues } = await loadRegistry("registry.json");
const [anyStream] = venues[0]!.socket!.streams;

/** What a reader of these streams makes of a frame: of which of them it is data, and what it says. */
function readerOf(streams: Pick<Stream, "match" | "ignore" | "sequence">[]) {
  const { name, label, subscribe, cadenceMs, stall } = anyStream!;
  const reader = compileFrameReader(
    streams.map((stream) => ({
      ...{ name, label, subscribe, cadenceMs, stall },
      ...{ typicalPerMinute: 60, rateBasis: "probed" as const },
      ...stream,
    })),
  );
  return (frame: unknown, channels: ChannelNumbers = new Map()) => {
    const told: (FrameNumbers & { stream: number })[] = [];
    const bytes = Buffer.from(
      typeof frame === "string" ? frame : JSON.stringify(frame),
    );
    const isData = reader.read(bytes, channels, (stream, _frame, said) =>
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

void t.test("a frame is data when all of a list matches", (t) => {
  const read = readerOf(
    ["trades", "books"].map((equals) => ({
      match: [{ path: "$.arg.channel", equals }, { path: "$.data" }],
    })),
  );
  const of = (frame: unknown) => read(frame).map(({ stream }) => stream);
  const arg = { channel: "books" };
  t.same(of({ arg, data: [] }), [1]);
  t.same(of({ data: 0, arg }), [1], "in any order");
  t.same(of('{"arg":{"channel":"books"},"data":[what is behind it}'), [1]);
  for (const other of [{ arg }, { arg, event: "subscribe" }, { data: [] }])
    t.same(of(other), []);
  t.same(of({ arg, data: null }), []);
  t.same(of({ arg: { channel: "x" }, data: [] }), []);
  t.end();
});

void t.test("what came before changes nothing in how a frame is read", (t) => {
  const match = (equals: string) => ({ path: "$.arg.channel", equals });
  const channels = ["trades", "tickers", "books"];
  const random = randomFrom(7);
  const pick = (texts: string[]) => texts[Math.floor(random() * texts.length)]!;
  for (const streams of [
    channels.map((channel) => ({
      match: match(channel),
      ignore: { path: "$.event" },
    })),
    channels.map((channel) => ({
      match: [match(channel), { path: "$.data" }],
    })),
    channels.map((channel) => ({ match: match(channel) })),
    [{ match: { path: "$.data[0].px", equals: 7 } }, { match: match("books") }],
  ]) {
    const read = readerOf(streams);
    let data = 0;
    for (let i = 0; i < 800; i += 1) {
      const channel = pick(["trades", "trades", "tickers", "books", "trade"]);
      const begin = pick(["{", "{", "{", " {", "["]);
      const between = pick([",", ",", `,"x":${i},`, "]", ""]);
      const px = pick(["7", "7", "70", "7.0", `"7"`, "null"]);
      const event = pick(["", "", "", `,"event":"x"`, `,"event":null`]);
      const end = pick(["}", "}", "}", "} ", "}}", "]", ""]);
      const frame = `${begin}"arg":{"channel":"${channel}"}${between}"data":[{"px":${px},"i":${i}}]${event}${end}`;
      const told = read(frame);
      t.same(told, readerOf(streams)(frame), frame);
      data += told.length;
    }
    t.ok(data > 100, `${data} frames of data`);
  }
  t.end();
});

void t.test("nor do times and numbers that were others before", (t) => {
  const random = randomFrom(8);
  const pick = <T>(list: readonly T[]): T =>
    list[Math.floor(random() * list.length)]!;
  const digits = () => String(1_790_000_000 + Math.floor(random() * 1e8));
  const strange = [
    "0790000012",
    "17900:0000",
    "1790 00000",
    `"179000000`,
    "1.9",
  ];
  const oddities = [
    "",
    "0",
    "null",
    "-1790000000",
    `"1790000000"`,
    "17900}",
    "9",
  ];
  const number = () =>
    random() < 0.8 ? digits() : pick([...strange, ...oddities]);
  const text = () => `"${number().replaceAll('"', pick(["\\", "", '\\"']))}"`;
  let channels = new Map(["book", "trades"].map((name, i) => [name, 17 + i]));
  const kinds: [Parameters<typeof readerOf>[0], () => string][] = [
    [
      ["trades", "book"].map((name) => ({
        match: { path: "$.channel", equals: name },
        ignore: { path: "$.event", equals: "subscribe" },
      })),
      () =>
        `{"time":${number()},"at":[{"ms":${number()}}],"channel":"${pick(["book", "trades", "x"])}","event":"${pick(["update", "update", "subscribe"])}","result":[${number()}]}`,
    ],
    [
      [
        {
          match: { path: "$.channel", equals: "book.100ms" },
          sequence: { kind: "link", path: "$.id", previous: "$.before" },
        },
        { match: { path: "$.channel", equals: "ticker.100ms" } },
      ],
      () =>
        `{"channel":"${pick(["book.100ms", "book.100ms", "ticker.100ms", "book.200ms"])}","at":${number()},"id":${number()},"before":${pick([number, text])()},"bids":[${number()}]}`,
    ],
    [
      [
        { match: { path: "$.A" } },
        { match: { path: "$.e", equals: 1790000001 } },
      ],
      () =>
        `{"E":${number()},"${pick("ABe".split(""))}":${pick([number, text])()},"B":${text()},"e":${pick(["1790000001", number()])}}`,
    ],
    [
      ["book", "trades"].map((name) => ({
        match: { path: "$[0]", equals: `{chanId:${name}}` },
        ignore: { path: "$[1]", equals: "hb" },
      })),
      () =>
        `[${pick(["17", "17", "18", "19", number()])},${pick([`"te",`, `"tu",`, `"hb",`, ""])}[${number()}]]`,
    ],
  ];
  for (const [streams, make] of kinds) {
    const read = readerOf(streams);
    let data = 0;
    for (let i = 0; i < 600; i += 1) {
      // As on a new subscription.
      if (i % 200 === 199)
        channels = new Map(channels).set("book", 17 + 2 * (i % 3));
      const frame = make();
      const told = read(frame, channels);
      t.same(told, readerOf(streams)(frame, channels), frame);
      data += told.length;
    }
    t.ok(data > 120, `${data} frames of data`);
  }
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
    { match: { path: "$.a" } },
    { match: { path: "$.b", equals: 7 } },
    { match: { path: "$" } },
  ]);
  const of = (frame: unknown) => read(frame).map(({ stream }) => stream);
  t.same(of({ a: 1, b: 7, t: 1 }), [0, 1, 2]);
  t.same(of({ t: 1, b: 7.0 }), [1, 2]);
  t.same(of({ b: "7" }), [2]);
  t.end();
});

const expected = 1_790_000_000_123;

void t.test("the venue's time is read in each of its units", (t) => {
  const timeOf = (unit: "ns" | "us" | "ms" | "s" | "iso", value: unknown) =>
    compileEventTime({ path: "$.t", unit })(
      Buffer.from(JSON.stringify({ t: value })),
    );
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
  const timeOf = compileEventTime({ path: "$.ts", unit: "ms" });
  const nowMs = 1_790_000_000_000;
  const ageOf = (ts: unknown) =>
    eventAge(timeOf(Buffer.from(JSON.stringify({ ts }))), nowMs);
  t.equal(ageOf(nowMs - 1234.4), 1234);
  t.equal(ageOf(nowMs + 10), -10);
  t.equal(ageOf(nowMs - 86_400_000), 86_400_000);
  for (const wrong of ["0", "1", 0, "1e300", -1e300, "1e400", 1e15, "", null])
    t.equal(ageOf(wrong), null, String(wrong));
  t.end();
});
