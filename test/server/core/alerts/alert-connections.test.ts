/** Over which connections alerts are posted: to which addresses, with which certificates, and when they break. */
import net, { type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import tls from "node:tls";
import t from "tap";
import type { DeliveryOutcome } from "../../../../server/core/alerts/retry-rules.js";
import { makeAuthority, selfSigned, type Identity } from "../../../support/certificates.js";
import { freePort } from "../../../support/free-port.js";
import { until } from "../../../support/until.js";
import {
  authority,
  good,
  identity,
  requestTo,
  listening,
  hostName,
  post,
  posterFor,
  type Respond,
  secret,
  serve,
  serveRaw,
  serveSecurely,
} from "../../../support/alert-receivers.js";

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
