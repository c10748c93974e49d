/**
 * Odd and hostile answers of a server to an HTTP request for `{"price":1}`, and their results in a measurement of the
 * probe, in the delivery of an alert, in the reading of a feed, and in that of a service. What they cost each reader,
 * the clients in TypeScript and Python included, is in hostile-peers.test.ts.
 */
import { createHash } from "node:crypto";
import type net from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { mebibyte } from "../../shared/config/byte-units.js";
import { maxBodyBytes as limits, maxChunks } from "../../shared/http/limits.js";
import type { Measurement } from "../../probe/measure/measurement.js";
import { saying } from "./tcp-server.js";

const maxBodyBytes = limits.measured;
export const good = `{"price":1}`;
const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
export const goodAnswer = `${ok}Content-Length: ${good.length}\r\n\r\n${good}`;
export const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

/** Sends the beginning after the request, and then the rest endlessly, as fast as the client reads. */
export const pouring = (begin: string | Buffer, again: string | Buffer) => (socket: net.Socket) => {
  const piece = Buffer.isBuffer(again) ? again : Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
  socket.once("data", () => {
    socket.write(begin);
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", pour);
    pour();
  });
};

/** Sends the beginning after the request, and then drop by drop, endlessly. */
const dripping = (begin: string, drop: string) => (socket: net.Socket) => {
  socket.once("data", () => {
    socket.write(begin);
    const drip = setInterval(() => socket.write(drop), 10);
    socket.once("close", () => clearInterval(drip));
  });
};

/** Sends the beginning after the request, and resets the connection. */
export const resetting = (begin: string) => (socket: net.Socket) => {
  socket.once("data", () => {
    if (begin === "") return socket.resetAndDestroy();
    socket.write(begin, () => setTimeout(() => socket.resetAndDestroy(), 20));
  });
};

export const ending = (answer: string) => (socket: net.Socket) => {
  socket.once("data", () => socket.end(answer));
};

/** Answers with a body in this encoding. */
const encoded = (encoding: string, body: Buffer) =>
  saying(Buffer.concat([Buffer.from(`${ok}Content-Encoding: ${encoding}\r\n${lengthOf(body)}`), body]));

/** Answers with exactly this body. */
const sized = (body: string) => saying(ok + lengthOf(Buffer.from(body)) + body);

const lengthOf = ({ length }: { length: number }) => `Content-Length: ${length}\r\n\r\n`;

/** Sends these bytes as chunks of one. */
const inSmallChunks = (bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`${ok}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`),
    ...Array.from(bytes, (byte) => Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")])),
    Buffer.from("0\r\n\r\n"),
  ]);

/** JSON of digits that gzip cannot make smaller than half a byte each. */
const noise = `[${Array.from({ length: 9000 }, (_, i) => `0.${createHash("sha1").update(`${i}`).digest().readUIntBE(0, 6)}`).join()}]`;

/** The head of a gzip stream, and a block of it that holds nothing (RFC 1951, 3.2.4). */
const gzipHead = Buffer.concat([
  Buffer.from(`${ok}Content-Encoding: gzip\r\n\r\n`),
  Buffer.from("1f8b0800000000000003", "hex"),
]);
const emptyBlock = Buffer.from("000000ffff", "hex");

const interim = (...statuses: number[]) => statuses.map((status) => `HTTP/1.1 ${status} Wait\r\na: b\r\n\r\n`).join("");

const differentObjects = (count: number) => Array.from({ length: count }, (_, i) => `{"${i.toString(36)}":1}`).join();

const zeros = Buffer.alloc(16 * mebibyte);

/**
 * For an alert, its result, status and error; for a feed, the problem without its name; for a service, the error
 * without its address.
 */
export interface ClientResults {
  alert: RegExp;
  feed: RegExp;
  service: RegExp;
}

const noHttp = {
  alert: /^unreachable null .* invalid HTTP \(HPE_/,
  feed: /^expected an answer, got invalid HTTP \(HPE_/,
  service: /^expected an answer, got invalid HTTP \(HPE_/,
};
const noHttpInBody = {
  ...noHttp,
  alert: /^unreachable 200 expected the end of .* invalid HTTP \(HPE_/,
  service: /^expected the end of the answer, got invalid HTTP \(HPE_/,
};
const tooManyHeaders = {
  alert: /^unreachable null .* too many bytes of headers \(/,
  feed: /got too many bytes of headers \(HPE_HEADER_OVERFLOW\)$/,
  service: /got too many bytes of headers \(HPE_HEADER_OVERFLOW\)$/,
};
const tooManyTrailers = { ...tooManyHeaders, alert: /^unreachable 200 .* too many bytes of headers \(/ };
const tooMuch = {
  alert: /^unreachable null .* got more than 64 KiB or 8 interim answers without one$/,
  feed: new RegExp(`^expected at most ${limits.feed} bytes in at most ${maxChunks} chunks, got more$`),
  service: new RegExp(`^got more than ${limits.service} bytes, or ${maxChunks} chunks$`),
};
const tooMuchInBody = { ...tooMuch, alert: /^delivered 200 null$/ };
const late = {
  alert: /^timeout null expected an answer of .*, got none$/,
  feed: /^expected a whole answer within /,
  service: /^no whole answer within \d+ ms; still waiting for an answer$/,
};
const lateInBody = {
  ...late,
  alert: /^timeout 200 expected the end of the answer of .*, got none$/,
  service: /^no whole answer within \d+ ms; still waiting for the end of the answer$/,
};
const brokeOff = {
  alert: /^unreachable null .* got a broken connection \(/,
  feed: /^expected an answer, got a broken connection \(/,
  service: /^expected (a connection|an answer), got a broken connection \(/,
};
const brokeOffInBody = {
  ...brokeOff,
  alert: /^unreachable 200 expected the end of .* got a broken connection \(/,
  service: /^expected the end of the answer, got a broken connection \(/,
};
const upgraded = {
  alert: /^unreachable 101 .* got a change of protocol$/,
  feed: /^expected an answer, got a change of protocol$/,
  service: /^expected an answer, got a change of protocol$/,
};
/** The whole answer was read; a real feed and a real service would answer with different JSON. */
const whole = {
  alert: /^delivered 200 null$/,
  feed: /^status: expected 0 or 1, got nothing$/,
  service: /^expected a StatusResponse at \S+, got something else/,
};
/** An alert needs no body. */
const wholeUnread = (feed: RegExp, service = whole.service) => ({ ...whole, feed, service });
const emptied = wholeUnread(/got ""/, /JSON/);
const tooMuchDecoded = wholeUnread(tooMuch.feed, tooMuch.service);
const tooDeep = wholeUnread(/at most 64 levels, got more$/, /at most 64 levels, got more$/);
const unknownEncoding = wholeUnread(
  /got "(deflate|gzip, gzip|zstd)"$/,
  /^got a content-encoding that was not asked for$/,
);
const undecodable = wholeUnread(/that can be decompressed, got [A-Z_\d]+$/, /^got a body that cannot be decompressed$/);

/** A reset may be noticed a little earlier or later, so some cases allow two faults. */
export type ExpectedMeasurement = Partial<Omit<Measurement, "fault">> & { fault?: Measurement["fault"] | RegExp };

export interface HostileAnswer {
  name: string;
  talk: (socket: net.Socket) => void;
  clients: ClientResults;
  /** The probe's measurement. */
  expected: ExpectedMeasurement;
  /** Set where the expected fault must come before the deadline. */
  timeoutMs: number | undefined;
}

type HostileRow = [name: string, ClientResults, HostileAnswer["talk"], ExpectedMeasurement, timeoutMs?: number];

export const body = { good: false, fault: "body" } as const;
export const timeout = { good: false, fault: "timeout", latencyUs: null } as const;
const closed = { good: false, fault: "closed", latencyUs: null } as const;
export const fine = { good: true, fault: null } as const;

const rows: HostileRow[] = [
  // endless
  ["an endless body", tooMuchInBody, pouring(`${ok}\r\n`, " "), { ...body, latencyUs: null }],
  ["an endless chunked body", tooMuchInBody, pouring(chunked, "400\r\n" + " ".repeat(1024) + "\r\n"), body],
  ["endless chunks of one byte", tooMuchInBody, pouring(chunked, "1\r\n \r\n"), body],
  ["an endless reason phrase", tooManyHeaders, pouring("HTTP/1.1 200 ", "x"), body],
  ["one endless header", tooManyHeaders, pouring(`${ok}X-A: `, "x"), body],
  ["an endless header name", tooManyHeaders, pouring(ok, "x"), body],
  ["endless headers", tooManyHeaders, pouring(ok, "X-A: b\r\n"), body],
  ["endless white space in a header", tooMuch, pouring(`${ok}X-A:`, " "), body],
  ["an endless chunk extension", noHttpInBody, pouring(`${chunked}1;a=`, "x"), body],
  ["an endless chunk length", tooMuchInBody, pouring(`${chunked}b\r\n${good}\r\n`, "0"), body],
  ["endless trailers", tooManyTrailers, pouring(`${chunked}0\r\n`, "X-A: b\r\n"), body],
  ["endless empty lines before an answer", tooMuch, pouring("", "\r\n"), body],
  ["endless early hints", tooMuch, pouring("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), body],
  ["endless 102 Processing", tooMuch, pouring("", "HTTP/1.1 102 Processing\r\n\r\n"), body],
  ["endless 100 Continue", tooMuch, pouring("", "HTTP/1.1 100 Continue\r\n\r\n"), body],
  // drop by drop
  ["a body by drops", lateInBody, dripping(`${ok}\r\n`, " "), timeout],
  ["chunks by drops", lateInBody, dripping(chunked, "1\r\n \r\n"), timeout],
  ["a status line by drops", noHttp, dripping("", "HTTP/1.1 200 OK"[0]!), body],
  ["headers by drops", late, dripping(ok, "X: y\r\n"), timeout],
  ["early hints by drops, until they are too many", tooMuch, dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n"), body],
  ["nothing at all", late, (socket) => socket.resume(), timeout],
  ["headers alone", lateInBody, saying(`${ok}Content-Length: 99\r\n\r\n`), { ...timeout, httpStatus: 200 }, 10_000],
  ["gzip that stops", lateInBody, saying(Buffer.concat([gzipHead, emptyBlock])), timeout],
  // interim answers
  ["early hints first", whole, saying(`HTTP/1.1 103 Early Hints\r\n\r\n${goodAnswer}`), { ...fine, httpStatus: 200 }],
  ["100 Continue first", whole, saying(interim(100) + goodAnswer), fine],
  ["four interim answers first", whole, saying(interim(100, 102, 103, 103) + goodAnswer), fine],
  ["100 Continue alone", brokeOff, ending(interim(100)), closed],
  [
    "an upgrade that the client did not request",
    upgraded,
    saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
    body,
  ],
  [
    "an offer of another protocol beside the answer",
    whole,
    saying(goodAnswer.replace("\r\n", "\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n")),
    fine,
  ],
  // odd, but valid
  ["no reason", whole, saying(goodAnswer.replace(" OK", "")), fine],
  ["chunks with extensions and trailers", whole, saying(`${chunked}b;a=b\r\n${good}\r\n0\r\na: b\r\n\r\n`), fine],
  ["a body that ends with its connection", whole, ending(`${ok}\r\n${good}`), fine],
  ["the same in HTTP/1.0", whole, ending(`${ok.replace("1.1", "1.0")}\r\n${good}`), fine],
  ["a byte order mark", whole, sized(`\ufeff${good}`), fine],
  ["gzip", whole, encoded("gzip", gzipSync(good)), fine],
  ["gzip by its older name", whole, encoded("x-gzip", gzipSync(good)), fine],
  ["brotli", whole, encoded("br", brotliCompressSync(good)), fine],
  ["no encoding, by its name", whole, encoded("identity", Buffer.from(good)), fine],
  ["an encoding that was not requested", unknownEncoding, encoded("zstd", Buffer.from(good)), body],
  // large
  ["one header of two megabytes", tooManyHeaders, saying(`${ok}X-A: ${"x".repeat(2 * mebibyte)}\r\n\r\n`), body],
  [
    "ten thousand headers",
    tooManyHeaders,
    saying(ok + Array.from({ length: 10_000 }, (_, i) => `X-${i}: y\r\n`).join("") + lengthOf(good) + good),
    body,
  ],
  ["a body a byte too large", whole, sized(good.padEnd(maxBodyBytes + 1)), body],
  ["a body of the greatest allowed size", whole, sized(good.padEnd(maxBodyBytes)), fine],
  // bombs
  ["a gzip bomb", tooMuchDecoded, encoded("gzip", gzipSync(zeros)), body],
  ["a deflate bomb", unknownEncoding, encoded("deflate", deflateSync(zeros)), body],
  ["a brotli bomb", tooMuchDecoded, encoded("br", brotliCompressSync(zeros)), body],
  ["a bomb in a bomb", unknownEncoding, encoded("gzip, gzip", gzipSync(gzipSync(zeros))), body],
  ["many empty members", emptied, encoded("gzip", Buffer.concat(Array<Buffer>(20_000).fill(gzipSync("")))), body],
  ["gzip cut short", undecodable, encoded("gzip", gzipSync(good).subarray(0, 15)), body],
  ["a wrong encoding", undecodable, encoded("br", Buffer.from(good)), body],
  [
    "a gzip stream of empty blocks without end",
    tooMuchInBody,
    pouring(gzipHead, Buffer.alloc(65_535, emptyBlock)),
    body,
  ],
  ["gzip in chunks of one byte", tooMuchDecoded, saying(inSmallChunks(gzipSync(noise))), body],
  // JSON that is hard to parse
  ["a million brackets", tooDeep, sized("[".repeat(5e5) + "]".repeat(5e5)), body],
  [
    "a million values",
    wholeUnread(/at most 200000 brackets.*, got more$/, /at most 400000 brackets.*, got more$/),
    sized(`[${"[],".repeat(349_000)}1]`),
    body,
  ],
  ["objects of different shapes", wholeUnread(/got a list of 60000$/), sized(`[${differentObjects(60_000)}]`), body],
  ["deep objects", tooDeep, sized(`${'{"a":'.repeat(9e4)}1${"}".repeat(9e4)}`), body],
  [
    "no UTF-8",
    wholeUnread(/^expected JSON, got /, /encoded data was not valid/),
    encoded("identity", Buffer.of(0x7b, 0xff, 0xfe, 0x7d)),
    body,
  ],
  // redirects
  ...[301, 302, 303, 307, 308].map((status): HostileRow => [
    `a redirect to itself, ${status}`,
    {
      alert: new RegExp(`^refused ${status} .* redirects are not followed$`),
      feed: /^redirects more than 3 times$/,
      service: /^expected application\/json, got a redirect to \//,
    },
    saying(`HTTP/1.1 ${status} Go\r\nLocation: /\r\nContent-Length: 0\r\n\r\n`),
    { good: false, fault: "http", httpStatus: status },
  ]),
  // bad chunking
  ["a chunk shorter than it says", brokeOffInBody, ending(`${chunked}20\r\n${good}\r\n0\r\n\r\n`), closed],
  ["a chunk longer than it says", noHttpInBody, saying(`${chunked}3\r\n${good}\r\n0\r\n\r\n`), body],
  ["no last chunk", brokeOffInBody, ending(`${chunked}b\r\n${good}\r\n`), closed],
  ["no last chunk, and silence", lateInBody, saying(`${chunked}b\r\n${good}\r\n`), timeout],
  ["a chunk of a negative size", noHttpInBody, saying(`${chunked}-b\r\n${good}\r\n0\r\n\r\n`), body],
  ["a chunk larger than any number", noHttpInBody, saying(`${chunked}fffffffffffffffff\r\n${good}`), body],
  ["a chunk whose size is no number", noHttpInBody, saying(`${chunked}zz\r\n${good}\r\n0\r\n\r\n`), body],
  ["chunks ended by a bare line feed", noHttpInBody, saying(`${chunked}b\n${good}\n0\n\n`), body],
  // lengths that lie
  ["a length too long", brokeOffInBody, ending(`${ok}Content-Length: 99\r\n\r\n${good}`), closed],
  ["a length too short", noHttpInBody, saying(`${ok}Content-Length: 5\r\n\r\n${good}`), body],
  ["two lengths that differ", noHttp, saying(`${ok}Content-Length: 11\r\nContent-Length: 12\r\n\r\n${good}`), body],
  ["a negative length", noHttp, saying(`${ok}Content-Length: -1\r\n\r\n${good}`), body],
  ["a length larger than any number", noHttp, saying(`${ok}Content-Length: ${"9".repeat(23)}\r\n\r\n${good}`), body],
  [
    "a length and chunks",
    noHttp,
    saying(`${ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n${good}\r\n0\r\n\r\n`),
    body,
  ],
  [
    "a status that nobody knows",
    { alert: /^refused 999 /, feed: /^answered 999$/, service: /^expected a status from 200 to 599, got 999$/ },
    saying("HTTP/1.1 999 Huh\r\nContent-Length: 0\r\n\r\n"),
    { good: false, fault: "http", httpStatus: 999 },
  ],
  // no HTTP, or another one
  ["an answer without a status line", noHttp, ending(good), body],
  ["the greeting of another protocol", noHttp, ending("SSH-2.0-OpenSSH_9.6\r\n"), body],
  ["a header with a space in its name", noHttp, saying(`${ok}a b\r\n\r\n${good}`), body],
  ["control characters in a header", noHttp, saying(`${ok}x: \u0001\u0000\r\n\r\n${good}`), body],
  ["the preface of HTTP/2", noHttp, saying(Buffer.from("000000040000000000", "hex")), body],
  ["an invalid status", noHttp, saying("HTTP/1.1 99 Low\r\n\r\n"), body],
  ["a status of five digits", noHttp, saying("HTTP/1.1 20000 OK\r\n\r\n"), body],
  ["null bytes", noHttp, saying(Buffer.alloc(4096)), body],
  // empty
  [
    "no content, with content",
    {
      alert: /^unreachable 204 /,
      feed: /^answered 204$/,
      service: /^expected the end of the answer, got invalid HTTP/,
    },
    saying(`HTTP/1.1 204 No Content\r\nContent-Length: 11\r\n\r\n${good}`),
    { good: false, httpStatus: 204, fault: "http" },
  ],
  [
    "not modified",
    { alert: /^refused 304 /, feed: /^answered 304, not modified/, service: /got a redirect to another address/ },
    saying("HTTP/1.1 304 Not Modified\r\n\r\n"),
    { good: false, httpStatus: 304, fault: "http" },
  ],
  ["no body", emptied, sized(""), { ...body, httpStatus: 200 }],
  // ends and resets at each phase
  ["reset when accepted", brokeOff, (socket) => socket.resetAndDestroy(), { good: false, fault: /^(connect|closed)$/ }],
  ["ended when accepted", brokeOff, (socket) => socket.end(), closed],
  ["reset after the request", brokeOff, resetting(""), closed],
  ["reset in the status line", brokeOff, resetting("HTTP/1."), closed],
  ["reset in the headers", brokeOff, resetting(`${ok}X-A: `), closed],
  ["reset in the body", brokeOffInBody, resetting(`${ok}Content-Length: 99\r\n\r\n{`), { ...closed, httpStatus: 200 }],
  ["reset in a chunk", brokeOffInBody, resetting(`${chunked}20\r\n{`), closed],
  ["ended after the request", brokeOff, ending(""), closed],
  ["ended in the status line", brokeOff, ending("HTTP/1.1 2"), closed],
  ["ended after headers", brokeOff, ending(ok), closed],
  ["ended in the headers", brokeOff, ending(`${ok}X-A: `), closed],
];

export const hostileAnswers = rows.map(([name, clients, talk, expected, timeoutMs]): HostileAnswer => ({
  name,
  clients,
  talk,
  expected,
  timeoutMs,
}));
