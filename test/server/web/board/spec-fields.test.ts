/** The contract's fields and their types, checked against the API's description. */
import type { ReferenceObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { documentOf } from "../../../support/api.js";
import { closed } from "../../../support/closed-schema.js";

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
  const document = documentOf({ registry: await loadRegistry(packagedFile("registry/default.json")) });
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
