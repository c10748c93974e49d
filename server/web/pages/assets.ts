import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RequestHandler } from "express";
import { packagedFile } from "../../../shared/config/package.js";
import { answerBody } from "../api/answer.js";
import { makeBody } from "../api/body.js";
import { Problem } from "../api/problem.js";

const { resolve } = createRequire(import.meta.url);

/** What pages load besides themselves, all from our own origin. */
const files = {
  "style.css": packagedFile("server/web/pages/assets/style.css"),
  "operational.svg": packagedFile("server/web/pages/assets/operational.svg"),
  "degraded.svg": packagedFile("server/web/pages/assets/degraded.svg"),
  "outage.svg": packagedFile("server/web/pages/assets/outage.svg"),
  "unknown.svg": packagedFile("server/web/pages/assets/unknown.svg"),
  "follow.js": packagedFile("dist/server/web/pages/browser/follow.js"),
  "zoom.js": packagedFile("dist/server/web/pages/browser/zoom.js"),
  "uplot.js": resolve("uplot/dist/uPlot.iife.min.js"),
  "uplot.css": resolve("uplot/dist/uPlot.min.css"),
  "morphdom.js": resolve("morphdom/dist/morphdom-umd.min.js"),
} as const;

export type Asset = keyof typeof files;

const types: Record<string, string> = {
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
};

const bodies = new Map(Object.entries(files).map(([name, file]) => [name, makeBody(readFileSync(file, "utf8"))]));

/** Changes with any asset, so that a page never loads those of another build. */
const build = createHash("sha256")
  .update(Buffer.concat([...bodies.values()].map(({ plain }) => plain)))
  .digest("hex")
  .slice(0, 12);

/** The address may be cached forever. */
export function assetPath(name: Asset): string {
  return `/assets/${build}/${name}`;
}

const forever = "public, max-age=31536000, immutable";

/** `/assets/{build}/{name}`. An older build's address gets the present file, which a page of that build can use. */
export const assetRoute: RequestHandler<{ build: string; name: string }> = async (request, response) => {
  const { name } = request.params;
  const body = bodies.get(name);
  if (!body) throw new Problem(404, "There is no such file.");
  const cache = request.params.build === build ? forever : "no-cache";
  await answerBody(response, body, types[name.split(".").pop()!]!, cache);
};
