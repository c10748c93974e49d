import type { Body } from "../api/body.js";
import type { Snapshot } from "../api/snapshot.js";
import type { Schema, TypeOf } from "../api/schemas/shapes.js";

const parsed = new WeakMap<Body, unknown>();

/** The data of a snapshot, parsed once. The schema only gives its type: our own statements made the text. */
export function dataOf<Described extends Schema>(_schema: Described, { body }: Snapshot): TypeOf<Described> {
  let data = parsed.get(body);
  if (data === undefined) parsed.set(body, (data = JSON.parse(body.plain.toString())));
  return data as TypeOf<Described>;
}
