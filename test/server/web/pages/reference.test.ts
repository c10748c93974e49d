import type { ParameterObject, PathItemObject, SchemaObject } from "openapi3-ts/oas31";
import t, { type Test } from "tap";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import type { Registry } from "../../../../shared/registry/registry.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { documentNames, documentPath } from "../../../../server/web/pages/documents.js";
import { describedPath, documentOf, serve } from "../../../support/api.js";
import { getPage, type ReadPage } from "../../../support/page.js";
import { browserAccept, deadAnchorsOf, idsOf } from "../../../support/page-anchors.js";
import { askRaw } from "../../../support/raw-answer.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

async function served(t: Test, of: Registry = registry): Promise<number> {
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  return (await serve(t, { pool, registry: of })).port;
}

const document = documentOf({ registry });
const groups = document.tags!.map(({ name }) => `/docs/api/${name}`);
const paths = ["/docs/api", ...groups, "/docs/api/answers", "/docs/api/types"];

void t.test("/docs leads to every document, and the reference to every operation", async (t) => {
  const port = await served(t);
  const { status, text, links, headers } = await getPage(port, "/docs");
  t.equal(status, 200);
  t.match(headers, { "content-type": "text/html; charset=utf-8", "cache-control": "public, max-age=300" });
  for (const name of documentNames) t.ok(links.includes(documentPath(name)), name);
  for (const group of groups) t.ok(links.includes(group), group);
  const index = await getPage(port, "/docs/api");
  for (const [path, { get, post }] of Object.entries(document.paths!)) {
    const { operationId: id, tags } = (get ?? post)!;
    const href = `/docs/api/${tags![0]}#${id}`;
    t.ok(index.links.includes(href), href);
    t.ok(idsOf(index.html).includes(id!), `/docs/api#${id}, its former address, leads there`);
    t.ok(idsOf((await getPage(port, href)).html).includes(id!), href);
    t.match(text, `${get ? "GET" : "POST"} ${path}`);
  }
  t.equal((await getPage(port, "/docs/api/none")).status, 404);
});

void t.test("/docs begins with three recipes that work", async (t) => {
  const port = await served(t);
  const { text, html } = await getPage(port, "/docs");
  t.match(text, /^Documentation ?Search the documentation Search Three recipes Is OKX down, in one curl ?curl -s /);
  const [, curl] = /curl -s https:\/\/api\.example\.org(\S+) \| jq -r \.state/.exec(text) ?? [];
  const [, badge] = /\(https:\/\/api\.example\.org(\/badges\/\S+?)\)/.exec(text) ?? [];
  const [, feed] = /https:\/\/api\.example\.org(\/feeds\/\S+)/.exec(text) ?? [];
  for (const path of [curl, badge, feed]) t.ok(describedPath(document, path!), path!);
  t.notMatch(html, "<script>");
  const { venues, ...rest } = registry;
  const without = await served(t, { ...rest, venues: venues.filter(({ id }) => id !== "okx") });
  t.match((await getPage(without, "/docs")).text, `Is ${venues[0]!.name} down, in one curl`);
});

void t.test("the reference has every parameter, field, word, header and error of the description", async (t) => {
  const port = await served(t);
  const pages = new Map<string, ReadPage>();
  for (const path of paths) pages.set(path, await getPage(port, path));
  const text = [...pages.values()].map((page) => page.text).join(" ");
  for (const [path, { html, links }] of pages) {
    t.strictSame(deadAnchorsOf(html), [], path);
    t.equal(new Set(idsOf(html)).size, idsOf(html).length, `${path}: no two elements have one id`);
    for (const href of links.filter((link) => link.startsWith("/docs/api"))) {
      const [target = "", anchor] = href.split("#");
      t.ok(pages.has(target) && (anchor === undefined || idsOf(pages.get(target)!.html).includes(anchor)), href);
    }
  }
  const index = pages.get("/docs/api")!;
  for (const [name, schema] of Object.entries(document.components!.schemas!)) {
    t.ok(idsOf(index.html).includes(name), `/docs/api#${name}, its former address, leads there`);
    t.ok(
      index.links.some((link) => link.endsWith(`#${name}`)),
      name,
    );
    for (const field of namesIn(schema as SchemaObject)) t.ok(text.includes(field), `${name}.${field}`);
  }
  for (const { get, post } of Object.values<PathItemObject>(document.paths!)) {
    const operation = (get ?? post)!;
    t.ok(text.includes(operation.summary!), operation.operationId!);
    for (const { name, schema } of (operation.parameters ?? []) as ParameterObject[]) {
      t.ok(text.includes(name), name);
      for (const word of (schema as SchemaObject).enum ?? []) t.ok(text.includes(String(word)), `${name}: ${word}`);
    }
  }
  for (const words of [
    "curl --compressed 'https://api.example.org/v1/status'",
    "curl -OJ 'https://api.example.org/v1/targets/kraken/days.csv'",
    `curl 'https://api.example.org/mcp' -H 'Accept: application/json, text/event-stream' --json '{"jsonrpc":"2.0"`,
    'fetch("https://api.example.org/v1/incidents/kraken-2026-01-31-rest-outage")',
    'urllib.request.urlopen("https://api.example.org/v1/regions")',
    ...["x-svc-signature", "eventId", "RateLimit-Policy", "Retry-After", "max-age=5"],
    "More than 120 requests in a minute",
    "integer, 1 to 90",
  ])
    t.ok(text.includes(words), words);
});

void t.test("each page of the reference is small enough for a phone, also with 150 venues", async (t) => {
  const [first] = registry.venues;
  const venues = Array.from({ length: 150 }, (_, at) => ({ ...first!, id: `venue-${at}`, formerIds: [] }));
  for (const of of [registry, { ...registry, venues }]) {
    const port = await served(t, of);
    for (const path of paths) {
      const { bytes, headers } = await askRaw(port, path, { accept: browserAccept, "accept-encoding": "br" });
      t.equal(headers["content-encoding"], "br");
      t.ok(bytes.length < 28_000, `${path}: ${bytes.length} bytes`);
    }
  }
  const { text } = await getPage(await served(t, { ...registry, venues }), "/docs/api/board");
  t.match(text, "venue-19 and 130 more");
});

/** Names of fields at any depth, without those of named schemas. */
function namesIn({ properties = {}, items, anyOf = [] }: SchemaObject): string[] {
  const inside = [...Object.values(properties), ...(items ? [items] : []), ...anyOf] as SchemaObject[];
  return [...Object.keys(properties), ...inside.flatMap(namesIn)];
}
