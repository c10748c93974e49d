import type { ReferenceObject, SchemaObject } from "openapi3-ts/oas31";
import { nthItem } from "./shapes.js";

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
