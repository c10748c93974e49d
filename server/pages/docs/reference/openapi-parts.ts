/** Parts of an OpenAPI document, followed through its references. */
import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";

export type SchemaPart = SchemaObject | ReferenceObject;

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
