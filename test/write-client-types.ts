/**
 * Writes the types of both clients, made of the API's description, before anything that needs them is compiled. The
 * TypeScript is written by openapi-typescript. The Python is written here, for reasons in docs/decisions/formats.md.
 */
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import type { OpenAPIObject, OperationObject, ParameterObject, ReferenceObject, SchemaObject } from "openapi3-ts/oas31";
import { openapiDocument } from "../server/web/openapi.js";
import { packagedFile } from "../shared/config/package.js";

type Part = SchemaObject | ReferenceObject;

const notice = "Made of the API's description at each build. Do not edit.";

const pythonNames: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** The keywords of Python that may occur as keys of the API. */
const keywords = new Set(["from", "class", "import", "is", "in", "as", "global", "pass", "with", "not", "or", "and"]);

// Types contain no ids of venues and regions, so none are needed.
const registry = { probeIntervalMs: 10_000, regions: [], venues: [] };
const document = forClients(openapiDocument({ registry, baseUrl: "", siteUrl: "" }, new Date(0)));
writeFileSync(packagedFile("clients/python/src/venuewatch/types.py"), pythonTypes(document.components!.schemas!));
// last: the Makefile takes this file for both
writeFileSync(
  packagedFile("clients/typescript/src/openapi.ts"),
  `/** ${notice} */\n${astToString(await openapiTS(document as never))}`,
);

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

/** Removes the parts of a schema that no type shows. */
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

/** Writes JSON schemas as TypedDicts. It knows the constructs that our API has, and refuses any other. */
function pythonTypes(schemas: Record<string, Part>): string {
  const classes: string[] = [];
  const aliases: string[] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    if ("properties" in schema) writeClass(name, schema);
    else aliases.push(`${name} = ${typeOf(schema, name)}\n${docstring(schema.description, "")}`);
  }
  return [
    `"""${notice}"""`,
    "",
    "from __future__ import annotations",
    "",
    "from typing import Literal, TypedDict, Union",
    "",
    aliases.join("\n"),
    ...classes,
  ].join("\n");

  function typeOf(part: Part, name: string): string {
    if (part.$ref) return part.$ref.replace("#/components/schemas/", "");
    const { type, enum: words, anyOf, items, properties, additionalProperties } = part as SchemaObject;
    if (words) return `Literal[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
    if (anyOf) return `Union[${anyOf.map((one, at) => typeOf(one, at === 0 ? name : `${name}${at + 1}`)).join(", ")}]`;
    if (type === "array") return `list[${typeOf(items!, `${name}Item`)}]`;
    if (type === "object" && properties) {
      writeClass(name, part as SchemaObject);
      return name;
    }
    if (type === "object" && typeof additionalProperties === "object")
      return `dict[str, ${typeOf(additionalProperties, `${name}Value`)}]`;
    if (type === "object") return "dict[str, object]";
    const plain = pythonNames[String(type)];
    if (!plain) throw new Error(`expected a schema of the API, got ${JSON.stringify(part)} for ${name}`);
    return plain;
  }

  /** The classes of its parts come first, since some forms need them. */
  function writeClass(name: string, { description, properties = {}, required = [] }: SchemaObject): void {
    const fields = Object.entries(properties).map(([key, part]) => ({
      ...{ name: key, type: typeOf(part, name + pascal(key)), description: part.description ?? "" },
    }));
    const always = fields.filter((field) => required.includes(field.name));
    const perhaps = fields.filter((field) => !required.includes(field.name));
    if (perhaps.length === 0) return void classes.push(oneClass(name, "TypedDict", description, always));
    // NotRequired is not in Python 3.10
    classes.push(oneClass(`_${name}`, "TypedDict", description, always));
    classes.push(oneClass(name, `_${name}, total=False`, description, perhaps));
  }
}

interface Field {
  name: string;
  type: string;
  description: string;
}

function oneClass(name: string, bases: string, description: string | undefined, fields: Field[]): string {
  const isPlain = fields.every((field) => /^[A-Za-z_]\w*$/.test(field.name) && !keywords.has(field.name));
  if (!isPlain) {
    if (bases !== "TypedDict") throw new Error(`${name}: a key that is no name in Python must not be optional`);
    const entries = fields.map(({ name: key, type }) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`);
    return `\n${name} = TypedDict(${JSON.stringify(name)}, {\n${entries.join("")}})\n${docstring(description, "")}`;
  }
  const lines = fields.map(
    ({ name: key, type, description }) => `    ${key}: ${type}\n${docstring(description, "    ")}`,
  );
  return `\nclass ${name}(${bases}):\n${docstring(description, "    ")}\n${lines.join("")}`;
}

function docstring(text: string | undefined, indent: string): string {
  if (!text) return "";
  const words = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').split(/\s+/);
  const lines: string[] = [];
  let line = `${indent}"""`;
  for (const [at, word] of words.entries()) {
    if (at > 0 && `${line} ${word}`.length > 112) {
      lines.push(line);
      line = indent + word;
    } else line += at > 0 ? ` ${word}` : word;
  }
  return `${[...lines, line].join("\n")}${line.endsWith('"') ? " " : ""}"""\n`;
}

function pascal(key: string): string {
  return key[0]!.toUpperCase() + key.slice(1);
}
