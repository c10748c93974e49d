import { plainText } from "../notices/sanitize-text.js";
import { isolated } from "../pages/parts/isolated.js";

/** More than any name or title that we store. */
const mostShown = 1_000;

/**
 * A name or title as feeds show it: on one line, without characters that XML or iCalendar forbid (controls, half
 * surrogate pairs, U+FFFE and U+FFFF), and unable to change the direction of what follows.
 */
export function shown(text: string): string {
  return isolated(plainText(text.replace(/[\ufffe\uffff]/g, ""), mostShown));
}
