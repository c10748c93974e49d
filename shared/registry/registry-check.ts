/**
 * Checks a value that should be a registry: its shape by registry/schema.json, and the rules that a schema cannot
 * express.
 */

import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { maskedAddress } from "../text/masked-text.js";
import type { Expanded } from "./catalogue.js";
import { mapTexts } from "./map-texts.js";
import { maskedFound } from "./own-secrets.js";
import { type PlaceInRegistry, placeText, type RegistryProblem, valueAt } from "./registry-problem.js";
import { registryRules } from "./registry-rules.js";

/** More lines than this would not help with a file that is wrong everywhere. */
const maxLines = 200;

/**
 * A line for each problem: the place, what was expected there, what was found. Empty for a valid registry.
 *
 * @param expanded the value with whole entries, and the problems that were found on the way
 */
export function registryProblems({ value, problems: known, placeInFile }: Expanded): string[] {
  const shape = [...known, ...shapeProblems(value)];
  const isSound = (place: PlaceInRegistry) =>
    shape.every((problem) => !lies(problem.place, place) && !lies(place, problem.place));
  const problems = [...shape, ...registryRules(value, isSound)];
  const lines = problems.map((problem) => line(problem, placeInFile(problem.place), value));
  if (lines.length <= maxLines) return lines;
  const left = lines.length - maxLines;
  return [...lines.slice(0, maxLines), `… and ${left} more problems`];
}

interface SchemaNode {
  $ref?: string;
  description?: string;
  properties?: Record<string, SchemaNode>;
  definitions?: Record<string, SchemaNode>;
}

let compiled: { schema: SchemaNode; validate: ValidateFunction } | undefined;

/** Compiled at the first use, so that importing this file costs nothing. */
function compile() {
  const file = new URL("../../../registry/schema.json", import.meta.url);
  const schema = JSON.parse(readFileSync(file, "utf8")) as SchemaNode;
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    discriminator: true,
    allowUnionTypes: true,
  });
  return { schema, validate: ajv.compile(schema) };
}

/** Only the first problem at each place: others repeat it in different words. */
function shapeProblems(value: unknown): RegistryProblem[] {
  compiled ??= compile();
  const { schema, validate } = compiled;
  validate(value);
  const byPlace = new Map<string, RegistryProblem>();
  for (const error of validate.errors ?? []) {
    // says only that one of its branches failed, which has its own error
    if (error.keyword === "if") continue;
    const problem = problemOf(error, value, schema);
    const key = JSON.stringify(problem.place);
    if (!byPlace.has(key)) byPlace.set(key, problem);
  }
  return [...byPlace.values()];
}

function problemOf(error: ErrorObject, value: unknown, schema: SchemaNode): RegistryProblem {
  const place = placeOf(error.instancePath, value);
  const node = error.parentSchema as SchemaNode;
  const { missingProperty, tag, additionalProperty } = error.params as {
    missingProperty?: string;
    tag?: string;
    additionalProperty?: string;
  };
  if (additionalProperty !== undefined) {
    const known = Object.keys(node.properties ?? {}).join(", ");
    return {
      place: [...place, additionalProperty],
      expected: `no such property (known here: ${known})`,
    };
  }
  const property = missingProperty ?? tag;
  if (property === undefined) return { place, expected: words(node, schema) };
  return {
    place: [...place, property],
    expected: words(node.properties?.[property], schema),
  };
}

/** Every node of the schema has a description of what it expects, which a test checks. */
function words(node: SchemaNode | undefined, schema: SchemaNode): string {
  const definition = node?.$ref?.replace("#/definitions/", "");
  const target = definition === undefined ? node : schema.definitions?.[definition];
  return target?.description ?? "another value";
}

/** A JSON pointer does not distinguish indices from keys, and escapes `~` and `/`. */
function placeOf(pointer: string, root: unknown): PlaceInRegistry {
  const place: PlaceInRegistry = [];
  for (const escaped of pointer.split("/").slice(1)) {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    place.push(Array.isArray(valueAt(root, place)) ? Number(key) : key);
  }
  return place;
}

/** Whether `inner` is `outer` or a place within it. */
function lies(inner: PlaceInRegistry, outer: PlaceInRegistry): boolean {
  return outer.every((key, index) => inner[index] === key);
}

function line({ place, expected }: RegistryProblem, inFile: PlaceInRegistry, root: unknown): string {
  const found = shown(valueAt(root, place), place);
  return `${placeText(inFile, root)}: expected ${expected}, found ${found}`;
}

/** Property names are masked, too: an address may be in the place of a name by mistake. */
function withoutNames(part: unknown): unknown {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [maskedAddress(key), value]));
}

function shown(value: unknown, place: PlaceInRegistry): string {
  if (value === undefined) return "nothing";
  // even their names may be secrets, misplaced
  if (place.includes("headers")) return "something else";
  const text = JSON.stringify(mapTexts(value, maskedFound, place), (_key, part: unknown) => withoutNames(part));
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
