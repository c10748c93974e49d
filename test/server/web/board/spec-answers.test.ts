/** Rules of the contract that no other test covers: numbers, limits and defaults in responses. */
import type { ReferenceObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { sql } from "../../../../shared/database/pool.js";
import { componentsOf } from "../../../../shared/registry/components.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { answersHeldAgainst, documentOf, serve } from "../../../support/api.js";
import { closed } from "../../../support/closed-schema.js";
import { migratedDatabase } from "../../../support/database.js";
import { parseExposition } from "../../../support/exposition.js";
import { ago, decide, forget, measured, outage, pastIncident } from "../../../support/fleet.js";
import { getsOf, parametersOf } from "../../../support/openapi-operation.js";

interface Listed {
  incidents: { slug: string; startedAt: string }[];
}

const dayS = 86_400;
const categories = ["exchange", "rpc", "market-data", "oracle", "stablecoin", "bridge", "ramp"];

void t.test("responses follow the contract", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  await outage.open(pool);
  const api = await serve(t, { pool, registry });
  const document = documentOf({ registry });
  const list = async (query = "") => (await api.ask<Listed>(`/v1/incidents${query}`)).body.incidents;
  const { slug } = (await list())[0]!;
  const paths = getsOf(document).map(([path, get]) => {
    const required = parametersOf(get, "query").filter((parameter) => parameter.required);
    const query = new URLSearchParams(required.map(({ name, example }) => [name, String(example)])).toString();
    return path.replace("{venue}", "okx").replace("{slug}", slug) + (query && `?${query}`);
  });

  function defaults(path: string): Record<string, unknown> {
    const query = parametersOf(document.paths![path]!.get!, "query");
    return Object.fromEntries(query.map(({ name, schema }) => [name, (schema as SchemaObject).default]));
  }

  await t.test("spec: every 200 JSON body carries generatedAt", async (t) => {
    for (const path of paths) {
      const { body, headers } = await api.ask<Record<string, unknown> & { page?: { updated_at: string } }>(path);
      if (!headers["content-type"]!.startsWith("application/json")) continue;
      // these formats of others have no place for it
      if (/^\/badges\b/.test(path)) continue;
      // OpenAPI allows no property of ours without x-
      const name = path === "/openapi.json" ? "x-generatedAt" : "generatedAt";
      const at = path.startsWith("/statuspage/") ? body.page?.updated_at : body[name];
      t.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, path);
    }
  });

  await t.test("spec: nothing is answered that is not described", async (t) => {
    const held = answersHeldAgainst(document);
    for (const path of paths) {
      const answer = await api.ask(path);
      if (!answer.headers["content-type"]!.includes("json")) continue;
      // OpenAPI itself describes the content of a description
      const deepest = path === "/openapi.json" ? 0 : Infinity;
      for (const [place, text] of withMore(answer.body, deepest)) {
        const extra = `${path}: an extra field in ${place} would be noticed`;
        t.throws(() => held(path, { ...answer, text }, "GET"), /does not fit its schema/, extra);
      }
    }
  });

  await t.test("spec: /v1/exchanges/{venue} is not deprecated", (t) => {
    t.ok(document.paths!["/v1/exchanges/{venue}"]?.get);
    t.notMatch(JSON.stringify(document), /"deprecated":true/);
    t.end();
  });

  await t.test("spec: each endpoint and stream has the cadence of the registry", async (t) => {
    type Page = Record<"endpoints" | "streams", { component: string; cadenceMs: number }[]>;
    const cadences = new Set<number>();
    for (const venue of registry.venues) {
      const { endpoints, streams } = (await api.ask<Page>(`/v1/targets/${venue.id}`)).body;
      const shown = [...endpoints, ...streams];
      const expected = Object.fromEntries(componentsOf(venue).map(({ id, cadenceMs }) => [id, cadenceMs]));
      t.strictSame(Object.fromEntries(shown.map((one) => [one.component, one.cadenceMs])), expected, venue.id);
      for (const { cadenceMs } of shown) cadences.add(cadenceMs);
    }
    t.ok(cadences.size > 1, "cadences differ");
  });

  await t.test("spec: probeIntervalMs and bucketMs are at least 1", async (t) => {
    const { probeIntervalMs } = registry;
    t.match((await api.ask("/v1/status")).body, { summary: { probeIntervalMs } });
    t.ok(probeIntervalMs >= 1);
    for (const [schema, ...names] of [
      ["StatusResponse", "summary", "probeIntervalMs"],
      ["ExchangeResponse", "latency", "bucketMs"],
    ] as const) {
      let at = document.components!.schemas![schema] as SchemaObject;
      for (const name of names) at = at.properties![name] as SchemaObject;
      t.match(at, { type: "integer", minimum: 1 }, names.join("."));
    }
  });

  await t.test("spec: windows are at least 1 day, in requests and in answers", async (t) => {
    for (const path of ["/v1/reliability", "/v1/detection"]) {
      const one = await api.ask<{ days: number }>(`${path}?days=1`);
      t.equal(one.body.days, 1, path);
      t.equal((await api.ask(`${path}?days=0`)).status, 400, path);
      const held = answersHeldAgainst(document);
      const none = { ...one, text: JSON.stringify({ ...one.body, days: 0 }) };
      t.throws(() => held(path, none, "GET"), /days must be >= 1/, `${path}: a window of 0 days is not described`);
    }
  });

  await t.test("spec: every endpoint is GET and needs no key", async (t) => {
    t.strictSame(document.security, []);
    for (const path of paths) {
      t.equal((await api.ask(path)).status, 200, path);
      t.equal((await api.ask(path, { method: "POST" })).status, 405, path);
    }
    for (const [path, methods] of Object.entries(document.paths!))
      t.strictSame(Object.keys(methods as object), [path === "/mcp" ? "post" : "get"], path);
  });

  await t.test("spec: the 7 categories, and no other", async (t) => {
    for (const path of ["/v1/status", "/v1/reliability", "/v1/incidents"]) {
      for (const category of categories) t.equal((await api.ask(`${path}?category=${category}`)).status, 200);
      for (const category of ["futures", "Exchange", "all"])
        t.equal((await api.ask(`${path}?category=${category}`)).status, 400);
    }
  });

  await t.test("spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary", (t) => {
    t.strictSame(defaults("/v1/status"), { category: undefined });
    for (const path of ["/v1/targets/{venue}", "/v1/exchanges/{venue}"])
      t.match(defaults(path), { range: "24h", region: "eu-central" });
    t.match(defaults("/v1/reliability"), { days: 90, category: undefined });
    t.match(defaults("/v1/detection"), { days: 90 });
    t.match(defaults("/v1/incidents"), {
      ...{ venue: undefined, category: undefined, status: "all" },
      ...{ days: 90, limit: 50, before: undefined, beforeId: undefined },
    });
    t.end();
  });

  await t.test("spec: absent parameters answer as their defaults", async (t) => {
    for (const [path, query] of [
      ["/v1/targets/okx", "range=24h&region=eu-central"],
      ["/v1/reliability", "days=90"],
      ["/v1/detection", "days=90"],
      ["/v1/incidents", "status=all&days=90&limit=50"],
    ] as const) {
      // an instant may pass between two requests: what is compared lies between two equal answers
      let before = (await api.ask(`${path}?${query}`)).text;
      for (;;) {
        const absent = (await api.ask(path)).text;
        const after = (await api.ask(`${path}?${query}`)).text;
        if (before === after) {
          t.equal(absent, before, path);
          break;
        }
        before = after;
      }
    }
  });

  await t.test("spec: range is 24h by minutes or 7d by hours", async (t) => {
    for (const latency of [
      { range: "24h", bucketMs: 60_000 },
      { range: "7d", bucketMs: 3_600_000 },
    ])
      t.match((await api.ask(`/v1/targets/okx?range=${latency.range}`)).body, { latency });
    t.equal((await api.ask("/v1/targets/okx?range=30d")).status, 400);
  });

  await t.test("spec: a slug says venue, day, kind and severity, and -2, -3 on", async (t) => {
    const what = { venue: "gate", component: "ws:trades", minutes: 1 };
    const slugs = [];
    for (const minute of [1, 2, 3])
      slugs.push(await pastIncident(pool, { ...what, startedAt: `2026-01-31T12:0${minute}:00Z` }));
    t.strictSame(slugs, ["gate-2026-01-31-ws-outage", "gate-2026-01-31-ws-outage-2", "gate-2026-01-31-ws-outage-3"]);
    for (const one of slugs) t.equal((await api.ask(`/v1/incidents/${one}`)).status, 200);
  });

  await t.test("spec: a closed incident no longer changes", async (t) => {
    const what = { venue: "gate", component: "rest:time", minutes: 1 };
    const closed = await pastIncident(pool, { ...what, startedAt: ago(dayS) });
    const change = pool.query(sql`update incident set severity = 'degraded' where slug = ${closed}`);
    await t.rejects(change, /cannot be changed/);
  });

  await t.test("spec: incidents go back 90 days unless days says otherwise, up to 365", async (t) => {
    const what = { venue: "bitget", component: "rest:time", minutes: 1 };
    for (const days of [89, 91]) await pastIncident(pool, { ...what, startedAt: ago(days * dayS) });
    await decide(pool);
    t.equal((await list("?venue=bitget")).length, 1);
    t.equal((await list("?venue=bitget&days=92")).length, 2);
    t.equal((await api.ask("/v1/incidents?days=365")).status, 200);
    for (const days of [0, 366]) t.equal((await api.ask(`/v1/incidents?days=${days}`)).status, 400);
  });

  await t.test("spec: a page of incidents has 50 by default and 200 at the most", async (t) => {
    const base = Date.now() - 10 * dayS * 1000;
    const what = { venue: "deribit", component: "rest:time", minutes: 1 };
    for (let nth = 0; nth < 205; nth++)
      await pastIncident(pool, { ...what, startedAt: new Date(base + nth * 120_000) });
    await decide(pool);
    t.equal((await list("?venue=deribit")).length, 50);
    const largest = await list("?venue=deribit&limit=200");
    t.equal(largest.length, 200);
    const last = await list(`?venue=deribit&limit=200&before=${largest.at(-1)!.startedAt}`);
    t.equal(last.length, 5, "a page shorter than the limit is the last");
    for (const limit of [0, 201]) t.equal((await api.ask(`/v1/incidents?limit=${limit}`)).status, 400);
  });

  await t.test("spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics", async (t) => {
    const states = async () => {
      const { body } = await api.ask<{ summary: { state: string }; venues: { state: string }[] }>("/v1/status");
      const page = await api.ask<{ state: string }>("/v1/targets/gate");
      const { text } = await api.ask("/metrics");
      const families = parseExposition(text).filter(({ name }) => name.startsWith("svc_component_state"));
      t.equal(families.length, 2);
      return {
        board: new Set([body.summary.state, ...body.venues.map(({ state }) => state)]),
        page: page.body.state,
        metrics: new Set(families.flatMap(({ series }) => series.map(({ value }) => value))),
      };
    };
    // as if this much time had passed since the last tick
    const silentFor = (seconds: number) =>
      pool.query(sql`update engine_clock set ticked_at = now() - ${seconds}::int * interval '1 s'`);
    await forget(pool);
    await measured(pool, { from: ago(200), to: ago(0) });
    await decide(pool);
    await silentFor(270);
    t.strictSame(await states(), { board: new Set(["operational"]), page: "operational", metrics: new Set([0]) });
    await silentFor(301);
    t.strictSame(await states(), { board: new Set(["unknown"]), page: "unknown", metrics: new Set([3]) });
  });
});

/** The body once for each object within it, with an extra field there; the first item represents a list. */
function* withMore(body: unknown, deepest: number): Generator<[place: string, text: string]> {
  for (const place of objectsIn(body)) {
    if (place.length > deepest) continue;
    const copy = structuredClone(body);
    let at = copy as Record<string, unknown>;
    for (const step of place) at = at[step] as Record<string, unknown>;
    at["undescribed"] = 1;
    yield [place.join(".") || "the body", JSON.stringify(copy)];
  }
}

function objectsIn(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const parts = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  const within = parts.flatMap(([name, part]) => objectsIn(part).map((place) => [name, ...place]));
  return Array.isArray(value) ? within : [[], ...within];
}

// The contract's fields and their types, checked against the API's description.

/** From the contract's tables: fields by their type. There may be more fields, but none of these may be missing. */
const contract: Record<string, Record<string, string[]>> = {
  "/v1/status": {
    "date-time": ["generatedAt"],
    integer: ["summary.venues", "summary.regions", "summary.activeIncidents"],
    "integer from 1": ["summary.probeIntervalMs"],
    "operational, degraded, outage, unknown": ["summary.state"],
    "number or null": ["summary.uptimePct90d"],
    "integer or null": ["summary.medianLatencyMs"],
    array: ["summary.categories", "venues", "incidents"],
  },
  "/v1/targets/{venue}": {
    "date-time": ["generatedAt", "since"],
    string: ["exchange.id", "exchange.name", "regions.selected"],
    "exchange, rpc, market-data, oracle, stablecoin, bridge, ramp": ["exchange.category"],
    "string or null": ["exchange.symbol", "exchange.quote", "official.source", "official.page"],
    "operational, degraded, outage, unknown": ["state"],
    "number or null": ["uptimePct90d"],
    "integer or null": ["typicalMs"],
    array: [
      "days",
      "latency.points",
      "endpoints",
      "streams",
      "regions.compare",
      "incidents",
      "incidentPatterns",
      "official.incidents",
    ],
    "24h, 7d": ["latency.range"],
    "integer from 1": ["latency.bucketMs"],
    boolean: ["official.observed", "official.incidents[].subjectMatched"],
    object: ["official.incidents[]", "detection", "summary"],
  },
  "/v1/regions": {
    "date-time": ["generatedAt"],
    array: ["regions"],
    boolean: ["regions[].reporting"],
    integer: ["regions[].samplesLastHour"],
    "integer from 1": ["quorum"],
  },
  "/v1/thresholds": {
    "date-time": ["generatedAt"],
    string: ["version"],
    array: ["rules", "stalls"],
  },
  "/v1/reliability": {
    "date-time": ["generatedAt"],
    "integer from 1": ["days", "venues[].days"],
    integer: ["fleet.venues", "fleet.incidents", "venues[].measuredDays"],
    "number or null": ["fleet.uptimePct"],
    "integer or null": ["fleet.typicalP50Ms", "fleet.typicalP95Ms"],
    array: ["venues"],
  },
  "/v1/detection": {
    "date-time": ["generatedAt"],
    "integer from 1": ["days"],
    object: ["fleet"],
    boolean: ["fleet.subjectMatched"],
    "integer or null": ["fleet.aheadUncorrelated"],
    array: ["venues"],
  },
  "/v1/incidents": {
    "date-time": ["generatedAt", "incidents[].startedAt"],
    array: ["incidents"],
    string: ["incidents[].venue"],
    "degraded, outage": ["incidents[].severity"],
    "open, closed": ["incidents[].status"],
    "rest, ws": ["incidents[].kind"],
  },
  "/v1/incidents/{slug}": {
    "date-time": ["generatedAt"],
    object: ["incident", "errors", "detection"],
    string: ["venue.id", "venue.name", "component.label"],
    "string or null": ["venue.symbol", "venue.quote", "component.target", "official.source", "official.page"],
    "string like ^(rest|ws):[a-z]+$": ["component.id"],
    "rest, ws": ["component.kind"],
    array: ["events", "related"],
    "object or null": ["latency"],
    boolean: ["official.observed"],
  },
  "/v1/notify": {
    "date-time": ["generatedAt"],
    "integer from 1": ["days"],
    integer: ["deliveries"],
    "integer or null": ["p50Ms", "p95Ms"],
  },
  "/healthz": {
    ok: ["status"],
    "core, web, probe": ["service"],
    string: ["version"],
    integer: ["uptimeSeconds"],
    "date-time": ["time"],
  },
};

void t.test("the API has the contract's fields", async (t) => {
  const document = documentOf({ registry: await loadRegistry(packagedFile("registry/exchanges.json")) });
  const resolved = (part: SchemaObject | ReferenceObject): SchemaObject => {
    const name = part.$ref?.split("/").at(-1);
    const whole = name === undefined ? part : document.components!.schemas![name];
    return whole as SchemaObject;
  };

  function schemaOf(path: string): SchemaObject {
    const ok = document.paths![path]!.get!.responses!["200"] as ResponseObject;
    return resolved(ok.content!["application/json"]!.schema!);
  }

  function field(schema: SchemaObject, name: string): string {
    let at = schema;
    for (const step of name.split(/\.|(?=\[\])/)) {
      const next = step === "[]" ? at.items : at.properties?.[step];
      if (!next) return "missing";
      at = resolved(next);
    }
    return kindOf(at);
  }

  function kindOf(schema: SchemaObject): string {
    if (schema.anyOf) return schema.anyOf.map((form) => kindOf(resolved(form))).join(" or ");
    if (schema.enum) return schema.enum.join(", ");
    if (schema.format !== undefined) return schema.format;
    if (schema.pattern !== undefined) return `string like ${schema.pattern}`;
    const atLeastOne = schema.type === "integer" && schema.minimum === 1;
    return `${String(schema.type)}${atLeastOne ? " from 1" : ""}`;
  }

  for (const [path, fields] of Object.entries(contract))
    await t.test(`spec: fields of ${path}`, (t) => {
      const schema = schemaOf(path);
      for (const [type, names] of Object.entries(fields))
        for (const name of names) t.equal(field(schema, name), type, name);
      t.end();
    });

  await t.test("spec: an Incident has no category, and a board row no percentiles of components", (t) => {
    const { Incident, VenueStatus } = document.components!.schemas!;
    t.notOk("category" in resolved(Incident!).properties!);
    const row = Object.keys(resolved(VenueStatus!).properties!);
    t.ok(row.includes("days") && row.includes("sparkline"));
    t.notOk(row.includes("endpoints") || row.includes("streams"));
    t.end();
  });

  await t.test("strictly generated clients tolerate an extra field", (t) => {
    const text = JSON.stringify(document);
    t.notMatch(text, /"(additional|unevaluated)Properties":(false|\{"not")/);
    t.match(document.info.description, /Fields may be added to any object/);
    t.end();
  });

  await t.test("a field that is always null has the type of its future values", (t) => {
    // type generators drop fields that can only be null, and strict clients break at the first value
    const always = partsOf(document).filter(([place, part]) => part.type === "null" && !/\.anyOf\.1$/.test(place));
    t.strictSame(always, []);
    t.end();
  });

  await t.test("no object may have undescribed fields", (t) => {
    const isLoose = (part: SchemaObject) => {
      const isObject = [part.type].flat().includes("object");
      // the keys of a record of counts come from a list, and one schema describes them all
      const isRecord = part.propertyNames !== undefined && typeof part.additionalProperties === "object";
      return isObject && part.additionalProperties !== false && !isRecord;
    };
    const places = partsOf(closed(document)).flatMap(([place, part]) => (isLoose(part) ? [place] : []));
    // OpenAPI itself describes the content of a description, and the tools of agents describe theirs
    const ours = places.filter((place) => !/^paths\.\/(openapi\.json|mcp)\./.test(place));
    t.strictSame(ours, []);
    t.end();
  });
});

/** Everything in the document that may be a schema, with its place. */
function partsOf(value: unknown, place = ""): [string, SchemaObject][] {
  if (typeof value !== "object" || value === null) return [];
  return [
    [place, value as SchemaObject],
    ...Object.entries(value)
      .filter(([name]) => name !== "example" && name !== "examples")
      .flatMap(([name, one]) => partsOf(one, place === "" ? name : `${place}.${name}`)),
  ];
}
