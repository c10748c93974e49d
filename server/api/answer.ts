import type { Request, Response } from "express";
import type { Snapshot } from "./snapshot.js";

/** As long as a tick is new, and then for half a minute while a cache fetches the next one. */
export const dataCache = "public, max-age=5, stale-while-revalidate=30";
/** What changes only with a deployment, or never again. */
export const longCache = "public, max-age=300";

/** The query as it came: repeated and structured parameters must be seen to be refused. */
export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : request.originalUrl.slice(at));
}

/** Sends a body that is JSON text already; Express adds the ETag and answers 304 where the client has it. */
export function answerJson(
  response: Response,
  { body }: Pick<Snapshot, "body">,
  cache: string = dataCache,
): void {
  response.setHeader("Cache-Control", cache);
  response.type("application/json").send(body);
}
