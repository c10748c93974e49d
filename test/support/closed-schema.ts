import type { SchemaObject } from "openapi3-ts/oas31";

/** These hold values, not schemas, even where a value looks like a schema. */
const values = new Set(["example", "examples"]);

/**
 * Returns a copy of a description in which no object may have undescribed fields. The published one is open, so that
 * strict clients still work when a field is added; checked against it, answers could contain anything.
 */
export function closed<Part>(part: Part): Part {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map(closed) as Part;
  const copy = Object.fromEntries(
    Object.entries(part).map(([name, one]: [string, unknown]) => [name, values.has(name) ? one : closed(one)]),
  );
  const { type, properties } = part as SchemaObject;
  const isObject = [type].flat().includes("object") && properties;
  return { ...copy, ...(isObject && { additionalProperties: false }) } as Part;
}
