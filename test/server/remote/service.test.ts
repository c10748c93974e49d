/** The reader of a venuewatch that runs elsewhere: what it makes of whatever may answer at its address. */
import { createServer } from "node:https";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Venuewatch, VenuewatchError } from "@venuewatch/client";
import t, { type Test } from "tap";
import { listen } from "../../../shared/config/listen.js";
import { UserError } from "../../../shared/process/user-error.js";
import { maxBodyBytes } from "../../../shared/untrusted/limits.js";
import { makeBoundedFetch } from "../../../server/remote/bounded-fetch.js";
import { makeService } from "../../../server/remote/service.js";
import { selfSigned } from "../../support/certificates.js";
import { freePort } from "../../support/free-port.js";
import { hostileAnswers, mebibyte } from "../../support/hostile-answers.js";
import { serve } from "../../support/measured-endpoint.js";
import { saying, serveTcp } from "../../support/tcp-server.js";

function serviceAt(t: Test, url: string, timeoutMs = 10_000) {
  const service = makeService(url, { timeoutMs, program: "test" });
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

async function errorOf(reading: Promise<unknown>): Promise<VenuewatchError> {
  const error = await reading.then(
    (body) => new Error(`expected an error, got ${JSON.stringify(body)}`),
    (error: unknown) => error,
  );
  if (error instanceof VenuewatchError) return error;
  throw error;
}

void t.test("a body is read, plain or compressed, below the path of the address", async (t) => {
  const asked: string[] = [];
  const url = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    t.match(request.headers, { accept: "application/json", "user-agent": "venuewatch (test)" });
    const encoding = request.url!.split("/").at(-1)!;
    const plain = Buffer.from(JSON.stringify({ encoding }));
    const body = encoding === "br" ? brotliCompressSync(plain) : encoding === "gzip" ? gzipSync(plain) : plain;
    const headers = encoding === "plain" ? {} : { "content-encoding": encoding };
    response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers }).end(body);
  });
  const dates: unknown[] = [];
  const { fetch, close } = makeBoundedFetch("venuewatch (test)", ({ date }, fromMs, toMs) => {
    t.ok(fromMs <= toMs);
    dates.push(date);
  });
  t.teardown(close);
  const client = new Venuewatch({ url: `${new URL(url).origin}/watch/`, fetch });
  for (const encoding of ["plain", "gzip", "br"]) t.strictSame(await client.incident(encoding), { encoding });
  t.strictSame(
    asked,
    ["plain", "gzip", "br"].map((name) => `GET /watch/v1/incidents/${name}`),
  );
  t.match(dates, [/GMT$/, /GMT$/, /GMT$/]);
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
  const refused = await errorOf(serviceAt(t, `http://127.0.0.1:${await freePort()}`).status());
  t.match(refused, { status: null, message: /expected a connection, got a refused connection \(ECONNREFUSED\)$/ });
  const named = await errorOf(serviceAt(t, "http://venuewatch.invalid").status());
  t.match(named, { status: null, message: /: expected an address, got / });
  const silent = await serveTcp(t, () => {});
  const late = await errorOf(serviceAt(t, `http://127.0.0.1:${silent}`, 300).status());
  t.match(late, { status: null, message: /no whole answer within 300 ms; still waiting for an answer$/ });
});

void t.test("a certificate that is not trusted is named, and nothing is read", async (t) => {
  let requests = 0;
  const server = createServer(selfSigned({ names: ["127.0.0.1"] }), (_, response) => {
    requests += 1;
    response.end("{}");
  });
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  t.teardown(() => server.close());
  const error = await errorOf(serviceAt(t, `https://127.0.0.1:${port}`).status());
  t.match(error.message, /expected TLS, got a self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  t.equal(requests, 0);
});

void t.test("what is not our API is never taken for it", async (t) => {
  const body = `{"generatedAt": "2026-01-31T12:00:00.000Z"}`;
  for (const [name, made, said] of [
    ["a page of a proxy", answering(t, 200, "text/html", body), /expected application\/json, got text\/html\. Is this/],
    ["an error page", answering(t, 502, "text/html", body), /: 502, an answer that is not from venuewatch's API\.$/],
    ["no type", answering(t, 200, "", body), /expected application\/json, got no type|got \./],
    [
      "a redirect",
      answering(t, 302, "application/json", body, { location: "https://login.example.org/" }),
      /got a redirect to https:\/\/login\.example\.org\/\. If it is the service's, give it as url\.$/,
    ],
    ["an error without our words", answering(t, 404, "application/json", `{"error": "x"}`), /: 404, an answer that is/],
    ["broken JSON", answering(t, 200, "application/json", body.slice(0, -1)), /JSON/],
    ["broken UTF-8", brokenText(t), /encoded data was not valid/],
    [
      "another encoding",
      answering(t, 200, "application/json", body, { "content-encoding": "zstd" }),
      /a content-encoding that was not asked for$/,
    ],
    [
      "another body",
      answering(t, 200, "application/json", body),
      /^expected a StatusResponse at http:\S+, got something/,
    ],
  ] as const) {
    const { message, problem } = await errorOf((await made).status());
    t.match(message, said, name);
    t.equal(problem, null, name);
  }
});

async function brokenText(t: Test) {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n";
  const port = await serveTcp(t, saying(Buffer.concat([Buffer.from(head), Buffer.from([0x22, 0xff, 0x22])])));
  return serviceAt(t, `http://127.0.0.1:${port}`);
}

void t.test("the API's own refusals are distinguished, in its words made plain", async (t) => {
  const problem = (detail: string) => JSON.stringify({ type: "about:blank", title: "x", status: 404, detail });
  const json = "application/problem+json; charset=utf-8";
  const unknown = await errorOf(
    (await answering(t, 404, json, problem("Unknown venue\u001b[2J\n\u202eevil"))).status(),
  );
  t.match(unknown, { status: 404, message: /: 404, Unknown venue \[2J {2}evil$/ });
  const limited = await errorOf((await answering(t, 429, json, problem("no."), { "retry-after": "30" })).status());
  t.match(limited, { status: 429, retryAfterMs: 30_000, message: /: 429, no\. Wait for 30 s\.$/ });
  t.match(await errorOf((await answering(t, 503, "text/html", "<h1>")).status()), { status: 503, problem: null });
});

void t.test("no hostile answer is taken for a body, or read for long", async (t) => {
  const sockets: { bytesWritten: number }[] = [];
  await Promise.all(
    hostileAnswers.map(async ({ name, talk }) => {
      const port = await serveTcp(t, (socket) => {
        sockets.push(socket);
        talk(socket);
      });
      const service = makeService(`http://127.0.0.1:${port}`, { timeoutMs: 5_000 });
      t.match((await errorOf(service.status())).message, /^[\x20-\x7e]{1,500}$/, name);
      await service.close();
    }),
  );
  for (const { bytesWritten } of sockets) t.ok(bytesWritten < 24 * mebibyte);
});

void t.test("a body that is too large, or never ends, is given up", async (t) => {
  const said = { message: new RegExp(`got more than ${maxBodyBytes.service} bytes`) };
  const endless = await serve(t, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const pour = () => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
    };
    response.on("drain", pour);
    pour();
  });
  t.match(await errorOf(serviceAt(t, new URL(endless).origin).status()), said);
  const bomb = gzipSync(Buffer.alloc(32 * mebibyte, " "));
  const small = await serve(t, (_, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb),
  );
  t.match(await errorOf(serviceAt(t, new URL(small).origin).status()), said, "also after decompression");
});
