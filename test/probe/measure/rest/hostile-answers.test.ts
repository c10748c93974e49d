/** Servers that attack a REST measurement in every way: each gets the right fault, in bounded time. */
import { once } from "node:events";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import t, { type Test } from "tap";
import { compileAnswerCheck } from "../../../../probe/measure/rest/checks.js";
import type { RestEndpoint } from "../../../../shared/registry/registry.js";
import { maxBodyBytes as limits } from "../../../../shared/http/limits.js";
import { makeAuthority, selfSigned } from "../../../support/certificates.js";
import {
  body,
  chunked,
  ending,
  fine,
  good,
  goodAnswer,
  hostileAnswers,
  pouring,
  resetting,
  timeout,
  type ExpectedMeasurement,
  type HostileAnswer,
} from "../../../support/hostile-answers.js";
import { endpointAt, measured, measuring } from "../../../support/measured-endpoint.js";
import { saying, serveTcp, serveTls } from "../../../support/tcp-server.js";
import { until } from "../../../support/until.js";

function measure(t: Test, url: string, more: Partial<RestEndpoint> = {}) {
  return measured(t, endpointAt(url, { timeoutMs: patienceMs, ...more }), { ca: authority.cert });
}

/** Measures a bare server. Where its answer is not whole, the connection must be closed. */
async function measureHostile(t: Test, scheme: "http" | "https", talk: HostileAnswer["talk"], timeoutMs: number) {
  const sockets: Socket[] = [];
  const port = await serveTcp(t, (socket) => {
    sockets.push(socket);
    talk(socket);
  });
  const startMs = performance.now();
  const sample = await measure(t, `${scheme}://127.0.0.1:${port}/`, { timeoutMs });
  const tookMs = performance.now() - startMs;
  if (sample.fault === "timeout") t.ok(tookMs >= timeoutMs - 5, `no timeout before ${timeoutMs} ms: ${tookMs}`);
  // a socket that is not read does not notice
  for (const socket of sockets) socket.resume();
  if (sample.latencyUs === null) await until(() => sockets.every(({ closed }) => closed));
  return sample;
}

/** An answer that ends must not meet the timeout on a loaded machine. */
const patienceMs = 25_000;
const shortMs = 2000;

void t.test("every hostile answer gets the right fault, in bounded time", (t) =>
  Promise.all(
    hostileAnswers.map(async ({ name, talk, expected, timeoutMs: own }) => {
      const timeoutMs = own ?? (expected.fault === "timeout" ? shortMs : patienceMs);
      const sample = await measureHostile(t, "http", talk, timeoutMs);
      t.match(sample, { fresh: true, ...expected }, name, { sample });
    }),
  ),
);

/** Answers well, and then again without a request: an attacker wants this to be taken for the next request's answer. */
const smuggled = `HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"price":666}`;

for (const [when, afterMs] of [
  ["at once", 0],
  ["a little later", 30],
] as const)
  void t.test(`an unsolicited answer, ${when}, is never taken for the next request's`, async (t) => {
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
    const read = { proof: "$.head", head: { path: "$.head", encoding: "integer" } } as const;
    const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`, { timeoutMs: patienceMs, ...read }));
    t.match(await measure(), { good: true, head: 1, fresh: true });
    // before it is read, nothing distinguishes it from the answer to the next request
    if (afterMs > 0) await hungUp;
    t.match(await measure(), { good: true, head: 2, fresh: true }, "the connection is not used again");
  });

void t.test("a server that half closes after its answer, or closes slowly, loses no slot", async (t) => {
  let connections = 0;
  let hungUp: Promise<unknown> | undefined;
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    socket.allowHalfOpen = true;
    socket.once("data", () => socket.end(goodAnswer));
    hungUp = once(socket, "close");
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`, { timeoutMs: patienceMs }));
  for (let slot = 0; slot < 3; slot += 1) {
    t.match(await measure(), { good: true, fresh: true });
    await hungUp;
  }
  t.equal(connections, 3);
});

const maxBodyBytes = limits.measured;
const authority = makeAuthority();
const names = ["127.0.0.1"];
const day = 86_400_000;
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * day);
const inAWeek = inDays(7);
const rightOne = authority.vouchFor({ names, until: inAWeek });

const expired = { names, from: inDays(-9), until: inDays(-2) };
const future = { names, from: inDays(2), until: inDays(9) };
const elsewhere = { names: ["other.test", "127.0.0.2"], until: inAWeek };
const unknown = makeAuthority("Nobody");

const refused = { good: false, fault: "tls", latencyUs: null } as const;
const refusedWith = (certificateExpiresAt: Date | null) => ({ ...refused, certificateExpiresAt });

const handshakes: [name: string, options: TlsOptions, expected: ExpectedMeasurement][] = [
  ["a good certificate", rightOne, { ...fine, certificateExpiresAt: inAWeek }],
  ["an expired certificate", authority.vouchFor(expired), refusedWith(expired.until)],
  ["a certificate that is not valid yet", authority.vouchFor(future), refusedWith(future.until)],
  ["a self-signed certificate", selfSigned({ names, until: inAWeek }), refusedWith(inAWeek)],
  ["a certificate for another name", authority.vouchFor(elsewhere), refusedWith(inAWeek)],
  ["a certificate of an unknown authority", unknown.vouchFor({ names, until: inAWeek }), refusedWith(inAWeek)],
  [
    "TLS 1.0 only",
    { ...rightOne, minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" },
    refusedWith(null),
  ],
  [
    "only weak ciphers",
    { ...rightOne, maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0" },
    refusedWith(null),
  ],
  [
    "a request for a client certificate",
    { ...rightOne, requestCert: true, rejectUnauthorized: true, ca: authority.cert },
    { good: false, fault: /^(tls|closed)$/ },
  ],
];

for (const [name, options, expected] of handshakes)
  void t.test(`a server with ${name}: ${String(expected.fault ?? "good")}`, async (t) => {
    const port = await serveTls(t, options, saying(goodAnswer));
    const sample = await measure(t, `https://127.0.0.1:${port}/`);
    t.match(sample, { fresh: true, ...expected, connectUs: Number });
    // t.match accepts any date for another
    if (expected.certificateExpiresAt) t.same(sample.certificateExpiresAt, expected.certificateExpiresAt);
  });

for (const [name, talk] of [
  ["a chunk's extension without end", pouring(`${chunked}1;a=`, "x")],
  ["a reason phrase without end", pouring("HTTP/1.1 200 ", "x")],
] as const)
  void t.test(`${name}, behind TLS: body`, async (t) => {
    const port = await serveTls(t, rightOne, talk);
    const sample = await measure(t, `https://127.0.0.1:${port}/`);
    t.match(sample, { ...body, fresh: true });
    t.same(sample.certificateExpiresAt, inAWeek);
  });

const brokenHandshakes: [name: string, talk: HostileAnswer["talk"], expected: ExpectedMeasurement][] = [
  ["plain HTTP where TLS is expected", saying(goodAnswer), refused],
  ["silence in the handshake", (socket) => socket.resume(), timeout],
  ["a close in the handshake", ending(""), refused],
  ["a reset in the handshake", resetting(""), refused],
  // the header of a record for a server's hello that never follows
  ["half a hello", saying(Buffer.from("160303004a020000460303", "hex")), timeout],
  ["half a hello and a reset", resetting("\x16\x03\x03\x00\x4a\x02"), refused],
  ["an alert", saying(Buffer.from("15030300020228", "hex")), refused],
  ["records without end", pouring("", Buffer.alloc(65_536, Buffer.from("1603030001ff", "hex"))), refused],
];

for (const [name, talk, expected] of brokenHandshakes)
  void t.test(`${name}: ${String(expected.fault)}`, async (t) => {
    const sample = await measureHostile(t, "https", talk, expected.fault === "timeout" ? 400 : patienceMs);
    t.match(sample, { ...expected, fresh: true, connectUs: Number, tlsUs: null });
  });

void t.test("TLS where plain HTTP is expected is no good answer", async (t) => {
  const port = await serveTls(t, rightOne, saying(goodAnswer));
  const sample = await measure(t, `http://127.0.0.1:${port}/`);
  t.match(sample, { good: false, certificateExpiresAt: null, fault: /^(body|closed)$/ });
});

void t.test("a hostile answer of a mebibyte blocks the probe in proportion to parsing its JSON", (t) => {
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
    t.ok(checkMs < 10 * parseMs + 50, `${name}: the check took ${checkMs} ms, parsing JSON alone ${parseMs} ms`);
  }
  t.end();
});

/** Processor time, the least of a few runs: the machine's other work does not count. */
function leastMs(run: () => void): number {
  const tookMs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...tookMs);
}
