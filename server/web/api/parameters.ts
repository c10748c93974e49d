import { Ajv, type ValidateFunction } from "ajv";
import type { SchemaObject } from "openapi3-ts/oas31";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import { instantExpected, instantPattern, isOnCalendar, spelledOut } from "../../../shared/text/instant.js";
import { badParameters, type BadParameter, shortened } from "./problem.js";
import { presentIds } from "./venue-ids.js";

/** A query parameter: its schema, the parser of its text, and the text of its error. */
export interface Parameter<Value> {
  schema: SchemaObject;
  description: string;
  /** Undefined if the text cannot be parsed; otherwise the schema validates the value. */
  read(text: string): Value | undefined;
  expected: string;
  /** What came in place of it, where more can be said than the text itself. */
  wrong?(text: string): string;
  /** The value when the parameter is absent. */
  absent: Value;
}

export type Parameters = Record<string, Parameter<unknown>>;

/** The values that `readParameters` returns for a set of parameters. */
export type Values<Set extends Parameters> = {
  [Name in keyof Set]: Set[Name] extends Parameter<infer Value> ? Value : never;
};

export const categoryFilter = choice(
  "Only venues of this category. An allowed category without venues gives empty lists.",
  categories,
  null,
);

/** A former id is replaced by the present one. */
export function venueFilter(registry: Registry): Parameter<string | null> {
  const ids = presentIds(registry);
  const present = watchedVenues(registry).map(({ id }) => id);
  return {
    ...choice("Only this venue, by its id or a former one.", [...ids.keys()], null),
    read: (text) => ids.get(text) ?? text,
    expected: `one of ${present.join(", ")}`,
  };
}

export function regionParameter(registry: Registry) {
  const ids = registry.regions.map(({ id }) => id);
  return choice(
    "Vantage point of the latency chart, the endpoints and the streams. States and days combine all regions.",
    ids,
    ids[0] ?? null,
  );
}

/** Whose view is asked for; absent: what all regions together decide. */
export function viewOf(registry: Registry, description: string) {
  return choice(
    description,
    registry.regions.map(({ id }) => id),
    null,
  );
}

/** One of the given words; if absent, the fallback. */
export function choice<Word extends string, Fallback extends Word | null>(
  description: string,
  words: readonly Word[],
  absent: Fallback,
): Parameter<Word | Fallback> {
  return {
    schema: { type: "string", enum: [...words], ...defaultOf(absent) },
    description,
    read: (text) => text as Word,
    expected: `one of ${words.join(", ")}`,
    absent,
  };
}

export function integerParameter<Fallback extends number | null>(
  description: string,
  minimum: number,
  maximum: number,
  absent: Fallback,
): Parameter<number | Fallback> {
  return {
    schema: { type: "integer", minimum, maximum, ...defaultOf(absent) },
    description,
    read: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : undefined),
    expected: `an integer from ${minimum} to ${maximum}`,
    absent,
  };
}

/**
 * An instant in ISO 8601 and UTC, with up to microseconds; kept as text, since a Date would truncate them. Every
 * spelling of an instant becomes the same text, since responses are cached by parameter values.
 */
export function instantParameter(description: string): Parameter<string | null> {
  return {
    schema: {
      type: "string",
      format: "date-time",
      pattern: instantPattern,
      examples: ["2026-01-31T12:00:00Z"],
    },
    description,
    read: (text) => (isInstant.test(text) && isOnCalendar(text) ? spelledOut(text) : undefined),
    expected: instantExpected,
    absent: null,
  };
}

const isInstant = new RegExp(instantPattern);

/**
 * Makes a reader of one route's query.
 *
 * Unknown parameters are ignored. A repeated, structured (`days[]=1`) or empty one is invalid.
 *
 * @param check names parameters that are valid alone, and not with the others
 * @returns a function that returns a value for every parameter
 * @throws (the function) Problem 400 that names every invalid parameter
 */
export function parameterReader<Set extends Parameters>(
  parameters: Set,
  check: (values: Values<Set>) => BadParameter[] = () => [],
) {
  const checks = compiledSchemas(parameters);

  return function readParameters(query: URLSearchParams): Values<Set> {
    const values: Record<string, unknown> = {};
    const errors: BadParameter[] = [];
    for (const [name, parameter] of Object.entries(parameters)) {
      const texts = textsOf(query, name);
      if (texts === "structured" || texts.length > 1) {
        errors.push({
          parameter: name,
          message: `expected a single plain value, ${parameter.expected}; got several values or a structure`,
        });
        values[name] = parameter.absent;
        continue;
      }
      const [text] = texts;
      const value = text === undefined ? parameter.absent : parameter.read(text);
      const good = text === undefined || (value !== undefined && checks[name]!(value));
      values[name] = good ? value : parameter.absent;
      if (!good)
        errors.push({
          parameter: name,
          message: `expected ${parameter.expected}; got ${text === "" ? "an empty value" : (parameter.wrong?.(text) ?? JSON.stringify(shortened(text)))}`,
        });
    }
    if (errors.length === 0) errors.push(...check(values as Values<Set>));
    if (errors.length > 0) throw badParameters(errors, values);
    return values as Values<Set>;
  };
}

function textsOf(query: URLSearchParams, name: string) {
  for (const key of query.keys()) if (key.startsWith(`${name}[`)) return "structured";
  return query.getAll(name);
}

function compiledSchemas(parameters: Parameters): Record<string, ValidateFunction> {
  const ajv = new Ajv({ formats: { "date-time": true } });
  return Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, ajv.compile(schema)]));
}

function defaultOf(value: unknown): SchemaObject {
  return value === null ? {} : { default: value };
}
