/** The contract's fields and their types, checked against the API's description. */
import type { ReferenceObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { documentOf } from "../../support/api.js";
import { closed } from "../../support/closed.js";

/** From the contract's tables. There may be more fields, but none of these may be missing. */
const contract: Record<string, Record<string, string>> = {
  "/v1/status": {
    generatedAt: "date-time",
    "summary.venues": "integer",
    "summary.regions": "integer",
    "summary.probeIntervalMs": "integer from 1",
    "summary.state": "operational, degraded, outage, unknown",
    "summary.uptimePct90d": "number or null",
    "summary.medianLatencyMs": "integer or null",
    "summary.activeIncidents": "integer",
    "summary.categories": "array",
    venues: "array",
    incidents: "array",
  },
  "/v1/targets/{venue}": {
    generatedAt: "date-time",
    "exchange.id": "string",
    "exchange.name": "string",
    "exchange.category": "exchange, rpc, market-data, oracle, stablecoin, bridge, ramp",
    "exchange.symbol": "string or null",
    "exchange.quote": "string or null",
    state: "operational, degraded, outage, unknown",
    since: "date-time",
    uptimePct90d: "number or null",
    typicalMs: "integer or null",
    days: "array",
    "latency.range": "24h, 7d",
    "latency.bucketMs": "integer from 1",
    "latency.points": "array",
    endpoints: "array",
    streams: "array",
    "regions.selected": "string",
    "regions.compare": "array",
    incidents: "array",
    incidentPatterns: "array",
    "official.source": "string or null",
    "official.page": "string or null",
    "official.observed": "boolean",
    "official.incidents": "array",
    "official.incidents[]": "object",
    "official.incidents[].subjectMatched": "boolean",
    detection: "object",
    summary: "object",
  },
  "/v1/regions": {
    generatedAt: "date-time",
    regions: "array",
    "regions[].reporting": "boolean",
    "regions[].samplesLastHour": "integer",
    quorum: "integer from 1",
  },
  "/v1/thresholds": { generatedAt: "date-time", version: "string", rules: "array", stalls: "array" },
  "/v1/reliability": {
    generatedAt: "date-time",
    days: "integer from 1",
    "fleet.venues": "integer",
    "fleet.uptimePct": "number or null",
    "fleet.typicalP50Ms": "integer or null",
    "fleet.typicalP95Ms": "integer or null",
    "fleet.incidents": "integer",
    venues: "array",
    "venues[].days": "integer from 1",
    "venues[].measuredDays": "integer",
  },
  "/v1/detection": {
    generatedAt: "date-time",
    days: "integer from 1",
    fleet: "object",
    "fleet.subjectMatched": "boolean",
    "fleet.aheadUncorrelated": "integer or null",
    venues: "array",
  },
  "/v1/incidents": {
    generatedAt: "date-time",
    incidents: "array",
    "incidents[].startedAt": "date-time",
    "incidents[].venue": "string",
    "incidents[].severity": "degraded, outage",
    "incidents[].status": "open, closed",
    "incidents[].kind": "rest, ws",
  },
  "/v1/incidents/{slug}": {
    generatedAt: "date-time",
    incident: "object",
    "venue.id": "string",
    "venue.name": "string",
    "venue.symbol": "string or null",
    "venue.quote": "string or null",
    "component.id": "string like ^(rest|ws):[a-z]+$",
    "component.kind": "rest, ws",
    "component.label": "string",
    "component.target": "string or null",
    events: "array",
    errors: "object",
    latency: "object or null",
    detection: "object",
    "official.source": "string or null",
    "official.page": "string or null",
    "official.observed": "boolean",
    related: "array",
  },
  "/v1/notify": {
    generatedAt: "date-time",
    days: "integer from 1",
    deliveries: "integer",
    p50Ms: "integer or null",
    p95Ms: "integer or null",
  },
  "/healthz": {
    status: "ok",
    service: "core, web, probe",
    version: "string",
    uptimeSeconds: "integer",
    time: "date-time",
  },
};

void t.test("the API has the contract's fields", async (t) => {
  const registry = await loadRegistry(packagedFile("registry.json"));
  const document = documentOf({ registry });
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
      t.strictSame(Object.fromEntries(Object.keys(fields).map((name) => [name, field(schema, name)])), fields);
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

  await t.test("a field that is still always null has its future type", (t) => {
    // type generators drop fields that can only be null, and strict clients break at the first value
    t.strictSame(
      partsOf(document).filter(([place, part]) => part.type === "null" && !/\.anyOf\.1$/.test(place)),
      [],
    );
    t.end();
  });

  await t.test("no object may have undescribed fields", (t) => {
    const isLoose = (part: SchemaObject) => {
      const isObject = [part.type].flat().includes("object");
      // the keys of a record of counts come from a list, and one schema describes them all
      const isRecord = part.propertyNames !== undefined && typeof part.additionalProperties === "object";
      return isObject && part.additionalProperties !== false && !isRecord;
    };
    t.strictSame(
      partsOf(closed(document))
        .filter(([, part]) => isLoose(part))
        .map(([place]) => place)
        // OpenAPI itself describes the content of a description
        .filter((place) => !place.startsWith("paths./openapi.json.")),
      [],
    );
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
