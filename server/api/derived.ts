import { type Body, makeBody } from "./body.js";
import type { Snapshot } from "./snapshot.js";

/** Bodies by key, each with what it was made from. */
export type Derived = ReturnType<typeof makeDerived>;

/** Null: without it. */
export type Shown = Pick<Snapshot, "body"> | null;

/**
 * Makes a body from snapshots, and again only when one of them has changed: all requests within a tick get the same
 * bytes. The least recently made bodies are evicted first.
 *
 * @param limit of all bodies kept, in bytes; in all encodings they take up to twice that
 */
export function makeDerived(limit: number) {
  const kept = new Map<string, { from: string; body: Body }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= kept.get(key)?.body.plain.length ?? 0;
    kept.delete(key);
  }

  /**
   * @param key from validated parameters
   * @param shown what the text is made from. Only digests are kept, since snapshots hold whole bodies
   */
  return function derived(key: string, shown: readonly Shown[], text: () => string): Body {
    const from = shown.map((snapshot) => snapshot?.body.digest).join(" ");
    const before = kept.get(key);
    if (before?.from === from) return before.body;
    const body = makeBody(text());
    forget(key);
    kept.set(key, { from, body });
    bytes += body.plain.length;
    for (const oldest of kept.keys()) {
      if (bytes <= limit || oldest === key) break;
      forget(oldest);
    }
    return body;
  };
}
