/**
 * The types of the clients, made of the API's description: `make clients` writes them, and tests compare them. The
 * TypeScript is written by openapi-typescript. The Python is written here, for reasons in docs/decisions/formats.md.
 */
import openapiTS, { astToString } from "openapi-typescript";
import type { OpenAPIObject, OperationObject, ParameterObject, ReferenceObject, SchemaObject } from "openapi3-ts/oas31";
import { format } from "prettier";
import { openapiDocument } from "../../server/api/openapi.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { pythonTypes } from "./python-types.js";

type Part = SchemaObject | ReferenceObject;

/** The files of types, by their paths. */
export async function clientTypes(): Promise<Record<string, string>> {
  const registry = await loadRegistry(packagedFile("registry/default.json"));
  const document = forClients(
    openapiDocument({ registry, baseUrl: "https://api.example.org", siteUrl: "" }, new Date(0)),
  );
  return {
    "clients/typescript/src/openapi.ts": await typescriptTypes(document),
    "clients/python/src/venuewatch/types.py": pythonTypes(document.components!.schemas!, notice),
  };
}

const notice = "Made of the API's description by `make clients`. Do not edit.";

async function typescriptTypes(document: OpenAPIObject): Promise<string> {
  const made = astToString(await openapiTS(document as never));
  return format(`/** ${notice} */\n${made}`, { parser: "typescript", printWidth: 120 });
}

/**
 * What the clients read: JSON below `/v1`. Ids of venues and regions differ from service to service, so they are any
 * text.
 */
function forClients({ openapi, info, paths, components }: OpenAPIObject): OpenAPIObject {
  const read = Object.entries(paths!).filter(([path, { get }]) => path.startsWith("/v1/") && jsonOf(get!));
  const operations = read.map(([path, { get }]) => [path, { get: slimOperation(get!) }] as const);
  const used = new Set(["Problem"]);
  const schemas = components!.schemas!;
  const collect = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!used.has(name)) {
        used.add(name);
        collect(schemas[name]);
      }
  };
  collect(operations);
  collect(schemas["Problem"]);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return {
    openapi,
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(operations),
    components: { schemas: Object.fromEntries(kept.map(([name, schema]) => [name, slim(schema)])) },
  };
}

function jsonOf({ responses }: OperationObject): Part | undefined {
  const { content } = responses!["200"] as { content: Record<string, { schema: Part }> };
  return content["application/json"]?.schema;
}

function slimOperation(operation: OperationObject): OperationObject {
  const { operationId, summary, description, parameters = [] } = operation;
  return {
    ...(operationId !== undefined && { operationId }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    parameters: (parameters as ParameterObject[]).map(({ name, in: place, required, description, schema }) => ({
      ...{ name, in: place, schema: name === "venue" || name === "region" ? { type: "string" } : slim(schema!) },
      ...(required && { required }),
      ...(description !== undefined && { description }),
    })),
    responses: { 200: { description: "", content: { "application/json": { schema: slim(jsonOf(operation)!) } } } },
  };
}

/** Without what no type shows. */
function slim(part: Part): Part {
  if ("$ref" in part) return part;
  const { properties, items, anyOf, additionalProperties, ...rest } = part;
  for (const name of ["title", "example", "examples", "x-enum-varnames", "pattern", "default"] as const)
    delete rest[name as "title"];
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, slim(one)])),
    }),
    ...(items && { items: slim(items) }),
    ...(anyOf && { anyOf: anyOf.map(slim) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: slim(additionalProperties) }),
  };
}
