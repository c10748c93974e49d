import { readFileSync } from "node:fs";
import type { RequestHandler } from "express";
import { packagedFile } from "../../shared/config/package.js";
import { answerBody, longCache } from "./answer.js";
import { makeBody } from "./body.js";

/** The documents that responses link to below `SITE_URL`, which defaults to this API's own address. */
export const pages = {
  "/methodology": "docs/methodology.md",
  "/rulebook": "docs/rulebook.md",
  "/checking": "docs/checking.md",
  "/comparing": "docs/comparing.md",
  "/receiving": "docs/receiving.md",
  "/changelog": "CHANGELOG.md",
} as const;

/** Serves one as plain text, which browsers display; they would download Markdown. */
export function pageRoute(file: (typeof pages)[keyof typeof pages]) {
  const body = makeBody(readFileSync(packagedFile(file), "utf8"));
  const route: RequestHandler = (_request, response) =>
    answerBody(response, body, "text/plain; charset=utf-8", longCache);
  return route;
}
