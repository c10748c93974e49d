import { referredName, type SchemaPart } from "./openapi-parts.js";
import type { SchemaObject } from "openapi3-ts/oas31";

/** A field of a body, at any depth. */
export interface BodyField {
  /** What leads to it: `venues[].days[].`. */
  within: string;
  name: string;
  part: SchemaPart;
  isOptional: boolean;
}

/** All fields of an object, each before its own parts. Those of named schemas are left to their own tables. */
export function fieldsOf({ properties = {}, required = [] }: SchemaObject, within = ""): BodyField[] {
  return Object.entries(properties).flatMap(([name, part]) => [
    { within, name, part, isOptional: !required.includes(name) },
    ...fieldsInside(part, `${within}${name}`),
  ]);
}

function fieldsInside(part: SchemaPart, path: string): BodyField[] {
  if (referredName(part) !== null) return [];
  const { anyOf, items, properties } = part as SchemaObject;
  if (anyOf) return anyOf.flatMap((one) => fieldsInside(one, path));
  if (items) return fieldsInside(items, `${path}[]`);
  return properties ? fieldsOf(part as SchemaObject, `${path}.`) : [];
}
