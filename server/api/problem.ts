import { STATUS_CODES } from "node:http";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { QueueTimeout } from "./query-queue.js";
import type { problem } from "./schemas/service.js";
import type { TypeOf } from "./schemas/shapes.js";
import { stackOf } from "../../shared/process/user-error.js";

type ProblemBody = TypeOf<typeof problem>;

/** One bad parameter: what was expected of it, and what came. */
export type BadParameter = NonNullable<ProblemBody["errors"]>[number];

/** What is said of an incident that is gone. */
export type RetractedIncident = Required<Pick<ProblemBody, "slug" | "retractedAt" | "reason">>;

interface MoreToSay {
  errors?: BadParameter[];
  retracted?: RetractedIncident;
  /** Cache-Control; absent: it is not kept. */
  cache?: string;
}

/** An answer that is not 200, as RFC 9457 writes it. Thrown by handlers, answered in one place. */
export class Problem extends Error {
  constructor(
    readonly status: 400 | 404 | 405 | 417,
    readonly detail: string,
    readonly more: MoreToSay = {},
  ) {
    super(detail);
  }
}

export function badParameters(errors: BadParameter[]): Problem {
  const names = errors.map(({ parameter }) => parameter).join(", ");
  return new Problem(400, `${errors.length === 1 ? "A parameter is" : "Parameters are"} not usable: ${names}.`, {
    errors,
  });
}

export const notFound: RequestHandler = (request) => {
  throw new Problem(404, `There is nothing at ${shortened(request.path)}. /openapi.json lists all that can be asked.`);
};

/**
 * The one place where errors become answers. What is neither a Problem nor a client's malformed request is our bug: it
 * is logged whole.
 */
export function answerErrors(log: Log): ErrorRequestHandler {
  const crowded = makeOutage(
    log,
    {
      begun: "answered 503: too many ask for what is expensive",
      lasts: "answers 503: too many still ask for what is expensive",
      over: "no longer answers 503 because too many ask for what is expensive",
    },
    { level: "warn", endsByItself: true },
  );
  const otherSchema = makeOutage(
    log,
    {
      begun: "answered 503: the database does not have this build's schema; run venuewatch migrate",
      lasts: "answers 503: the database still lacks this build's schema",
      over: "no longer answers 503 for want of this build's schema",
    },
    { endsByItself: true },
  );
  // Express knows a handler of errors by its having four parameters
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, request, response, _next) => {
    // half an answer cannot be taken back; that the connection ends before it does tells its reader
    if (response.headersSent) {
      if (!countsAsAway(log, "answers cut off", error)) log.warn("cut off an answer", { path: request.path, error });
      response.destroy();
      return;
    }
    if (error instanceof Problem) return sendProblem(response, error.status, error.detail, error.more);
    if (isMalformedRequest(error))
      return sendProblem(response, 400, "The request's path or query is not correctly percent-encoded.");
    const { path } = request;
    if (error instanceof QueueTimeout) {
      crowded.failed("answers", { path, error });
      return sendUnavailable(response);
    }
    if (countsAsAway(log, "answers", error)) return sendUnavailable(response);
    if (isOver(error)) {
      log.warn("answered 503: the database gave up a statement", {
        path,
        error,
      });
      return sendUnavailable(response);
    }
    if (isSchemaAnother(error)) {
      otherSchema.failed("answers", { path, error });
      return sendUnavailable(response);
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
  { cache = "no-store", ...more }: MoreToSay = {},
): void {
  response
    .status(status)
    .setHeader("Cache-Control", cache)
    .type("application/problem+json")
    .send(problemBody(status, detail, more));
}

export function problemBody(
  status: number,
  detail: string,
  { errors, retracted }: Omit<MoreToSay, "cache"> = {},
): string {
  const title = STATUS_CODES[status] ?? "Error";
  const body: ProblemBody = {
    type: "about:blank",
    title,
    status,
    detail,
    ...(errors && { errors }),
    ...retracted,
  };
  return JSON.stringify(body);
}

function sendUnavailable(response: Response): void {
  response.setHeader("Retry-After", "5");
  sendProblem(response, 503, "The data cannot be read at the moment. Try again in a few seconds.");
}

function isMalformedRequest(error: unknown): boolean {
  return error instanceof URIError;
}

/**
 * A statement that took too long or too much memory, a replica's conflict with recovery, a deadlock with a migration:
 * of this statement alone.
 */
function isOver(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "" } = error as NodeJS.ErrnoException;
  return /^(57014|53200|53400|40001|40P01)$/.test(code) || isMigrating(error, code);
}

/** A migration makes views and functions anew. What was planned over the old ones then fails, once. */
function isMigrating({ message }: Error, code: string): boolean {
  return code === "XX000" && /^(cache lookup failed|could not open relation)/.test(message);
}

/** No such schema, table, column or function: the database was not migrated yet, or by another build. */
function isSchemaAnother(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return /^(3F000|42P01|42703|42883)$/.test(code ?? "");
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
