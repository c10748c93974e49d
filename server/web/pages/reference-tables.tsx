import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { TableFrame } from "./parts.js";

/** The address at which a schema, an answer or a header is described, by its name: they are on several pages. */
export const Places = createContext((name: string) => `#${name}`);

/** A link to where something is described. */
export function PlaceLink({ name, children }: { name: string; children: ComponentChildren }) {
  const placeOf = useContext(Places);
  return <a href={placeOf(name)}>{children}</a>;
}

export interface FieldsTableProps {
  document: OpenAPIObject;
  schema: SchemaObject;
  caption: string;
}

/** Every field of a body, those of its parts beneath it. */
export function FieldsTable({ document, schema, caption }: FieldsTableProps) {
  return (
    <ReferenceTable caption={caption} columns={["Name", "Type", "Meaning", "Example"]}>
      {fieldsOf(schema).map((field) => (
        <FieldRow key={field.within + field.name} document={document} field={field} />
      ))}
    </ReferenceTable>
  );
}

function FieldRow({ document, field }: { document: OpenAPIObject; field: BodyField }) {
  const { within, name, part, isOptional } = field;
  const example = exampleOf(part as SchemaObject);
  return (
    <tr>
      <th scope="row">
        <code>
          {within !== "" && <span class="minor">{within}</span>}
          {name}
        </code>
      </th>
      <td>
        <SchemaType part={part} />
        {isOptional && `, may be absent`}
      </td>
      <td>
        <Described text={part.description ?? schemaOf(document, part).description ?? ""} />
      </td>
      <td>{example != null && <code>{JSON.stringify(example)}</code>}</td>
    </tr>
  );
}

/** Of a single value; an object's stand beside its fields, and a word's are its values. */
function exampleOf({ examples, anyOf, enum: words, properties, items }: SchemaObject): unknown {
  if (words || properties || items) return undefined;
  if (examples) return (examples as unknown[])[0];
  return anyOf && exampleOf(anyOf[0] as SchemaObject);
}

/** A field of a body, at any depth. */
interface BodyField {
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

/** What values a schema allows, in words. */
export function SchemaType({ part }: { part: SchemaPart }) {
  const name = referredName(part);
  if (name !== null) return <PlaceLink name={name}>{name}</PlaceLink>;
  const schema = part as SchemaObject;
  const { anyOf, items, type, format, minItems, maxItems } = schema;
  if (anyOf)
    return (
      <>
        {anyOf.map((one, at) => (
          <>
            {at > 0 && " or "}
            <SchemaType part={one} />
          </>
        ))}
      </>
    );
  if (schema.enum) return <Values values={schema.enum as unknown[]} />;
  if (items)
    return (
      <>
        list of {minItems !== undefined && minItems === maxItems && `${minItems} `}
        <SchemaType part={items} />
      </>
    );
  const keys = schema.propertyNames as SchemaObject | undefined;
  if (keys?.enum)
    return (
      <>
        an integer for any of <Values values={keys.enum as unknown[]} />
      </>
    );
  if (format === "date-time") return <>instant, ISO 8601 in UTC</>;
  if (format === "date") return <>UTC day</>;
  return <>{`${String(type ?? "any value")}${rangeOf(schema)}`}</>;
}

/** More would hide what stands around them; the OpenAPI document has them all. */
const mostValues = 20;

function Values({ values }: { values: readonly unknown[] }) {
  const rest = values.length - mostValues;
  return (
    <>
      {values.slice(0, mostValues).map((value, at) => (
        <>
          {at > 0 && ", "}
          <code>{String(value)}</code>
        </>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </>
  );
}

function rangeOf({ minimum, maximum }: SchemaObject): string {
  if (minimum === undefined) return "";
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return `, ${isBounded ? `${minimum} to ${maximum}` : `${minimum} or more`}`;
}

export interface ReferenceTableProps {
  caption: string;
  columns: readonly string[];
  /** One `<tr>` each. */
  children: ComponentChildren;
}

/** A table of the reference, with its columns by name. */
export function ReferenceTable({ caption, columns, children }: ReferenceTableProps) {
  return (
    <TableFrame caption={caption}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </TableFrame>
  );
}

export interface ParametersTableProps {
  caption: string;
  parameters: readonly ParameterObject[];
}

/** Of an operation, or its headers. */
export function ParametersTable({ caption, parameters }: ParametersTableProps) {
  return (
    <ReferenceTable caption={caption} columns={["Name", "Values", "Default", "Meaning"]}>
      {parameters.map((parameter) => (
        <tr key={parameter.name}>
          <th scope="row">
            <code>{parameter.name}</code>
          </th>
          <td>
            <SchemaType part={parameter.schema!} />
          </td>
          <td>
            <DefaultValue {...parameter} />
          </td>
          <td>
            <Described text={parameter.description ?? ""} />
          </td>
        </tr>
      ))}
    </ReferenceTable>
  );
}

function DefaultValue({ required, schema }: ParameterObject) {
  const value = (schema as SchemaObject).default as string | number | undefined;
  if (required) return <>required</>;
  return value === undefined ? <>none</> : <code>{value}</code>;
}

/** A description from the schemas, in which code and addresses are marked. */
export function Described({ text }: { text: string }) {
  return (
    <>
      {text.split(/(`[^`]+`|https?:\/\/[^\s,)]*[\w/])/).map((piece) => {
        if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
        return /^https?:/.test(piece) ? <a href={piece}>{piece}</a> : piece;
      })}
    </>
  );
}

export interface CodeSamplesProps {
  url: string;
  isJson: boolean;
  /** Whether the answer has a file name of its own. */
  isFile: boolean;
}

/** The same request in a shell, in JavaScript and in Python, to copy. */
export function CodeSamples({ url, isJson, isFile }: CodeSamplesProps) {
  return (
    <>
      <Code text={`curl ${isFile ? "-OJ" : "--compressed"} '${url}'`} />
      {isJson && (
        <details>
          <summary>In JavaScript and Python</summary>
          <Code text={`const response = await fetch("${url}");\nconst data = await response.json();`} />
          <Code text={`import json, urllib.request\ndata = json.load(urllib.request.urlopen("${url}"))`} />
        </details>
      )}
    </>
  );
}

/** A message in a shell, to copy. */
export function PostSample({ url, body }: { url: string; body: string }) {
  return <Code text={`curl '${url}' -H 'Accept: application/json, text/event-stream' --json '${body}'`} />;
}

export function Code({ text }: { text: string }) {
  return (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}

// Parts of an OpenAPI document, followed through its references.

type SchemaPart = SchemaObject | ReferenceObject;

/** The name of what a part refers to; null: the part is the thing itself. */
export function referredName(part: object): string | null {
  const { $ref } = part as Partial<ReferenceObject>;
  return $ref === undefined ? null : $ref.split("/").at(-1)!;
}

export function schemaOf({ components }: OpenAPIObject, part: SchemaPart): SchemaObject {
  const name = referredName(part);
  return (name === null ? part : components!.schemas![name]) as SchemaObject;
}

export function answerOf({ components }: OpenAPIObject, part: ResponseObject | ReferenceObject): ResponseObject {
  const name = referredName(part);
  return (name === null ? part : components!.responses![name]) as ResponseObject;
}

export function headerOf({ components }: OpenAPIObject, part: HeaderObject | ReferenceObject): HeaderObject {
  const name = referredName(part);
  return (name === null ? part : components!.headers![name]) as HeaderObject;
}

/** An operation that clients call, or a request that receivers get. */
export interface DescribedOperation {
  method: string;
  /** Null: at the receiver's own address. */
  path: string | null;
  operation: OperationObject;
}

/** In the document's order of tags, then of paths. */
export function operationsOf({ paths, webhooks }: OpenAPIObject, tag: string): DescribedOperation[] {
  const called = Object.entries(paths ?? {}).map(([path, { get, post }]) => ({
    ...{ method: get ? "GET" : "POST", path },
    operation: (get ?? post)!,
  }));
  const received = Object.values(webhooks ?? {}).map((item) => ({
    ...{ method: "POST", path: null },
    operation: (item as { post: OperationObject }).post,
  }));
  return [...called, ...received].filter(({ operation }) => operation.tags?.includes(tag));
}

/** The page of a group of operations. */
export function groupPath(group: string): string {
  return `/docs/api/${group}`;
}

export function headingOf({ method, path }: DescribedOperation): string {
  return `${method} ${path ?? "to your receiver of alerts"}`;
}
