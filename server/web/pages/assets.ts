import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RequestHandler } from "express";
import { type Brand, ownBrand } from "../../../shared/config/brand.js";
import { packagedFile } from "../../../shared/config/package.js";
import { answerBody } from "../api/answer.js";
import { makeBody } from "../api/body.js";
import { Problem } from "../api/problem.js";
import { brandAssets, logoPolicy } from "./brand.js";

const { resolve: resolveModule } = createRequire(import.meta.url);

/** What pages load besides themselves, all from our own origin. */
const assetFiles = {
  "style.css": packagedFile("server/web/pages/assets/style.css"),
  "wall.css": packagedFile("server/web/pages/assets/wall.css"),
  "operational.svg": packagedFile("server/web/pages/assets/operational.svg"),
  "degraded.svg": packagedFile("server/web/pages/assets/degraded.svg"),
  "outage.svg": packagedFile("server/web/pages/assets/outage.svg"),
  "unknown.svg": packagedFile("server/web/pages/assets/unknown.svg"),
  "follow.js": packagedFile("dist/server/web/pages/browser/follow.js"),
  "copy.js": packagedFile("dist/server/web/pages/browser/copy.js"),
  "check.js": packagedFile("dist/server/web/pages/browser/check.js"),
  "zoom.js": packagedFile("dist/server/web/pages/browser/zoom.js"),
  "uplot.js": resolveModule("uplot/dist/uPlot.iife.min.js"),
  "uplot.css": resolveModule("uplot/dist/uPlot.min.css"),
  "morphdom.js": resolveModule("morphdom/dist/morphdom-umd.min.js"),
} as const;

export type Asset = keyof typeof assetFiles;

const assetTypes: Record<string, string> = {
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
};

const assetBodies = new Map(
  Object.entries(assetFiles).map(([name, file]) => [name, makeBody(readFileSync(file, "utf8"))]),
);

/** Changes with any asset, so that a page never loads those of another build. */
const assetsHash = createHash("sha256")
  .update(Buffer.concat([...assetBodies.values()].map(({ plain }) => plain)))
  .digest("hex")
  .slice(0, 12);

/** The address may be cached forever. */
export function assetPath(name: Asset): string {
  return `/assets/${assetsHash}/${name}`;
}

const sheets = ["style.css", "wall.css"] as const;

export type Sheet = (typeof sheets)[number];

/** A style sheet as it stands in a page: its text, and what the page's policy allows it by. */
interface InlineSheet {
  text: string;
  source: string;
}

/** A sheet of its own file would be a second round trip before anything is drawn, for four kilobytes. */
export const inlineSheets = Object.fromEntries(
  sheets.map((name) => [name, inlineSheet(assetBodies.get(name)!.plain.toString())]),
) as Record<Sheet, InlineSheet>;

/** Browsers read the sheet before they draw; its comments and indentation would only delay that. */
function inlineSheet(sheet: string): InlineSheet {
  const text = sheet.replace(/\/\*.*?\*\//gs, "").replace(/^\s+/gm, "");
  return { text, source: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
}

const foreverCache = "public, max-age=31536000, immutable";

/** `/assets/{build}/{name}`. An older build's address gets the present file, which a page of that build can use. */
export function assetRoute(brand: Brand = ownBrand): RequestHandler<{ build: string; name: string }> {
  const { files } = brandAssets(brand);
  return async (request, response) => {
    const { build, name } = request.params;
    const own = files.get(name);
    const body = own?.body ?? assetBodies.get(name);
    if (!body) throw new Problem(404, "There is no such file.");
    const cache = build === (own?.hash ?? assetsHash) ? foreverCache : "no-cache";
    if (name.startsWith("logo.")) response.setHeader("Content-Security-Policy", logoPolicy);
    await answerBody(response, body, own?.type ?? assetTypes[name.split(".").pop()!]!, cache);
  };
}
