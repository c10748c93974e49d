/**
 * Finds the parts of the OpenAPI document that no real answer has shown. What no answer ever contains should not be
 * described.
 */
import type { OpenAPIObject, ReferenceObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import { getsOf } from "./openapi-operation.js";
import { describedColumns } from "./table.js";

type Row = Record<string, string>;
type Part = SchemaObject | ReferenceObject;

export interface Coverage {
  /** Records what the body of a 200 answer, or the rows of a table, have shown. They must match the description. */
  note(template: string, body: unknown): void;
  /**
   * Returns the described parts that were not shown, as pointers: each property, each alternative of a value that may
   * be null or has two forms, each word of an enumeration, and the items of each list; for tables, each column with a
   * value, and without one where it may be empty. A named schema is one place, wherever it is used.
   */
  missing(): string[];
}

export function trackCoverage(document: OpenAPIObject): Coverage {
  const shown = new Set<string>();

  /** Returns a part and its place, with references followed. */
  function resolved(part: Part, place: string): [SchemaObject, string] {
    if (part.$ref === undefined) return [part as SchemaObject, place];
    const name = part.$ref.split("/").at(-1)!;
    return [document.components!.schemas![name] as SchemaObject, name];
  }

  function note(part: Part, place: string, value: unknown): void {
    const [schema, at] = resolved(part, place);
    shown.add(at);
    if (schema.enum) shown.add(`${at}=${String(value)}`);
    for (const [i, form] of (schema.anyOf ?? []).entries()) if (fits(form, value)) note(form, `${at}|${i}`, value);
    // the items of a list that may be null are noted with its form above
    if (Array.isArray(value)) for (const item of schema.items ? value : []) note(schema.items!, `${at}[]`, item);
    else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) {
        const property = schema.properties?.[name];
        if (property) note(property, `${at}.${name}`, one);
        else shown.add(`${at}.*`);
      }
  }

  /** Forms differ in whether they are null, and in the fields that they require. */
  function fits(part: Part, value: unknown): boolean {
    const [schema] = resolved(part, "");
    if (value === null || schema.type === "null") return value === null && schema.type === "null";
    return (schema.required ?? []).every((name) => name in Object(value));
  }

  function described(part: Part, place: string, into: Set<string>): void {
    const [schema, at] = resolved(part, place);
    if (into.has(at)) return;
    into.add(at);
    for (const word of (schema.enum ?? []) as unknown[]) into.add(`${at}=${String(word)}`);
    for (const [i, form] of (schema.anyOf ?? []).entries()) described(form, `${at}|${i}`, into);
    if (schema.items) described(schema.items, `${at}[]`, into);
    for (const [name, one] of Object.entries(schema.properties ?? {})) described(one, `${at}.${name}`, into);
    if (typeof schema.additionalProperties === "object") into.add(`${at}.*`);
  }

  const answers = new Map(
    getsOf(document).map(([template, get]) => {
      const ok = get.responses!["200"] as ResponseObject;
      return [template, ok.content?.["application/json"]?.schema] as const;
    }),
  );
  return {
    note(template, body) {
      const schema = answers.get(template);
      const fields = Array.isArray(body) ? (body as Row[]).flatMap((row) => Object.entries(row)) : [];
      for (const [name, field] of fields) shown.add(`${template} ${name}${field === "" ? ", empty" : ""}`);
      // answers that are neither JSON nor tables have separate tests
      if (schema && !Array.isArray(body)) note(schema, template, body);
    },
    missing() {
      const all = new Set<string>();
      for (const [template, schema] of answers) {
        if (schema) described(schema, template, all);
        for (const { name, mayBeEmpty } of describedColumns(document, template)) {
          all.add(`${template} ${name}`);
          if (mayBeEmpty) all.add(`${template} ${name}, empty`);
        }
      }
      return [...all].filter((place) => !shown.has(place));
    },
  };
}
