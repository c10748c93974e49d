import { readFileSync } from "node:fs";
import type { RequestHandler } from "express";
import { packagedFile } from "../../shared/config/package.js";
import { answerBody, longCache } from "./answer.js";
import { makeBody } from "./body.js";

/**
 * The documents that answers point to below `SITE_URL`, which is this API's own address unless a site stands elsewhere.
 */
export const pages = {
  "/methodology": "docs/methodology.md",
  "/rulebook": "docs/rulebook.md",
  "/checking": "docs/checking.md",
  "/comparing": "docs/comparing.md",
  "/receiving": "docs/receiving.md",
  "/changelog": "CHANGELOG.md",
} as const;

/** One of them as plain text: browsers show that, and would save what is called Markdown. */
export function pageRoute(file: (typeof pages)[keyof typeof pages]) {
  const body = makeBody(readFileSync(packagedFile(file), "utf8"));
  const route: RequestHandler = (_request, response) =>
    answerBody(response, body, "text/plain; charset=utf-8", longCache);
  return route;
}
