/** Both sides of a comparison come from outside, and its cost is the product of their lengths. */
const mostWords = 1_000;
const mostLetters = 64;

/** The word that was probably meant; null if none is near. */
export function nearest(word: string, words: readonly string[]): string | null {
  const near = words
    .slice(0, mostWords)
    .filter((one) => one.length <= mostLetters)
    .map((one) => ({ one, distance: distance(word.toLowerCase().slice(0, mostLetters), one) }))
    .filter(({ one, distance }) => distance <= Math.max(1, one.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.one ?? null;
}

/** The Levenshtein distance: how many letters have to be inserted, deleted or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
