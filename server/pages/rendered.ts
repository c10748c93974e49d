import { type Body, makeBody } from "../api/body.js";

/** Bodies of pages by key, each with what it was rendered from. */
export type Rendered = ReturnType<typeof makeRendered>;

/**
 * Renders a page again only when something that it shows has changed: all requests within a tick get the same bytes.
 *
 * @param most pages kept; the least recently rendered is evicted first
 */
export function makeRendered(most: number) {
  const kept = new Map<string, { from: readonly unknown[]; body: Body }>();

  /**
   * @param key of the page, from validated parameters
   * @param from compared by identity: snapshots, and texts
   */
  return function rendered(key: string, from: readonly unknown[], render: () => string): Body {
    const before = kept.get(key);
    if (before && before.from.length === from.length && before.from.every((part, at) => part === from[at]))
      return before.body;
    const body = makeBody(render());
    kept.delete(key);
    kept.set(key, { from, body });
    if (kept.size > most) kept.delete(kept.keys().next().value!);
    return body;
  };
}
