import { STATUS_CODES } from "node:http";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { prefersPage } from "./accept.js";
import { type Faults, makeFaults } from "./faults.js";
import type { problem } from "./schemas/service.js";
import type { TypeOf } from "./schemas/shapes.js";
import { stackOf } from "../../shared/process/user-error.js";

export type ProblemBody = TypeOf<typeof problem>;

/** Answers with a problem as a page for people. The status and Cache-Control are set already. */
export type AnswerAsPage = (response: Response, problem: ProblemBody) => void;

/** An invalid parameter: what was expected, and what came. */
export type BadParameter = NonNullable<ProblemBody["errors"]>[number];

/** What a 404 says about a retracted incident. */
export type RetractedIncident = Required<Pick<ProblemBody, "slug" | "retractedAt" | "reason">>;

interface ProblemExtras {
  errors?: BadParameter[];
  retracted?: RetractedIncident;
  /** Cache-Control; absent: not cached. */
  cache?: string;
}

/** An error response in the format of RFC 9457. Thrown by handlers, answered in one place. */
export class Problem extends Error {
  constructor(
    readonly status: 400 | 404 | 405 | 417 | 503,
    readonly detail: string,
    readonly more: ProblemExtras = {},
  ) {
    super(detail);
  }
}

export function badParameters(errors: BadParameter[]): Problem {
  const names = errors.map(({ parameter }) => parameter).join(", ");
  return new Problem(400, `Invalid ${errors.length === 1 ? "parameter" : "parameters"}: ${names}.`, {
    errors,
  });
}

export const notFound: RequestHandler = (request) => {
  throw new Problem(404, `Unknown path ${shortened(request.path)}. /openapi.json lists all paths.`);
};

export type SendProblem = (response: Response, status: number, detail: string, more?: ProblemExtras) => void;

/**
 * Makes the function that sends a problem in the form that the client prefers.
 *
 * @param answerAsPage absent: as a problem document only
 */
export function problemSender(log: Log, answerAsPage?: AnswerAsPage): SendProblem {
  return (response, status, detail, { cache = "no-store", ...more } = {}) => {
    response.status(status).setHeader("Cache-Control", cache);
    response.vary("Accept");
    const body = problemBody(status, detail, more);
    if (answerAsPage && prefersPage(response.req, "application/problem+json", "application/json"))
      try {
        return answerAsPage(response, body);
      } catch (error) {
        // if rethrown, it would become another problem, whose page fails, too
        log.error("rendering the page of an error failed", { stack: stackOf(error) });
      }
    response.type("application/problem+json").send(JSON.stringify(body));
  };
}

/**
 * The only place where errors become responses. An error that is neither a Problem nor a malformed request is our bug:
 * it is logged with its stack.
 */
export function answerErrors(
  log: Log,
  sendProblem: SendProblem = problemSender(log),
  faults: Faults = makeFaults(log),
): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, request, response, _next) => {
    // part of the response is sent; closing the connection early shows the client that it is incomplete
    if (response.headersSent) {
      if (!countsAsAway(log, "responses cut off", error))
        log.warn("response cut off by an error", { path: request.path, error });
      response.destroy();
      return;
    }
    if (error instanceof Problem) {
      if (error.status === 503) response.setHeader("Retry-After", "5");
      return sendProblem(response, error.status, error.detail, error.more);
    }
    if (isMalformedRequest(error))
      return sendProblem(response, 400, "The request's path or query has invalid percent-encoding.");
    if (!faults.isPassing(error, request.path)) return sendProblem(response, 500, "Internal error; it was logged.");
    response.setHeader("Retry-After", "5");
    sendProblem(response, 503, "The data cannot be read at the moment. Try again in a few seconds.");
  };
}

export function problemBody(
  status: number,
  detail: string,
  { errors, retracted }: Omit<ProblemExtras, "cache"> = {},
): ProblemBody {
  const title = STATUS_CODES[status] ?? "Error";
  return {
    type: "about:blank",
    title,
    status,
    detail,
    ...(errors && { errors }),
    ...retracted,
  };
}

function isMalformedRequest(error: unknown): boolean {
  return error instanceof URIError;
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
