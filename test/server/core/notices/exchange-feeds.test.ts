/** How the feeds of exchanges' own kinds are parsed, with all that may be wrong in them. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import { isInstant, isMilliseconds } from "../../../../server/core/notices/expected-shape.js";
import { listenToDocument } from "../../../../server/core/notices/feed-documents.js";
import type { NoticeList } from "../../../../server/core/notices/feed.js";
import { feedKinds } from "../../../../server/core/notices/formats/feed-kinds.js";
import { type FeedReaderOptions, joinedLists, newestNotices } from "../../../../server/core/notices/reader.js";
import { jsonLimits } from "../../../../shared/http/limits.js";
import { parsedJson } from "../../../../shared/http/parsed-json.js";
import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import {
  bybit,
  bybitBody,
  bybitEntry,
  incident,
  incidentsBody,
  kraken,
  okx,
  okxBody,
  okxEntry,
} from "../../../support/feed-entries.js";
import { never, readerFor, sourceAt } from "../../../support/feed-server.js";
import { areUnreadable, at, only, parse, sourceOf } from "../../../support/parsed-feed.js";

const kucoin = sourceOf("kucoin-service-status");

void t.test("Binance's feed reports maintenance only", (t) => {
  const binance = sourceOf("binance-system-status");
  const normal = parse(binance, { status: 0, msg: "normal" });
  const now: NoticeList = { scope: "now", notices: [], listedFrom: null };
  t.same(normal, { problem: null, list: now, more: false, feedAt: null });
  const under = parse(binance, { status: 1, msg: "system_maintenance" });
  t.same(only(under), {
    ...{ id: null, kind: "maintenance", title: "system_maintenance", url: null, status: "1", impact: null },
    ...{ startedAt: null, postedAt: null, resolvedAt: null, plannedEndAt: null, over: false, subjects: [] },
    raw: '{"status":1,"msg":"system_maintenance"}',
  });
  areUnreadable(t, binance, [
    [{ status: 2, msg: "x" }, "status: expected 0 or 1, got 2"],
    [{ status: "0", msg: "x" }, 'status: expected 0 or 1, got "0"'],
    [{ msg: "normal" }, "status: expected 0 or 1, got nothing"],
    [{ status: 0 }, "msg: expected a text that is not empty, got nothing"],
    [
      { code: -1003, msg: "Way too many requests; IP banned." },
      'answered an error: code -1003, "Way too many requests; IP banned."',
    ],
    [null, "the answer: expected an object with status and msg, got null"],
  ]);
  t.end();
});

void t.test("KuCoin's feed reports the current status only", (t) => {
  const body = (status: string, msg: string | null) => ({ code: "200000", data: { status, msg } });
  t.same(parse(kucoin, body("open", "")).list, { scope: "now", notices: [], listedFrom: null });
  t.match(only(parse(kucoin, body("close", "upgrade match engine"))), {
    ...{ id: null, kind: "maintenance", title: "upgrade match engine", status: "close", over: false, postedAt: null },
  });
  for (const msg of ["", null])
    t.match(only(parse(kucoin, body("cancelonly", msg))), { kind: "incident", title: "cancelonly" });
  areUnreadable(t, kucoin, [
    [{ code: "429000", msg: "Too Many Requests" }, 'answered an error: code "429000", "Too Many Requests"'],
    [{ code: "200000" }, "data: expected an object with status and msg, got nothing"],
    [body("ajar", ""), 'data.status: expected open, close or cancelonly, got "ajar"'],
    [{ data: { status: "open", msg: "" } }, "code: expected a number, got nothing"],
  ]);
  t.end();
});

void t.test("OKX's feed is requested for coming, current and ended notices", (t) => {
  const kind = feedKinds["okx-system-status"];
  const urls = kind.documents(okx).map(({ url }) => url);
  t.same(urls, [okx.api, `${okx.api}?state=completed`, `${okx.api}?state=canceled`]);
  t.equal(kind.pauseMs, 5000, "one request in five seconds is documented");
  t.end();
});

void t.test("a notice of OKX is read in full", (t) => {
  const one = parse(okx, okxBody(okxEntry));
  t.match(one, { problem: null, list: { scope: "notices", listedFrom: null } });
  const { raw, ...notice } = only(one);
  t.same(notice, {
    ...{ id: "1672823400000/8/unified/1/d7352e31", kind: "maintenance", title: okxEntry.title, url: null },
    ...{ status: "completed", impact: null, over: true, subjects: ["Trading service in batches of accounts"] },
    ...{ startedAt: new Date(1672823400000), postedAt: null, resolvedAt: new Date(1672823520000), plannedEndAt: null },
  });
  t.same(JSON.parse(raw), okxEntry);
  const url = "https://www.okx.com/x";
  const disruption = { ...okxEntry, maintType: "3", state: "ongoing", href: url };
  t.match(only(parse(okx, okxBody(disruption))), { kind: "incident", over: false, resolvedAt: null, url });
  t.match(only(parse(okx, okxBody({ ...okxEntry, state: "canceled" }))), { over: true, resolvedAt: null });
  const scheduled = { ...okxEntry, state: "scheduled" };
  t.match(only(parse(okx, okxBody(scheduled))), { resolvedAt: null, plannedEndAt: new Date(1672823520000) });
  t.equal(only(parse(okx, okxBody({ ...scheduled, end: "" }))).plannedEndAt, null);
  t.same(parse(okx, okxBody({ ...okxEntry, env: "2" })).list!.notices, [], "demo trading is not watched");
  t.end();
});

void t.test("similar notices of OKX are distinguished, across documents", (t) => {
  const alike = ["b", "a", "c"].map((title) => ({ ...okxEntry, title }));
  const ids = (entries: object[], document = 0) =>
    parse(okx, okxBody(...entries), document).list!.notices.map(({ id }) => id);
  const together = ids(alike);
  t.equal(new Set(together).size, 3);
  const apart = alike.flatMap((entry, document) => ids([entry], document));
  t.same(apart, together, "each notice's id does not depend on the others");
  const twice = parse(okx, okxBody(alike[0], { ...alike[0], end: "" }));
  t.equal(joinedLists([twice.list!]).notices.length, 1, "the same notice in two documents is one");
  t.end();
});

void t.test("unreadable answers of OKX are reported", (t) => {
  areUnreadable(t, okx, [
    [{ code: "50011", msg: "Too Many Requests", data: [] }, 'answered an error: code "50011", "Too Many Requests"'],
    [{ code: "0", msg: "" }, "data: expected a list of notices, got nothing"],
    [{ data: [] }, "code: expected a number, got nothing"],
    [[], "the answer: expected an object with code and data, got a list of 0"],
  ]);
  const instant = "milliseconds since 1970 as text";
  for (const [field, value, expected] of [
    ["begin", "", `${instant}, got ""`],
    ["begin", 1672823400000, `${instant}, got 1672823400000`],
    ["end", "soon", `${instant}, or an empty text, got "soon"`],
    ["begin", "999999999999999", `${instant}, got "999999999999999"`],
    ["end", "8640000000000001", `${instant}, or an empty text, got "8640000000000001"`],
    ["env", undefined, "a number, got nothing"],
    ["maintType", null, "a number, got null"],
    ["title", "", 'a text that is not empty, got ""'],
  ] as const) {
    const one = parse(okx, okxBody({ ...okxEntry, [field]: value }, okxEntry));
    t.equal(one.problem, `data[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
  }
  t.end();
});

void t.test("fields that may be null may be missing", (t) => {
  const bare = (entry: object, ...fields: string[]) =>
    Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
  const optional = ["impact", "shortlink", "started_at", "resolved_at", "components"];
  const old = parse(kraken, incidentsBody(bare(incident, ...optional)));
  t.equal(old.problem, null);
  t.match(only(old), {
    ...{ impact: null, startedAt: incident.created_at, resolvedAt: null, subjects: [] },
    url: `https://status.kraken.com/incidents/${incident.id}`,
  });
  const unlinked = parse(okx, okxBody(bare(okxEntry, "href", "system")));
  t.equal(unlinked.problem, null);
  t.equal(only(unlinked).url, null);
  t.equal(only(parse(kucoin, { code: "200000", data: { status: "close" } })).title, "close");
  t.end();
});

void t.test("a notice of Bybit is read in full", (t) => {
  const one = parse(bybit, bybitBody(bybitEntry));
  t.match(one, { problem: null, feedAt: at.toISOString(), list: { scope: "notices", listedFrom: null } });
  t.match(only(one), {
    ...{ id: bybitEntry.id, kind: "maintenance", title: bybitEntry.title, url: null, status: "completed", over: true },
    startedAt: new Date(1751596902000).toISOString(),
    resolvedAt: new Date(1751597011000).toISOString(),
    postedAt: null,
    subjects: ["Trading service over HTTP", "Trading service over WebSocket", "serviceType 9", "Futures", "Spot"],
  });
  for (const maintainType of [3, "3"]) {
    const disruption = { ...bybitEntry, maintainType, state: "ongoing" };
    t.match(only(parse(bybit, bybitBody(disruption))), { kind: "incident", over: false, resolvedAt: null });
    t.same(only(parse(bybit, bybitBody(disruption))).plannedEndAt, new Date(1751597011000));
  }
  t.equal(parse(bybit, bybitBody({ ...bybitEntry, env: undefined })).list!.notices.length, 1);
  t.same(parse(bybit, bybitBody({ ...bybitEntry, env: "2" })).list!.notices, [], "demo trading is not watched");
  t.end();
});

void t.test("unreadable answers of Bybit are reported", (t) => {
  areUnreadable(t, bybit, [
    [{ retCode: 10006, retMsg: "Too many visits!" }, 'answered an error: code 10006, "Too many visits!"'],
    [{ ...bybitBody(), result: {} }, "result.list: expected a list of notices, got nothing"],
    [{ ...bybitBody(), time: null }, "time: expected milliseconds since 1970, got null"],
    [{ ret_code: 0 }, "retCode: expected a number, got nothing"],
    [{ ...bybitBody(), time: 1e300 }, "time: expected milliseconds since 1970, got 1e+300"],
    [{ ...bybitBody(), time: -1 }, "time: expected milliseconds since 1970, got -1"],
  ]);
  const wentBack = "went back in time: its time is 2026-09-04T12:00:00.000Z, and was 2026-09-04T12:10:00.001Z before";
  areUnreadable(t, { ...bybit, feedAt: new Date(+at + 600_001) }, [[bybitBody(), wentBack]]);
  for (const begin of ["999999999999999", "-1", "1e3", ""])
    t.equal(
      parse(bybit, bybitBody({ ...bybitEntry, begin })).problem,
      `result.list[0].begin: expected milliseconds since 1970 as text, got "${begin}"`,
    );
  const one = parse(bybit, bybitBody(bybitEntry, { ...bybitEntry, serviceTypes: ["x", null] }));
  t.equal(one.problem, "result.list[1].serviceTypes[1]: expected a number, got null");
  t.end();
});

void t.test("an unknown service is shown by its number", (t) => {
  const inherited = ["__proto__", "constructor", "toString"];
  for (const code of [...inherited, 77, "7".repeat(1_000_000)]) {
    const [service, product] = [`serviceType ${code}`.slice(0, 200), `product ${code}`.slice(0, 200)];
    t.same(only(parse(okx, okxBody({ ...okxEntry, serviceType: code }))).subjects, [service]);
    const entry = { ...bybitEntry, serviceTypes: [code], product: [code] };
    t.same(only(parse(bybit, bybitBody(entry))).subjects, [service, product]);
  }
  const many = { ...bybitEntry, serviceTypes: Array<number>(150).fill(2), product: [1] };
  t.equal(only(parse(bybit, bybitBody(many))).subjects.length, 100);
  t.end();
});

// How announcements of maintenance are read: Bitget's are listed, Gate's are pushed over a WebSocket.

const bitget = sourceOf("bitget-announcements");

const entry = {
  annId: "12560603842357",
  annTitle: "Notice on the upgrade of the Bitget spot trading system",
  annDesc: "",
  cTime: "1788480000000",
  language: "en_US",
  annUrl: "https://www.bitget.com/en/support/articles/12560603842357",
  annType: "maintenance_system_updates",
  annSubType: "spot_maintenance",
};
const answer = (...data: unknown[]) => ({ code: "00000", msg: "success", requestTime: 1788523200000, data });

void t.test("an announcement of Bitget is read in full", (t) => {
  const one = parse(bitget, answer(entry));
  t.match(one, { problem: null, feedAt: null, list: { scope: "announcements" } });
  const published = new Date(1788480000000);
  const { raw, ...read } = only(one);
  t.same(read, {
    ...{ id: entry.annId, kind: "maintenance", title: entry.annTitle, url: entry.annUrl, status: "announced" },
    ...{ impact: null, startedAt: published, postedAt: published, resolvedAt: null, plannedEndAt: null, over: true },
    subjects: ["spot_maintenance"],
  });
  t.same(JSON.parse(raw), entry);
  t.end();
});

void t.test("a list of Bitget goes back a month, or to its oldest entry if it is full", (t) => {
  const listed = (count: number) =>
    parse(
      bitget,
      answer(...Array.from({ length: count }, (_, n) => ({ ...entry, annId: `${n}`, cTime: `${1788480000000 - n}` }))),
    ).list!.listedFrom;
  const fourWeeks = new Date(+at - 28 * 24 * 60 * 60_000);
  t.same([listed(0), listed(9), listed(10)], [fourWeeks, fourWeeks, new Date(1788480000000 - 9)]);
  for (const cTime of ["0", "1788480000", "17884800000000"]) {
    const full = Array.from({ length: 10 }, (_, n) => ({ ...entry, annId: `${n}`, ...(n === 9 && { cTime }) }));
    const { list } = parse(bitget, answer(...full));
    t.same(list!.listedFrom, new Date(1788480000000), `nothing was taken down since ${cTime}`);
  }
  t.end();
});

void t.test("unreadable answers of Bitget are reported", (t) => {
  areUnreadable(t, bitget, [
    [
      { code: "40017", msg: "Parameter verification failed" },
      'answered an error: code "40017", "Parameter verification failed"',
    ],
    [{ code: "00000", data: null }, "data: expected a list of announcements, got null"],
    [{ data: [] }, "code: expected a number, got nothing"],
  ]);
  for (const [field, value, expected] of [
    ["annId", undefined, "an id of 1 to 200 plain characters, got nothing"],
    ["annTitle", "", 'a text that is not empty, got ""'],
    ["annSubType", undefined, "a text that is not empty, got nothing"],
    ["annType", "coin_listings", 'maintenance_system_updates, got "coin_listings"'],
    ["cTime", 1788480000000, "milliseconds since 1970 as text, got 1788480000000"],
  ] as const) {
    const one = parse(bitget, answer({ ...entry, [field]: value }, entry));
    t.equal(one.problem, `data[0].${field}: expected ${expected}`);
    t.match(one.list, { notices: [{ id: entry.annId }], listedFrom: null });
  }
  t.end();
});

const channel = "announcement.summary_engine_upgrade";
const result = {
  lang: "en",
  origin_url: "https://www.gate.io/article/101657",
  title: "Gate spot engine upgrade on September 6",
  brief: "The upgrade is expected to take ten minutes.",
  published_at: 1788480000,
};
const head = { time: 1788523200, time_ms: 1788523200123, channel };
const acknowledgement = { ...head, event: "subscribe", result: { status: "success" } };
const update = { ...head, event: "update", result };

/** A server that a client may subscribe to; `speak` answers the subscription. */
async function serveGate(t: Test, speak: (ws: WebSocket, message: unknown) => void) {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const open = new Set<WebSocket>();
  sockets.on("connection", (ws) => {
    open.add(ws);
    ws.on("close", () => open.delete(ws));
    ws.once("message", (message: Buffer) => speak(ws, JSON.parse(message.toString())));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const ws of open) ws.terminate();
    server.close();
  });
  return { open, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws/v4/ann` };
}

const sending = (...frames: unknown[]) => {
  return (ws: WebSocket) => {
    for (const frame of frames) ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  };
};

async function readGate(t: Test, speak: Parameters<typeof serveGate>[1], more: Partial<FeedReaderOptions> = {}) {
  const server = await serveGate(t, speak);
  const poll = await readerFor(t, { quietMs: 100, ...more }).read(
    sourceAt("gate-announcements", server.url),
    at,
    never,
  );
  return { ...poll, problem: poll.problem?.replace(/^127\.0\.0\.1:\d+\/ws\/v4\/ann: /, "") ?? null, server };
}

void t.test("Gate's newest announcement is read in full, and the socket is closed", async (t) => {
  let asked: unknown;
  const { problem, lists, server } = await readGate(t, (ws, message) => {
    asked = message;
    sending(acknowledgement, update)(ws);
  });
  t.equal(problem, null);
  t.same(asked, { time: +at / 1000, channel, event: "subscribe", payload: ["en"] });
  const published = new Date(1788480000000);
  t.match(lists, [{ scope: "announcements", listedFrom: published }]);
  const { raw, ...read } = lists[0]!.notices[0]!;
  t.same(read, {
    ...{ id: "101657", kind: "maintenance", title: result.title, url: result.origin_url, status: "announced" },
    ...{
      impact: null,
      startedAt: published,
      postedAt: published,
      resolvedAt: null,
      plannedEndAt: null,
      over: true,
      subjects: [],
    },
  });
  t.same(JSON.parse(raw), result);
  for (const ws of server.open) await once(ws, "close");
});

void t.test("an impossible time of Gate's announcement does not claim that earlier ones were taken down", async (t) => {
  for (const published_at of [0, 1_788_480, 4_070_908_800]) {
    const { lists } = await readGate(t, sending(acknowledgement, { ...update, result: { ...result, published_at } }));
    t.match(lists, [{ listedFrom: null, notices: [{ id: "101657" }] }], `${published_at}`);
  }
});

void t.test("Gate may have no announcement", async (t) => {
  const { problem, lists } = await readGate(t, sending(acknowledgement));
  t.same({ problem, lists }, { problem: null, lists: [{ scope: "announcements", notices: [], listedFrom: null }] });
});

void t.test("invalid answers of Gate are reported", async (t) => {
  const updateWith = (more: object) => ({ ...update, result: { ...result, ...more } });
  const noAddress = "an address that ends with an id";
  for (const [frames, problem] of [
    [
      [{ ...head, event: "subscribe", error: { code: 2, message: "Unknown channel" } }],
      'answered an error: code 2, "Unknown channel"',
    ],
    [[update], "the acknowledgement: expected an acknowledgement, got undefined"],
    [
      [{ ...acknowledgement, result: { status: "fail" } }],
      'the acknowledgement.result.status: expected success, got "fail"',
    ],
    [["<html>"], 'expected JSON, got "[<html>]"'],
    [[[]], "[0]: expected a frame with channel and event, got a list of 0"],
    [
      [acknowledgement, updateWith({ title: "" })],
      'the announcement.result.title: expected a text that is not empty, got ""',
    ],
    [
      [acknowledgement, updateWith({ origin_url: "" })],
      `the announcement.result.origin_url: expected ${noAddress}, got ""`,
    ],
    [
      [acknowledgement, updateWith({ published_at: 1788480000123 })],
      "the announcement.result.published_at: expected seconds since 1970, got 1788480000123",
    ],
    [
      Array.from({ length: 101 }, () => ({ ...head, event: "pong" })),
      "expected at most 100 frames of 1048576 bytes together, got more",
    ],
  ] as const) {
    const poll = await readGate(t, sending(...frames));
    t.match(poll, { problem, unanswered: false }, problem);
    t.same(poll.lists, []);
  }
});

void t.test("frames after the last one are not read", async (t) => {
  for (const [firstFrames, read] of [
    [[], 100],
    [["last"], 1],
  ] as const) {
    let count = 0;
    const server = await serveGate(t, sending(...firstFrames, ...Array.from({ length: 300 }, () => "more")));
    const isLast = (frame: string) => (count += 1) > 0 && frame === "last";
    await listenToDocument(server.url, { request: () => "{}", isLast }, { userAgent: "test", at, signal: never });
    for (const ws of server.open) await once(ws, "close");
    t.equal(count, read);
  }
});

void t.test("a socket that does not serve is a problem of the feed", async (t) => {
  const mute = await readGate(t, () => {}, { deadlineMs: 300 });
  t.match(mute, { problem: "expected an answer within 0.3 s", unanswered: true });
  const closing = await readGate(t, (ws) => ws.close());
  t.match(closing, { problem: "expected an answer, got a closed connection", unanswered: true });
  const huge = await readGate(t, (ws) => ws.send("x".repeat(1024 * 1024 + 1)));
  const tooLong = "expected frames of at most 1048576 bytes, got WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
  t.match(huge, { problem: tooLong, unanswered: false });
  const noSocket = createServer((_request, response) => response.end("{}")).listen(0, "127.0.0.1");
  await once(noSocket, "listening");
  t.teardown(() => noSocket.close());
  const plain = `ws://127.0.0.1:${(noSocket.address() as AddressInfo).port}/`;

  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 429 No\r\nRetry-After: 60\r\n\r\n"));
  const { port } = server.address() as AddressInfo;
  const reader = readerFor(t);
  const refused = await reader.read(sourceAt("gate-announcements", `ws://127.0.0.1:${port}/`), at, never);
  t.match(refused, { problem: /answered 429$/, retryAfterMs: 60_000 });
  t.match(await reader.read(sourceAt("gate-announcements", plain), at, never), { problem: /answered 200$/ });
  const unused = `ws://127.0.0.1:${port}/`;
  server.close();
  const down = await reader.read(sourceAt("gate-announcements", unused), at, never);
  t.match(down, { problem: /expected an answer, got a refused connection \(ECONNREFUSED\)$/, unanswered: true });
  const gone = await serveGate(t, () => {});
  const { signal, reason } = { signal: AbortSignal.abort(new Error("stopping")), reason: "stopping" };
  await t.rejects(reader.read(sourceAt("gate-announcements", gone.url), at, signal), { message: reason });
});

// What holds for every kind of status feed: texts, instants, JSON and lists. Nothing is fetched.

void t.test("texts are truncated and cleaned, and only web links are kept", (t) => {
  const long = {
    ...incident,
    name: `Line one\nline\u0000 two\u202e ${"😀".repeat(400)}`,
    status: "s".repeat(300),
    impact: "i".repeat(300),
    shortlink: `https://stspg.io/${"x".repeat(3000)}`,
    components: Array.from({ length: 300 }, (_, n) => ({ name: `${n}${"c".repeat(300)}` })),
    body: "b".repeat(100_000),
  };
  const { title, status, impact, url, subjects, raw } = only(parse(kraken, incidentsBody(long)));
  t.equal(title.slice(0, 18), "Line one line two ");
  t.ok(title.length <= 500);
  t.equal(Buffer.from(title).toString(), title, "no character is cut in half");
  t.equal(url, "https://status.kraken.com/incidents/p31zjtct2jer");
  const lengths = [status, impact!, subjects, subjects[99]!, raw].map(({ length }) => length);
  t.same(lengths, [100, 100, 100, 200, 16_384]);
  t.end();
});

void t.test("foreign texts are cleaned of control and direction characters", (t) => {
  for (const [text, most, plain] of [
    [" a\t\r\n b\u2028c ", 99, "a b c"],
    ["\u001b[31mred\u0007\u0085", 99, "[31mred"],
    ["abc\u202egnp.exe\u2066\u200b\ufeff", 99, "abcgnp.exe"],
    // joiners within emoji stay
    ["👩‍🚒", 99, "👩‍🚒"],
    // no character is cut in half
    ["ab😀", 3, "ab"],
    ["a\ud800b", 9, "a\ufffdb"],
    ["ab cd", 3, "ab"],
    ["plain  text ", 99, "plain text"],
    ...[41, 100, 500].map((most) => [`${" ".repeat(9000)}x`, most, "x"] as const),
  ] as const)
    t.equal(plainText(text, most), plain);
  t.equal(webAddress("https://a.example/b c"), "https://a.example/b%20c");
  const schemes = ["ftp://a.example/", "data:text/html,x", "javascript:alert(1)"];
  for (const none of [null, "", "x", ...schemes, "https://user:secret@a.example/"])
    t.equal(webAddress(none), null, String(none));
  t.equal(rawText({ a: "\u0000" }), String.raw`{"a":"\u0000"}`);
  t.end();
});

void t.test("the venues' forms of an instant are read", (t) => {
  const good =
    "2026-08-11T09:00:00Z 2026-08-11T09:00:00.123-07:00 2026-08-11T09:00:00.123456+0530 2028-02-29T23:59:59Z " +
    "0001-01-03T00:00:00Z 9999-12-29T00:00:00Z";
  for (const text of good.split(" ")) t.ok(isInstant(text), text);
  const bad =
    "2026-08-11 2026-08-11T09:00:00 2027-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-08-11T24:00:00Z " +
    "2026-08-11T09:00:60Z 0000-01-01T00:00:00Z +012026-01-01T00:00:00Z 9999-12-31T23:59:59-23:00 " +
    "2026-08-11T09:00:00+99:00";
  for (const text of ["", ...bad.split(" ")]) t.notOk(isInstant(text), text);
  for (const text of ["0", "1790000000000"]) t.ok(isMilliseconds(text), text);
  for (const text of ["", "-1", "1.5", "1e3", "999999999999999", "9".repeat(400)]) t.notOk(isMilliseconds(text), text);
  t.end();
});

void t.test("keys such as __proto__ are ordinary keys", (t) => {
  const text = JSON.stringify(incidentsBody(incident)).replace(
    '"impact"',
    '"__proto__":{"over":true},"constructor":1,"impact"',
  );
  const { value } = parsedJson(Buffer.from(text), jsonLimits.feed) as { value: unknown };
  const [document] = feedKinds.statuspage.documents(kraken);
  const one = document!.takeApart(value, at);
  t.equal(one.problem, null);
  t.match(only(one).raw, '"__proto__":{"over":true}');
  t.equal(({} as { over?: boolean }).over, undefined);
  const inherited = parsedJson(Buffer.from('{"__proto__":{"page":{},"incidents":[]}}'), jsonLimits.feed) as {
    value: unknown;
  };
  t.equal(document!.takeApart(inherited.value, at).problem, "page: expected a page, got nothing");
  t.end();
});

void t.test("the first of duplicate notices counts", (t) => {
  const first = parse(kraken, incidentsBody(incident)).list!;
  const second = parse(kraken, incidentsBody({ ...incident, name: "Later" }, { ...incident, id: "other" })).list!;
  const list = joinedLists([first, { ...second, listedFrom: at }]);
  t.equal(list.notices.length, 2);
  t.match(list.notices, [
    { id: incident.id, title: incident.name },
    { id: "other", title: incident.name },
  ]);
  t.same(list.listedFrom, new Date(0));
  t.equal(joinedLists([first, { ...second, listedFrom: null }]).listedFrom, null);
  t.end();
});

void t.test("the oldest notices of all lists are omitted", (t) => {
  const listed = (scope: NoticeList["scope"], days: number[]): NoticeList => ({
    scope,
    listedFrom: new Date(0),
    notices: days.map((day) => ({
      ...only(parse(kraken, incidentsBody(incident))),
      id: `${scope}${day}`,
      postedAt: new Date(Date.UTC(2026, 0, day)),
    })),
  });
  const [incidents, maintenances] = newestNotices(
    [listed("incidents", [1, 9, 3]), listed("maintenances", [8, 7, 2])],
    4,
  );
  const ids = incidents!.notices.map(({ id }) => id);
  t.same(ids, ["incidents9", "incidents3"], "newest first");
  t.same(incidents!.listedFrom, new Date(Date.UTC(2026, 0, 1) + 1));
  t.same(maintenances!.notices.length, 2);
  t.same(maintenances!.listedFrom, new Date(Date.UTC(2026, 0, 2) + 1));
  const [whole] = newestNotices([listed("incidents", [1])], 4);
  t.same(whole!.listedFrom, new Date(0), "a list that is taken whole stays complete");
  t.end();
});
