import { STATUS_CODES } from "node:http";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import type { VNode } from "preact";
import { countsAsAway } from "../../../shared/database/fault.js";
import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { stackOf } from "../../../shared/process/user-error.js";
import { prefersPage } from "./answer.js";
import { QueueTimeout } from "./query-queue.js";
import { instant, integer, list, named, object, text, type TypeOf, withOptional } from "./shapes.js";

/** What `problemBody` writes. */
export const problemResponse = named(
  "Problem",
  withOptional(
    object("An error in the format of RFC 9457.", {
      type: text("about:blank: no more specific than the status.", "about:blank"),
      title: text("The status in words.", "Bad Request"),
      status: integer("The HTTP status.", 400, 400),
      detail: text("What was wrong, and what to do.", "Invalid parameter: days."),
    }),
    {
      errors: list(
        "With 400: every invalid parameter. Omitted if the path or query itself is invalid.",
        object("One entry.", {
          parameter: text("Its name.", "days"),
          message: text("What was expected, and what came.", 'expected an integer from 1 to 90; got "91"'),
        }),
      ),
      slug: text(
        "With 404 of a retracted incident: its slug. retractedAt and reason come with it.",
        "kraken-2026-01-31-rest-outage",
      ),
      retractedAt: instant("When it was retracted."),
      reason: text("Why, in the words of the engine or the operator.", "Our check of a good response was wrong."),
    },
  ),
);

export type ProblemBody = TypeOf<typeof problemResponse>;

/** Answers with a problem as a page for people. The status and Cache-Control are set already. */
export type AnswerAsPage = (response: Response, problem: ProblemBody, page: ProblemPage) => void;

/** What the page of a problem shows, and the problem document does not. */
export interface ProblemPage {
  /** The name that no venue has, and the venue that may be meant. */
  venue?: { asked: string; near: { id: string; name: string } | null };
  /** The form of the page, with what was right in the address. */
  form?: VNode;
}

/** An invalid parameter: what was expected, and what came. */
export type BadParameter = NonNullable<ProblemBody["errors"]>[number];

/** What a 404 says about a retracted incident. */
export type RetractedIncident = Required<Pick<ProblemBody, "slug" | "retractedAt" | "reason">>;

interface ProblemExtras {
  errors?: BadParameter[];
  retracted?: RetractedIncident;
  /** Cache-Control; absent: not cached. */
  cache?: string;
  page?: ProblemPage;
  /** With invalid parameters: every value, the default in place of an invalid one. */
  values?: Readonly<Record<string, unknown>>;
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

export function badParameters(errors: BadParameter[], values: Readonly<Record<string, unknown>> = {}): Problem {
  const names = errors.map(({ parameter }) => parameter).join(", ");
  return new Problem(400, `Invalid ${errors.length === 1 ? "parameter" : "parameters"}: ${names}.`, {
    errors,
    values,
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
  return (response, status, detail, { cache = "no-store", page = {}, ...more } = {}) => {
    response.status(status).setHeader("Cache-Control", cache);
    response.vary("Accept");
    const body = problemBody(status, detail, more);
    if (answerAsPage && prefersPage(response.req, "application/problem+json", "application/json"))
      try {
        return answerAsPage(response, body, page);
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
  { errors, retracted }: Pick<ProblemExtras, "errors" | "retracted"> = {},
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

/** Errors for which a request has no data. */
interface Faults {
  /**
   * Logs the error.
   *
   * @returns whether it passes without a change of ours, so that the client should ask again; false: it is our bug
   */
  isPassing(error: unknown, path: string): boolean;
}

export function makeFaults(log: Log): Faults {
  const overloaded = makeOutage(
    log,
    {
      begins: "answered 503: too many expensive requests",
      lasts: "still answering 503: too many expensive requests",
      over: "no longer answering 503 because of expensive requests",
    },
    { level: "warn", endsByItself: true },
  );
  const otherSchema = makeOutage(
    log,
    {
      begins: "answered 503: the database does not have this build's schema; run venuewatch migrate",
      lasts: "still answering 503: the database does not have this build's schema",
      over: "no longer answering 503: the database has this build's schema",
    },
    { endsByItself: true },
  );
  return {
    isPassing(error, path) {
      if (error instanceof QueueTimeout) overloaded.failed("answers", { path, error });
      else if (countsAsAway(log, "answers", error)) return true;
      else if (isStatementCancelled(error))
        log.warn("answered 503: the database cancelled a statement", { path, error });
      else if (isOtherSchema(error)) otherSchema.failed("answers", { path, error });
      else {
        log.error("request failed", { path, stack: stackOf(error) });
        return false;
      }
      return true;
    },
  };
}

/**
 * An error of one statement only: it took too long or too much memory, conflicted with a replica's recovery, or
 * deadlocked with a migration.
 */
function isStatementCancelled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "" } = error as NodeJS.ErrnoException;
  return /^(57014|53200|53400|40001|40P01)$/.test(code) || isMigrating(error, code);
}

/** A migration recreates views and functions; a plan over the old ones then fails once. */
function isMigrating({ message }: Error, code: string): boolean {
  return code === "XX000" && /^(cache lookup failed|could not open relation)/.test(message);
}

/** A missing schema, table, column or function: the database was not migrated yet, or by another build. */
function isOtherSchema(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return /^(3F000|42P01|42703|42883)$/.test(code ?? "");
}
