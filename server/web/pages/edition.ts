/** In which language a reader gets a page, and how readers choose another. */
import type { Request, RequestHandler, Response } from "express";
import { badParameters, shortened } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import { type Language, languages, sourceLanguage } from "./language.js";

/** A page in one of its languages. */
export interface Edition {
  language: Language;
  /** All languages of the page. */
  languages: readonly Language[];
}

/** Of pages whose texts are not translated, such as the documents. */
export const onlyEnglish: Edition = { language: sourceLanguage, languages: [sourceLanguage] };

/** What the reader has chosen; otherwise what their browser prefers. */
export function editionFor(request: Request): Edition {
  const [, kept] = /(?:^|;)\s*language=(\w+)\s*(?:;|$)/.exec(request.headers.cookie ?? "") ?? [];
  const known = (wanted: unknown) => languages.find((one) => one === wanted);
  const language = known(kept) ?? known(request.acceptsLanguages([...languages])) ?? sourceLanguage;
  return { language, languages };
}

/** Says in which language a page is, and to caches what decides that. */
export function setLanguageHeaders(response: Response, edition: Edition): void {
  response.setHeader("Content-Language", edition.language);
  if (edition.languages.length > 1) response.vary("Accept-Language").vary("Cookie");
}

const yearS = 31_536_000;

/**
 * `?lang=de` on any page: keeps the choice, and leads to the same address without it. The only cookie there is, and
 * only of readers who choose; nothing but the language is in it.
 */
export const languageSwitch: RequestHandler = (request, response, next) => {
  const query = queryOf(request);
  if (!query.has("lang") || request.path.startsWith("/v1/")) return next();
  const asked = query.getAll("lang").join(", ");
  const chosen = languages.find((one) => one === asked);
  if (chosen === undefined)
    throw badParameters([
      { parameter: "lang", message: `Expected ${languages.join(" or ")}, got ${JSON.stringify(shortened(asked))}.` },
    ]);
  query.delete("lang");
  response.setHeader("Set-Cookie", `language=${chosen}; Path=/; Max-Age=${yearS}; SameSite=Lax`);
  response.setHeader("Cache-Control", "no-store");
  // two slashes at the beginning would name another host
  const path = request.path.replace(/^[/\\]+/, "/");
  response.redirect(303, query.size === 0 ? path : `${path}?${query.toString()}`);
};

/** Leads to the same page in another language. */
export function addressIn(language: Language, path = ""): string {
  return `${path}${path.includes("?") ? "&" : "?"}lang=${language}`;
}
