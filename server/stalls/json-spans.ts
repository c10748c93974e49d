/** Finds each value in a JSON text, so that one can be replaced and everything else stays as people wrote it. */

export interface JsonSpan {
  /** Keys and indices from the root, joined by dots. */
  path: string;
  /** Offsets in the text, in UTF-16 units; `end` is exclusive. */
  start: number;
  end: number;
}

/** `\s` matches a byte order mark, so it is skipped. */
const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\]:,]+|[{}[\]:,]/g;

/**
 * All values of a text, in the order in which they end.
 *
 * @param text valid JSON; a byte order mark may precede it
 */
export function jsonSpans(text: string): JsonSpan[] {
  const tokens = [...text.matchAll(token)];
  const spans: JsonSpan[] = [];
  let next = 0;

  function take(): string {
    return tokens[next++]![0];
  }
  function ends(bracket: string): boolean {
    if (tokens[next]![0] !== bracket) return false;
    next += 1;
    return true;
  }
  function value(place: readonly (string | number)[]) {
    const start = tokens[next]!.index;
    const first = take();
    if (first === "{" && !ends("}"))
      do {
        const key = JSON.parse(take()) as string;
        take();
        value([...place, key]);
      } while (take() === ",");
    if (first === "[" && !ends("]")) {
      let index = 0;
      do value([...place, index++]);
      while (take() === ",");
    }
    const last = tokens[next - 1]!;
    const end = last.index + last[0].length;
    spans.push({ path: place.join("."), start, end });
  }

  value([]);
  return spans;
}
