import type { SchemaObject } from "openapi3-ts/oas31";

/** Values, not schemas: what looks like one in them is none. */
const values = new Set(["example", "examples"]);

/**
 * A copy of a description in which no object may have what is not described. The published one is open, so that clients
 * which are generated strictly from it outlive a field more; held against that, answers could have anything.
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
