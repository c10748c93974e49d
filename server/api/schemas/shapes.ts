import type { SchemaObject } from "openapi3-ts/oas31";

/** The few forms that all response schemas are made of. Every property is always there; what may be unknown is null. */

export function object(
  description: string,
  properties: Record<string, SchemaObject>,
): SchemaObject {
  return {
    type: "object",
    description,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

export function list(description: string, items: SchemaObject): SchemaObject {
  return { type: "array", description, items };
}

export function text(description: string): SchemaObject {
  return { type: "string", description };
}

export function oneOf(
  words: readonly string[],
  description: string,
): SchemaObject {
  return { type: "string", enum: [...words], description };
}

export function instant(description: string): SchemaObject {
  return { type: "string", format: "date-time", description };
}

export function day(description: string): SchemaObject {
  return { type: "string", format: "date", description };
}

export function integer(description: string, minimum = 0): SchemaObject {
  return { type: "integer", minimum, description };
}

export function percent(description: string): SchemaObject {
  return { type: "number", minimum: 0, maximum: 100, description };
}

export function flag(description: string): SchemaObject {
  return { type: "boolean", description };
}

export function orNull(schema: SchemaObject): SchemaObject {
  const { description, ...bare } = schema;
  return { description, anyOf: [bare, { type: "null" }] };
}

export const generatedAt = instant(
  "The instant that this body shows: the engine's last tick. Bodies of one tick agree with each other.",
);

export const state = oneOf(
  ["operational", "degraded", "outage", "unknown"],
  "As a quorum of the reporting regions confirms it; unknown when there is no evidence.",
);

export const since = instant(
  "The tick that confirmed this state. While the engine is silent or catches up: since when it has been unknown to readers.",
);

export const severity = oneOf(
  ["degraded", "outage"],
  "How bad an incident is.",
);
