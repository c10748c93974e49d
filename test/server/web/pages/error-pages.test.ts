import express from "express";
import t, { type Test } from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { answerErrors, notFound, problemSender } from "../../../../server/web/api/problem.js";
import { errorPage } from "../../../../server/web/pages/error.js";
import { pageText } from "../../../../server/web/pages/page.js";
import { serve } from "../../../support/api.js";
import { getPage } from "../../../support/page.js";
import { browserAccept } from "../../../support/page-anchors.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, pastIncident } from "../../../support/fleet.js";
import { askRaw } from "../../../support/raw-answer.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

async function servedWithout(t: Test, rateLimit = 0): Promise<number> {
  const log = makeLog("test", "error", () => {});
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  return (await serve(t, { pool, registry, rateLimit })).port;
}

void t.test("browsers get an error as a page, and programs as a problem document", async (t) => {
  const port = await servedWithout(t);
  const path = "/v1/reliability?days=91";
  const page = await getPage(port, path);
  t.equal(page.status, 400);
  t.match(page.headers, {
    ...{ "content-type": "text/html; charset=utf-8", vary: "Accept", "cache-control": "no-store" },
    "content-security-policy": /style-src 'self'/,
  });
  t.match(page.text, "Error 400");
  t.match(page.text, 'days expected an integer from 1 to 90; got "91"');
  for (const accept of [
    "*/*",
    "application/json",
    "application/problem+json",
    "application/json, text/plain, */*",
    "x",
  ]) {
    const { status, headers, bytes } = await askRaw(port, path, { accept });
    t.equal(status, 400);
    t.match(headers, { "content-type": "application/problem+json; charset=utf-8", vary: "Accept" }, accept);
    t.match(JSON.parse(bytes.toString()), { type: "about:blank", status: 400, errors: [{ parameter: "days" }] });
  }
  t.notOk((await askRaw(port, path)).bytes.toString().startsWith("<"), "nor without a preference");
  const head = await askRaw(port, path, { accept: browserAccept }, "HEAD");
  t.match(head.headers, { "content-type": /^text\/html/, "content-length": String(Buffer.byteLength(page.html)) });
});

void t.test("an error page says what is wrong, whatever was requested", async (t) => {
  const port = await servedWithout(t);
  for (const [path, status, heading] of [
    ["/nosuch", 404, "There is no such page"],
    ["/v1/targets/mtgox", 404, "No venue “mtgox”"],
    ["/v1/incidents?limit=0&days=x", 400, "We do not understand this address"],
    ["/v1/targets/%ff", 400, "We do not understand this address"],
  ] as const) {
    const { status: got, text, headers } = await getPage(port, path);
    t.equal(got, status, path);
    t.match(text, heading, path);
    t.match(headers["content-type"], "text/html", path);
  }
  const posted = await askRaw(port, "/docs", { accept: browserAccept }, "POST");
  t.equal(posted.status, 405);
  t.match(posted.bytes.toString(), "This can only be read");
  const { text, html } = await getPage(
    port,
    `/v1/incidents?limit=0&days=${encodeURIComponent("<script>alert(1)</script>\u202e")}`,
  );
  t.match(text, /days.*<script>alert\(1\)<\/script>/s);
  t.match(text, /limit/, "every invalid parameter");
  t.notMatch(html, "<script>alert");
  t.match(html, /<bdi>[^<]*\u202e[^<]*<\/bdi>/, "text of the request cannot reverse the rest of the page");
  const long = await getPage(port, `/${"x".repeat(2_000)}`);
  t.ok(long.text.length < 1_000, "a long path is shortened");
});

void t.test("the page of a 503 says nothing about venues, and reloads itself", async (t) => {
  const port = await servedWithout(t);
  for (const path of ["/", "/v1/status"]) {
    const { status, headers, text, html } = await getPage(port, path);
    t.equal(status, 503, path);
    t.match(headers, { "retry-after": "5", "cache-control": "no-store" });
    t.match(text, "says nothing about any venue");
    t.match(html, /<noscript><meta http-equiv="refresh" content="5"/);
    t.match(html, 'data-follow="reload"', "a script waits until the page is available");
  }
});

void t.test("the page of a 429 says when to come back", async (t) => {
  const port = await servedWithout(t, 1);
  await getPage(port, "/docs");
  const { status, headers, text, html } = await getPage(port, "/docs");
  t.equal(status, 429);
  t.match(text, "Too many requests from your address");
  const seconds = headers["retry-after"]!;
  t.match(text, `The page tries again by itself in ${seconds} second`);
  t.match(html, `<noscript><meta http-equiv="refresh" content="${seconds}"`);
  t.match(html, `data-follow="reload" data-after="${seconds}"`, "and no earlier, which would count");
  const asset = /\/assets\/[^"]+follow\.js/.exec((await getPage(port, "/docs")).html)![0];
  t.equal((await askRaw(port, asset)).status, 200, "its scripts are not limited");
});

void t.test("a retracted incident has a page that says when and why", async (t) => {
  const { pool } = await migratedDatabase(t);
  const past = { venue: "okx", component: "rest:ticker", startedAt: ago(3_600), minutes: 5, retracted: true };
  const slug = await pastIncident(pool, past);
  const { port } = await serve(t, { pool, registry });
  const { status, headers, text } = await getPage(port, `/v1/incidents/${slug}`);
  t.equal(status, 404);
  t.match(headers, { "cache-control": "public, max-age=300", vary: "Accept" });
  t.match(text, "This incident was retracted");
  t.match(text, /When \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  t.match(text, "Why late samples");

  const problem = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "",
    slug,
    retractedAt: "2026-01-31T12:00:00Z",
  };
  const because = (reason: string) => pageText(errorPage({ ...problem, reason }, 0));
  t.match(because("<b>\u202e"), "<bdi>&lt;b>\u202e</bdi>");
});

void t.test("a bug of ours has a page, and one in that page ends as a problem document", async (t) => {
  const logged: string[] = [];
  const log = makeLog("web", "warn", (line) => logged.push(line));
  const failing = express();
  const send = problemSender(log, () => {
    throw new Error("a broken page");
  });
  failing.use(notFound);
  failing.use(answerErrors(log, send));
  const server = failing.listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const { status, headers, bytes } = await askRaw(port, "/none", { accept: browserAccept });
  t.equal(status, 404);
  t.match(headers["content-type"], "application/problem+json");
  t.match(JSON.parse(bytes.toString()), { status: 404 });
  t.match(logged.join("\n"), /rendering the page of an error failed.*a broken page/s);

  const away = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => away.close());
  const broken = { ...away, file: () => Promise.reject(new Error("broken")) };
  const api = await serve(t, { pool: broken, registry });
  const page = await getPage(api.port, "/v1/regions");
  t.equal(page.status, 500);
  t.match(page.text, "This is our fault");
  t.notMatch(page.text, "broken");
});
