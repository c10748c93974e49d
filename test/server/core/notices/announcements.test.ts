/** How announcements of maintenance are read: Bitget's are listed, Gate's are pushed over a WebSocket. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocketServer, type WebSocket } from "ws";
import { listenToDocument } from "../../../../server/core/notices/feed-documents.js";
import type { FeedReaderOptions } from "../../../../server/core/notices/reader.js";
import { at, never, readerFor, sourceAt } from "../../../support/feed-server.js";
import { areUnreadable, only, parse, sourceOf } from "../../../support/parsed-feed.js";

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
    ...{ impact: null, startedAt: published, postedAt: published, resolvedAt: null, over: true },
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
    ...{ impact: null, startedAt: published, postedAt: published, resolvedAt: null, over: true, subjects: [] },
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
