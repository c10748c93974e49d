import type { Request, Response } from "express";
import { type Body, chosenEncoding } from "./body.js";

/** For 5 s, and for another half minute while a cache revalidates it. */
export const dataCache = "public, max-age=5, stale-while-revalidate=30";
/** For bodies that change only with a deployment, or never. */
export const longCache = "public, max-age=300";

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

/**
 * Whether the client prefers a page for people, as browsers do. Clients that accept anything get the form for programs.
 *
 * @param others media types of the forms for programs
 */
export function prefersPage(request: Request, ...others: string[]): boolean {
  return request.accepts([...others, "text/html"]) === "text/html";
}

/**
 * Headers of every response, including errors: any page may read it, and browsers must not guess its type, frame it,
 * run it, or send a referrer.
 */
export const publicHeaders: Record<string, string> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
