import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import type { Log } from "../log.js";
import { stackOf } from "../user-error.js";

/** One bad parameter: what was expected of it, and what came. */
export interface BadParameter {
  parameter: string;
  message: string;
}

/** An answer that is not 200, as RFC 9457 writes it. Thrown by handlers, answered in one place. */
export class Problem extends Error {
  constructor(
    readonly status: 400 | 404 | 405 | 429 | 503,
    readonly detail: string,
    readonly errors?: BadParameter[],
  ) {
    super(detail);
  }
}

const titles: Record<number, string> = {
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

export function badParameters(errors: BadParameter[]): Problem {
  const names = errors.map(({ parameter }) => parameter).join(", ");
  return new Problem(
    400,
    `${errors.length === 1 ? "A parameter is" : "Parameters are"} not usable: ${names}.`,
    errors,
  );
}

export const notFound: RequestHandler = (request) => {
  throw new Problem(
    404,
    `There is nothing at ${shortened(request.path)}. The API's paths begin with /v1.`,
  );
};

/** The one place where errors become answers. What is neither a Problem nor a client's malformed request is our bug: it is logged whole. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    // half an answer cannot be taken back; Express then closes the connection
    if (response.headersSent) return next(error);
    if (error instanceof Problem)
      return sendProblem(response, error.status, error.detail, error.errors);
    if (isMalformedRequest(error))
      return sendProblem(
        response,
        400,
        "The request's path or query is not correctly percent-encoded.",
      );
    if (isDatabaseAway(error)) {
      log.warn("answered 503: the database does not answer", {
        path: request.path,
        error,
      });
      response.setHeader("Retry-After", "5");
      return sendProblem(
        response,
        503,
        "The data cannot be read at the moment. Try again in a few seconds.",
      );
    }
    log.error("a request failed", {
      path: request.path,
      stack: stackOf(error),
    });
    sendProblem(response, 500, "This is a fault of ours, and it was logged.");
  };
}

export function sendProblem(
  response: Response,
  status: number,
  detail: string,
  errors?: BadParameter[],
): void {
  const title = titles[status] ?? "Error";
  response
    .status(status)
    .setHeader("Cache-Control", "no-store")
    .type("application/problem+json")
    .send(
      JSON.stringify({ type: "about:blank", title, status, detail, errors }),
    );
}

function isMalformedRequest(error: unknown): boolean {
  return error instanceof URIError;
}

/** Classes 08 (connection) and 57P (shutdown, start-up), too many clients, and whatever the socket says itself. */
function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    /^(08...|57P..|53300)$/.test(code ?? "") ||
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/.test(
      code ?? "",
    ) ||
    // pg gives these two no code
    error.message === "Connection terminated unexpectedly" ||
    error.message.startsWith("timeout exceeded when trying to connect") ||
    error.message.startsWith("Connection terminated due to connection timeout")
  );
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
