import type { Response } from "express";
import type { OpenAPIObject } from "openapi3-ts/oas31";
import type { Pool } from "../../../shared/database/pool.js";
import { answerBody, dataCache } from "../api/answer.js";
import type { Body } from "../api/body.js";
import type { Site } from "../api/site.js";
import { type Boards, makeDerived, type Shown, type Snapshots, type Windows } from "../board/snapshot.js";
import { inlineSheets } from "./assets.js";
import { type Edition, onlyEnglish, setLanguageHeaders } from "./edition.js";
import { inLanguage } from "./language.js";
import { type PageProps, pageText, plainShell, type Shell } from "./page.js";

/** Of all that could stand in a page, only our own sheets style it. */
const styleSources = ["style-src 'self'", ...Object.values(inlineSheets).map(({ source }) => source)].join(" ");

/**
 * What a page may load: our own files. It runs nothing that stands in the page itself.
 *
 * @param others origins that its scripts may ask, too
 */
function policyOf(others: readonly string[]): string {
  return [
    ...["default-src 'none'", styleSources, "script-src 'self'", "img-src 'self'"],
    ["connect-src 'self'", ...others].join(" "),
    ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
  ].join("; ");
}

export const pagePolicy = policyOf([]);

/** For a page that any site may frame: it runs nothing, and has our style. */
export const embedPolicy = [
  ...["default-src 'none'", styleSources, "img-src 'self'"],
  ...["form-action 'none'", "base-uri 'none'", "frame-ancestors *"],
].join("; ");

/**
 * Sends a page with the cache rules of the API.
 *
 * @param others origins that its scripts may ask besides its own
 */
export async function answerPage(
  response: Response,
  body: PageBody,
  cache: string = dataCache,
  others: readonly string[] = [],
): Promise<void> {
  response.setHeader("Content-Security-Policy", policyOf(others));
  setLanguageHeaders(response, body.edition);
  await answerBody(response, body, "text/html; charset=utf-8", cache);
}

export interface PageBody extends Body {
  edition: Edition;
}

/** Bodies of pages by key, each with what it was rendered from. */
export type Rendered = ReturnType<typeof makeRendered>;

/** Room for each page of fifteen venues in two languages. */
export const mostBytes = 32_000_000;

/**
 * Renders a page again only when something that it shows has changed.
 *
 * @param shell of every page
 * @param limit of all pages kept, in bytes
 */
export function makeRendered(shell: Shell = plainShell, limit = mostBytes) {
  const derived = makeDerived(limit);
  /** @param edition absent: the page is in English for everybody */
  return (key: string, shown: readonly Shown[], page: () => PageProps, edition = onlyEnglish): PageBody => {
    const start = shown.find((one) => one?.start)?.start;
    const text = () => inLanguage(edition.language, () => pageText(page(), shell, start, edition));
    return { ...derived(`${edition.language} ${key}`, shown, text), edition };
  };
}

export interface PagesOptions extends Site {
  pool: Pick<Pool, "file">;
  boards: Boards;
  windows: Windows;
  /** The snapshots of the API's incidents and of their history. */
  incidents: Snapshots;
  /** The snapshots of the API's transfers of one venue. */
  transfers: Snapshots;
  /** The description of the API. */
  openapi: () => OpenAPIObject;
}
