/** What browsers and crawlers ask of every site by itself. */
import { readFileSync } from "node:fs";
import type { RequestHandler } from "express";
import { packagedFile } from "../../../shared/config/package.js";
import { answerBody, longCache } from "../api/answer.js";
import { makeBody } from "../api/body.js";

const mark = makeBody(readFileSync(packagedFile("server/web/pages/assets/mark.svg"), "utf8"));

/** `/favicon.ico`, for what has no page that names a sign: JSON, feeds, and documents as text. */
export const faviconRoute: RequestHandler = (_request, response) =>
  answerBody(response, mark, "image/svg+xml", longCache);

/** Pages are for everybody. What is for programs says the same again, and its filters have endless addresses. */
const robots = makeBody(`User-agent: *
Disallow: /v1/
Disallow: /feeds/
Disallow: /statuspage/
Disallow: /metrics
Disallow: /mcp
`);

/** `/robots.txt` */
export const robotsRoute: RequestHandler = (_request, response) =>
  answerBody(response, robots, "text/plain; charset=utf-8", longCache);
