import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { UserError } from "../process/user-error.js";
import { hideTexts, masked, maskedAddress } from "../text/secrets.js";
import { withinLimits } from "./cadence.js";
import { expand, type Expanded } from "./catalogue.js";
import { chainIdProblems } from "./chain-venues.js";
import { maskedFound, ownSecretsOf } from "./credentials.js";
import { readAmbiguousJson } from "./json-file.js";
import { mapTexts, type PlaceInRegistry, placeText, type RegistryProblem, valueAt } from "./registry-problem.js";
import { registryRules } from "./registry-rules.js";
import type { Registry, Venue } from "./registry.js";

/**
 * Reads and checks a registry file, completes its venues from the catalogue, and resolves their cadences.
 *
 * @param probes the number of probes that share an address
 * @throws UserError with the file and either the reason why it cannot be read, or everything that is wrong in it, one
 * problem per line
 */
export async function loadRegistry(path: string, probes = 1): Promise<Registry> {
  const { value, repeated } = await readAmbiguousJson(path, "The registry");
  return parseRegistry(value, path, { repeated, probes });
}

export interface ParseOptions {
  /** Problems found in the text that the value was read from. */
  repeated?: string[];
  /** The number of probes that share an address; default: 1. */
  probes?: number;
}

/**
 * Possible secrets in it are hidden in this process from then on.
 *
 * @param value parsed JSON
 * @param name of the value, for the message
 * @throws UserError with everything that is wrong, one problem per line
 */
export function parseRegistry(
  value: unknown,
  name: string,
  { repeated = [], probes = 1 }: ParseOptions = {},
): Registry {
  return parsed(expand(value), `The registry ${masked(name)}`, repeated, probes);
}

/**
 * A registry with one entry, which stands alone in a file: messages name places within the entry.
 *
 * @throws UserError as `parseRegistry`
 */
export function parseEntry(entry: unknown, name: string, repeated: string[] = []): Registry {
  const expanded = expand({ probeIntervalMs: 5000, regions: [{ id: "here", name: "Here" }], venues: [entry] });
  const placeInFile = (place: PlaceInRegistry) => expanded.placeInFile(place).slice(["venues", 0].length);
  return parsed({ ...expanded, placeInFile }, `The entry ${masked(name)}`, repeated, 1);
}

/** @param what it is, to begin a message with */
function parsed(expanded: Expanded, what: string, repeated: string[], probes: number): Registry {
  const problems = [...repeated, ...registryProblems(expanded)];
  if (problems.length > 0) throw wrongRegistry(what, problems);
  const resolved = withinLimits(withWords(expanded.value as Registry), probes);
  if (resolved.problems.length > 0) throw wrongRegistry(what, resolved.problems);
  const chainProblems = chainIdProblems(resolved.registry);
  if (chainProblems.length > 0) throw wrongRegistry(what, chainProblems);
  hideTexts(ownSecretsOf(resolved.registry));
  return resolved.registry;
}

function wrongRegistry(what: string, problems: string[]): UserError {
  return new UserError([`${what} is wrong:`, ...problems].join("\n"));
}

/** Gives each endpoint the venue's `blocked` and `limited`, unless it has its own. */
function withWords(registry: Registry): Registry {
  if (registry.venues.every(({ blocked, limited }) => blocked === undefined && limited === undefined)) return registry;
  return { ...registry, venues: registry.venues.map(withWordsOf) };
}

function withWordsOf(venue: Venue): Venue {
  const { blocked, limited } = venue;
  const words = { ...(blocked !== undefined && { blocked }), ...(limited !== undefined && { limited }) };
  return { ...venue, rest: venue.rest.map((endpoint) => ({ ...words, ...endpoint })) };
}

// Checks a value that should be a registry: its shape by registry/schema.json, and the rules that a schema cannot
// express.

/** More lines than this would not help with a file that is wrong everywhere. */
const maxLines = 200;

/**
 * A line for each problem: the place, what was expected there, what was found. Empty for a valid registry.
 *
 * @param expanded the value with whole entries, and the problems that were found on the way
 */
function registryProblems({ value, problems: known, placeInFile }: Expanded): string[] {
  const shape = [...known, ...shapeProblems(value)];
  const isSound = (place: PlaceInRegistry) =>
    shape.every((problem) => !liesWithin(problem.place, place) && !liesWithin(place, problem.place));
  const problems = [...shape, ...registryRules(value, isSound)];
  const lines = distinct(problems.map((problem) => problemLine(problem, placeInFile(problem.place), value)));
  if (lines.length <= maxLines) return lines;
  const left = lines.length - maxLines;
  return [...lines.slice(0, maxLines), `… and ${left} more problems`];
}

/** A value that a template uses in several places is wrong in all of them. */
function distinct(lines: string[]): string[] {
  return [...new Set(lines)];
}

interface SchemaNode {
  $ref?: string;
  description?: string;
  properties?: Record<string, SchemaNode>;
  definitions?: Record<string, SchemaNode>;
}

let compiledSchema: { schema: SchemaNode; validate: ValidateFunction } | undefined;

/** Compiled at the first use, so that importing this file costs nothing. */
function compileSchema() {
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
  compiledSchema ??= compileSchema();
  const { schema, validate } = compiledSchema;
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
  if (property === undefined) return { place, expected: expectedWords(node, schema) };
  return {
    place: [...place, property],
    expected: expectedWords(node.properties?.[property], schema),
  };
}

/** Every node of the schema has a description of what it expects, which a test checks. */
function expectedWords(node: SchemaNode | undefined, schema: SchemaNode): string {
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
function liesWithin(inner: PlaceInRegistry, outer: PlaceInRegistry): boolean {
  return outer.every((key, index) => inner[index] === key);
}

function problemLine({ place, expected }: RegistryProblem, inFile: PlaceInRegistry, root: unknown): string {
  const found = shownValue(valueAt(root, place), place);
  return `${placeText(inFile, root)}: expected ${expected}, found ${found}`;
}

/** Property names are masked, too: an address may be in the place of a name by mistake. */
function withoutNames(part: unknown): unknown {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [maskedAddress(key), value]));
}

function shownValue(value: unknown, place: PlaceInRegistry): string {
  if (value === undefined) return "nothing";
  // even their names may be secrets, misplaced
  if (place.includes("headers")) return "something else";
  const text = JSON.stringify(mapTexts(value, maskedFound, place), (_key, part: unknown) => withoutNames(part));
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
