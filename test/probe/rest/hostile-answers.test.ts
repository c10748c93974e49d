/**
 * Servers that do to a REST measurement whatever a server can: each is told apart rightly, in bounded time and memory.
 */
import { once } from "node:events";
import type net from "node:net";
import type { TlsOptions } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { compileAnswerCheck, maxBodyBytes } from "../../../probe/rest/checks.js";
import { isUnmeasured, type Measurement } from "../../../probe/rest/measurement.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeRest } from "../../../probe/rest/rest.js";
import type { RestEndpoint } from "../../../shared/registry/registry.js";
import { makeAuthority, selfSigned } from "../../support/certificates.js";
import { saying, serveTcp, serveTls } from "../../support/tcp-server.js";

const mebibyte = 1024 * 1024;
const good = `{"price":1}`;
const goodAnswer = `HTTP/1.1 200 OK\r\nContent-Length: ${good.length}\r\n\r\n${good}`;
const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

function measuring(t: Test, url: string, more: Partial<RestEndpoint> = {}) {
  const rest = makeRest({
    userAgent: "venuewatch/test",
    resolver: makeResolver([]),
    ca: authority.cert,
  });
  t.teardown(() => rest.close());
  const measure = rest.endpoint({
    name: "a",
    label: "A",
    method: "GET",
    url,
    expectStatus: 200,
    proof: "$.price",
    cadenceMs: 5000,
    timeoutMs: patienceMs,
    ...more,
  });
  return async () => {
    const outcome = await measure(new AbortController().signal);
    if (isUnmeasured(outcome)) throw new Error(outcome.unmeasured);
    return outcome;
  };
}

/** Says it once asked; then what follows as fast as the client takes it, without end. */
const pouring = (begin: string, again: string | Buffer) => (socket: net.Socket) => {
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

/** Says it once asked; then piece by piece, without end. */
const dripping = (begin: string, drop: string) => (socket: net.Socket) => {
  socket.once("data", () => {
    socket.write(begin);
    const drip = setInterval(() => socket.write(drop), 10);
    socket.once("close", () => clearInterval(drip));
  });
};

/** Says it once asked, and resets the connection. */
const resetting = (begin: string) => (socket: net.Socket) => {
  socket.once("data", () => {
    if (begin === "") return socket.resetAndDestroy();
    socket.write(begin, () => setTimeout(() => socket.resetAndDestroy(), 20));
  });
};

const ending = (answer: string) => (socket: net.Socket) => {
  socket.once("data", () => socket.end(answer));
};

const encoded = (encoding: string, body: Buffer) =>
  Buffer.concat([Buffer.from(`${ok}Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`), body]);

const zeros = Buffer.alloc(16 * mebibyte);

/** A reset may be noticed a moment earlier or later: some have two faults. */
type Expected = Partial<Omit<Measurement, "fault">> & {
  fault?: Measurement["fault"] | RegExp;
};

interface Hostile {
  name: string;
  talk: (socket: net.Socket) => void;
  expected: Expected;
  /** Where the deadline must not come before what it stands after. */
  timeoutMs?: number;
}

const body = { good: false, fault: "body" } as const;
const timeout = { good: false, fault: "timeout", latencyUs: null } as const;
const closed = { good: false, fault: "closed", latencyUs: null } as const;
const fine = { good: true, fault: null } as const;

const hostile: Hostile[] = [
  // without end
  {
    name: "a body without end",
    talk: pouring(`${ok}\r\n`, " "),
    expected: { ...body, latencyUs: null },
  },
  {
    name: "a chunked body without end",
    talk: pouring(chunked, "400\r\n" + " ".repeat(1024) + "\r\n"),
    expected: body,
  },
  {
    name: "chunks of one byte without end",
    talk: pouring(chunked, "1\r\n \r\n"),
    expected: body,
  },
  {
    name: "a reason phrase without end",
    talk: pouring("HTTP/1.1 200 ", "x"),
    expected: body,
  },
  {
    name: "one header without end",
    talk: pouring(`${ok}X-A: `, "x"),
    expected: body,
  },
  { name: "a header name without end", talk: pouring(ok, "x"), expected: body },
  {
    name: "headers without end",
    talk: pouring(ok, "X-A: b\r\n"),
    expected: body,
  },
  {
    name: "white space in a header without end",
    talk: pouring(`${ok}X-A:`, " "),
    expected: body,
  },
  {
    name: "a chunk's extension without end",
    talk: pouring(`${chunked}1;a=`, "x"),
    expected: body,
  },
  {
    name: "trailers without end",
    talk: pouring(`${chunked}0\r\n`, "X-A: b\r\n"),
    expected: body,
  },
  {
    name: "empty lines before an answer without end",
    talk: pouring("", "\r\n"),
    expected: body,
  },
  {
    name: "early hints without end",
    talk: pouring("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    expected: body,
  },
  {
    name: "processing without end",
    talk: pouring("", "HTTP/1.1 102 Processing\r\n\r\n"),
    expected: body,
  },
  {
    name: "continue without end",
    talk: pouring("", "HTTP/1.1 100 Continue\r\n\r\n"),
    expected: body,
  },
  // by drops
  {
    name: "a body by drops",
    talk: dripping(`${ok}\r\n`, " "),
    expected: timeout,
  },
  {
    name: "chunks by drops",
    talk: dripping(chunked, "1\r\n \r\n"),
    expected: timeout,
  },
  {
    name: "a status line by drops",
    talk: dripping("", "HTTP/1.1 200 OK"[0]!),
    expected: body,
  },
  {
    name: "headers by drops",
    talk: dripping(ok, "X: y\r\n"),
    expected: timeout,
  },
  {
    name: "early hints by drops, until they are too many",
    talk: dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
    expected: body,
  },
  {
    name: "nothing at all",
    talk: (socket) => socket.resume(),
    expected: timeout,
  },
  {
    name: "headers and nothing more",
    talk: saying(`${ok}Content-Length: 99\r\n\r\n`),
    expected: { ...timeout, httpStatus: 200 },
    timeoutMs: 10_000,
  },
  // interim answers that are none of ours
  {
    name: "early hints, then the answer",
    talk: saying(`HTTP/1.1 103 Early Hints\r\n\r\n${goodAnswer}`),
    expected: { ...fine, httpStatus: 200 },
  },
  {
    name: "an upgrade that nobody asked for",
    talk: saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
    expected: body,
  },
  {
    name: "an offer of another protocol beside the answer",
    talk: saying(goodAnswer.replace("\r\n", "\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n")),
    expected: fine,
  },
  // large
  {
    name: "one header of two megabytes",
    talk: saying(`${ok}X-A: ${"x".repeat(2 * mebibyte)}\r\n\r\n`),
    expected: body,
  },
  {
    name: "ten thousand headers",
    talk: saying(
      ok + Array.from({ length: 10_000 }, (_, i) => `X-${i}: y\r\n`).join("") + `Content-Length: 11\r\n\r\n${good}`,
    ),
    expected: body,
  },
  {
    name: "a body a byte too large",
    talk: saying(
      `${ok}Content-Length: ${maxBodyBytes + 1}\r\n\r\n${good}${" ".repeat(maxBodyBytes + 1 - good.length)}`,
    ),
    expected: body,
  },
  {
    name: "a body as large as may be",
    talk: saying(`${ok}Content-Length: ${maxBodyBytes}\r\n\r\n${good}${" ".repeat(maxBodyBytes - good.length)}`),
    expected: fine,
  },
  // bombs
  {
    name: "a gzip bomb",
    talk: saying(encoded("gzip", gzipSync(zeros))),
    expected: body,
  },
  {
    name: "a deflate bomb",
    talk: saying(encoded("deflate", deflateSync(zeros))),
    expected: body,
  },
  {
    name: "a brotli bomb",
    talk: saying(encoded("br", brotliCompressSync(zeros))),
    expected: body,
  },
  {
    name: "a bomb in a bomb",
    talk: saying(encoded("gzip, gzip", gzipSync(gzipSync(zeros)))),
    expected: body,
  },
  {
    name: "gzip of many empty members",
    talk: saying(encoded("gzip", Buffer.concat(Array<Buffer>(20_000).fill(gzipSync(""))))),
    expected: body,
  },
  {
    name: "gzip cut short",
    talk: saying(encoded("gzip", gzipSync(good).subarray(0, 15))),
    expected: body,
  },
  {
    name: "an encoding that it is not",
    talk: saying(encoded("br", Buffer.from(good))),
    expected: body,
  },
  // JSON to choke on
  {
    name: "half a million brackets",
    talk: saying(`${ok}Content-Length: 1000000\r\n\r\n${"[".repeat(500_000)}${"]".repeat(500_000)}`),
    expected: body,
  },
  {
    name: "JSON that is no UTF-8",
    talk: saying(encoded("identity", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))),
    expected: body,
  },
  // redirects
  ...[301, 302, 303, 307, 308].map((status) => ({
    name: `a redirect to itself, ${status}`,
    talk: saying(`HTTP/1.1 ${status} Go\r\nLocation: /\r\nContent-Length: 0\r\n\r\n`),
    expected: { good: false, fault: "http" as const, httpStatus: status },
  })),
  // bad chunking
  {
    name: "a chunk shorter than it says",
    talk: ending(`${chunked}20\r\n${good}\r\n0\r\n\r\n`),
    expected: closed,
  },
  {
    name: "a chunk longer than it says",
    talk: saying(`${chunked}3\r\n${good}\r\n0\r\n\r\n`),
    expected: body,
  },
  {
    name: "no last chunk",
    talk: ending(`${chunked}b\r\n${good}\r\n`),
    expected: closed,
  },
  {
    name: "no last chunk, and silence",
    talk: saying(`${chunked}b\r\n${good}\r\n`),
    expected: timeout,
  },
  {
    name: "a chunk of a negative size",
    talk: saying(`${chunked}-b\r\n${good}\r\n0\r\n\r\n`),
    expected: body,
  },
  {
    name: "a chunk larger than any number",
    talk: saying(`${chunked}fffffffffffffffff\r\n${good}`),
    expected: body,
  },
  {
    name: "a chunk whose size is no number",
    talk: saying(`${chunked}zz\r\n${good}\r\n0\r\n\r\n`),
    expected: body,
  },
  {
    name: "chunks ended by a bare line feed",
    talk: saying(`${chunked}b\n${good}\n0\n\n`),
    expected: body,
  },
  // lengths that lie
  {
    name: "a length too long",
    talk: ending(`${ok}Content-Length: 99\r\n\r\n${good}`),
    expected: closed,
  },
  {
    name: "a length too short",
    talk: saying(`${ok}Content-Length: 5\r\n\r\n${good}`),
    expected: body,
  },
  {
    name: "two lengths that differ",
    talk: saying(`${ok}Content-Length: 11\r\nContent-Length: 12\r\n\r\n${good}`),
    expected: body,
  },
  {
    name: "a negative length",
    talk: saying(`${ok}Content-Length: -1\r\n\r\n${good}`),
    expected: body,
  },
  {
    name: "a length larger than any number",
    talk: saying(`${ok}Content-Length: 99999999999999999999999\r\n\r\n${good}`),
    expected: body,
  },
  {
    name: "a length and chunks",
    talk: saying(`${ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n${good}\r\n0\r\n\r\n`),
    expected: body,
  },
  // no HTTP, or another one
  {
    name: "an answer without a status line",
    talk: ending(good),
    expected: body,
  },
  {
    name: "the preface of HTTP/2",
    talk: saying(Buffer.from("000000040000000000", "hex")),
    expected: body,
  },
  {
    name: "a status that is none",
    talk: saying("HTTP/1.1 99 Low\r\n\r\n"),
    expected: body,
  },
  {
    name: "a status of five digits",
    talk: saying("HTTP/1.1 20000 OK\r\n\r\n"),
    expected: body,
  },
  { name: "null bytes", talk: saying(Buffer.alloc(4096)), expected: body },
  {
    name: "an answer of HTTP/1.0 that ends with its connection",
    talk: ending(`HTTP/1.0 200 OK\r\n\r\n${good}`),
    expected: fine,
  },
  // empty
  {
    name: "no content, with content",
    talk: saying(`HTTP/1.1 204 No Content\r\nContent-Length: 11\r\n\r\n${good}`),
    expected: { good: false, httpStatus: 204, fault: "http" },
  },
  {
    name: "not modified",
    talk: saying("HTTP/1.1 304 Not Modified\r\n\r\n"),
    expected: { good: false, httpStatus: 304, fault: "http" },
  },
  {
    name: "no body",
    talk: saying(`${ok}Content-Length: 0\r\n\r\n`),
    expected: { ...body, httpStatus: 200 },
  },
  // ends and resets at each phase
  {
    name: "reset when accepted",
    talk: (socket) => socket.resetAndDestroy(),
    expected: { good: false, fault: /^(connect|closed)$/ },
  },
  {
    name: "ended when accepted",
    talk: (socket) => socket.end(),
    expected: closed,
  },
  { name: "reset after the request", talk: resetting(""), expected: closed },
  {
    name: "reset in the status line",
    talk: resetting("HTTP/1."),
    expected: closed,
  },
  {
    name: "reset in the headers",
    talk: resetting(`${ok}X-A: `),
    expected: closed,
  },
  {
    name: "reset in the body",
    talk: resetting(`${ok}Content-Length: 99\r\n\r\n{`),
    expected: { ...closed, httpStatus: 200 },
  },
  {
    name: "reset in a chunk",
    talk: resetting(`${chunked}20\r\n{`),
    expected: closed,
  },
  {
    name: "ended in the headers",
    talk: ending(`${ok}X-A: `),
    expected: closed,
  },
];

/** What ends by its own must not be ended by the clock of a loaded machine. */
const patienceMs = 25_000;
const shortMs = 2000;

/** All at once: what they may take of time and memory, they may take together. */
void t.test("whatever a server answers, the fault is the right one, in bounded time and memory", async (t) => {
  const atStart = process.memoryUsage.rss();
  let peak = atStart;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  t.teardown(() => clearInterval(watch));
  await Promise.all(
    hostile.map(async ({ name, talk, expected, timeoutMs: own }) => {
      const port = await serveTcp(t, talk);
      const timeoutMs = own ?? (expected.fault === "timeout" ? shortMs : patienceMs);
      const url = `http://127.0.0.1:${port}/`;
      const measured = await measuring(t, url, { timeoutMs })();
      t.match(measured, { fresh: true, ...expected }, name, { measured });
    }),
  );
  // servers that pour for as long as they may would have sent gigabytes by then; theirs and ours together
  const tookMiB = (peak - atStart) / mebibyte;
  t.ok(tookMiB < 256, `${tookMiB} MiB`);
});

/**
 * Answers well, and then, unasked, once more: what an attacker would like to be taken for the answer to the next
 * request.
 */
const smuggled = `HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"price":666}`;

for (const [when, afterMs] of [
  ["at once", 0],
  ["a little later", 30],
] as const)
  void t.test(`an answer that nobody asked for, ${when}, is never taken for the next one`, async (t) => {
    let connections = 0;
    let hungUp: Promise<unknown> | undefined;
    const port = await serveTcp(t, (socket) => {
      connections += 1;
      hungUp ??= once(socket, "close");
      socket.on("data", () => {
        const answer = goodAnswer.replace(good, `{"head": ${connections}}`);
        if (afterMs === 0) return socket.write(answer + smuggled);
        socket.write(answer);
        setTimeout(() => socket.write(smuggled), afterMs);
      });
    });
    const measure = measuring(t, `http://127.0.0.1:${port}/`, {
      proof: "$.head",
      head: { path: "$.head", encoding: "integer" },
    });
    t.match(await measure(), { good: true, head: 1, fresh: true });
    // before it is read, nobody can tell it from the answer to what is asked next
    if (afterMs > 0) await hungUp;
    t.match(await measure(), { good: true, head: 2, fresh: true }, "the connection is not used again");
  });

void t.test("a server that half closes after its answer, or closes slowly, costs no slot", async (t) => {
  let connections = 0;
  let hungUp: Promise<unknown> | undefined;
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    socket.allowHalfOpen = true;
    socket.once("data", () => socket.end(goodAnswer));
    hungUp = once(socket, "close");
  });
  const measure = measuring(t, `http://127.0.0.1:${port}/`);
  for (let slot = 0; slot < 3; slot += 1) {
    t.match(await measure(), { good: true, fresh: true });
    await hungUp;
  }
  t.equal(connections, 3);
});

const authority = makeAuthority();
const names = ["127.0.0.1"];
const day = 86_400_000;
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * day);
const inAWeek = inDays(7);
const rightOne = authority.vouchFor({ names, until: inAWeek });

const refused = { good: false, fault: "tls", latencyUs: null } as const;

const handshakes: {
  name: string;
  options: TlsOptions;
  expected: Expected;
}[] = [
  {
    name: "a good certificate",
    options: rightOne,
    expected: { ...fine, certificateExpiresAt: inAWeek },
  },
  {
    name: "one that has expired",
    options: authority.vouchFor({ names, from: inDays(-9), until: inDays(-2) }),
    expected: { ...refused, certificateExpiresAt: inDays(-2) },
  },
  {
    name: "one that is not valid yet",
    options: authority.vouchFor({ names, from: inDays(2), until: inDays(9) }),
    expected: { ...refused, certificateExpiresAt: inDays(9) },
  },
  {
    name: "one that vouches for itself",
    options: selfSigned({ names, until: inAWeek }),
    expected: { ...refused, certificateExpiresAt: inAWeek },
  },
  {
    name: "one for another name",
    options: authority.vouchFor({
      names: ["other.test", "127.0.0.2"],
      until: inAWeek,
    }),
    expected: { ...refused, certificateExpiresAt: inAWeek },
  },
  {
    name: "one of an authority that nobody knows",
    options: makeAuthority("Nobody").vouchFor({ names, until: inAWeek }),
    expected: { ...refused, certificateExpiresAt: inAWeek },
  },
  {
    name: "TLS 1.0 alone",
    options: {
      ...rightOne,
      minVersion: "TLSv1",
      maxVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
    },
    expected: { ...refused, certificateExpiresAt: null },
  },
  {
    name: "no cipher that is any good",
    options: {
      ...rightOne,
      maxVersion: "TLSv1.2",
      ciphers: "ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0",
    },
    expected: { ...refused, certificateExpiresAt: null },
  },
  {
    name: "a certificate asked of us",
    options: {
      ...rightOne,
      requestCert: true,
      rejectUnauthorized: true,
      ca: authority.cert,
    },
    expected: { good: false, fault: /^(tls|closed)$/ },
  },
];

for (const { name, options, expected } of handshakes)
  void t.test(`a server with ${name}: ${String(expected.fault ?? "good")}`, async (t) => {
    const port = await serveTls(t, options, saying(goodAnswer));
    const measured = await measuring(t, `https://127.0.0.1:${port}/`)();
    t.match(measured, { fresh: true, ...expected });
    t.type(measured.connectUs, "number", "it was reached");
  });

for (const [name, talk] of [
  ["a chunk's extension without end", pouring(`${chunked}1;a=`, "x")],
  ["a reason phrase without end", pouring("HTTP/1.1 200 ", "x")],
] as const)
  void t.test(`${name}, behind TLS: body`, async (t) => {
    const port = await serveTls(t, rightOne, talk);
    const measured = await measuring(t, `https://127.0.0.1:${port}/`)();
    t.match(measured, { ...body, fresh: true, certificateExpiresAt: inAWeek });
  });

const brokenHandshakes: Hostile[] = [
  {
    name: "plain HTTP where TLS is spoken",
    talk: saying(goodAnswer),
    expected: refused,
  },
  {
    name: "silence in the handshake",
    talk: (socket) => socket.resume(),
    expected: timeout,
  },
  { name: "an end in the handshake", talk: ending(""), expected: refused },
  { name: "a reset in the handshake", talk: resetting(""), expected: refused },
  // the head of a record of a server's hello, that never comes
  {
    name: "half a hello",
    talk: saying(Buffer.from("160303004a020000460303", "hex")),
    expected: timeout,
  },
  {
    name: "half a hello, and a reset",
    talk: resetting("\x16\x03\x03\x00\x4a\x02"),
    expected: refused,
  },
  {
    name: "an alert",
    talk: saying(Buffer.from("15030300020228", "hex")),
    expected: refused,
  },
  {
    name: "records without end",
    talk: pouring("", Buffer.alloc(65_536, Buffer.from("1603030001ff", "hex"))),
    expected: refused,
  },
];

for (const { name, talk, expected } of brokenHandshakes)
  void t.test(`${name}: ${String(expected.fault)}`, async (t) => {
    const port = await serveTcp(t, talk);
    const timeoutMs = expected.fault === "timeout" ? 400 : patienceMs;
    const url = `https://127.0.0.1:${port}/`;
    const measured = await measuring(t, url, { timeoutMs })();
    t.match(measured, { ...expected, fresh: true, tlsUs: null });
  });

void t.test("TLS where plain HTTP is spoken: no good answer", async (t) => {
  const port = await serveTls(t, rightOne, saying(goodAnswer));
  const measured = await measuring(t, `http://127.0.0.1:${port}/`)();
  t.match(measured, { good: false, certificateExpiresAt: null });
  t.match(measured.fault, /^(body|closed)$/);
});

void t.test(
  "an answer of a mebibyte that is made to be hard to read holds the probe up for no longer than reading its JSON takes",
  (t) => {
    const texts = {
      brackets: "[".repeat(maxBodyBytes / 2) + "]".repeat(maxBodyBytes / 2),
      objects: `{"a":`.repeat(100_000) + "1" + "}".repeat(100_000),
      keys: `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join()}}`,
      numbers: `{${Array.from({ length: 50_000 }, (_, i) => `"${i * 50_021}":1`).join()}}`,
      escapes: `["${"\\u0000".repeat(170_000)}"]`,
      digits: `[${"1".repeat(maxBodyBytes - 2)}]`,
    };
    const check = compileAnswerCheck({ proof: "$.price" });
    for (const [name, text] of Object.entries(texts)) {
      const bytes = Buffer.from(text);
      t.ok(bytes.length <= maxBodyBytes, name);
      const parseMs = leastMs(() => void JSON.parse(text));
      const checkMs = leastMs(() => t.match(check(bytes, undefined), { good: false, head: null }));
      t.ok(checkMs < 10 * parseMs + 50, `${name}: ${checkMs} ms, and ${parseMs} of it for JSON`);
    }
    t.end();
  },
);

/** Of a few: what else the machine does is not meant. */
function leastMs(run: () => void): number {
  const tookMs = Array.from({ length: 3 }, () => {
    const begunMs = performance.now();
    run();
    return performance.now() - begunMs;
  });
  return Math.min(...tookMs);
}
