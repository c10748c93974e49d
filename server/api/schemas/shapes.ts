import type { SchemaObject } from "openapi3-ts/oas31";
import { categories } from "../../../shared/registry/registry.js";

/** Only the compiler sees it: it carries the type that a schema describes. */
declare const described: unique symbol;

/** A JSON Schema that knows the type of what it describes. */
export type Schema<Value = unknown> = SchemaObject & {
  readonly [described]?: Value;
};

/** The type that a schema describes. */
export type TypeOf<Described extends Schema> =
  Described extends Schema<infer Value> ? Exclude<Value, undefined> : never;

type TypesOf<Properties extends Record<string, Schema>> = {
  [Name in keyof Properties]: TypeOf<Properties[Name]>;
};

/**
 * The few forms that all response schemas are made of. Every property is always there; what may be unknown is null.
 * Objects are open, so that no strict client breaks when a field is added; the tests hold answers against closed ones.
 */

export function object<Properties extends Record<string, Schema>>(
  description: string,
  properties: Properties,
): Schema<TypesOf<Properties>> {
  return {
    type: "object",
    description,
    properties,
    required: Object.keys(properties),
  };
}

/**
 * The schemas that have a name, by it. In the OpenAPI document each stands once, and is referred to wherever it
 * appears.
 */
export const namedSchemas = new Map<string, Schema>();

/** Gives a schema a name. Where it is used with another description, the name still means this one. */
export function named<Described extends Schema>(title: string, schema: Described): Described {
  if (namedSchemas.has(title)) throw new Error(`there are two schemas named ${title}`);
  const titled = { title, ...schema };
  namedSchemas.set(title, titled);
  return titled;
}

/** Some more properties, which are left out where there is nothing to say. */
export function withOptional<Required, Properties extends Record<string, Schema>>(
  schema: Schema<Required>,
  optional: Properties,
): Schema<Required & Partial<TypesOf<Properties>>> {
  const plain: SchemaObject = schema;
  return { ...plain, properties: { ...plain.properties, ...optional } };
}

export function eitherOf<One extends Schema, Other extends Schema>(
  description: string,
  one: One,
  other: Other,
): Schema<TypeOf<One> | TypeOf<Other>> {
  return { description, anyOf: [one, other] };
}

export function list<Item extends Schema>(description: string, items: Item): Schema<TypeOf<Item>[]> {
  return { type: "array", description, items };
}

/**
 * What makes the nth item of a list's example of the usual one; not published, as JSON leaves out what has a symbol for
 * a name.
 */
export const nthItem = Symbol("nth item of the example");

/**
 * A list of always so many.
 *
 * @param nth what the nth item is in the list's example, given the usual one; absent, all are the usual one
 */
export function exactly<Item extends Schema>(
  count: number,
  description: string,
  items: Item,
  nth?: (at: number, usual: TypeOf<Item>) => TypeOf<Item>,
): Schema<TypeOf<Item>[]> {
  return {
    ...list(description, items),
    minItems: count,
    maxItems: count,
    ...(nth && { [nthItem]: nth }),
  };
}

/** How often each of some words occurs; those that do not are left out. */
export function counts<Word extends string>(
  words: readonly Word[],
  description: string,
  example: Partial<Record<Word, number>>,
): Schema<Partial<Record<Word, number>>> {
  return {
    type: "object",
    description,
    examples: [example],
    propertyNames: { enum: [...words] },
    additionalProperties: { type: "integer", minimum: 1 },
  };
}

export function text(description: string, example: string): Schema<string> {
  return { type: "string", description, examples: [example] };
}

export function oneOf<Word extends string>(words: readonly Word[], description: string): Schema<Word> {
  return { type: "string", enum: [...words], description };
}

export function instant(description: string, example = "2026-01-31T12:00:00.000Z"): Schema<string> {
  return {
    type: "string",
    format: "date-time",
    description,
    examples: [example],
  };
}

export function day(description: string, example = "2026-01-31"): Schema<string> {
  return { type: "string", format: "date", description, examples: [example] };
}

/** @param minimum null: of either sign, and without a bound */
export function integer(description: string, example: number, minimum: number | null = 0): Schema<number> {
  return {
    type: "integer",
    ...(minimum !== null && { minimum }),
    description,
    examples: [example],
  };
}

export function number(description: string, example: number): Schema<number> {
  return { type: "number", minimum: 0, description, examples: [example] };
}

export function percent(description: string, example: number): Schema<number> {
  return {
    type: "number",
    minimum: 0,
    maximum: 100,
    description,
    examples: [example],
  };
}

export function flag(description: string, example: boolean): Schema<boolean> {
  return { type: "boolean", description, examples: [example] };
}

/** The same, with another example in this place. */
export function shownAs<Described extends Schema>(schema: Described, example: TypeOf<Described>): Described {
  return { ...schema, examples: [example] };
}

export function orNull<Value>(schema: Schema<Value>): Schema<Value | null> {
  if (schema.title !== undefined)
    return {
      description: schema.description,
      anyOf: [schema, { type: "null" }],
    };
  const { description, ...bare } = schema;
  return { description, anyOf: [bare, { type: "null" }] };
}

export const generatedAt = instant(
  "The instant that this body shows: the engine's last tick, and a millisecond more for each time that the published past was changed since. Nothing in it is from later. Bodies of one instant agree with each other.",
);

export const state = named(
  "State",
  shownAs(
    oneOf(
      ["operational", "degraded", "outage", "unknown"],
      "As a quorum of the reporting regions confirms it; unknown when there is no evidence.",
    ),
    "outage",
  ),
);

export const since = instant(
  "The tick that confirmed this state. While the engine is silent or catches up: since when it has been unknown to readers.",
  "2026-01-31T11:41:20.000Z",
);

export const severity = named("Severity", shownAs(oneOf(["degraded", "outage"], "How bad an incident is."), "outage"));

export const category = named("Category", oneOf(categories, "Category of the venue."));

/** Names of things, with an example each. */

export const venueId = text("Registry id of the venue.", "kraken");
export const venueName = text("Name.", "Kraken");
export const regionId = text("Region id.", "eu-central");
export const regionName = text("Name.", "Central Europe");
export const slug = text("Permanent name of an incident, given at opening.", "kraken-2026-01-31-rest-outage");
export const symbol = orNull(
  text("Instrument probed, in the venue's own notation; null where none is traded.", "BTC/USD"),
);
export const quote = orNull(text("Currency in which the symbol is priced.", "USD"));
export const officialSource = orNull(text("Kind of feed in which the venue tells of its troubles.", "statuspage"));
export const officialPage = orNull(text("Page for people.", "https://status.kraken.com"));
export const probeVersion = orNull(text("Build of the probe.", "0.8.0"));
