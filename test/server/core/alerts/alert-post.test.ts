/**
 * How alerts are posted, and what becomes of the receiver's answer. Hostile answers are in hostile-servers.test.ts.
 */
import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import t, { type Test } from "tap";
import { answerWithinMs } from "../../../../server/core/alerts/post.js";
import type { DeliveryOutcome } from "../../../../server/core/alerts/retry-rules.js";
import {
  bodyOf,
  good,
  requestTo,
  hostName,
  post,
  posterFor,
  secret,
  serve,
  serveRaw,
  serveSecurely,
} from "../../../support/alert-receivers.js";

void t.test("spec: POST with content type application/json to the URL of the channel", async (t) => {
  const arrivals: { line: string; body: string; request: IncomingMessage }[] = [];
  const origin = await serveSecurely(t, (request, response) => {
    void bodyOf(request).then((body) => {
      arrivals.push({ line: `${request.method} ${request.url}`, body, request });
      response.end("thank you");
    });
  });
  const text = '{"eventId":0,  "venue":"Bücher"}\n';
  const outcome = await posterFor(t).post(requestTo(`${origin}/hook?key=${secret}#part`, text));
  t.match(outcome, { result: "delivered", status: 200, error: null, answer: "thank you", retryAfterMs: null });
  t.ok(Number.isInteger(outcome.durationMs) && outcome.durationMs >= 0);
  t.equal(arrivals.length, 1);
  const { line, body, request } = arrivals[0]!;
  t.equal(line, `POST /hook?key=${secret}`);
  t.equal(body, text, "byte for byte");
  t.strictSame(request.headers, {
    host: new URL(origin).host,
    connection: "keep-alive",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    "x-signature": secret,
  });
  t.equal((request.socket as TLSSocket).servername, hostName);
});

void t.test("2xx counts as delivered, any other status does not", async (t) => {
  const origin = await serve(t, (request, response) => {
    response.statusCode = Number(request.headers["x-status"]);
    response.end(response.statusCode === 204 ? undefined : "so it is");
  });
  const poster = posterFor(t);
  for (const status of [200, 201, 202, 204, 226, 299, 304, 400, 404, 410, 429, 500, 503, 599, 999]) {
    const request = requestTo(origin);
    request.headers["x-status"] = String(status);
    const refusal = `expected a status of 2xx from 127.0.0.1, got ${status}`;
    t.match(await poster.post(request), {
      ...(status < 300 ? { result: "delivered", error: null } : { result: "refused", error: refusal }),
      status,
      answer: [204, 304].includes(status) ? null : "so it is",
      retryAfterMs: null,
    });
  }
});

void t.test("spec: redirects are not followed", async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    let requests = 0;
    const origin = await serve(t, (request, response) => {
      requests += 1;
      response.writeHead(status, { location: `/elsewhere${request.url}` }).end();
    });
    const error = `expected a status of 2xx from 127.0.0.1, got ${status}; redirects are not followed`;
    t.match(await post(t, posterFor(t), origin), { result: "refused", status, error });
    t.equal(requests, 1);
  }
});

void t.test("Retry-After of a refusal is read", async (t) => {
  const inAMinute = new Date(Date.now() + 61_000).toUTCString();
  const cases: [retryAfter: string | null, ms: number | null][] = [
    ["3", 3000],
    ["600", 600_000],
    ["601", 600_000],
    ["99999999999999999999999", 600_000],
    [inAMinute, 61_000],
    ["Wed, 21 Oct 2099 07:28:00 GMT", 600_000],
    ["Wed, 21 Oct 2015 07:28:00 GMT", null],
    ["0", null],
    ["soon", null],
    ["", null],
    [null, null],
  ];
  const poster = posterFor(t);
  for (const status of [200, 302, 404, 429, 503])
    for (const [retryAfter, ms] of cases) {
      const headers = retryAfter === null ? {} : { "retry-after": retryAfter };
      const origin = await serve(t, (_request, response) => response.writeHead(status, headers).end());
      const { retryAfterMs } = await post(t, poster, origin);
      const which = `${status} ${retryAfter}`;
      if (status === 200) t.equal(retryAfterMs, null, which);
      else if (retryAfter === inAMinute) t.ok(retryAfterMs! >= 50_000 && retryAfterMs! <= ms!, which);
      else t.equal(retryAfterMs, ms, which);
    }
});

void t.test("spec: the receiver answers with a 2xx status within 10 seconds, anything else is a failure", async (t) => {
  t.equal(answerWithinMs, 10_000);
  const requests = new EventEmitter();
  const origin = await serve(t, () => requests.emit("request"));
  const poster = posterFor(t);
  const request = once(requests, "request");
  // only timers are fake: sockets are real
  mock.timers.enable({ apis: ["setTimeout"] });
  t.teardown(() => mock.timers.reset());
  let outcome: DeliveryOutcome | null = null;
  const posting = poster.post(requestTo(origin)).then((one) => (outcome = one));
  await request;
  mock.timers.tick(9_999);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  t.equal(outcome, null);
  mock.timers.tick(1);
  const error = "expected an answer of 127.0.0.1 within 10 s, got none";
  t.match(await posting, { result: "timeout", status: null, error });
});

void t.test("a request that takes too long is cut off, at every stage", async (t) => {
  const deadlineMs = 400;
  const cutOff = async (t: Test, origin: string, expected: object) => {
    const outcome = await post(t, posterFor(t, { deadlineMs }), origin);
    t.match(outcome, { result: "timeout", retryAfterMs: null, ...expected });
    t.ok(outcome.durationMs >= deadlineMs - 2);
  };
  const silent = await serveRaw(t, (socket) => socket.resume());

  await t.test("in a body that drips", async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write("HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n");
      const timer = setInterval(() => socket.write("1\r\nx\r\n"), 10);
      socket.once("close", () => clearInterval(timer));
    });
    const error = "expected the end of the answer of 127.0.0.1 within 0.4 s, got none";
    await cutOff(t, origin, { status: 500, error, answer: /^x+$/ });
  });
  await t.test("in an unanswered TLS handshake", async (t) => {
    const error = `expected TLS of ${hostName} within 0.4 s, got none`;
    await cutOff(t, `https://${hostName}:${new URL(silent).port}`, { error });
  });
  await t.test("in a look-up, which is no fault of the receiver", async (t) => {
    const poster = posterFor(t, { deadlineMs, lookup: () => new Promise(() => {}) });
    const error = `expected an address of ${hostName} within 0.4 s, the resolver gave none`;
    t.match(await post(t, poster, `https://${hostName}:1`), { result: "ours", status: null, error });
  });
});

void t.test("a standstill of this machine is no fault of the receiver", async (t) => {
  const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const silent = await serveRaw(t, (socket) => {
    socket.once("data", () => setImmediate(() => standStill(2_300)));
  });
  // long enough for a request to arrive on a busy machine
  const poster = posterFor(t, { deadlineMs: 1_000 });
  t.match(await post(t, poster, silent), {
    result: "ours",
    error: /^expected an answer of 127.0.0.1 within 1 s, but this machine stalled for \d+ s$/,
  });
  const answering = await serveRaw(t, (socket) => {
    socket.once("data", () => {
      socket.write(good);
      standStill(1_200);
    });
  });
  const outcome = await post(t, poster, answering);
  t.match(outcome, { result: "delivered", answer: "ok" }, "an answer that arrived during the standstill counts");
});

void t.test("an endless compressed body takes neither memory nor time, over TLS", async (t) => {
  let bytes = 0;
  let onClose = () => {};
  const closed = new Promise<void>((resolve) => (onClose = resolve));
  const origin = await serveSecurely(t, (_request, response) => {
    response.writeHead(500, { "content-encoding": "gzip" });
    const pour = () => {
      while (response.write("x".repeat(16_384))) bytes += 16_384;
    };
    response.on("drain", pour).on("close", onClose);
    pour();
  });
  t.match(await post(t, posterFor(t), origin), { result: "refused", status: 500, answer: "x".repeat(1000) });
  await closed;
  t.ok(bytes < 16 * 1024 * 1024, `${bytes} bytes fill the buffers between`);
});

void t.test("the beginning of the answer is stored as clean text", async (t) => {
  const cases: [body: string | Buffer, stored: string | null][] = [
    ["", null],
    [" \r\n\0 ", null],
    [" ok\r\nthen\rso\ttoo\n", "ok\nthen\nso too"],
    ["a\u001b[31mred\u0007\u009b\u007f", "a [31mred"],
    ["\ufeffa\u202eb\u2066c", "abc"],
    [Buffer.from([0x61, 0xff, 0xc3]), "a\ufffd\ufffd"],
    ["ü".repeat(1500), "ü".repeat(1000)],
    // no half of a pair
    ["👍".repeat(1500), "👍".repeat(1000)],
    [`Cannot POST /hook/${secret}?token=${secret}`, "Cannot POST …"],
    [`no /hook/${secret} here`, "no … here"],
    [`unknown key ${secret}`, "unknown key …"],
  ];
  for (const [body, stored] of cases) {
    const origin = await serve(t, (_request, response) => response.end(body));
    t.equal((await post(t, posterFor(t), origin)).answer, stored);
  }
});

void t.test("a request ends with its answer, even if the receiver has not read all of it", async (t) => {
  let read = 0;
  const sockets: Socket[] = [];
  const origin = await serveRaw(t, (socket) => {
    sockets.push(socket);
    socket.on("data", (chunk) => (read += chunk.length));
    socket.pause();
    socket.write("HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n");
  });
  const request = { ...requestTo(origin), body: Buffer.alloc(64 * 1024 * 1024) };
  t.match(await posterFor(t).post(request), { result: "refused", status: 413 });
  const closed = once(sockets[0]!, "close");
  sockets[0]!.resume();
  await closed;
  t.ok(read < request.body.length, `only ${read} bytes were sent`);
});

void t.test("our own bugs are thrown, and not reported as the receiver's fault", async (t) => {
  const origin = await serve(t, (_request, response) => response.end());
  const poster = posterFor(t);
  const request = requestTo(origin);
  const withHost = { ...request, headers: { Host: "other.test" } };
  await t.rejects(poster.post(withHost), /expected a request without a host header/);
  await t.rejects(poster.post({ ...request, headers: { a: "b\r\nc: d" } }), { code: "ERR_INVALID_CHAR" });
  for (const bug of [new TypeError("a bug"), Object.assign(new Error("a bug"), { code: "ERR_INVALID_ARG_TYPE" })]) {
    const buggy = posterFor(t, { lookup: () => Promise.reject(bug) });
    await t.rejects(buggy.post(requestTo(`https://${hostName}`)), { message: "a bug" });
  }
  t.match(await poster.post(request), { result: "delivered" });
});
