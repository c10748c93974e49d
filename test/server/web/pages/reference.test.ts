import type { ParameterObject, PathItemObject, SchemaObject } from "openapi3-ts/oas31";
import t, { type Test } from "tap";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import type { Registry } from "../../../../shared/registry/registry.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { documentNames } from "../../../../server/web/pages/documents.js";
import { documentOf, serve } from "../../../support/api.js";
import { getPage } from "../../../support/page.js";
import { browserAccept, deadAnchorsOf, idsOf } from "../../../support/page-anchors.js";
import { askRaw } from "../../../support/raw-answer.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

async function served(t: Test, of: Registry = registry): Promise<number> {
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  return (await serve(t, { pool, registry: of })).port;
}

void t.test("/docs leads to every document and every operation", async (t) => {
  const port = await served(t);
  const { status, text, links, headers } = await getPage(port, "/docs");
  t.equal(status, 200);
  t.match(headers, { "content-type": "text/html; charset=utf-8", "cache-control": "public, max-age=300" });
  for (const name of documentNames) t.ok(links.includes(`/${name}`), name);
  const reference = idsOf((await getPage(port, "/docs/api")).html);
  for (const [path, { get, post }] of Object.entries(documentOf({ registry }).paths!)) {
    const id = (get ?? post)!.operationId!;
    t.ok(links.includes(`/docs/api#${id}`) && reference.includes(id), id);
    t.match(text, `${get ? "GET" : "POST"} ${path}`);
  }
  const others = links.filter((link) => link.startsWith("/docs") || documentNames.some((name) => link === `/${name}`));
  for (const link of new Set(others)) t.equal((await getPage(port, link)).status, 200, link);
});

void t.test("the reference has every parameter, field, word, header and error of the description", async (t) => {
  const port = await served(t);
  const { html, text } = await getPage(port, "/docs/api");
  const document = documentOf({ registry });
  t.strictSame(deadAnchorsOf(html), []);
  t.equal(new Set(idsOf(html)).size, idsOf(html).length, "no two elements have one id");
  for (const [name, schema] of Object.entries(document.components!.schemas!)) {
    t.ok(idsOf(html).includes(name), name);
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

void t.test("the reference is small enough for a phone, also with 150 venues", async (t) => {
  const [first] = registry.venues;
  const venues = Array.from({ length: 150 }, (_, at) => ({ ...first!, id: `venue-${at}`, formerIds: [] }));
  for (const of of [registry, { ...registry, venues }]) {
    const port = await served(t, of);
    const { bytes, headers } = await askRaw(port, "/docs/api", { accept: browserAccept, "accept-encoding": "br" });
    t.equal(headers["content-encoding"], "br");
    t.ok(bytes.length < 44_000, `${bytes.length} bytes`);
  }
  const { text } = await getPage(await served(t, { ...registry, venues }), "/docs/api");
  t.match(text, "venue-19 and 130 more");
});

/** Names of fields at any depth, without those of named schemas. */
function namesIn({ properties = {}, items, anyOf = [] }: SchemaObject): string[] {
  const inside = [...Object.values(properties), ...(items ? [items] : []), ...anyOf] as SchemaObject[];
  return [...Object.keys(properties), ...inside.flatMap(namesIn)];
}
