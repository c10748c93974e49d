import type { ReferenceObject, SchemaObject } from "openapi3-ts/oas31";
import { categories } from "../../../shared/registry/registry.js";

/** Exists only for the compiler: carries the type that a schema describes. */
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
 * Building blocks of all response schemas. Every property is always present; an unknown value is null. Objects are
 * open, so that strict clients do not break when a field is added; the tests check responses against closed ones.
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

/** Named schemas. The OpenAPI document contains each once and references it elsewhere. */
export const namedSchemas = new Map<string, Schema>();

/** Names a schema. A use with a different description still refers to this one. */
export function named<Described extends Schema>(title: string, schema: Described): Described {
  if (namedSchemas.has(title)) throw new Error(`there are two schemas named ${title}`);
  const titled = { title, ...schema };
  namedSchemas.set(title, titled);
  return titled;
}

/** Adds properties that may be omitted. */
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
 * Key of the function that derives the nth item of a list's example from the usual one; not published, since JSON omits
 * symbol keys.
 */
const nthItem = Symbol("nth item of the example");

/**
 * A list of fixed length.
 *
 * @param nth derives the nth example item from the usual one; absent, all are the usual one
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

/** The number of occurrences of each word; words that do not occur are omitted. */
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

/**
 * A body that is neither JSON nor plain text. Generated clients refuse most media types, unless they are to return the
 * bytes.
 */
export function bytes(description: string, example: string): Schema<string> {
  return { ...text(description, example), format: "binary" };
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

/** @param minimum null: no lower bound */
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

/** The same schema with a different example here. */
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
  "The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.",
);

/** The first fields of every body that shows decisions. */
export const freshness = {
  generatedAt,
  stale: flag(
    "Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes.",
    false,
  ),
  ageSeconds: shownAs(
    orNull(
      integer(
        "Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision.",
        40,
      ),
    ),
    null,
  ),
  decidedAt: shownAs(
    orNull(
      instant(
        "The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision.",
      ),
    ),
    null,
  ),
};

/** A separate constant: as an argument, its words would be inferred as `string`. */
const stateWords = oneOf(
  ["operational", "degraded", "outage", "unknown"],
  "As confirmed by a quorum of the counted regions; unknown if there is no evidence.",
);

export const state = named("State", shownAs(stateWords, "outage"));

export const since = instant(
  "The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.",
  "2026-01-31T11:41:20.000Z",
);

/** A separate constant, like the words of states. */
const unknownReasons = oneOf(
  ["never", "ended", "blocked"],
  "never: no region has seen it good by its present entry in the registry. ended: its entry has ended. blocked: the venue refuses the only place that we measure it from.",
);

const unknownReason = object("Why a component is unknown although it is measured.", {
  reason: unknownReasons,
  detail: text(
    "The same in words, with what to do.",
    "never seen good from here (eu-central: connect); check the address in the entry, and this network",
  ),
});

/** Its words are made in one place, `sql/board/027-reasons.sql`. */
export const unknownBecause = shownAs(
  {
    ...orNull(named("UnknownBecause", unknownReason)),
    description:
      "Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a decision.",
  },
  null,
);

const severityWords = oneOf(["degraded", "outage"], "How bad an incident is.");

export const severity = named("Severity", shownAs(severityWords, "outage"));

export const category = named("Category", oneOf(categories, "Category of the venue."));

/** For readers of a service of another release, which may have more categories. */
export const anyCategory = text("Category of the venue.", "exchange");

/** Common fields, each with an example. */

export const venueId = text("Registry id of the venue.", "kraken");
export const venueName = text("Name.", "Kraken");
export const regionId = text("Region id.", "eu-central");
export const regionName = text("Name.", "Central Europe");
export const slug = text("Permanent name of an incident, given at opening.", "kraken-2026-01-31-rest-outage");
export const symbol = orNull(
  text("Instrument probed, in the venue's own notation; null if the venue trades none.", "BTC/USD"),
);
export const quote = orNull(text("Currency in which the symbol is priced.", "USD"));
export const officialSource = orNull(text("Kind of the venue's status feed.", "statuspage"));
export const officialPage = orNull(text("The venue's status page.", "https://status.kraken.com"));
export const probeVersion = orNull(text("Build of the probe.", "0.8.0"));

type Nth = (at: number, usual: unknown) => unknown;

/**
 * An example for a schema: its own, or composed of its parts' examples. A list has one item, or its minimum number;
 * optional properties are omitted.
 *
 * @throws Error if some part has none
 */
export function exampleOf(part: SchemaObject | ReferenceObject): unknown {
  // our schemas contain no references; only the type allows them
  const schema = part as SchemaObject;
  const words = schema.enum as unknown[] | undefined;
  const [own] = ((schema.examples ?? []) as unknown[]).filter((example) => words?.includes(example) ?? true);
  if (own !== undefined) return own;
  if (schema.default !== undefined) return schema.default;
  if (words) return words[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!);
  if (schema.type === "null") return null;
  if (schema.type === "array") return itemsOf(schema);
  if (schema.type === "object") return propertiesOf(schema);
  if (schema.minimum !== undefined) return schema.minimum;
  throw new Error(`there is no example of: ${JSON.stringify(schema)}`);
}

function itemsOf(schema: SchemaObject): unknown[] {
  const { items, minItems = 1, maxItems = minItems } = schema;
  const nth = (schema as { [nthItem]?: Nth })[nthItem];
  const usual = exampleOf(items!);
  return Array.from({ length: Math.min(minItems, maxItems) }, (_, at) => (nth ? nth(at, usual) : usual));
}

function propertiesOf({ properties = {}, required = [] }: SchemaObject) {
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]!)]));
}
