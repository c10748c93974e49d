/**
 * Somebody else's text on one line, and no longer than so many UTF-16 units as it is written; an ellipsis ends one that
 * was cut. What would begin a line of its own, or turn the direction of ours, becomes a space.
 *
 * @param written how the receiver wants each character; a cut never goes through what it becomes
 */
export function truncated(text: string, limit: number, written = (character: string) => character): string {
  let line = "";
  let beforeLimit = "";
  // no character becomes shorter, so that what stands beyond the limit is not looked at
  for (const character of text.slice(0, limit + 1).replace(unseen, " ")) {
    line += written(character);
    if (line.length > limit) return `${beforeLimit}…`;
    if (line.length < limit) beforeLimit = line;
  }
  return line;
}

/** Control characters, the other ends of lines, and what turns the direction of writing. */
const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
