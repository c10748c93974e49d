/** Over which connections alerts are posted: to which addresses, with which certificates, and when they break. */
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import tls from "node:tls";
import t from "tap";
import type { DeliveryOutcome } from "../../../../server/alerts/delivery/outcome.js";
import { makeAuthority, selfSigned, type Identity } from "../../../support/certificates.js";
import { until } from "../../../support/until.js";
import {
  authority,
  good,
  identity,
  letterTo,
  listening,
  hostName,
  post,
  posterFor,
  secret,
  serve,
  serveRaw,
  serveSecurely,
} from "../../../support/alert-receivers.js";

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
      `https://${hostName}:${new URL(atAccept).port}`,
      null,
      /^expected (a connection|TLS) of hooks\.test, got a broken connection/,
    );
    const inHandshake = await serveRaw(t, (socket) => {
      socket.once("data", () => end(socket));
    });
    await expectBroken(
      `https://${hostName}:${new URL(inHandshake).port}`,
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
  const names = [hostName];
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
    t.match(await post(t, posterFor(t), origin), { result: "unreachable", status: null, error });
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
  t.match(await post(t, posterFor(t), `https://${hostName}:${plain}`), {
    result: "unreachable",
    error: /^expected TLS of hooks\.test, got invalid TLS \(/,
  });
  const old = tls.createServer({
    ...identity,
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  t.match(await post(t, posterFor(t), `https://${hostName}:${await listening(t, old)}`), {
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
  t.match(await post(t, poster, `https://127.0.0.1:${port}`), { result: "delivered" });
  t.match(await post(t, poster, `https://0x7f.1:${port}`), { result: "delivered" });
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
  const expected = `expected public addresses of ${hostName}, but`;
  await unsafe(hostName, ["127.0.0.1"], `${expected} 127.0.0.1 is loopback`);
  await unsafe(hostName, ["::1"], `${expected} ::1 is loopback`);
  await unsafe(hostName, ["::ffff:127.0.0.1"], `${expected} ::ffff:127.0.0.1 is loopback`);
  await unsafe(hostName, ["10.0.0.7"], `${expected} 10.0.0.7 is private`);
  await unsafe(hostName, ["8.8.8.8", "10.0.0.7"], `${expected} 10.0.0.7 is private`);
  await unsafe(hostName, ["2606:4700::1111", "8.8.8.8", "fd00::1"], `${expected} fd00::1 is private`);
  await unsafe(hostName, ["8.8.8.8", "nonsense"], `${expected} nonsense is no address`);
  await unsafe("127.0.0.1", [], "127.0.0.1 is loopback");
  await unsafe("[::1]", [], "::1 is loopback");
  await unsafe("localhost", [], "localhost is loopback");
  await unsafe(
    `${secret}@${hostName}`,
    ["127.0.0.1"],
    `expected a URL without user and password, got one with them before ${hostName}`,
    { allowLoopback: true },
  );
  const http = { allowLoopback: true, scheme: "http" };
  await unsafe(hostName, ["127.0.0.1"], `expected a URL with https:, got http: to ${hostName}`, http);
  await unsafe("8.8.8.8", [], "expected a URL with https:, got http: to 8.8.8.8", http);
  await unsafe(hostName, ["127.0.0.1", "10.0.0.7"], `${expected} 10.0.0.7 is private`, { allowLoopback: true });
  t.equal(asked, 0);
});

void t.test("the name is resolved once, and the checked address is the one connected to", async (t) => {
  const origin = await serveSecurely(t, (_request, response) => {
    response.setHeader("connection", "close").end();
  });
  const answers = ["127.0.0.1", "10.0.0.7"];
  let asked = 0;
  const poster = posterFor(t, { lookup: () => Promise.resolve([{ address: answers[asked++]!, family: 4 }]) });
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
  const seen: { name: unknown; socket: Socket }[] = [];
  const origin = await serveSecurely(t, (request, response) => {
    const socket = request.socket as tls.TLSSocket;
    seen.push({ name: socket.servername, socket });
    response.end();
  });
  const poster = posterFor(t);
  const other = origin.replace(hostName, "other.test");
  for (const each of [origin, origin, other, origin, other])
    t.match(await post(t, poster, each), { result: "delivered" });
  t.strictSame(
    seen.map((one) => one.name),
    [hostName, hostName, "other.test", hostName, "other.test"],
  );
  const first = (wanted: string) => seen.find((one) => one.name === wanted)!.socket;
  for (const one of seen) t.equal(one.socket, first(one.name as string));
  t.not(first(hostName), first("other.test"));
  const warned: Error[] = [];
  const warn = (warning: Error) => warned.push(warning);
  process.on("warning", warn);
  for (let nth = 0; nth < 12; nth += 1) await post(t, poster, origin);
  await turn();
  process.off("warning", warn);
  t.equal(seen.at(-1)!.socket, first(hostName));
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
  for (let nth = 0; nth < 10; nth += 1) t.match(await poster.post(letterTo(`${origin}/good`)), { result: "delivered" });
  await poster.close();
  for (const outcome of await Promise.all(bad))
    t.match(outcome, {
      result: "ours",
      status: null,
      error: "expected to run until the answer came, was told to stop",
    });
  t.match(await poster.post(letterTo(origin)), { result: "ours" }, "nothing is sent after the stop");
});
