/** How alerts are posted, to receivers that answer well and badly in all possible ways. */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import tls from "node:tls";
import t, { type Test } from "tap";
import type { WebhookRequest } from "../../../../server/alerts/formats/webhook-request.js";
import {
  answerWithinMs,
  makePoster,
  type Poster,
  type PosterOptions,
} from "../../../../server/alerts/delivery/post.js";
import { type DeliveryOutcome } from "../../../../server/alerts/delivery/outcome.js";
import { makeAuthority, selfSigned, type Identity } from "../../../support/certificates.js";
import { until } from "../../../support/until.js";

const authority = makeAuthority();
const name = "hooks.test";
const identity = authority.vouchFor({ names: [name, "other.test"] });

/** Must never appear in any output. */
const secret = "KS3CR3TK";

/** All test names resolve to this machine. */
const here = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

function posterFor(t: Test, more: Partial<PosterOptions> = {}): Poster {
  const poster = makePoster({
    allowLoopback: true,
    ca: authority.cert,
    lookup: here,
    ...more,
  });
  t.teardown(() => poster.close());
  return poster;
}

function letterTo(url: string, text = `{"key":"${secret}"}`): WebhookRequest {
  return {
    url: new URL(url),
    headers: { "content-type": "application/json", "x-signature": secret },
    body: Buffer.from(text),
  };
}

/** Posts to a secret path, and checks that the outcome does not reveal it. */
async function post(t: Test, poster: Poster, origin: string): Promise<DeliveryOutcome> {
  const outcome = await poster.post(letterTo(`${origin}/hook/${secret}?token=${secret}`));
  t.notMatch(JSON.stringify(outcome), secret, "the outcome reveals no secret");
  t.notMatch(outcome.error ?? "", /[\r\n]/, "an error is one line");
  t.equal(outcome.error === null, outcome.result === "delivered");
  return outcome;
}

async function listening(t: Test, server: net.Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** @returns the server's origin */
async function serve(t: Test, respond: Respond): Promise<string> {
  return `http://127.0.0.1:${await listening(t, http.createServer(respond))}`;
}

async function serveSecurely(t: Test, respond: Respond, as: Identity = identity): Promise<string> {
  const server = https.createServer(as, respond);
  return `https://${name}:${await listening(t, server)}`;
}

/** A TCP server without HTTP. */
async function serveRaw(t: Test, onSocket: (socket: Socket) => void) {
  return `http://127.0.0.1:${await listening(t, net.createServer(onSocket))}`;
}

/** Sends this once a request has arrived, and ends. */
function saying(...parts: string[]): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", () => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
  };
}

const good = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

void t.test("spec: POST with content type application/json to the URL of the channel", async (t) => {
  const asked: { line: string; body: string; request: IncomingMessage }[] = [];
  const origin = await serveSecurely(t, (request, response) => {
    void bodyOf(request).then((body) => {
      const line = `${request.method} ${request.url}`;
      asked.push({ line, body, request });
      response.end("thank you");
    });
  });
  const text = '{"eventId":0,  "venue":"Bücher"}\n';
  const outcome = await posterFor(t).post(letterTo(`${origin}/hook?key=${secret}#part`, text));
  t.match(outcome, {
    result: "delivered",
    status: 200,
    error: null,
    answer: "thank you",
    retryAfterMs: null,
  });
  t.ok(Number.isInteger(outcome.durationMs) && outcome.durationMs >= 0);
  t.equal(asked.length, 1);
  const [{ line, body, request }] = asked as [(typeof asked)[0]];
  t.equal(line, `POST /hook?key=${secret}`);
  t.equal(body, text, "byte for byte");
  t.strictSame(request.headers, {
    host: new URL(origin).host,
    connection: "keep-alive",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    "x-signature": secret,
  });
  t.equal((request.socket as tls.TLSSocket).servername, name);
});

void t.test("2xx counts as delivered, any other status does not", async (t) => {
  const origin = await serve(t, (request, response) => {
    response.statusCode = Number(request.headers["x-status"]);
    response.end(response.statusCode === 204 ? undefined : "so it is");
  });
  const poster = posterFor(t);
  for (const status of [200, 201, 202, 204, 226, 299, 304, 400, 404, 410, 429, 500, 503, 599, 999]) {
    const letter = letterTo(origin);
    letter.headers["x-status"] = String(status);
    const isGood = status < 300;
    t.match(await poster.post(letter), {
      result: isGood ? "delivered" : "refused",
      status,
      error: isGood
        ? null
        : `expected a status of 2xx from 127.0.0.1, got ${status}${status === 304 ? "; redirects are not followed" : ""}`,
      answer: [204, 304].includes(status) ? null : "so it is",
      retryAfterMs: null,
    });
  }
});

void t.test("spec: redirects are not followed", async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    let asked = 0;
    const origin = await serve(t, (request, response) => {
      asked += 1;
      response.writeHead(status, { location: `/elsewhere${request.url}` });
      response.end();
    });
    t.match(await post(t, posterFor(t), origin), {
      result: "refused",
      status,
      error: `expected a status of 2xx from 127.0.0.1, got ${status}; redirects are not followed`,
    });
    t.equal(asked, 1);
  }
});

void t.test("Retry-After of a refusal is read", async (t) => {
  const inAMinute = new Date(Date.now() + 61_000).toUTCString();
  const cases: [retryAfter: string | null, least: number | null, most: number | null][] = [
    ["3", 3000, 3000],
    ["600", 600_000, 600_000],
    ["601", 600_000, 600_000],
    ["99999999999999999999999", 600_000, 600_000],
    [inAMinute, 50_000, 61_000],
    ["Wed, 21 Oct 2099 07:28:00 GMT", 600_000, 600_000],
    ["Wed, 21 Oct 2015 07:28:00 GMT", null, null],
    ["0", null, null],
    ["soon", null, null],
    ["", null, null],
    [null, null, null],
  ];
  const poster = posterFor(t);
  for (const status of [302, 404, 429, 503])
    for (const [retryAfter, least, most] of cases) {
      const origin = await serve(t, (_request, response) => {
        if (retryAfter !== null) response.setHeader("retry-after", retryAfter);
        response.writeHead(status).end();
      });
      const { retryAfterMs } = await post(t, poster, origin);
      if (retryAfterMs === null || least === null || most === null) t.equal(retryAfterMs, least, `${retryAfter}`);
      else t.ok(retryAfterMs >= least && retryAfterMs <= most, `${retryAfter}`);
    }
  const origin = await serve(t, (_request, response) => {
    response.writeHead(200, { "retry-after": "3" }).end();
  });
  t.equal((await post(t, poster, origin)).retryAfterMs, null);
});

void t.test("spec: the receiver answers with a 2xx status within 10 seconds, anything else is a failure", async (t) => {
  t.equal(answerWithinMs, 10_000);
  const origin = await serve(t, () => server.emit("asked"));
  const server = new net.Server();
  const poster = makePoster({ allowLoopback: true });
  t.teardown(() => poster.close());
  const asked = once(server, "asked");
  // only timers are fake: sockets are real
  mock.timers.enable({ apis: ["setTimeout"] });
  t.teardown(() => mock.timers.reset());
  let ended: DeliveryOutcome | null = null;
  const ending = poster.post(letterTo(origin)).then((outcome) => (ended = outcome));
  await asked;
  mock.timers.tick(9_999);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  t.equal(ended, null);
  mock.timers.tick(1);
  t.match(await ending, {
    result: "timeout",
    status: null,
    error: "expected an answer of 127.0.0.1 within 10 s, got none",
  });
});

void t.test("a request that takes too long is cut off, at every stage", async (t) => {
  const deadlineMs = 400;
  const within = (awaited: string, host = "127.0.0.1") => `expected ${awaited} of ${host} within 0.4 s, got none`;
  const cut = async (origin: string, expected: Partial<DeliveryOutcome>) => {
    const outcome = await post(t, posterFor(t, { deadlineMs }), origin);
    t.match(outcome, { result: "timeout", retryAfterMs: null, ...expected });
    t.ok(outcome.durationMs >= deadlineMs - 2);
  };
  const drip = (socket: Socket, part: string) => {
    const timer = setInterval(() => socket.write(part), 10);
    socket.once("close", () => clearInterval(timer));
  };

  await t.test("before a byte of the answer", async (t) => {
    const closed: Promise<unknown>[] = [];
    const origin = await serveRaw(t, (socket) => {
      socket.resume();
      closed.push(once(socket, "close"));
    });
    await cut(origin, {
      status: null,
      error: within("an answer"),
      answer: null,
    });
    await Promise.all(closed);
  });
  await t.test("in headers that drip", async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "a: b\r\n");
    });
    await cut(origin, { status: null, error: within("an answer") });
  });
  await t.test("after an interim answer", async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\n\r\n");
    });
    await cut(origin, { status: null, error: within("an answer") });
  });
  await t.test("in a body that stops", async (t) => {
    const origin = await serve(t, (_request, response) => {
      response.write("well");
    });
    await cut(origin, {
      status: 200,
      error: within("the end of the answer"),
      answer: "well",
    });
  });
  await t.test("in a body that drips", async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write("HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n");
      drip(socket, "1\r\nx\r\n");
    });
    await cut(origin, {
      status: 500,
      error: within("the end of the answer"),
      answer: /^x+$/ as unknown as string,
    });
  });
  await t.test("in an unanswered TLS handshake", async (t) => {
    const port = new URL(await serveRaw(t, (socket) => socket.resume())).port;
    await cut(`https://${name}:${port}`, { error: within("TLS", name) });
  });
  await t.test("in a look-up, which is no fault of the receiver", async (t) => {
    const poster = posterFor(t, {
      deadlineMs,
      lookup: () => new Promise(() => {}),
    });
    t.match(await post(t, poster, `https://${name}:1`), {
      result: "ours",
      status: null,
      error: `expected an address of ${name} within 0.4 s, the resolver gave none`,
    });
  });
});

void t.test("a standstill of this machine is no fault of the receiver", async (t) => {
  const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const silent = await serveRaw(t, (socket) => {
    socket.once("data", () => setImmediate(() => standStill(1300)));
  });
  const poster = posterFor(t, { deadlineMs: 100 });
  t.match(await post(t, poster, silent), {
    result: "ours",
    // one second, plus the machine's own delay
    error: /^expected an answer of 127.0.0.1 within 0.1 s, but this machine stood still for \d+ s$/,
  });
  const answering = await serveRaw(t, (socket) => {
    socket.once("data", () => {
      socket.write(good);
      standStill(300);
    });
  });
  t.match(
    await post(t, poster, answering),
    { result: "delivered", answer: "ok" },
    "an answer that arrived during the standstill counts",
  );
});

void t.test("an endless body takes neither memory nor time", async (t) => {
  for (const [status, result] of [
    [200, "delivered"],
    [500, "refused"],
  ] as const)
    for (const isSecure of [false, true]) {
      let given = 0;
      let closed!: () => void;
      const closing = new Promise<void>((resolve) => (closed = resolve));
      const respond: Respond = (_request, response) => {
        response.writeHead(status, { "content-encoding": "gzip" });
        const more = () => {
          while (response.write("x".repeat(16_384))) given += 16_384;
        };
        response.on("drain", more).on("close", closed);
        more();
      };
      const origin = isSecure ? await serveSecurely(t, respond) : await serve(t, respond);
      t.match(await post(t, posterFor(t), origin), {
        result,
        status,
        answer: "x".repeat(1000),
      });
      await closing;
      t.ok(given < 16 * 1024 * 1024, `${given} bytes fill the buffers between`);
    }
});

void t.test("the beginning of the answer is stored as clean text", async (t) => {
  const told = async (body: string | Buffer, more: string[] = []) => {
    const origin = await serve(t, (_request, response) => {
      for (const part of more) response.write(part);
      response.end(body);
    });
    return (await post(t, posterFor(t), origin)).answer;
  };
  t.equal(await told(""), null);
  t.equal(await told(" \r\n\0 "), null);
  t.equal(await told(" ok\r\nthen\rso\ttoo\n"), "ok\nthen\nso too");
  t.equal(await told("a\u001b[31mred\u0007\u009b\u007f"), "a [31mred");
  t.equal(await told("\ufeffa\u202eb\u2066c"), "abc");
  t.equal(await told(Buffer.from([0x61, 0xff, 0xc3])), "a\ufffd\ufffd");
  t.equal(await told("ü".repeat(1500)), "ü".repeat(1000));
  t.equal(await told("👍".repeat(1500)), "👍".repeat(1000), "no halves");
  t.equal(await told("b", ["a", "a"]), "aab");
  t.equal(await told(`Cannot POST /hook/${secret}?token=${secret}`), "Cannot POST …");
  t.equal(await told(`no /hook/${secret} here`), "no … here");
  t.equal(await told(`unknown key ${secret}`), "unknown key …");
});

void t.test("interim answers are skipped", async (t) => {
  const interim = (status: number) => `HTTP/1.1 ${status} Wait\r\na: b\r\n\r\n`;
  for (const statuses of [[100], [102], [103], [100, 102, 103, 103]]) {
    const origin = await serveRaw(t, saying(...statuses.map(interim), good));
    t.match(
      await post(t, posterFor(t), origin),
      { result: "delivered", status: 200, answer: "ok" },
      `${statuses.join()}`,
    );
  }
  const switching = await serveRaw(t, saying("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"));
  t.match(await post(t, posterFor(t), switching), {
    result: "unreachable",
    status: 101,
    error: "expected an answer of 127.0.0.1, got a change of protocol",
  });
});

void t.test("answers of HTTP/1.0 and without a reason phrase are accepted", async (t) => {
  for (const answer of [
    "HTTP/1.0 200 OK\r\n\r\nok",
    "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\n\r\nok",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\na: b\r\n\r\n",
  ])
    t.match(
      await post(t, posterFor(t), await serveRaw(t, saying(answer))),
      { result: "delivered", status: 200, answer: "ok" },
      JSON.stringify(answer),
    );
});

void t.test("a reset or closed connection is no answer, at any stage", async (t) => {
  const ends: [string, (socket: Socket) => void][] = [
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed", (socket) => socket.end()],
  ];
  for (const [how, end] of ends) {
    const expectBroken = async (origin: string, status: number | null, error: RegExp) =>
      t.match(await post(t, posterFor(t), origin), { result: "unreachable", status, error }, `${how}: ${error}`);
    await expectBroken(
      await serveRaw(t, end),
      null,
      // a reset may arrive before this side knows that the connection is open
      /^expected an? (connection|answer) of 127\.0\.0\.1, got a broken connection/,
    );
    const atAccept = await serveRaw(t, end);
    await expectBroken(
      `https://${name}:${new URL(atAccept).port}`,
      null,
      /^expected (a connection|TLS) of hooks\.test, got a broken connection/,
    );
    const inHandshake = await serveRaw(t, (socket) => {
      socket.once("data", () => end(socket));
    });
    await expectBroken(
      `https://${name}:${new URL(inHandshake).port}`,
      null,
      /^expected TLS of hooks\.test, got a broken connection/,
    );
    const afterRequest = await serveRaw(t, (socket) => {
      socket.once("data", () => end(socket));
    });
    await expectBroken(afterRequest, null, /^expected an answer of 127\.0\.0\.1, got a broken connection/);
    const inBody = await serveRaw(t, (socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", () => setTimeout(() => end(socket), 20)),
      );
    });
    await expectBroken(inBody, 200, /^expected the end of the answer of 127\.0\.0\.1, got a broken connection/);
  }
});

void t.test("an address where nothing listens is unreachable", async (t) => {
  const server = net.createServer();
  const port = await listening(t, server);
  server.close();
  await once(server, "close");
  t.match(await post(t, posterFor(t), `http://127.0.0.1:${port}`), {
    result: "unreachable",
    status: null,
    error: "expected a connection of 127.0.0.1, got a refused connection (ECONNREFUSED)",
  });
});

void t.test("a certificate must be valid for this name, now", async (t) => {
  const day = 86_400_000;
  const days = (count: number) => new Date(Date.now() + count * day);
  const names = [name];
  const stranger = makeAuthority("Somebody else");
  const cases: [Identity, error: RegExp][] = [
    [selfSigned({ names }), /got a self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/],
    [stranger.vouchFor({ names }), /got a certificate from an unknown authority \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)$/],
    [
      authority.vouchFor({ names: ["example.com"] }),
      /got a certificate for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    ],
    [authority.vouchFor({ names: ["127.0.0.1"] }), /got a certificate for another name/],
    [authority.vouchFor({ names: ["hooks.test.example.com"] }), /got a certificate for another name/],
    [
      authority.vouchFor({ names, from: days(-2), until: days(-1) }),
      /got an expired certificate \(CERT_HAS_EXPIRED\)$/,
    ],
    [
      authority.vouchFor({ names, from: days(1), until: days(2) }),
      /got a certificate that is not valid yet \(CERT_NOT_YET_VALID\)$/,
    ],
  ];
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  let asked = 0;
  for (const [as, error] of cases) {
    const origin = await serveSecurely(t, () => (asked += 1), as);
    t.match(await post(t, posterFor(t), origin), {
      result: "unreachable",
      status: null,
      error,
    });
  }
  const origin = await serveSecurely(t, () => (asked += 1));
  t.match(
    await post(t, posterFor(t, { ca: undefined }), origin),
    { result: "unreachable", error: /got a certificate/ },
    "the usual authorities did not sign it",
  );
  t.equal(asked, 0, "none of these servers received a request");
});

void t.test("obsolete TLS versions are refused", async (t) => {
  const plain = new URL(await serve(t, (_request, response) => response.end())).port;
  t.match(await post(t, posterFor(t), `https://${name}:${plain}`), {
    result: "unreachable",
    error: /^expected TLS of hooks\.test, got invalid TLS \(/,
  });
  const old = tls.createServer({
    ...identity,
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  t.match(await post(t, posterFor(t), `https://${name}:${await listening(t, old)}`), {
    result: "unreachable",
    error: /^expected TLS of hooks\.test, got /,
  });
});

void t.test("an IP address works as a host", async (t) => {
  const as = authority.vouchFor({ names: ["127.0.0.1"] });
  const origin = await serveSecurely(t, (_request, response) => response.end(), as);
  const lookup = () => Promise.reject(new Error("asked for the address of an address"));
  const poster = posterFor(t, { lookup });
  const { port } = new URL(origin);
  t.match(await post(t, poster, `https://127.0.0.1:${port}`), {
    result: "delivered",
  });
  t.match(await post(t, poster, `https://0x7f.1:${port}`), {
    result: "delivered",
  });
});

void t.test("localhost is this machine, and is never looked up", async (t) => {
  const origin = await serve(t, (_request, response) => response.end());
  const lookup = () => Promise.reject(new Error("asked for localhost"));
  const { port } = new URL(origin);
  t.match(await post(t, posterFor(t, { lookup }), `http://localhost:${port}`), { result: "delivered" });
});

void t.test("no alert is sent to an unsafe address", async (t) => {
  let asked = 0;
  const origin = await serveSecurely(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  const { port } = new URL(origin);
  const unsafe = async (
    host: string,
    addresses: string[],
    error: string,
    { allowLoopback = false, scheme = "https" } = {},
  ) => {
    const poster = posterFor(t, {
      allowLoopback,
      lookup: () => Promise.resolve(addresses.map((address) => ({ address, family: net.isIP(address) }))),
    });
    t.match(await post(t, poster, `${scheme}://${host}:${port}`), {
      result: "unsafe",
      status: null,
      error,
      answer: null,
    });
  };
  const expected = `expected public addresses of ${name}, but`;
  await unsafe(name, ["127.0.0.1"], `${expected} 127.0.0.1 is loopback`);
  await unsafe(name, ["::1"], `${expected} ::1 is loopback`);
  await unsafe(name, ["::ffff:127.0.0.1"], `${expected} ::ffff:127.0.0.1 is loopback`);
  await unsafe(name, ["10.0.0.7"], `${expected} 10.0.0.7 is private`);
  await unsafe(name, ["8.8.8.8", "10.0.0.7"], `${expected} 10.0.0.7 is private`);
  await unsafe(name, ["2606:4700::1111", "8.8.8.8", "fd00::1"], `${expected} fd00::1 is private`);
  await unsafe(name, ["8.8.8.8", "nonsense"], `${expected} nonsense is no address`);
  await unsafe("127.0.0.1", [], "127.0.0.1 is loopback");
  await unsafe("[::1]", [], "::1 is loopback");
  await unsafe("localhost", [], "localhost is loopback");
  await unsafe(
    `${secret}@${name}`,
    ["127.0.0.1"],
    `expected a URL without user and password, got one with them before ${name}`,
    { allowLoopback: true },
  );
  const http = { allowLoopback: true, scheme: "http" };
  await unsafe(name, ["127.0.0.1"], `expected a URL with https:, got http: to ${name}`, http);
  await unsafe("8.8.8.8", [], "expected a URL with https:, got http: to 8.8.8.8", http);
  await unsafe(name, ["127.0.0.1", "10.0.0.7"], `${expected} 10.0.0.7 is private`, { allowLoopback: true });
  t.equal(asked, 0);
});

void t.test("the name is resolved once, and the checked address is the one connected to", async (t) => {
  const origin = await serveSecurely(t, (_request, response) => {
    response.setHeader("connection", "close").end();
  });
  const answers = ["127.0.0.1", "10.0.0.7"];
  let asked = 0;
  const poster = posterFor(t, {
    lookup: () => Promise.resolve([{ address: answers[asked++]!, family: 4 }]),
  });
  t.match(await post(t, poster, origin), { result: "delivered" });
  t.equal(asked, 1);
  t.match(
    await post(t, poster, origin),
    { result: "unsafe", error: /10\.0\.0\.7 is private/ },
    "a new connection resolves and checks the name again",
  );
  t.equal(asked, 2);
});

void t.test("one working address of two is enough", async (t) => {
  const origin = await serveSecurely(t, (_request, response) => response.end());
  for (const addresses of [
    ["127.0.0.2", "127.0.0.1"],
    ["::1", "127.0.0.1"],
    ["127.0.0.1", "127.0.0.2"],
  ]) {
    const poster = posterFor(t, {
      lookup: () => Promise.resolve(addresses.map((address) => ({ address, family: net.isIP(address) }))),
    });
    t.match(await post(t, poster, origin), { result: "delivered" }, addresses.join());
  }
});

void t.test("a name without an address is reported with its reason", async (t) => {
  const failing = (code: string) =>
    posterFor(t, {
      lookup: () => Promise.reject(Object.assign(new Error(secret), { code })),
    });
  const cases: [code: string, result: DeliveryOutcome["result"], error: string][] = [
    ["ENOTFOUND", "unreachable", "no such name"],
    ["ENODATA", "unreachable", "a name without addresses"],
    ["EBADNAME", "unreachable", "an invalid name"],
    ["ESERVFAIL", "ours", "no definite answer"],
    ["EAI_AGAIN", "ours", "no definite answer"],
    ["ECONNREFUSED", "ours", "no definite answer"],
  ];
  for (const [code, result, error] of cases)
    t.match(await post(t, failing(code), `https://${name}`), {
      result,
      error: `expected an address of ${name}, got ${error} (${code})`,
    });
  const none = posterFor(t, { lookup: () => Promise.resolve([]) });
  t.match(await post(t, none, `https://${name}`), {
    result: "unreachable",
    error: /ENODATA/,
  });
});

void t.test("a connection is reused for the next alert to the same name only", async (t) => {
  const seen: { name: unknown; socket: Socket }[] = [];
  const origin = await serveSecurely(t, (request, response) => {
    const socket = request.socket as tls.TLSSocket;
    seen.push({ name: socket.servername, socket });
    response.end();
  });
  const poster = posterFor(t);
  const other = origin.replace(name, "other.test");
  for (const each of [origin, origin, other, origin, other])
    t.match(await post(t, poster, each), { result: "delivered" });
  t.strictSame(
    seen.map((one) => one.name),
    [name, name, "other.test", name, "other.test"],
  );
  const first = (wanted: string) => seen.find((one) => one.name === wanted)!.socket;
  for (const one of seen) t.equal(one.socket, first(one.name as string));
  t.not(first(name), first("other.test"));
  const warned: Error[] = [];
  const warn = (warning: Error) => warned.push(warning);
  process.on("warning", warn);
  for (let nth = 0; nth < 12; nth += 1) await post(t, poster, origin);
  await turn();
  process.off("warning", warn);
  t.equal(seen.at(-1)!.socket, first(name));
  t.strictSame(warned, [], "listeners do not accumulate");
});

void t.test("a reused connection that the receiver closes is no fault of it, and no alert is sent twice", async (t) => {
  for (const end of ["resetAndDestroy", "end"] as const) {
    let letters = 0;
    const origin = await serveRaw(t, (socket) => {
      socket.once("data", () => {
        letters += 1;
        socket.write(good);
        socket.once("data", () => {
          letters += 1;
          socket[end]();
        });
      });
    });
    const poster = posterFor(t);
    t.match(await post(t, poster, origin), { result: "delivered" });
    t.match(await post(t, poster, origin), {
      result: "ours",
      status: null,
      error: "expected an answer of 127.0.0.1, got a broken connection (ECONNRESET), on one that was kept",
    });
    t.equal(letters, 2);
    t.match(await post(t, poster, origin), { result: "delivered" }, "the next uses a new connection");
    t.equal(letters, 3);
  }
});

void t.test("receivers that hang do not delay others, not even of the same origin", async (t) => {
  let hanging = 0;
  const origin = await serve(t, (request, response) => {
    if (request.url === "/good") response.end();
    else hanging += 1;
  });
  const poster = posterFor(t);
  const bad = Array.from({ length: 60 }, () => poster.post(letterTo(`${origin}/bad`)));
  await until(() => hanging === 60);
  for (let nth = 0; nth < 10; nth += 1)
    t.match(await poster.post(letterTo(`${origin}/good`)), {
      result: "delivered",
    });
  await poster.close();
  for (const outcome of await Promise.all(bad))
    t.match(outcome, {
      result: "ours",
      status: null,
      error: "expected to run until the answer came, was told to stop",
    });
  t.match(await poster.post(letterTo(origin)), { result: "ours" }, "nothing is sent after the stop");
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
  const letter = {
    ...letterTo(origin),
    body: Buffer.alloc(64 * 1024 * 1024),
  };
  t.match(await posterFor(t).post(letter), {
    result: "refused",
    status: 413,
  });
  const closed = once(sockets[0]!, "close");
  sockets[0]!.resume();
  await closed;
  t.ok(read < letter.body.length, `only ${read} bytes were sent`);
});

void t.test("our own bugs are thrown, and not reported as the receiver's fault", async (t) => {
  const origin = await serve(t, (_request, response) => response.end());
  const poster = posterFor(t);
  const letter = letterTo(origin);
  await t.rejects(
    poster.post({ ...letter, headers: { Host: "other.test" } }),
    /expected a letter without a host header/,
  );
  await t.rejects(poster.post({ ...letter, headers: { a: "b\r\nc: d" } }), {
    code: "ERR_INVALID_CHAR",
  });
  for (const bug of [new TypeError("a bug"), Object.assign(new Error("a bug"), { code: "ERR_INVALID_ARG_TYPE" })]) {
    const buggy = posterFor(t, { lookup: () => Promise.reject(bug) });
    await t.rejects(buggy.post(letterTo(`https://${name}`)), {
      message: "a bug",
    });
  }
  t.match(await poster.post(letter), { result: "delivered" });
});
