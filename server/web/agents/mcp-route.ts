/**
 * `/mcp`: the Model Context Protocol over HTTP, without sessions. The only path of the service that accepts POST; it,
 * too, only reads.
 *
 * The SDK is loaded by the first message: it takes 0.4 s and 33 MB, which a service without agents does not need.
 */
import { isIP } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import express, { type ErrorRequestHandler, type RequestHandler, type Response, type Router } from "express";
import type { HeadersObject, OperationObject, ResponseObject } from "openapi3-ts/oas31";
import { countMore, requestLimiter, type RateLimit } from "../api/client-limits.js";
import { operationGroups } from "../api/operation.js";
import { Problem, type SendProblem } from "../api/problem.js";
import {
  eitherOf,
  exampleOf,
  integer,
  object,
  oneOf,
  orNull,
  type Schema,
  shownAs,
  text,
  withOptional,
} from "../api/shapes.js";
import type { AgentServerOptions } from "./agent-server.js";

export interface McpRouteOptions {
  /** Called for each message: a server answers one. */
  makeServer: () => Promise<McpServer>;
  baseUrl: string;
  limit: RateLimit | null;
  /** Answers errors that are neither the client's nor expected, by the given way of sending them. */
  answerErrors: (send: SendProblem) => ErrorRequestHandler;
}

const mostBodyBytes = 64 * 1024;

/** As for the head of a request. */
const bodyWithinMs = 10_000;

/** Clients of 2025-03-26 may send several messages at once; newer ones may not. */
const mostMessages = 10;

/** Makes servers with our tools. */
export function agentServers(options: AgentServerOptions): McpRouteOptions["makeServer"] {
  return async () => (await import("./agent-server.js")).makeAgentServer(options);
}

/** Adds the route, whose other methods are refused. */
export function addMcpRoute(router: Pick<Router, "route">, options: McpRouteOptions): void {
  const { limit } = options;
  router
    .route("/mcp")
    .post(
      noStore,
      ...(limit ? [requestLimiter(limit, sendRpcError)] : []),
      onlyAllowedCallers(options.baseUrl),
      bodyInTime,
      // not compressed: no client compresses, and a compressed body would need two limits
      express.json({ limit: mostBodyBytes, type: "application/json", strict: false, inflate: false }),
      onlyFewMessages(limit),
      answerMessages(options),
      answerUnreadable,
      options.answerErrors(sendRpcError),
    )
    .all(onlyPosting);
}

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader("Cache-Control", "no-store");
  next();
};

/**
 * Answers only some requests of browsers, as the protocol requires against DNS rebinding. It keeps strangers' pages
 * from sending requests in their readers' names. It hides no data: /v1 gives the same to any page. Behind a proxy that
 * passes on a client's own X-Forwarded-Host, only the origin protects.
 */
function onlyAllowedCallers(baseUrl: string): RequestHandler {
  const ours = plainHost(new URL(baseUrl).hostname);
  return (request, response, next) => {
    const fault = faultOfHost(request.hostname, ours) ?? faultOfOrigin(request.headers.origin, ours);
    if (fault === null) return next();
    sendRpcError(response, 403, `The request was refused, as a protection against DNS rebinding: ${fault}.`);
  };
}

function faultOfHost(hostname: string | undefined, ours: string): string | null {
  const host = plainHost(hostname ?? "");
  // an address cannot be rebound: only a name can
  if (host === ours || isLoopback(host) || isIP(host) !== 0) return null;
  return `expected the host ${ours}, an IP address or localhost; set BASE_URL to the address of the service`;
}

/** Programs send no origin. */
function faultOfOrigin(origin: string | undefined, ours: string): string | null {
  if (origin === undefined) return null;
  const host = URL.canParse(origin) ? plainHost(new URL(origin).hostname) : "";
  if (host !== "" && (host === ours || isLoopback(host))) return null;
  return `expected no Origin, or one on ${ours} or localhost: pages of other sites can read the API at /v1`;
}

/** Without the brackets of IPv6 and the dot at the end, in small letters. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Node itself ends slow requests, too, but only twice a minute. */
const bodyInTime: RequestHandler = (request, response, next) => {
  const late = setTimeout(() => {
    if (response.headersSent) return;
    response.setHeader("Connection", "close");
    sendRpcError(response, 408, `Expected the complete body within ${bodyWithinMs / 1000} seconds.`);
  }, bodyWithinMs);
  const arrived = () => clearTimeout(late);
  request.once("end", arrived).once("close", arrived);
  next();
};

/** Each message counts like a request of its own. */
function onlyFewMessages(limit: RateLimit | null): RequestHandler {
  return async (request, response, next) => {
    const messages: unknown = request.body;
    if (!Array.isArray(messages)) return next();
    if (messages.length > mostMessages)
      return sendRpcError(
        response,
        400,
        `Expected at most ${mostMessages} messages in a batch, got ${messages.length}.`,
      );
    const waitS = limit && (await countMore(limit, request, messages.length - 1));
    if (waitS === null) return next();
    response.setHeader("Retry-After", String(waitS));
    sendRpcError(response, 429, "Too many messages in a minute from your address. Wait for the time in Retry-After.");
  };
}

function answerMessages({ makeServer }: McpRouteOptions): RequestHandler {
  return async (request, response) => {
    // with parameters only the same parameters match
    if (!request.accepts(["application/json", "application/json; charset=utf-8"]))
      return sendRpcError(response, 406, "Expected an Accept header that allows application/json, or none.");
    const { answerPost } = await import("./agent-server.js");
    const leaving = new AbortController();
    response.on("close", () => leaving.abort());
    const answer = await answerPost(
      { headers: readHeaders(request.headers), body: request.body as unknown, signal: leaving.signal },
      await makeServer(),
    );
    if (answer === null) return void response.destroy();
    response.status(answer.status);
    if (answer.text === "") return void response.end();
    response.type("application/json").send(answer.text);
  };
}

/**
 * The headers that the transport reads; others may have any content. `accept` is fixed: the transport would refuse
 * clients that do not also accept text/event-stream, such as generated ones and curl, though no answer of ours is one.
 */
function readHeaders(given: NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers({ accept: "application/json, text/event-stream" });
  for (const name of ["content-type", "mcp-protocol-version"]) {
    const value = given[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

/** A body that the parser refused: too long, compressed, or no JSON. */
const answerUnreadable: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  // it was too slow, and has its answer already
  if (response.headersSent) return void response.destroy();
  const { type = "" } = error as { type?: string };
  const refusal = unreadableBodies[type];
  if (refusal === undefined) return next(error);
  // the rest of the body is not read
  response.setHeader("Connection", "close");
  sendRpcError(response, ...refusal);
};

const unreadableBodies: Record<string, [status: number, detail: string]> = {
  "entity.too.large": [413, `Expected a body of at most ${mostBodyBytes} bytes.`],
  "entity.parse.failed": [400, "Expected a body of JSON."],
  "encoding.unsupported": [415, "Expected a body without Content-Encoding."],
  "charset.unsupported": [415, "Expected a body in UTF-8."],
  "request.size.invalid": [400, "Expected a body as long as Content-Length says."],
  "request.aborted": [400, "Expected a complete body."],
};

const rpcErrorCodes: Partial<Record<number, number>> = { 400: -32600, 500: -32603, 503: -32603 };

/** An error of the transport, which belongs to no message. */
const sendRpcError = (response: Response, status: number, message: string): void => {
  const error = { code: rpcErrorCodes[status] ?? -32000, message };
  response.status(status).setHeader("Cache-Control", "no-store");
  response.type("application/json").send(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
};

const onlyPosting: RequestHandler = (request, response) => {
  response.setHeader("Allow", "POST, OPTIONS");
  if (request.method !== "OPTIONS") throw new Problem(405, `${request.method} is not supported here: use POST.`);
  response.setHeader("Access-Control-Allow-Methods", "POST");
  response.setHeader("Access-Control-Allow-Headers", "*");
  response.setHeader("Access-Control-Max-Age", "86400");
  response.status(204).end();
};

// The description of `/mcp`, the only operation that is a POST. Its tools describe themselves, by `tools/list`.

const agentsGroup: keyof typeof operationGroups = "agents";

const rpcVersion = oneOf(["2.0"], "Version of JSON-RPC.");
const rpcId = eitherOf("Chosen by the client.", integer("A number.", 1, null), text("Or a text.", "1"));

const rpcRequest = withOptional(
  object("A message of JSON-RPC 2.0. Clients of 2025-03-26 may send a list of up to ten.", {
    jsonrpc: rpcVersion,
    method: text("`initialize`, `tools/list`, `tools/call`, `ping` or a notification.", "tools/call"),
  }),
  {
    id: rpcId,
    params: anyObject("Depends on the method.", { name: "is_it_down", arguments: { venue: "kraken" } }),
  },
);

/** The optional parts, too: without them it is a notification. */
const requestExample = {
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "is_it_down", arguments: { venue: "kraken" } },
};

const rpcAnswer = withOptional(
  object("The answer of JSON-RPC 2.0, with `result` or `error`.", { jsonrpc: rpcVersion, id: rpcId }),
  {
    result: anyObject(
      "Depends on the method. For a tool: `content`, `structuredContent`, and `isError` if it failed.",
      {
        content: [{ type: "text", text: '"Kraken" (kraken) is down: …' }],
      },
    ),
    error: anyObject("A fault of the message.", { code: -32601, message: "Method not found" }),
  },
);

const transportError = object("An error that belongs to no message.", {
  jsonrpc: rpcVersion,
  error: object("What was wrong.", {
    code: integer("By JSON-RPC, or -32000.", -32_000, null),
    message: text("What was expected, and what came.", "Expected a body of JSON."),
  }),
  id: shownAs(orNull(text("Null: it belongs to none.", "1")), null),
});

export const mcpOperation: OperationObject = {
  operationId: "postMcp",
  tags: [agentsGroup],
  summary: "Tools for agents, by the Model Context Protocol",
  description:
    "Streamable HTTP without sessions: each message is a POST of its own, and is answered by one JSON body. The tools only read: `is_it_down`, `venue`, `incidents` and `compare`; `tools/list` describes them. Each message counts against the rate limit. Requests of browsers are answered only for pages of this service and of localhost, as the protocol requires.",
  parameters: [],
  requestBody: {
    required: true,
    content: { "application/json": { schema: rpcRequest, example: requestExample } },
  },
  responses: {
    200: {
      description: "The answer to the message.",
      headers: { "Cache-Control": neverKept(), ...limitHeaders() },
      content: {
        "application/json": {
          schema: rpcAnswer,
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
