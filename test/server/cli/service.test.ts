/**
 * The reader of a venuewatch that runs elsewhere: what it makes of whatever may answer at its address. Hostile answers
 * are in hostile-servers.test.ts.
 */
import { Venuewatch, VenuewatchError } from "@venuewatch/client";
import t, { type Test } from "tap";
import { UserError } from "../../../shared/process/user-error.js";
import { makeBoundedFetch, makeService } from "../../../server/cli/service.js";
import { freePort } from "../../support/free-port.js";
import { serve } from "../../support/measured-endpoint.js";

function serviceAt(t: Test, url: string) {
  const service = makeService(url, { program: "test" });
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

void t.test("a body is read below the path of the address", async (t) => {
  const asked: string[] = [];
  const url = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    t.match(request.headers, { accept: "application/json", "accept-encoding": "br, gzip" });
    t.equal(request.headers["user-agent"], "venuewatch (test)");
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(`{"a": 1}`);
  });
  const dates: unknown[] = [];
  const { fetch, close } = makeBoundedFetch("venuewatch (test)", ({ date }, fromMs, toMs) => {
    t.ok(fromMs <= toMs);
    dates.push(date);
  });
  t.teardown(close);
  const client = new Venuewatch({ url: `${new URL(url).origin}/watch/`, fetch });
  t.strictSame(await client.incident("one"), { a: 1 });
  t.strictSame(asked, ["GET /watch/v1/incidents/one"]);
  t.match(dates, [/GMT$/]);
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
