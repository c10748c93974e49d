/** A tool of agents: it answers a question by a sentence and the body of the API that it is about. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { SchemaObject } from "openapi3-ts/oas31";
import { instant, object, orNull, type Schema, state, text, type TypeOf } from "../api/shapes.js";
import { type AgentSource, BadArgument } from "./agent-source.js";
import { mostTitle, quoted, quotedTexts } from "./quoted.js";

export interface AgentTool {
  name: string;
  title: string;
  description: string;
  inputSchema: SchemaObject;
  outputSchema: SchemaObject;
  /**
   * @param given whatever the client sent as arguments
   * @throws BadArgument, NoData
   */
  answer(given: unknown, source: AgentSource): Promise<ToolAnswer>;
}

export type ToolAnswer = TypeOf<typeof answerHead> & { body: unknown };

const evidenceShape = object("Where a person or a program can check this answer.", {
  page: text("A page for people.", "https://status.example.org/venues/kraken"),
  api: text("`body` as the API has it, with all of its parts.", "https://status.example.org/v1/targets/kraken/state"),
});

const answerHead = object("The answer.", {
  answer: text(
    "In words.",
    '"Kraken" (kraken) is up: venuewatch has measured it as operational since 2026-01-28T07:15:44.000Z.',
  ),
  state: orNull({
    ...state,
    description:
      "Of what was asked for: operational: up. degraded: works in part, or far slower than usual. outage: down. unknown: neither up nor down, venuewatch does not know, or its data is out of date. Null if the question is not about a state.",
  }),
  asOf: orNull(
    instant(
      "The instant that the states in this answer are of, in UTC: that of the newest decision. Pass it on to the user. Null: there was no data at all.",
    ),
  ),
  evidence: evidenceShape,
});

/** What a tool found out; its texts are not quoted yet. */
export interface Found<Body> {
  /** Texts of others occur in it only as `namedVenue` and `quoted` write them. */
  sentence: string;
  state: TypeOf<typeof state> | null;
  /** Null: there is no data. */
  body: (Body & { generatedAt: string; decidedAt: string | null }) | null;
  /** Paths. */
  page: string;
  api: string;
}

interface ToolParts<Input extends Schema, Body extends Schema> extends Pick<
  AgentTool,
  "name" | "title" | "description"
> {
  input: Input;
  body: Body;
  find: (given: TypeOf<Input>, source: AgentSource) => Promise<Found<TypeOf<Body>>>;
}

/** Makes a tool whose arguments are checked before it sees them. */
export function makeTool<Input extends Schema, Body extends Schema>(parts: ToolParts<Input, Body>): AgentTool {
  const { name, title, description, input, body: shape, find } = parts;
  // closed: a misspelt argument that is ignored would change the question
  const inputSchema = { ...(input as SchemaObject), additionalProperties: false };
  const { properties, required } = answerHead as SchemaObject;
  const outputSchema = {
    ...(answerHead as SchemaObject),
    properties: { ...properties, body: orNull(shape) },
    required: [...required!, "body"],
  };
  // on first use: most programs that load this are never asked
  let check: ValidateFunction<TypeOf<Input>> | undefined;
  return {
    ...{ name, title, description, inputSchema, outputSchema },
    async answer(given, source) {
      check ??= new Ajv({ allErrors: true, verbose: true }).compile<TypeOf<Input>>(inputSchema);
      const values = given ?? {};
      if (!check(values)) throw new BadArgument(faultsIn(check.errors!, inputSchema));
      const { sentence, state, body, page, api } = await find(values, source);
      return {
        ...{ answer: sentence, state, asOf: body && (body.decidedAt ?? body.generatedAt) },
        evidence: { page: source.baseUrl + page, api: source.baseUrl + api },
        body: body && quotedTexts(partOf(shape, body)),
      };
    },
  };
}

/** A caller corrects a few at a time. */
const mostFaults = 5;

function faultsIn(errors: readonly ErrorObject[], { properties = {} }: SchemaObject): string {
  const faults = errors.map(({ keyword, instancePath, params, data }) => {
    const { missingProperty, additionalProperty } = params as Record<string, string>;
    if (keyword === "additionalProperties")
      return `there is no argument ${shownValue(additionalProperty)}: expected ${Object.keys(properties).join(", ")}`;
    const [name = missingProperty, at] = instancePath.split("/").slice(1);
    if (name === undefined) return `expected the arguments as an object, got ${shownValue(data)}`;
    const expected = expectedOf(properties[name] as SchemaObject, at !== undefined);
    if (keyword === "required") return `${name} is missing: expected ${expected}`;
    return `${name}${at === undefined ? "" : `[${at}]`}: expected ${expected}; got ${shownValue(data)}`;
  });
  return [...new Set(faults)].slice(0, mostFaults).join(". ");
}

function expectedOf(schema: SchemaObject, isItem: boolean): string {
  const { type, enum: words, description, ...limits } = isItem ? (schema.items as SchemaObject) : schema;
  if (words) return `one of ${words.join(", ")}`;
  if (type === "integer") return `an integer from ${limits.minimum} to ${limits.maximum}`;
  if (type === "array") return `a list of ${limits.minItems} to ${limits.maxItems} texts: ${description}`;
  return `a text of ${limits.minLength} to ${limits.maxLength} characters: ${description}`;
}

/** Short: it may be a deep structure. */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return JSON.stringify(typeof value === "string" ? quoted(value, mostTitle) : value);
}

/** Entries of a list without a limit of its own. */
const mostItems = 50;

/**
 * A schema of the API without examples and some of its parts, and with shorter lists: what a model does not need costs
 * it as much as what it needs.
 *
 * @param leftOut places such as `venues.days`
 * @param most entries of the lists at these places
 */
export function narrowed<Described extends Schema>(
  schema: Described,
  leftOut: readonly string[] = [],
  most: Record<string, number> = {},
): Described {
  return narrowedAt(schema, "") as Described;

  function narrowedAt(part: SchemaObject, place: string): SchemaObject {
    const { anyOf, items, properties, required } = part;
    const inside = (one: object, at: string) => narrowedAt(one as SchemaObject, at);
    const fields = Object.entries(properties ?? {})
      .map(([name, one]) => [name, one, place === "" ? name : `${place}.${name}`] as const)
      .filter(([, , at]) => !leftOut.includes(at));
    return {
      ...part,
      examples: undefined,
      ...(anyOf && { anyOf: anyOf.map((one) => inside(one, place)) }),
      ...(items && { items: inside(items, place), maxItems: most[place] ?? part.maxItems ?? mostItems }),
      ...(properties && {
        properties: Object.fromEntries(fields.map(([name, one, at]) => [name, inside(one, at)])),
        required: required!.filter((name) => fields.some(([field]) => field === name)),
      }),
    };
  }
}

/** The part of a body that a schema describes. */
function partOf(schema: SchemaObject, value: unknown): unknown {
  if (value === null) return null;
  const { anyOf, items, maxItems, properties } = schema;
  if (anyOf) return partOf(anyOf.find((one) => isFor(one as SchemaObject, value)) as SchemaObject, value);
  if (Array.isArray(value)) return value.slice(0, maxItems).map((one) => partOf(items as SchemaObject, one));
  if (properties === undefined) return value;
  const fields = Object.entries(properties).filter(([name]) => name in (value as object));
  return Object.fromEntries(
    fields.map(([name, one]) => [name, partOf(one as SchemaObject, (value as Record<string, unknown>)[name])]),
  );
}

function isFor({ type, required = [] }: SchemaObject, value: unknown): boolean {
  return type !== "null" && required.every((name) => name in (value as object));
}
