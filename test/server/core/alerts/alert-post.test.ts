/**
 * How alerts are posted, and what becomes of the receiver's answer. Hostile answers are in hostile-servers.test.ts.
 */
import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";
import net, { type Socket } from "node:net";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import tls, { type TLSSocket } from "node:tls";
import t, { type Test } from "tap";
import { answerWithinMs } from "../../../../server/core/alerts/post.js";
import type { DeliveryOutcome } from "../../../../server/core/alerts/retry-rules.js";
import {
  authority,
  bodyOf,
  good,
  hostName,
  identity,
  listening,
  post,
  posterFor,
  requestTo,
  type Respond,
  secret,
  serve,
  serveRaw,
  serveSecurely,
} from "../../../support/alert-receivers.js";
import { type Identity, makeAuthority, selfSigned } from "../../../support/certificates.js";
import { freePort } from "../../../support/free-port.js";
import { until } from "../../../support/until.js";

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

// Over which connections alerts are posted: to which addresses, with which certificates, and when they break.

void t.test("a connection that breaks before or in the TLS handshake is no answer", async (t) => {
  const ends: [string, (socket: Socket) => void][] = [
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed", (socket) => socket.end()],
  ];
  for (const [how, end] of ends) {
    const inHandshake = (socket: Socket) => void socket.once("data", () => end(socket));
    for (const talk of [end, inHandshake]) {
      // a reset may arrive before this side knows that the connection is open
      const stage = talk === end ? "(a connection|TLS)" : "TLS";
      const error = new RegExp(`^expected ${stage} of hooks\\.test, got a broken connection`);
      const { port } = new URL(await serveRaw(t, talk));
      const outcome = await post(t, posterFor(t), `https://${hostName}:${port}`);
      t.match(outcome, { result: "unreachable", status: null, error }, how);
    }
  }
});

void t.test("an address where nothing listens is unreachable", async (t) => {
  const outcome = await post(t, posterFor(t), `http://127.0.0.1:${await freePort()}`);
  const error = "expected a connection of 127.0.0.1, got a refused connection (ECONNREFUSED)";
  t.match(outcome, { result: "unreachable", status: null, error });
});

void t.test("a certificate must be valid for this name, now", async (t) => {
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  const names = [hostName];
  const stranger = makeAuthority("Somebody else");
  const issued = (more: object) => authority.vouchFor({ names, ...more });
  const otherName = /got a certificate for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)$/;
  const cases: [Identity, error: RegExp][] = [
    [selfSigned({ names }), /got a self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/],
    [stranger.vouchFor({ names }), /got a certificate from an unknown authority \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)$/],
    [issued({ names: ["example.com"] }), otherName],
    [issued({ names: ["127.0.0.1"] }), otherName],
    [issued({ names: ["hooks.test.example.com"] }), otherName],
    [issued({ from: days(-2), until: days(-1) }), /got an expired certificate \(CERT_HAS_EXPIRED\)$/],
    [issued({ from: days(1), until: days(2) }), /got a certificate that is not valid yet \(CERT_NOT_YET_VALID\)$/],
  ];
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  let requests = 0;
  for (const [as, error] of cases) {
    const origin = await serveSecurely(t, () => (requests += 1), as);
    t.match(await post(t, posterFor(t), origin), { result: "unreachable", status: null, error });
  }
  const origin = await serveSecurely(t, () => (requests += 1));
  const unsigned = await post(t, posterFor(t, { ca: undefined }), origin);
  t.match(unsigned, { result: "unreachable", error: /got a certificate/ }, "the usual authorities did not sign it");
  t.equal(requests, 0, "none of these servers received a request");
});

void t.test("obsolete TLS versions are refused", async (t) => {
  const plain = new URL(await serve(t, (_request, response) => response.end())).port;
  const toPlain = await post(t, posterFor(t), `https://${hostName}:${plain}`);
  t.match(toPlain, { result: "unreachable", error: /^expected TLS of hooks\.test, got invalid TLS \(/ });
  const versions = { minVersion: "TLSv1", maxVersion: "TLSv1.1" } as const;
  const old = tls.createServer({ ...identity, ...versions, ciphers: "DEFAULT@SECLEVEL=0" });
  const toOld = await post(t, posterFor(t), `https://${hostName}:${await listening(t, old)}`);
  t.match(toOld, { result: "unreachable", error: /^expected TLS of hooks\.test, got / });
});

void t.test("an IP address and localhost work as hosts, and are never looked up", async (t) => {
  const respond: Respond = (_request, response) => response.end();
  const as = authority.vouchFor({ names: ["127.0.0.1"] });
  const { port: securePort } = new URL(await serveSecurely(t, respond, as));
  const { port } = new URL(await serve(t, respond));
  const poster = posterFor(t, { lookup: () => Promise.reject(new Error("looked up")) });
  for (const origin of [`https://127.0.0.1:${securePort}`, `https://0x7f.1:${securePort}`, `http://localhost:${port}`])
    t.match(await post(t, poster, origin), { result: "delivered" }, origin);
});

void t.test("no alert is sent to an unsafe address", async (t) => {
  let requests = 0;
  const origin = await serveSecurely(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  const { port } = new URL(origin);
  const expected = `expected public addresses of ${hostName}, but`;
  const withHttp = "expected a URL with https:, got http: to";
  const withUser = "expected a URL without user and password, got one with them before";
  const publicOnly: [url: string, addresses: string[], error: string][] = [
    [`https://${hostName}`, ["127.0.0.1"], `${expected} 127.0.0.1 is loopback`],
    [`https://${hostName}`, ["::1"], `${expected} ::1 is loopback`],
    [`https://${hostName}`, ["::ffff:127.0.0.1"], `${expected} ::ffff:127.0.0.1 is loopback`],
    [`https://${hostName}`, ["10.0.0.7"], `${expected} 10.0.0.7 is private`],
    [`https://${hostName}`, ["8.8.8.8", "10.0.0.7"], `${expected} 10.0.0.7 is private`],
    [`https://${hostName}`, ["2606:4700::1111", "8.8.8.8", "fd00::1"], `${expected} fd00::1 is private`],
    [`https://${hostName}`, ["8.8.8.8", "nonsense"], `${expected} nonsense is no address`],
    ["https://127.0.0.1", [], "127.0.0.1 is loopback"],
    ["https://[::1]", [], "::1 is loopback"],
    ["https://localhost", [], "localhost is loopback"],
  ];
  const withLoopback: typeof publicOnly = [
    [`https://${secret}@${hostName}`, ["127.0.0.1"], `${withUser} ${hostName}`],
    [`http://${hostName}`, ["127.0.0.1"], `${withHttp} ${hostName}`],
    ["http://8.8.8.8", [], `${withHttp} 8.8.8.8`],
    [`https://${hostName}`, ["127.0.0.1", "10.0.0.7"], `${expected} 10.0.0.7 is private`],
  ];
  for (const [cases, allowLoopback] of [
    [publicOnly, false],
    [withLoopback, true],
  ] as const)
    for (const [url, addresses, error] of cases) {
      const poster = posterFor(t, { allowLoopback, lookup: resolvingTo(addresses) });
      t.match(await post(t, poster, `${url}:${port}`), { result: "unsafe", status: null, error, answer: null });
    }
  t.equal(requests, 0);
});

const resolvingTo = (addresses: string[]) => () =>
  Promise.resolve(addresses.map((address) => ({ address, family: net.isIP(address) })));

void t.test("the name is resolved once, and the checked address is the one connected to", async (t) => {
  const origin = await serveSecurely(t, (_request, response) => {
    response.setHeader("connection", "close").end();
  });
  const addresses = ["127.0.0.1", "10.0.0.7"];
  let lookups = 0;
  const poster = posterFor(t, { lookup: () => resolvingTo([addresses[lookups++]!])() });
  t.match(await post(t, poster, origin), { result: "delivered" });
  t.equal(lookups, 1);
  const second = await post(t, poster, origin);
  t.match(second, { result: "unsafe", error: /10\.0\.0\.7 is private/ }, "a new connection checks the name again");
  t.equal(lookups, 2);
});

void t.test("one working address of two is enough", async (t) => {
  const origin = await serveSecurely(t, (_request, response) => response.end());
  for (const addresses of ["127.0.0.2,127.0.0.1", "::1,127.0.0.1", "127.0.0.1,127.0.0.2"]) {
    const poster = posterFor(t, { lookup: resolvingTo(addresses.split(",")) });
    t.match(await post(t, poster, origin), { result: "delivered" }, addresses);
  }
});

void t.test("a name without an address is reported with its reason", async (t) => {
  const failing = (code: string) =>
    posterFor(t, { lookup: () => Promise.reject(Object.assign(new Error(secret), { code })) });
  const cases: [code: string, result: DeliveryOutcome["result"], error: string][] = [
    ["ENOTFOUND", "unreachable", "no such name"],
    ["ENODATA", "unreachable", "a name without addresses"],
    ["EBADNAME", "unreachable", "an invalid name"],
    ["ESERVFAIL", "ours", "no definite answer"],
    ["EAI_AGAIN", "ours", "no definite answer"],
    ["ECONNREFUSED", "ours", "no definite answer"],
  ];
  for (const [code, result, error] of cases)
    t.match(await post(t, failing(code), `https://${hostName}`), {
      result,
      error: `expected an address of ${hostName}, got ${error} (${code})`,
    });
  const none = posterFor(t, { lookup: () => Promise.resolve([]) });
  t.match(await post(t, none, `https://${hostName}`), { result: "unreachable", error: /ENODATA/ });
});

void t.test("a connection is reused for the next alert to the same name only", async (t) => {
  const sockets: tls.TLSSocket[] = [];
  const origin = await serveSecurely(t, (request, response) => {
    sockets.push(request.socket as tls.TLSSocket);
    response.end();
  });
  const poster = posterFor(t);
  const other = origin.replace(hostName, "other.test");
  for (const each of [origin, origin, other, origin, other])
    t.match(await post(t, poster, each), { result: "delivered" });
  t.equal(sockets.length, 5);
  const [first, , second] = sockets as [tls.TLSSocket, tls.TLSSocket, tls.TLSSocket];
  t.strictSame([first.servername, second.servername], [hostName, "other.test"]);
  t.ok([first, first, second, first, second].every((socket, nth) => socket === sockets[nth]));
  const warned: Error[] = [];
  const warn = (warning: Error) => warned.push(warning);
  process.on("warning", warn);
  for (let nth = 0; nth < 12; nth += 1) await post(t, poster, origin);
  await turn();
  process.off("warning", warn);
  t.equal(sockets.at(-1), first);
  t.strictSame(warned, [], "listeners do not accumulate");
});

void t.test("a reused connection that the receiver closes is no fault of it, and no alert is sent twice", async (t) => {
  for (const end of ["resetAndDestroy", "end"] as const) {
    let requests = 0;
    const origin = await serveRaw(t, (socket) => {
      socket.once("data", () => {
        requests += 1;
        socket.write(good);
        socket.once("data", () => {
          requests += 1;
          socket[end]();
        });
      });
    });
    const poster = posterFor(t);
    t.match(await post(t, poster, origin), { result: "delivered" });
    t.match(await post(t, poster, origin), {
      result: "ours",
      status: null,
      error: "expected an answer of 127.0.0.1, got a broken connection (ECONNRESET); the connection was reused",
    });
    t.equal(requests, 2);
    t.match(await post(t, poster, origin), { result: "delivered" }, "the next uses a new connection");
    t.equal(requests, 3);
  }
});

void t.test("receivers that hang do not delay others, not even of the same origin", async (t) => {
  let hanging = 0;
  const origin = await serve(t, (request, response) => {
    if (request.url === "/good") response.end();
    else hanging += 1;
  });
  const poster = posterFor(t);
  const bad = Array.from({ length: 60 }, () => poster.post(requestTo(`${origin}/bad`)));
  await until(() => hanging === 60);
  for (let nth = 0; nth < 10; nth += 1)
    t.match(await poster.post(requestTo(`${origin}/good`)), { result: "delivered" });
  await poster.close();
  const error = "expected to wait for the answer, but this program is stopping";
  for (const outcome of await Promise.all(bad)) t.match(outcome, { result: "ours", status: null, error });
  t.match(await poster.post(requestTo(origin)), { result: "ours" }, "nothing is sent after the stop");
});
