import type { Response } from "express";
import { answerBody, dataCache } from "../api/answer.js";
import type { Body } from "../api/body.js";

/** What a page may load: our own files. It runs and styles nothing that stands in the page itself. */
export const pagePolicy = [
  ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join("; ");

/** For a page that any site may frame: it runs nothing, and loads our style sheet. */
export const embedPolicy = [
  ...["default-src 'none'", "style-src 'self'", "img-src 'self'"],
  ...["form-action 'none'", "base-uri 'none'", "frame-ancestors *"],
].join("; ");

/** Sends a page with the cache rules of the API. */
export async function answerPage(response: Response, body: Body, cache: string = dataCache): Promise<void> {
  response.setHeader("Content-Security-Policy", pagePolicy);
  await answerBody(response, body, "text/html; charset=utf-8", cache);
}
