import type { RequestHandler } from "express";
import type {
  ContentObject,
  HeaderObject,
  HeadersObject,
  MediaTypeObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import { license, version } from "../../shared/config/package.js";
import { mcpAnswers, mcpOperation } from "./agents/mcp-route.js";
import { answerJson, dataCache, longCache } from "./api/answer.js";
import { type Body, makeBody } from "./api/body.js";
import { operationGroups, type Operation } from "./api/operation.js";
import { exampleOf, namedSchemas, type Schema } from "./api/shapes.js";
import type { Site } from "./api/site.js";
import { incidentCache } from "./board/incident.js";
import { operations } from "./operations.js";
import { alertWebhooks } from "./webhook.js";

/** `/openapi.json`: the OpenAPI 3.1 description of this API, generated from the schemas and parameters in use. */
export function openapiRoute(options: Site): RequestHandler {
  let made: Body | undefined;
  return (_request, response) => {
    // Made once, on first request: it does not change while the program runs, and requests for it are not rate-limited.
    // Making it takes about 5 ms, so 200 requests a second would leave no time for others.
    made ??= makeBody(JSON.stringify(openapiDocument(options, new Date())));
    return answerJson(response, { body: made }, longCache);
  };
}

export function openapiDocument({ registry, baseUrl, siteUrl }: Site, madeAt: Date): OpenAPIObject {
  const described = operations(registry, siteUrl);
  return {
    openapi: "3.1.0",
    "x-generatedAt": madeAt.toISOString(),
    info: {
      title: "venuewatch",
      version,
      license: { name: license, identifier: license },
      description: `Whether an exchange, RPC provider, market-data API, oracle, stablecoin, bridge or ramp is down: measured from several regions, decided by a quorum of them. Everything is public and read-only: GET, HEAD and OPTIONS; other methods get 405 with \`Allow\`. The only POST is \`/mcp\`, for agents; it is read-only as well. No key is needed, and pages of any origin may read it (CORS).

Every body of \`application/json\` gives its instant as \`generatedAt\`, except in third-party formats; bodies of one engine tick are consistent, and their ETags are stable. Unmeasured values are null or \`unknown\`, never zero and never good. Times are ISO 8601 in UTC, and a day is a UTC day. Bodies are compressed with brotli or gzip for clients that accept it; each encoding has its own ETag.

Fields may be added to any object at any time: ignore unknown ones. A field that is always null so far has the type of its future values.

Errors are RFC 9457 problems; browsers, which prefer text/html, get them as pages. Unknown parameters are ignored; repeated, structured or empty ones are refused.

${siteUrl}/methodology defines each number, ${siteUrl}/rulebook says how samples become incidents, ${siteUrl}/receiving how to receive alerts, and ${siteUrl}/changelog what changed.`,
    },
    servers: [{ url: baseUrl }],
    // no key is needed
    security: [],
    tags: Object.entries(operationGroups).map(([name, description]) => ({
      name,
      description,
    })),
    paths: {
      ...Object.fromEntries(described.map((operation) => [operation.path, { get: getOperation(operation) }])),
      "/mcp": { post: mcpOperation },
    },
    webhooks: alertWebhooks(siteUrl),
    components: {
      schemas: Object.fromEntries(
        [...namedSchemas].map(([name, schema]) => [name, { ...partsOf(schema), ...enumNames(name, schema) }]),
      ),
      examples: examplesOf(described),
      responses: { ...otherAnswers, ...mcpAnswers },
      headers: responseHeaders,
    },
  };
}

/**
 * Names for the constants of a named enumeration. Without them, Go generators produce one `OUTAGE` for each enumeration
 * with that word, all in one package, which does not compile.
 */
function enumNames(name: string, schema: Schema) {
  if (!("enum" in schema) || !Array.isArray(schema.enum)) return {};
  const named = (value: unknown) => `${name}_${String(value)}`.replace(/\W+/g, "_").toUpperCase();
  return { "x-enum-varnames": schema.enum.map(named) };
}

function getOperation(operation: Operation): OperationObject {
  const { id, group, summary, description } = operation;
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description !== undefined && { description }),
    parameters: parametersOf(operation),
    responses: {
      200: {
        description: operation.summary,
        headers: headersOf(operation),
        content: contentOf(operation),
      },
      ...Object.fromEntries(othersOf(operation)),
    },
  };
}

function parametersOf({ names, parameters }: Operation): ParameterObject[] {
  return [
    ...Object.entries(names ?? {}).map(([name, described]) => {
      const { description, examples, ...schema } = described;
      const example = exampleOf({ ...schema, examples });
      return { name, in: "path", required: true, description, schema, example };
    }),
    ...Object.entries(parameters ?? {}).map(([name, { description, schema }]) => ({
      name,
      in: "query",
      description,
      schema,
      example: exampleOf(schema),
    })),
  ] as ParameterObject[];
}

function contentOf({ answers }: Operation): ContentObject {
  return Object.fromEntries(
    Object.entries(answers).map(([type, schema]) => [type, { schema: partOf(schema), ...exampleIn(schema) }]),
  );
}

/** Inline, or a reference if the schema is named, since a venue's two paths share one. */
function exampleIn(schema: Schema): Partial<MediaTypeObject> {
  if (schema.title === undefined) return { example: exampleOf(schema) };
  const $ref = `#/components/examples/${schema.title}`;
  return { examples: { one: { $ref } } };
}

function examplesOf(described: Operation[]) {
  const named = described.flatMap(({ answers }) => Object.values(answers)).filter(({ title }) => title !== undefined);
  return Object.fromEntries(named.map((schema) => [schema.title!, { value: exampleOf(schema) }]));
}

function headersOf({ answers, cache, limited, attachment }: Operation): Record<string, HeaderObject | ReferenceObject> {
  return {
    ...("text/event-stream" in answers && {
      "X-Accel-Buffering": textHeader("So that nginx passes events on at once.", "no"),
    }),
    "Cache-Control": cacheHeader("How long caches may keep the response.", cache),
    ...(isTagged(cache) && bodyHeaders),
    ...(limited && limitHeaders),
    ...(attachment !== undefined && {
      "Content-Disposition": textHeader(
        "The file name for browsers, made of the request's parameters and the day of generatedAt.",
        attachment,
      ),
    }),
  };
}

function isTagged(cache: Operation["cache"]): boolean {
  return !cache.includes("no-store");
}

/** All responses of an operation except 200. */
function othersOf({
  cache,
  names,
  parameters,
  retractable,
  asksDatabase,
  limited,
}: Operation): [status: string, answer: ReferenceObject][] {
  const others: [string, boolean, keyof typeof otherAnswers][] = [
    ["304", isTagged(cache), limited ? "Answer304" : "Answer304Unlimited"],
    ["400", parameters !== undefined || names !== undefined, "Answer400"],
    ["404", names !== undefined, retractable ? "Answer404Retracted" : "Answer404"],
    ["405", true, "Answer405"],
    ["429", limited, "Answer429"],
    ["503", asksDatabase, "Answer503"],
    ["default", true, limited ? "AnswerDefault" : "AnswerDefaultUnlimited"],
  ];
  return others
    .filter(([, occurs]) => occurs)
    .map(([status, , name]) => [status, { $ref: `#/components/responses/${name}` }]);
}

const responseHeaders = {
  ETag: textHeader(
    "Strong: identifies the exact bytes, so it differs between Content-Encodings. Send it back as If-None-Match.",
    '"Yk0Xq1Q3v1Jt3p8n5E4c2wW7d6M-br"',
  ),
  Vary: textHeader("Request headers that select the encoding of the body.", "Accept-Encoding"),
  VaryAccept: textHeader("Request header that selects a problem document or a page.", "Accept"),
  ContentEncoding: {
    description:
      "Compression of the body. Absent when uncompressed: if the client accepts neither, below 1000 bytes, and for workbooks, which are compressed themselves.",
    schema: { type: "string", enum: ["br", "gzip"] },
    example: "br",
  },
  Allow: textHeader("Supported methods.", "GET, HEAD, OPTIONS"),
  RateLimit: textHeader(
    "Number of requests allowed for a client address (limit), number remaining, and seconds until the count restarts (reset). Absent if the service sets no limit.",
    "limit=120, remaining=119, reset=60",
  ),
  RateLimitPolicy: textHeader(
    "Number of requests allowed for a client address within a window of w seconds. Absent if the service sets no limit.",
    "120;w=60",
  ),
  RetryAfter: {
    description: "Seconds to wait before the next request.",
    schema: { type: "integer", minimum: 1 },
    example: 5,
  },
} satisfies Record<string, HeaderObject>;

function textHeader(description: string, example: string): HeaderObject {
  return { description, schema: { type: "string" }, example };
}

function cacheHeader(description: string, lifetimes: string[]): HeaderObject {
  return {
    description,
    schema: { type: "string", enum: lifetimes },
    example: lifetimes[0],
  };
}

function headerReference(name: keyof typeof responseHeaders): ReferenceObject {
  return { $ref: `#/components/headers/${name}` };
}

const limitHeaders = {
  RateLimit: headerReference("RateLimit"),
  "RateLimit-Policy": headerReference("RateLimitPolicy"),
};

const bodyHeaders = {
  ETag: headerReference("ETag"),
  Vary: headerReference("Vary"),
  "Content-Encoding": headerReference("ContentEncoding"),
};

const notModified = {
  description: "The body named by If-None-Match is still current.",
  headers: {
    "Cache-Control": cacheHeader("The same as for the body.", [
      ...new Set([dataCache, longCache, ...Object.values(incidentCache)]),
    ]),
    ...bodyHeaders,
  },
};

const otherAnswers = {
  Answer304: {
    ...notModified,
    headers: { ...notModified.headers, ...limitHeaders },
  },
  Answer304Unlimited: notModified,
  Answer400: problemAnswer(
    "Invalid parameters, each listed; or invalid percent-encoding of the path or query.",
    {
      title: "Bad Request",
      status: 400,
      detail: "Invalid parameter: days.",
      errors: [
        {
          parameter: "days",
          message: 'expected an integer from 1 to 90; got "91"',
        },
      ],
    },
    limitHeaders,
  ),
  Answer404: problemAnswer(
    "Unknown name, or no longer watched.",
    {
      title: "Not Found",
      status: 404,
      detail: 'Unknown venue "mtgox". /v1/status lists all watched venues.',
    },
    limitHeaders,
  ),
  Answer404Retracted: problemAnswer(
    "Unknown or retracted incident; for a retracted one, with the time and the reason.",
    {
      title: "Not Found",
      status: 404,
      detail:
        "The incident kraken-2026-01-31-rest-outage was retracted at 2026-01-31T12:00:00.000Z: Our check of a good response was wrong.",
      slug: "kraken-2026-01-31-rest-outage",
      retractedAt: "2026-01-31T12:00:00.000Z",
      reason: "Our check of a good response was wrong.",
    },
    {
      ...limitHeaders,
      "Cache-Control": cacheHeader("A retraction may be cached; other errors may not.", ["no-store", longCache]),
    },
  ),
  Answer405: problemAnswer(
    "A method other than GET, HEAD and OPTIONS.",
    {
      title: "Method Not Allowed",
      status: 405,
      detail: "POST is not supported: use GET.",
    },
    { Allow: headerReference("Allow") },
  ),
  Answer429: problemAnswer(
    "Too many requests from your address.",
    {
      title: "Too Many Requests",
      status: 429,
      detail: "More than 120 requests in a minute from your address. Wait for the time in Retry-After.",
    },
    { ...limitHeaders, "Retry-After": headerReference("RetryAfter") },
  ),
  Answer503: problemAnswer(
    "The database does not respond.",
    {
      title: "Service Unavailable",
      status: 503,
      detail: "The data cannot be read at the moment. Try again in a few seconds.",
    },
    { ...limitHeaders, "Retry-After": headerReference("RetryAfter") },
  ),
  AnswerDefault: anyRequest(limitHeaders),
  AnswerDefaultUnlimited: anyRequest(),
};

/** @param headers that some of them have: those sent after the request was counted */
function anyRequest(headers?: HeadersObject): ResponseObject {
  return problemAnswer(
    "Errors of any request: not HTTP/1.1, or without Host (400); not complete within ten seconds (408); an Expect header other than 100-continue (417); target and headers longer than 16 KiB (431); an internal error (500).",
    {
      title: "Internal Server Error",
      status: 500,
      detail: "Internal error; it was logged.",
    },
    headers,
  );
}

function problemAnswer(description: string, example: object, more?: HeadersObject): ResponseObject {
  return {
    description,
    headers: {
      "Cache-Control": cacheHeader("Errors must not be cached.", ["no-store"]),
      Vary: headerReference("VaryAccept"),
      ...more,
    },
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Problem" },
        example: { type: "about:blank", ...example },
      },
    },
  };
}

/** A schema inline, or a reference if it is named. */
function partOf(part: SchemaObject | ReferenceObject) {
  // our schemas contain no references; only the type allows them
  const schema = part as SchemaObject;
  const { title, description } = schema;
  const whole = title === undefined ? undefined : namedSchemas.get(title);
  if (title === undefined || whole === undefined) return partsOf(schema);
  return {
    $ref: `#/components/schemas/${title}`,
    ...(description !== whole.description && { description }),
  };
}

/** The schema itself, with references to its named parts. */
function partsOf(schema: SchemaObject): SchemaObject {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, partOf(one)])),
    }),
    ...(items && { items: partOf(items) }),
    ...(anyOf && { anyOf: anyOf.map(partOf) }),
  };
}
