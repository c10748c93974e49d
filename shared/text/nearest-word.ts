import { distance } from "fastest-levenshtein";

/** No word of ours is longer; what somebody typed can be. */
const longest = 40;

/** The word that was probably meant where another was typed; null if none is close enough to be worth a question. */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const lower = typed.slice(0, longest).toLowerCase();
  const near = words
    .map((word) => ({ word, edits: distance(lower, word.toLowerCase()) }))
    // beyond this, as many letters differ as agree
    .filter(({ word, edits }) => edits <= Math.max(1, Math.floor(0.4 * word.length)))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.word ?? null;
}
