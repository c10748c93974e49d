/** Says what is wrong with arguments, in the words of the API: what was expected, and what came. */
import type { ErrorObject } from "ajv";
import type { SchemaObject } from "openapi3-ts/oas31";
import { mostTitle, quoted } from "./quoted.js";

/** A caller corrects a few at a time. */
const mostFaults = 5;

export function faultsIn(errors: readonly ErrorObject[], { properties = {} }: SchemaObject): string {
  const names = Object.keys(properties);
  const faults = errors.map(({ keyword, instancePath, params, data }) => {
    const { missingProperty, additionalProperty } = params as Record<string, string>;
    if (keyword === "additionalProperties")
      return `there is no argument ${shown(additionalProperty)}: expected ${names.length === 0 ? "none" : names.join(", ")}`;
    if (keyword === "required")
      return `${missingProperty} is missing: expected ${expectedOf(properties[missingProperty!])}`;
    const [name, at] = instancePath.slice(1).split("/");
    if (name === undefined || name === "") return `expected the arguments as an object, got ${shown(data)}`;
    const schema = properties[name] as SchemaObject | undefined;
    const part = at === undefined ? schema : (schema?.items as SchemaObject | undefined);
    return `${at === undefined ? name : `${name}[${at}]`}: expected ${expectedOf(part)}; got ${shown(data)}`;
  });
  return [...new Set(faults)].slice(0, mostFaults).join(". ");
}

function expectedOf(part: object = {}): string {
  const {
    type,
    enum: words,
    minimum,
    maximum,
    minLength = 0,
    maxLength,
    minItems,
    maxItems,
    ...rest
  } = part as SchemaObject;
  if (words) return `one of ${words.join(", ")}`;
  if (type === "integer") return `an integer from ${minimum} to ${maximum}`;
  if (type === "array") return `a list of ${minItems} to ${maxItems} texts: ${rest.description}`;
  return `a text of ${minLength} to ${maxLength} characters: ${rest.description}`;
}

/** Bounded before it is written, too: it may be a deep structure. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return JSON.stringify(typeof value === "string" ? quoted(value, mostTitle) : value);
}
