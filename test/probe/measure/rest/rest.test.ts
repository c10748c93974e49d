/** One measurement, of servers that answer well and badly; hostile-answers.test.ts has the others. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import t from "tap";
import type { Measurement } from "../../../../probe/measure/measurement.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { endpointAt, measured, measuring, serve, userAgent } from "../../../support/measured-endpoint.js";
import { serveTcp } from "../../../support/tcp-server.js";

void t.test("a good answer is measured on a fresh and then on a kept connection", async (t) => {
  let seen: IncomingMessage | undefined;
  const url = await serve(t, (request, response) => {
    seen = request;
    setTimeout(() => response.end(`{"price":"1"}`), 80);
  });
  const measure = measuring(t, endpointAt(url));
  const fresh = (await measure()) as Measurement;
  t.match(fresh, { good: true, fault: null, httpStatus: 200, dnsUs: null });
  t.type(fresh.connectUs, "number");
  t.ok(Number.isInteger(fresh.latencyUs), "whole microseconds");
  t.ok(fresh.latencyUs! >= 79_000 && fresh.latencyUs! < 1_000_000);
  t.ok(fresh.firstByteUs! <= fresh.latencyUs!);
  const kept = (await measure()) as Measurement;
  t.match(kept, { good: true, connectUs: null, tlsUs: null });
  t.ok(kept.latencyUs! >= 79_000 && kept.latencyUs! < 1_000_000);
  t.equal(seen?.headers["user-agent"], userAgent);
  t.equal(seen?.headers["accept-encoding"], "identity");
  t.equal(seen?.url, "/x?y=1");
});

void t.test("an answer proves that this machine has a way out", async (t) => {
  const url = await serve(t, (_request, response) => response.end("{}"));
  const resolver = makeResolver([]);
  const sinceMs = performance.now() - 1000;
  t.equal(await resolver.wayOut("other.test", sinceMs), "unknown");
  await measured(t, endpointAt(url), { resolver });
  t.equal(await resolver.wayOut("other.test", sinceMs), "open");
});

void t.test("POST sends its body as JSON, and the chain's head is read", async (t) => {
  let body = "";
  const url = await serve(t, (request, response) => {
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => response.end(`{"result":"0x10d4f"}`));
  });
  const endpoint = endpointAt(url, {
    ...{ method: "POST", body: { method: "eth_blockNumber" } },
    ...{ proof: "$.result", head: { path: "$.result", encoding: "hex" } },
  });
  const sample = await measured(t, endpoint);
  t.equal(body, `{"method":"eth_blockNumber"}`);
  t.match(sample, { good: true, head: 68943 });
});

const price = `{"price":1}`;

const answers: [string, number, string, string | Buffer, Partial<Measurement>][] = [
  ["firewall", 403, "", "no", { fault: "blocked" }],
  ["geo-block", 451, "", "no", { fault: "blocked" }],
  ["ban", 418, "", "no", { fault: "limited" }],
  ["used-up free share", 402, "", "no", { fault: "limited" }],
  ["server error", 500, "", "{}", { fault: "http" }],
  ["page of HTML", 200, "", "<html>", { fault: "body" }],
  ["compressed answer that was not requested", 200, "gzip", gzipSync(price), { good: true }],
  ["unknown encoding", 200, "zip", price, { fault: "body" }],
];

for (const [name, status, encoding, body, expected] of answers)
  void t.test(`${name}: ${expected.fault ?? "good"}`, async (t) => {
    const headers = { "content-encoding": encoding };
    const url = await serve(t, (_request, response) => response.writeHead(status, headers).end(body));
    const sample = await measured(t, endpointAt(url));
    // the answer was whole
    t.match(sample, { good: !expected.fault, httpStatus: status, latencyUs: Number, ...expected });
  });

void t.test("an address where nothing listens: connect", async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { good: false, fault: "connect", latencyUs: null });
});

void t.test("a kept connection that closed between slots is no fault; the next slot is measured", async (t) => {
  let connections = 0;
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"price":1}`);
      else socket.resetAndDestroy();
    });
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`));
  const opening = measure();
  // a close counts as already in flight if it arrives within the time that the opening took: here, as long as a busy
  // machine may need
  const startMs = performance.now();
  while (performance.now() < startMs + 200);
  t.match(await opening, { good: true });
  t.same(await measure(), { unmeasured: "stale" });
  t.match(await measure(), { good: true });
  t.equal(connections, 2);
});

void t.test("a kept connection that the server ends later than a round trip is its fault", async (t) => {
  const port = await serveTcp(t, (socket) => {
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"price":1}`);
      else setTimeout(() => socket.resetAndDestroy(), 500);
    });
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(await measure(), { good: true });
  t.match(await measure(), { good: false, fault: "closed", fresh: false });
});
