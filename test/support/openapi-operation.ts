/** What an OpenAPI document says of requests, responses, headers and examples. */
import type {
  ExampleObject,
  HeaderObject,
  MediaTypeObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import { publicHeaders } from "../../server/web/api/answer.js";
import type { Answer } from "./api.js";

export type Described = [path: string, operation: OperationObject];

/** The operations that are asked by GET: all but that of agents, which has tests of its own. */
export function getsOf(document: OpenAPIObject): Described[] {
  return Object.entries(document.paths!).flatMap(([path, { get }]): Described[] => (get ? [[path, get]] : []));
}

/** The URL from the document's own examples, without these parameters. */
export function addressOf([path, operation]: Described, names: Record<string, string>): string {
  const place = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(names[name] ?? String(exampleOf(operation, name))),
  );
  const query = new URLSearchParams();
  for (const { name, example } of parametersOf(operation, "query")) query.set(name, String(example as unknown));
  return `${place}?${query.toString()}`;
}

export function parametersOf(operation: OperationObject, place: "query" | "path") {
  const all = (operation.parameters ?? []) as ParameterObject[];
  return all.filter((parameter) => parameter.in === place);
}

export function exampleOf(operation: OperationObject, name: string): unknown {
  return parametersOf(operation, "path").find((parameter) => parameter.name === name)!.example;
}

/** The description of a response, with references resolved. */
export function answerOf(
  document: OpenAPIObject,
  operation: OperationObject,
  status: number | "default",
): ResponseObject | undefined {
  const answers = operation.responses as Record<string, ResponseObject | ReferenceObject>;
  const answer = answers[String(status)];
  const reference = (answer as ReferenceObject | undefined)?.$ref;
  if (reference === undefined) return answer as ResponseObject | undefined;
  const name = reference.split("/").at(-1)!;
  return document.components!.responses![name] as ResponseObject;
}

/**
 * Headers of every response from any server: HTTP's own, of the connection and the body, and those that browsers need.
 */
const everywhere = new Set([
  ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"],
  ...lowerCaseNames(publicHeaders),
]);

export function headersOf({ headers }: Pick<Answer<unknown>, "headers">): string[] {
  return lowerCaseNames(headers).filter((name) => !everywhere.has(name));
}

export function describedHeaders({ headers = {} }: ResponseObject): string[] {
  return lowerCaseNames(headers);
}

function lowerCaseNames(headers: object): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return names.sort();
}

/** Described headers whose form differs from a real one; digits and tags, which vary, are left out. */
export function falseExamples(
  document: OpenAPIObject,
  described: ResponseObject,
  { headers }: Pick<Answer<unknown>, "headers">,
): string[] {
  const form = (text: string) =>
    text
      .replace(/^"[\w-]{27}(-br|-gzip)?"$/, "a tag")
      .replace(/\d{4}-\d\d-\d\d/g, "a day")
      .replace(/\d+/g, "a number");
  return Object.entries(described.headers ?? {}).flatMap(([name, one]) => {
    const got = headers[name.toLowerCase()];
    if (got === undefined) return [];
    const header = headerObject(document, one);
    const words = (header.schema as SchemaObject).enum as unknown[] | undefined;
    const example = String(header.example as unknown);
    if (words?.includes(got) && words.includes(example)) return [];
    return form(String(got)) === form(example) ? [] : [`${name}: ${example}; got ${String(got)}`];
  });
}

function headerObject(document: OpenAPIObject, part: HeaderObject | ReferenceObject): HeaderObject {
  if (part.$ref === undefined) return part as HeaderObject;
  const name = part.$ref.split("/").at(-1)!;
  return document.components!.headers![name] as HeaderObject;
}

/** Inline, or through a reference. */
export function bodyExample(document: OpenAPIObject, { example, examples }: MediaTypeObject): unknown {
  if (!examples) return example;
  const { $ref } = Object.values(examples)[0] as ReferenceObject;
  const one = document.components!.examples![$ref.split("/").at(-1)!];
  return (one as ExampleObject).value;
}

export function problemExample(document: OpenAPIObject, name: string): unknown {
  const answer = document.components!.responses![name];
  return (answer as ResponseObject).content!["application/problem+json"]!.example as unknown;
}
