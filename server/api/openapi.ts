import type { RequestHandler } from "express";
import type {
  HeaderObject,
  HeadersObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import { version } from "../package.js";
import type { Registry } from "../registry.js";
import { answerJson, longCache } from "./answer.js";
import { makeBody } from "./body.js";
import { groups, type Operation, operations } from "./operations.js";
import { namedSchemas } from "./schemas/shapes.js";

/** `/openapi.json`: what this API answers, in OpenAPI 3.1, made of the schemas and parameters that it works with. */
export function openapiRoute(
  registry: Registry,
  baseUrl: string,
): RequestHandler {
  const described = operations(registry);
  const startedAt = new Date();
  return (_request, response) => {
    const document = openapiDocument(described, baseUrl, startedAt);
    const body = makeBody(JSON.stringify(document));
    return answerJson(response, { body }, longCache);
  };
}

/** @param startedAt since when it has been so: of what this program describes nothing changes while it runs */
export function openapiDocument(
  described: Operation[],
  baseUrl: string,
  startedAt: Date,
): OpenAPIObject {
  return {
    openapi: "3.1.0",
    "x-generatedAt": startedAt.toISOString(),
    info: {
      title: "venuewatch",
      version,
      description:
        "Whether an exchange, RPC provider, market-data API, oracle, stablecoin, bridge or ramp is down: measured from several regions, decided by a quorum of them. Everything is public and only read: GET, HEAD and OPTIONS, anything else is 405 with `Allow`. No key is needed.\n\nEvery JSON body says by `generatedAt` of which instant it is; within a tick of the engine bodies agree, and their ETags are stable. What nobody measured is null or `unknown`, never zero and never good. Times are ISO 8601 in UTC, and a day is a UTC day.\n\nErrors are RFC 9457 problems. Unknown parameters are ignored; one that is repeated, structured or empty is refused.",
    },
    servers: [{ url: baseUrl }],
    // nothing here needs a key
    security: [],
    tags: Object.entries(groups).map(([name, description]) => ({
      name,
      description,
    })),
    paths: Object.fromEntries(
      described.map((operation) => [operation.path, { get: get(operation) }]),
    ),
    components: {
      schemas: Object.fromEntries(
        [...namedSchemas].map(([name, schema]) => [name, partsOf(schema)]),
      ),
      responses: errorAnswers,
      headers,
    },
  };
}

function get(operation: Operation): OperationObject {
  const { id, group, summary, description } = operation;
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description !== undefined && { description }),
    parameters: parametersOf(operation),
    responses: Object.fromEntries(answersOf(operation)),
  };
}

function parametersOf({ names, parameters }: Operation): ParameterObject[] {
  return [
    ...Object.entries(names ?? {}).map(([name, described]) => {
      const { description, ...schema } = described;
      const example = exampleOf(schema);
      return { name, in: "path", required: true, description, schema, example };
    }),
    ...Object.entries(parameters ?? {}).map(
      ([name, { description, schema }]) => ({
        name,
        in: "query",
        description,
        schema,
        example: exampleOf(schema),
      }),
    ),
  ] as ParameterObject[];
}

function exampleOf(schema: SchemaObject): unknown {
  const [example] = (schema.examples ?? []) as unknown[];
  const [word] = (schema.enum ?? []) as unknown[];
  return example ?? schema.default ?? word ?? schema.minimum;
}

type Answer = [status: number, answer: ResponseObject | ReferenceObject];

function answersOf(operation: Operation): Answer[] {
  const { answers, names, parameters, asksDatabase, limited } = operation;
  const ok: ResponseObject = {
    description: operation.summary,
    headers: headersOf(operation),
    content: Object.fromEntries(
      Object.entries(answers).map(([type, schema]) => [
        type,
        { schema: partOf(schema) },
      ]),
    ),
  };
  const others: [number, boolean][] = [
    [304, !operation.cache.includes("no-store")],
    [400, parameters !== undefined || names !== undefined],
    [404, names !== undefined],
    [429, limited],
    [503, asksDatabase],
  ];
  return [
    [200, ok],
    ...others
      .filter(([, occurs]) => occurs)
      .map(([status]): Answer => {
        const name = `Answer${status}` as keyof typeof errorAnswers;
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
  ];
}

function headersOf({ answers, cache, limited }: Operation): HeadersObject {
  return {
    ETag: header("ETag"),
    "Cache-Control": cacheHeader("How long a cache may keep it.", cache),
    ...(limited && limitHeaders),
    ...("text/csv" in answers && {
      "Content-Disposition": textHeader(
        "With text/csv: the name under which a browser saves it.",
        'attachment; filename="venuewatch-okx.csv"',
      ),
    }),
  };
}

const headers = {
  ETag: textHeader(
    "Strong; the same for the same bytes. Send it back as If-None-Match.",
    '"2f1c-Yk0Xq1Q3v1Jt3p8n5E4c2wW7d6M"',
  ),
  RateLimit: textHeader(
    "How many requests remain (r), and in how many seconds it is filled up (t). Absent where nothing is limited.",
    '"120-in-1min"; r=119; t=60',
  ),
  RateLimitPolicy: textHeader(
    "How many requests (q) a client address has in so many seconds (w). Absent where nothing is limited.",
    '"120-in-1min"; q=120; w=60; pk=:ZjEyMzQ1Njc4OTAx:',
  ),
  RetryAfter: {
    description: "Seconds to wait before asking again.",
    schema: { type: "integer", minimum: 1 },
    example: 5,
  },
} satisfies Record<string, HeaderObject>;

function textHeader(description: string, example: string): HeaderObject {
  return { description, schema: { type: "string" }, example };
}

function cacheHeader(description: string, lifetimes?: string[]): HeaderObject {
  return {
    description,
    schema: { type: "string", ...(lifetimes && { enum: lifetimes }) },
  };
}

function header(name: keyof typeof headers): ReferenceObject {
  return { $ref: `#/components/headers/${name}` };
}

const limitHeaders = {
  RateLimit: header("RateLimit"),
  "RateLimit-Policy": header("RateLimitPolicy"),
};

const errorAnswers = {
  Answer304: {
    description: "The body that If-None-Match names still holds.",
    headers: {
      ETag: header("ETag"),
      "Cache-Control": cacheHeader("As with the body itself."),
      ...limitHeaders,
    },
  },
  Answer400: problemAnswer(
    "Parameters are not usable, and each is named; or the address is not correctly percent-encoded.",
    {
      title: "Bad Request",
      status: 400,
      detail: "A parameter is not usable: days.",
      errors: [
        {
          parameter: "days",
          message: 'expected an integer from 1 to 90; got "91"',
        },
      ],
    },
  ),
  Answer404: problemAnswer(
    "There is nothing, or nothing any more, of that name.",
    {
      title: "Not Found",
      status: 404,
      detail:
        'There is no venue "mtgox". /v1/status lists those that are watched.',
    },
  ),
  Answer429: problemAnswer(
    "Too many requests came from your address.",
    {
      title: "Too Many Requests",
      status: 429,
      detail:
        "More than 120 requests within a minute came from your address. Wait as long as Retry-After says.",
    },
    { "Retry-After": header("RetryAfter") },
  ),
  Answer503: problemAnswer(
    "The database does not answer.",
    {
      title: "Service Unavailable",
      status: 503,
      detail:
        "The data cannot be read at the moment. Try again in a few seconds.",
    },
    { "Retry-After": header("RetryAfter") },
  ),
};

function problemAnswer(
  description: string,
  example: object,
  headers?: HeadersObject,
): ResponseObject {
  return {
    description,
    headers: {
      "Cache-Control": cacheHeader("Errors are not kept.", ["no-store"]),
      ...limitHeaders,
      ...headers,
    },
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Problem" },
        example: { type: "about:blank", ...example },
      },
    },
  };
}

/** A schema in place, or a reference where it has a name. */
function partOf(part: SchemaObject | ReferenceObject) {
  // there are no references in ours: the type only allows them
  const schema = part as SchemaObject;
  const { title, description } = schema;
  const whole = title === undefined ? undefined : namedSchemas.get(title);
  if (title === undefined || whole === undefined) return partsOf(schema);
  return {
    $ref: `#/components/schemas/${title}`,
    ...(description !== whole.description && { description }),
  };
}

/** The schema itself; what it is made of is referred to where it has a name. */
function partsOf(schema: SchemaObject): SchemaObject {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, partOf(one)]),
      ),
    }),
    ...(items && { items: partOf(items) }),
    ...(anyOf && { anyOf: anyOf.map(partOf) }),
  };
}
