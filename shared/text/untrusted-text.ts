import { withoutHidden } from "./secrets.js";
/**
 * Sanitizes texts of venues, so that they can be stored and shown on one line. They may have any length and content:
 * characters that move the cursor, break lines or change the writing direction could make a notice look like our own
 * text.
 */

const blanks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;

/**
 * Marks that change the writing direction, and invisible characters, except the joiners of emoji and Indic scripts.
 */
const invisibleCharacters = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/**
 * A text of megabytes need not be cleaned to its end. The limit does not depend on `most`, so a text that is empty
 * after cleaning is empty for every `most`.
 */
const mostCleaned = 10_000;

/** Returns at most `most` UTF-16 units, and therefore at most as many characters. May be empty. */
export function plainText(text: string, most: number): string {
  const head = withoutHidden(text.slice(0, mostCleaned));
  if (head.length <= most && /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/.test(head)) return head;
  const clean = head.replace(invisibleCharacters, "").replace(blanks, " ").trim();
  return cutText(clean, most).trimEnd();
}

/** Null unless the text is an http(s) URL without credentials that can be stored uncut. */
export function webAddress(text: string | null): string | null {
  if (text === null || text.length > 2000 || !URL.canParse(text)) return null;
  const { protocol, href, username, password } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  if (!isWeb || username !== "" || password !== "" || withoutHidden(text) !== text) return null;
  return href.length <= 2000 ? href : null;
}

/** The last part of the path of an http(s) URL, such as the id of a notice; empty if there is none. */
export function lastPart(url: string): string {
  const address = webAddress(url);
  return address === null ? "" : new URL(address).pathname.replace(/\/$/, "").split("/").at(-1)!;
}

const mostRaw = 16_384;

/** The entry as the venue sent it, except for blanks and the form of escapes. */
export function rawText(entry: unknown): string {
  return withoutHidden(cutText(JSON.stringify(entry), mostRaw));
}

/**
 * Does not cut within a surrogate pair, because half a pair is not a character. It copies the text, because a slice in
 * V8 would keep the whole original in memory.
 */
function cutText(text: string, most: number): string {
  const splits = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  const head = text.length > most && splits ? most - 1 : most;
  return Buffer.from(text.slice(0, head)).toString();
}
