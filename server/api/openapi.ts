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
import { answerJson, dataCache, longCache } from "./answer.js";
import type { AppOptions } from "./app-options.js";
import { type Body, makeBody } from "./body.js";
import { csvText } from "../../shared/text/csv-text.js";
import { attachment } from "./csv.js";
import { incidentCache } from "./incident.js";
import { groups, type Operation, operations } from "./operations.js";
import { exampleOf } from "./schemas/example.js";
import { namedSchemas, type Schema } from "./schemas/shapes.js";
import { tableExample, tableText } from "./schemas/table.js";
import { alertWebhook } from "./webhook.js";

/** `/openapi.json`: what this API answers, in OpenAPI 3.1, made of the schemas and parameters that it works with. */
export function openapiRoute(options: Pick<AppOptions, "registry" | "baseUrl" | "siteUrl">): RequestHandler {
  let made: Body | undefined;
  return (_request, response) => {
    // once, when first asked for: nothing of it changes while the program runs, and it is not limited. Made for each
    // request, it would take this process some 5 ms, so that 200 a second would leave no time for others
    made ??= makeBody(JSON.stringify(openapiDocument(options, new Date())));
    return answerJson(response, { body: made }, longCache);
  };
}

export function openapiDocument(
  { registry, baseUrl, siteUrl }: Pick<AppOptions, "registry" | "baseUrl" | "siteUrl">,
  madeAt: Date,
): OpenAPIObject {
  const described = operations(registry, siteUrl);
  return {
    openapi: "3.1.0",
    "x-generatedAt": madeAt.toISOString(),
    info: {
      title: "venuewatch",
      version,
      license: { name: "Apache License 2.0", identifier: license },
      description: `Whether an exchange, RPC provider, market-data API, oracle, stablecoin, bridge or ramp is down: measured from several regions, decided by a quorum of them. Everything is public and only read: GET, HEAD and OPTIONS, anything else is 405 with \`Allow\`. No key is needed, and pages of any origin may read it (CORS).

Every JSON body says by \`generatedAt\` of which instant it is; within a tick of the engine bodies agree, and their ETags are stable. What nobody measured is null or \`unknown\`, never zero and never good. Times are ISO 8601 in UTC, and a day is a UTC day. Bodies come as brotli or gzip to who accepts them, and each form has an ETag of its own.

Fields may be added to any object at any time: ignore those that you do not know. What is null because nobody reads it yet has the shape to come.

Errors are RFC 9457 problems. Unknown parameters are ignored; one that is repeated, structured or empty is refused.

How each number is made is at ${siteUrl}/methodology, how samples become incidents at ${siteUrl}/rulebook, how alerts are received at ${siteUrl}/receiving, and what changed at ${siteUrl}/changelog.`,
    },
    servers: [{ url: baseUrl }],
    // nothing here needs a key
    security: [],
    tags: Object.entries(groups).map(([name, description]) => ({
      name,
      description,
    })),
    paths: Object.fromEntries(described.map((operation) => [operation.path, { get: get(operation) }])),
    webhooks: { alert: alertWebhook(siteUrl) },
    components: {
      schemas: Object.fromEntries(
        [...namedSchemas].map(([name, schema]) => [name, { ...partsOf(schema), ...enumNames(name, schema) }]),
      ),
      examples: examplesOf(described),
      responses: otherAnswers,
      headers,
    },
  };
}

/**
 * What generators call the constants of a named enumeration. Without that Go's has one `OUTAGE` for each enumeration
 * that has the word, all in one package, and what it made does not compile.
 */
function enumNames(name: string, schema: Schema) {
  if (!("enum" in schema) || !Array.isArray(schema.enum)) return {};
  const named = (value: unknown) => `${name}_${String(value)}`.replace(/\W+/g, "_").toUpperCase();
  return { "x-enum-varnames": schema.enum.map(named) };
}

function get(operation: Operation): OperationObject {
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

function contentOf({ answers, table }: Operation): ContentObject {
  return {
    ...Object.fromEntries(
      Object.entries(answers).map(([type, schema]) => [type, { schema: partOf(schema), ...exampleIn(schema) }]),
    ),
    ...(table && {
      "text/csv": {
        schema: { type: "string", description: tableText(table) },
        example: csvText(tableExample(table)),
      },
    }),
  };
}

/** In place, or a reference where the schema has a name: the two paths of a venue have one. */
function exampleIn(schema: Schema): Partial<MediaTypeObject> {
  if (schema.title === undefined) return { example: exampleOf(schema) };
  const $ref = `#/components/examples/${schema.title}`;
  return { examples: { one: { $ref } } };
}

function examplesOf(described: Operation[]) {
  const named = described.flatMap(({ answers }) => Object.values(answers)).filter(({ title }) => title !== undefined);
  return Object.fromEntries(named.map((schema) => [schema.title!, { value: exampleOf(schema) }]));
}

function headersOf({ cache, limited, table }: Operation): Record<string, HeaderObject | ReferenceObject> {
  return {
    "Cache-Control": cacheHeader("How long a cache may keep it.", cache),
    ...(isKept(cache) && bodyHeaders),
    ...(limited && limitHeaders),
    ...(table && {
      "Content-Disposition": textHeader(
        "With text/csv: the name under which a browser saves it. It says what was asked for, and the day of generatedAt.",
        attachment(table.name, "2026-01-31"),
      ),
    }),
  };
}

function isKept(cache: string[]): boolean {
  return !cache.includes("no-store");
}

/** All answers of an operation but 200. */
function othersOf({
  cache,
  names,
  parameters,
  retractable,
  asksDatabase,
  limited,
}: Operation): [status: string, answer: ReferenceObject][] {
  const others: [string, boolean, keyof typeof otherAnswers][] = [
    ["304", isKept(cache), limited ? "Answer304" : "Answer304Unlimited"],
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

const headers = {
  ETag: textHeader(
    "Strong: the same for the same bytes, and another for each Content-Encoding. Send it back as If-None-Match. Not with text/csv.",
    '"Yk0Xq1Q3v1Jt3p8n5E4c2wW7d6M-br"',
  ),
  Vary: textHeader("What of the request the form of the body goes by. Not with text/csv.", "Accept-Encoding"),
  ContentEncoding: {
    description:
      "How the body is compressed. Absent where it is not: where the client accepts neither, below 1000 bytes, and with text/csv.",
    schema: { type: "string", enum: ["br", "gzip"] },
    example: "br",
  },
  Allow: textHeader("What is possible instead.", "GET, HEAD, OPTIONS"),
  RateLimit: textHeader(
    "How many requests a client address has in all (limit), how many remain, and in how many seconds they are counted anew (reset). Absent where the service sets no limit.",
    "limit=120, remaining=119, reset=60",
  ),
  RateLimitPolicy: textHeader(
    "How many requests a client address has in so many seconds (w). Absent where the service sets no limit.",
    "120;w=60",
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

function cacheHeader(description: string, lifetimes: string[]): HeaderObject {
  return {
    description,
    schema: { type: "string", enum: lifetimes },
    example: lifetimes[0],
  };
}

function header(name: keyof typeof headers): ReferenceObject {
  return { $ref: `#/components/headers/${name}` };
}

const limitHeaders = {
  RateLimit: header("RateLimit"),
  "RateLimit-Policy": header("RateLimitPolicy"),
};

const bodyHeaders = {
  ETag: header("ETag"),
  Vary: header("Vary"),
  "Content-Encoding": header("ContentEncoding"),
};

const notModified = {
  description: "The body that If-None-Match names still holds.",
  headers: {
    "Cache-Control": cacheHeader("As with the body itself.", [
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
    limitHeaders,
  ),
  Answer404: problemAnswer(
    "There is nothing, or nothing any more, of that name.",
    {
      title: "Not Found",
      status: 404,
      detail: 'There is no venue "mtgox". /v1/status lists those that are watched.',
    },
    limitHeaders,
  ),
  Answer404Retracted: problemAnswer(
    "There is no incident of that name, or none any more: of one that was retracted it says when and why.",
    {
      title: "Not Found",
      status: 404,
      detail:
        "The incident kraken-2026-01-31-rest-outage was retracted at 2026-01-31T12:00:00.000Z: Our check of a good answer was wrong.",
      slug: "kraken-2026-01-31-rest-outage",
      retractedAt: "2026-01-31T12:00:00.000Z",
      reason: "Our check of a good answer was wrong.",
    },
    {
      ...limitHeaders,
      "Cache-Control": cacheHeader("That it was retracted may be kept; other errors are not.", ["no-store", longCache]),
    },
  ),
  Answer405: problemAnswer(
    "Any other method than GET, HEAD and OPTIONS.",
    {
      title: "Method Not Allowed",
      status: 405,
      detail: "POST is not possible here: use GET.",
    },
    { Allow: header("Allow") },
  ),
  Answer429: problemAnswer(
    "Too many requests came from your address.",
    {
      title: "Too Many Requests",
      status: 429,
      detail: "More than 120 requests within a minute came from your address. Wait as long as Retry-After says.",
    },
    { ...limitHeaders, "Retry-After": header("RetryAfter") },
  ),
  Answer503: problemAnswer(
    "The database does not answer.",
    {
      title: "Service Unavailable",
      status: 503,
      detail: "The data cannot be read at the moment. Try again in a few seconds.",
    },
    { ...limitHeaders, "Retry-After": header("RetryAfter") },
  ),
  AnswerDefault: anyRequest(limitHeaders),
  AnswerDefaultUnlimited: anyRequest(),
};

/** @param headers that some of them have: those that are told of after the request was counted */
function anyRequest(headers?: HeadersObject): ResponseObject {
  return problemAnswer(
    "What can befall any request: it is not one in HTTP/1.1, or has no Host (400); it did not come within ten seconds (408); it expects something else than 100-continue (417); its path and headers are longer than 16 KiB (431); or the fault is ours (500).",
    {
      title: "Internal Server Error",
      status: 500,
      detail: "This is a fault of ours, and it was logged.",
    },
    headers,
  );
}

function problemAnswer(description: string, example: object, more?: HeadersObject): ResponseObject {
  return {
    description,
    headers: {
      "Cache-Control": cacheHeader("Errors are not kept.", ["no-store"]),
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
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, partOf(one)])),
    }),
    ...(items && { items: partOf(items) }),
    ...(anyOf && { anyOf: anyOf.map(partOf) }),
  };
}
