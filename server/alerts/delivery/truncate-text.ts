/**
 * Puts foreign text on one line, and truncates it to `limit` UTF-16 units after escaping. Truncated text ends with an
 * ellipsis. Characters that would start a new line or change the writing direction become spaces.
 *
 * @param written escapes a character for the receiver; the text is never cut within the result
 */
export function truncated(text: string, limit: number, written = (character: string) => character): string {
  let line = "";
  let beforeLimit = "";
  // escaping makes no character shorter, so characters beyond the limit need not be examined
  for (const character of text.slice(0, limit + 1).replace(unseen, " ")) {
    line += written(character);
    if (line.length > limit) return `${beforeLimit}…`;
    if (line.length < limit) beforeLimit = line;
  }
  return line;
}

/** Control characters, other line separators, and characters that change the writing direction. */
const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
