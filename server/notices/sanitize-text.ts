/**
 * Texts of venues, made fit to be kept and shown on one line. They may be of any
 * length and hold anything: what moves cursors, breaks lines or turns the
 * direction of writing would let a notice pass for something that we say.
 */

const breaks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;

/**
 * Marks that turn the direction of writing, and invisible ones; the joiners of emoji and of Indic scripts are none of
 * them.
 */
const tricks = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/**
 * A text of megabytes need not be cleaned to its end. One bound for all, so that what is empty at one length is at
 * every other.
 */
const mostCleaned = 10_000;

/** At most `most` UTF-16 units, which are at least as many as characters. Empty where nothing is left. */
export function plainText(text: string, most: number): string {
  if (text.length <= most && /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/.test(text)) return text;
  const head = text.slice(0, mostCleaned);
  const clean = head.replace(tricks, "").replace(breaks, " ").trim();
  return cut(clean, most).trimEnd();
}

/** Null unless it is an address of the web that can be kept whole. */
export function webAddress(text: string | null): string | null {
  if (text === null || text.length > 2000 || !URL.canParse(text)) return null;
  const { protocol, href, username, password } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  if (!isWeb || username !== "" || password !== "") return null;
  return href.length <= 2000 ? href : null;
}

const mostRaw = 16_384;

/** The entry as it came, but for blanks and the spelling of escapes. */
export function rawText(entry: unknown): string {
  return cut(JSON.stringify(entry), mostRaw);
}

/**
 * Not within a pair of surrogates, of which halves are no characters. The copy
 * does not hold on to the text that it was cut from, as slices do in V8.
 */
function cut(text: string, most: number): string {
  const splits = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  const head = text.length > most && splits ? most - 1 : most;
  return Buffer.from(text.slice(0, head)).toString();
}
