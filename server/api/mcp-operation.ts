/** The description of `/mcp`, the only operation that is a POST. Its tools describe themselves, by `tools/list`. */
import type { HeadersObject, OperationObject, ResponseObject } from "openapi3-ts/oas31";
import { groups } from "./operation.js";
import { exampleOf } from "./schemas/example.js";
import {
  eitherOf,
  integer,
  object,
  oneOf,
  orNull,
  type Schema,
  shownAs,
  text,
  withOptional,
} from "./schemas/shapes.js";

const group: keyof typeof groups = "agents";

const version = oneOf(["2.0"], "Version of JSON-RPC.");
const id = eitherOf("Chosen by the client.", integer("A number.", 1, null), text("Or a text.", "1"));

const request = withOptional(
  object("A message of JSON-RPC 2.0. Clients of 2025-03-26 may send a list of up to ten.", {
    jsonrpc: version,
    method: text("`initialize`, `tools/list`, `tools/call`, `ping` or a notification.", "tools/call"),
  }),
  {
    id,
    params: anyObject("Depends on the method.", { name: "is_it_down", arguments: { venue: "kraken" } }),
  },
);

/** The optional parts, too: without them it is a notification. */
const requestExample = {
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "is_it_down", arguments: { venue: "kraken" } },
};

const answer = withOptional(object("The answer of JSON-RPC 2.0, with `result` or `error`.", { jsonrpc: version, id }), {
  result: anyObject("Depends on the method. For a tool: `content`, `structuredContent`, and `isError` if it failed.", {
    content: [{ type: "text", text: '"Kraken" (kraken) is down: …' }],
  }),
  error: anyObject("A fault of the message.", { code: -32601, message: "Method not found" }),
});

const transportError = object("An error that belongs to no message.", {
  jsonrpc: version,
  error: object("What was wrong.", {
    code: integer("By JSON-RPC, or -32000.", -32_000, null),
    message: text("What was expected, and what came.", "Expected a body of JSON."),
  }),
  id: shownAs(orNull(text("Null: it belongs to none.", "1")), null),
});

export const mcpOperation: OperationObject = {
  operationId: "postMcp",
  tags: [group],
  summary: "Tools for agents, by the Model Context Protocol",
  description:
    "Streamable HTTP without sessions: each message is a POST of its own, and is answered by one JSON body. The tools only read: `is_it_down`, `venue`, `incidents` and `compare`; `tools/list` describes them. Each message counts against the rate limit. Requests of browsers are answered only for pages of this service and of localhost, as the protocol requires.",
  parameters: [],
  requestBody: {
    required: true,
    content: { "application/json": { schema: request, example: requestExample } },
  },
  responses: {
    200: {
      description: "The answer to the message.",
      headers: { "Cache-Control": neverKept(), ...limitHeaders() },
      content: {
        "application/json": {
          schema: answer,
          example: { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "…" }] } },
        },
      },
    },
    ...Object.fromEntries(
      [202, 400, 403, 406, 408, 413, 415, 429, "default"].map((status) => [status, { $ref: refOf(status) }]),
    ),
  },
};

function refOf(status: number | string): string {
  return `#/components/responses/AnswerMcp${status === "default" ? "Default" : status}`;
}

/** Shared parts of the document. */
export const mcpAnswers: Record<string, ResponseObject> = {
  AnswerMcp202: {
    description: "A notification was received. No body.",
    headers: { "Cache-Control": neverKept(), ...limitHeaders() },
  },
  ...Object.fromEntries(
    Object.entries({
      400: "No JSON, no message of JSON-RPC, more than ten messages, or an unknown `Mcp-Protocol-Version`.",
      403: "A Host or Origin that is not this service's, as a protection against DNS rebinding.",
      406: "An Accept header that does not allow `application/json`.",
      408: "A body that is not complete within ten seconds.",
      413: "A body of more than 64 KiB.",
      415: "A Content-Type other than application/json in UTF-8, or a Content-Encoding.",
    }).map(([status, description]) => [`AnswerMcp${status}`, errorAnswer(description)]),
  ),
  AnswerMcp429: errorAnswer("Too many messages from your address.", {
    "Retry-After": { $ref: "#/components/headers/RetryAfter" },
  }),
  AnswerMcpDefault: errorAnswer("An internal error, which was logged."),
};

function errorAnswer(description: string, more: HeadersObject = {}): ResponseObject {
  return {
    description,
    headers: { "Cache-Control": neverKept(), ...limitHeaders(), ...more },
    content: { "application/json": { schema: transportError, example: exampleOf(transportError) } },
  };
}

function neverKept() {
  const schema = { type: "string" as const, enum: ["no-store"] };
  return { description: "Answers are not kept: they are those of a POST.", schema, example: "no-store" };
}

function limitHeaders(): HeadersObject {
  return {
    RateLimit: { $ref: "#/components/headers/RateLimit" },
    "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
  };
}

function anyObject(description: string, example: object): Schema<Record<string, unknown>> {
  return { type: "object", description, additionalProperties: true, examples: [example] };
}
