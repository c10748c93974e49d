import { plainText } from "../../../shared/text/untrusted-text.js";
import { isolated } from "../pages/format.js";

/**
 * A name or title as feeds show it: on one line, without characters that XML or iCalendar forbid (controls, half
 * surrogate pairs, U+FFFE and U+FFFF), and unable to change the direction of what follows.
 */
export function feedText(text: string): string {
  return isolated(plainText(text.replace(/[\ufffe\uffff]/g, ""), mostCharacters));
}

/** More than any name or title that we store. */
const mostCharacters = 1_000;
