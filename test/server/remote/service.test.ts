/** The reader of a venuewatch that runs elsewhere: what it makes of whatever may answer at its address. */
import { createServer } from "node:https";
import { brotliCompressSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { listen } from "../../../shared/config/listen.js";
import { UserError } from "../../../shared/process/user-error.js";
import { makeService, type RemoteServiceOptions } from "../../../server/remote/service.js";
import {
  NotOurService,
  ServiceBusy,
  ServiceError,
  ServiceRefusal,
  ServiceUnreachable,
} from "../../../server/remote/service-errors.js";
import { selfSigned } from "../../support/certificates.js";
import { freePort } from "../../support/free-port.js";
import { hostileAnswers, mebibyte } from "../../support/hostile-answers.js";
import { serve } from "../../support/measured-endpoint.js";
import { saying, serveTcp } from "../../support/tcp-server.js";

function serviceAt(t: Test, url: string, options: RemoteServiceOptions = {}) {
  const service = makeService(url, options);
  t.teardown(() => service.close());
  return service;
}

/** Answers every request with this. */
async function answering(t: Test, status: number, type: string, body: string, headers: Record<string, string> = {}) {
  const url = await serve(t, (_, response) =>
    response.writeHead(status, { "content-type": type, ...headers }).end(body),
  );
  return serviceAt(t, new URL(url).origin);
}

async function errorOf(reading: Promise<unknown>): Promise<ServiceError> {
  const error = await reading.then(
    (body) => new Error(`expected an error, got ${JSON.stringify(body)}`),
    (error: unknown) => error,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}

void t.test("a body is read, plain or compressed, below the path of the address", async (t) => {
  const asked: string[] = [];
  const url = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    t.match(request.headers, { accept: "application/json", "user-agent": /^venuewatch\/\d.* \(test\)$/ });
    const encoding = request.url!.split("/").at(-1)!;
    const plain = Buffer.from(JSON.stringify({ encoding }));
    const body = encoding === "br" ? brotliCompressSync(plain) : encoding === "gzip" ? gzipSync(plain) : plain;
    const headers = encoding === "plain" ? {} : { "content-encoding": encoding };
    response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers }).end(body);
  });
  const service = serviceAt(t, `${new URL(url).origin}/watch/`, { program: "test" });
  for (const encoding of ["plain", "gzip", "br"]) t.strictSame(await service.read(`/v1/${encoding}`), { encoding });
  t.strictSame(asked, ["GET /watch/v1/plain", "GET /watch/v1/gzip", "GET /watch/v1/br"]);
});

void t.test("an address that is none is refused before anything is asked", (t) => {
  for (const url of [
    "",
    "localhost:8080",
    "ftp://example.org",
    "http://example.org/?a=1",
    "http://me:hunter2@example.org",
  ]) {
    const made = () => makeService(url);
    t.throws(made, UserError, url);
    t.throws(made, { message: /^expected an http:\/\/ or https:\/\/ address .* where venuewatch runs, got / });
    t.throws(made, { message: /^((?!hunter2).)*$/ });
  }
  t.end();
});

void t.test("a service that cannot be reached is distinguished by what is missing", async (t) => {
  const port = await freePort();
  const refused = await errorOf(serviceAt(t, `http://127.0.0.1:${port}`).read("/v1/status"));
  t.match(refused, { awaited: "a connection", codes: ["ECONNREFUSED"] });
  t.ok(refused instanceof ServiceUnreachable);

  const named = await errorOf(serviceAt(t, "http://venuewatch.invalid").read("/v1/status"));
  t.match(named, { awaited: "an address" });
  t.ok(named instanceof ServiceUnreachable);

  const silent = await serveTcp(t, () => {});
  const late = await errorOf(serviceAt(t, `http://127.0.0.1:${silent}`, { deadlineMs: 300 }).read("/v1/status"));
  t.match(late, { awaited: "an answer", codes: [], message: /expected an answer within 0\.3 s, got nothing/ });
  t.ok(late instanceof ServiceUnreachable);
});

void t.test("a certificate that is not trusted is named, and nothing is read", async (t) => {
  let requests = 0;
  const server = createServer(selfSigned({ names: ["127.0.0.1"] }), (_, response) => {
    requests += 1;
    response.end("{}");
  });
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  t.teardown(() => server.close());
  const error = await errorOf(serviceAt(t, `https://127.0.0.1:${port}`).read("/v1/status"));
  t.match(error, { awaited: "TLS", codes: ["DEPTH_ZERO_SELF_SIGNED_CERT"], message: /a self-signed certificate/ });
  t.equal(requests, 0);
});

void t.test("what is not our API is never parsed", async (t) => {
  const body = `{"generatedAt": "2026-01-31T12:00:00.000Z"}`;
  const strange: [string, Promise<ReturnType<typeof makeService>>][] = [
    ["a page of a proxy", answering(t, 200, "text/html", body)],
    ["an error page", answering(t, 502, "text/html", body)],
    ["no type", answering(t, 200, "", body)],
    ["a redirect", answering(t, 302, "application/json", body, { location: "https://login.example.org/?from=1" })],
    ["an error without our words", answering(t, 404, "application/json", `{"error": "not found"}`)],
    ["broken JSON", answering(t, 200, "application/json", body.slice(0, -1))],
    ["broken UTF-8", brokenText(t)],
    ["another encoding", answering(t, 200, "application/json", body, { "content-encoding": "zstd" })],
  ];
  for (const [name, made] of strange) {
    const error = await errorOf((await made).read("/v1/status"));
    t.ok(error instanceof NotOurService, `${name}: ${error.message}`);
    t.match(error.message, /^expected the API of venuewatch at http:\S+, got /, name);
  }
  const [redirect] = strange.filter(([name]) => name === "a redirect");
  const { message } = await errorOf((await redirect![1]).read("/"));
  t.match(message, "got a redirect to https://login.example.org; if venuewatch is there, use that address");
});

async function brokenText(t: Test) {
  const port = await serveTcp(
    t,
    saying(
      Buffer.concat([
        Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n"),
        Buffer.from([0x22, 0xff, 0x22]),
      ]),
    ),
  );
  return serviceAt(t, `http://127.0.0.1:${port}`);
}

void t.test("the API's own refusals are distinguished, in its words made plain", async (t) => {
  const problem = (detail: string) => JSON.stringify({ type: "about:blank", title: "x", status: 404, detail });
  const json = "application/problem+json; charset=utf-8";
  const unknown = await errorOf(
    (await answering(t, 404, json, problem("Unknown venue\u001b[2J\n\u202eevil"))).read("/"),
  );
  t.ok(unknown instanceof ServiceRefusal);
  t.match(unknown, { status: 404, detail: "Unknown venue [2J evil" });
  t.match(await errorOf((await answering(t, 400, json, problem("Invalid parameter."))).read("/")), { status: 400 });

  const limited = await errorOf((await answering(t, 429, json, problem("no"), { "retry-after": "30" })).read("/"));
  t.ok(limited instanceof ServiceBusy);
  t.match(limited, { status: 429, retryAfterMs: 30_000, message: /answers 429: .*; try again in 30 s$/ });
  t.match(await errorOf((await answering(t, 503, "text/html", "<h1>")).read("/")), { status: 503, retryAfterMs: 0 });
  const failed = await errorOf((await answering(t, 500, json, problem("Internal error; it was logged."))).read("/"));
  t.ok(failed instanceof ServiceBusy, "a bug of the service is no other service");
});

void t.test("no hostile answer is taken for a body, or read for long", async (t) => {
  const sockets: { bytesWritten: number }[] = [];
  await Promise.all(
    hostileAnswers.map(async ({ name, talk, expected }) => {
      const port = await serveTcp(t, (socket) => {
        sockets.push(socket);
        talk(socket);
      });
      const service = serviceAt(t, `http://127.0.0.1:${port}`, { deadlineMs: 5_000, maxBodyBytes: mebibyte });
      const reading = service.read("/v1/status");
      if (expected.good) t.same(await reading, { price: 1 }, name);
      // small enough for a service; the callers check shapes
      else if (name === "objects of different shapes") t.ok(Array.isArray(await reading), name);
      else t.match((await errorOf(reading)).message, /^[\x20-\x7e]{1,500}$/, name);
      await service.close();
    }),
  );
  for (const { bytesWritten } of sockets) t.ok(bytesWritten < 16 * mebibyte);
});

void t.test("a body that is too large, or never ends, is given up", async (t) => {
  const endless = await serve(t, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const pour = () => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
    };
    response.on("drain", pour);
    pour();
  });
  const service = serviceAt(t, new URL(endless).origin, { maxBodyBytes: mebibyte });
  t.match(await errorOf(service.read("/")), { message: /got more than 1048576 bytes/ });
  const bomb = gzipSync(Buffer.alloc(32 * mebibyte, " "));
  const small = await serve(t, (_, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb),
  );
  const bombed = serviceAt(t, new URL(small).origin, { maxBodyBytes: mebibyte });
  t.match(await errorOf(bombed.read("/")), { message: /got more than 1048576 bytes/ }, "also after decompression");
});

void t.test("a caller ends its request by a signal", async (t) => {
  const silent = await serveTcp(t, () => {});
  const service = serviceAt(t, `http://127.0.0.1:${silent}`);
  const stopping = new AbortController();
  const reading = service.read("/v1/status", stopping.signal);
  stopping.abort(new Error("no longer wanted"));
  await t.rejects(reading, { message: "no longer wanted" });
  await t.rejects(service.read("/v1/status", stopping.signal), { message: "no longer wanted" });
});
