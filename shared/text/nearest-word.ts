/** No word of ours is longer; a typed one may be. */
const longestWord = 40;

/** The word that was probably meant where another was typed; null if none is close enough to be worth a question. */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const lower = typed.slice(0, longestWord).toLowerCase();
  const near = words
    .map((word) => ({ word, edits: editsBetween(lower, word.toLowerCase()) }))
    // beyond this, as many letters differ as agree
    .filter(({ word, edits }) => edits <= Math.max(1, Math.floor(0.4 * word.length)))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.word ?? null;
}

/** A question to append to an error; empty if no word is near. It does not repeat what was typed. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const near = nearestWord(typed, words);
  return near === null ? "" : `; did you mean ${near}?`;
}

/** The Levenshtein distance: how many letters have to be inserted, deleted or replaced. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
