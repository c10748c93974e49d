import type { Request, Response } from "express";
import type { Body } from "./body.js";
import { chosenEncoding } from "./encoding.js";

/** For 5 s, and for another half minute while a cache revalidates it. */
export const dataCache = "public, max-age=5, stale-while-revalidate=30";
/** For bodies that change only with a deployment, or never. */
export const longCache = "public, max-age=300";

/** The unparsed query: repeated and structured parameters must be visible to be refused. */
export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : request.originalUrl.slice(at));
}

/** Sends a body that is JSON text. */
export function answerJson(response: Response, { body }: { body: Body }, cache: string = dataCache): Promise<void> {
  return answerBody(response, body, "application/json; charset=utf-8", cache);
}

/**
 * Sends a body in the client's preferred encoding, or 304 if the client already has it. For HEAD, Express omits the
 * body.
 */
export async function answerBody(response: Response, body: Body, type: string, cache: string): Promise<void> {
  const asked = response.req.headers["accept-encoding"];
  const { bytes, etag, encoding } = await body.as(chosenEncoding(typeof asked === "string" ? asked : undefined));
  response.setHeader("Content-Type", type);
  response.setHeader("Cache-Control", cache);
  response.vary("Accept-Encoding");
  response.setHeader("ETag", etag);
  if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
  // a client that has the body has its name, too
  if (response.req.fresh) response.removeHeader("Content-Disposition");
  response.send(bytes);
}
