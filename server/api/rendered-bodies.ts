import { type Body, makeBody } from "./body.js";
import type { Snapshot } from "./snapshot.js";

/** A text stands for itself, a snapshot for its body. */
export type Shown = string | null | Pick<Snapshot, "body">;

/**
 * Renders a text again only when something that it shows has changed: until then all requests get the same bytes. The
 * least recently rendered are evicted first.
 *
 * @param limit of all bodies kept, in bytes; in all encodings a body takes up to twice its own
 */
export function makeRenderedBodies(limit: number) {
  const kept = new Map<string, { from: string; body: Body }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= kept.get(key)?.body.plain.length ?? 0;
    kept.delete(key);
  }

  /**
   * @param key from validated parameters
   * @param shown what it is rendered from. Only digests are kept, since snapshots hold whole bodies
   */
  return function rendered(key: string, shown: readonly Shown[], render: () => string): Body {
    const from = shown.map((part) => (part !== null && typeof part === "object" ? part.body.digest : part)).join(" ");
    const before = kept.get(key);
    if (before?.from === from) return before.body;
    const body = makeBody(render());
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
