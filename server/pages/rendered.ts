import { type Body, makeBody } from "../api/body.js";
import type { Snapshot } from "../api/snapshot.js";
import { type PageProps, pageText } from "./page.js";

/** Bodies of pages by key, each with what it was rendered from. */
export type Rendered = ReturnType<typeof makeRendered>;

/** Room for each page of fifteen venues. A page in all encodings takes up to twice its own bytes. */
const mostBytes = 16_000_000;

/**
 * Renders a page again only when something that it shows has changed: all requests within a tick get the same bytes.
 * The least recently rendered pages are evicted first.
 *
 * @param notice of the operator, shown on every page; null: none
 * @param limit of all pages kept, in bytes
 */
export function makeRendered(notice: string | null = null, limit = mostBytes) {
  const kept = new Map<string, { from: string; body: Body }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= kept.get(key)?.body.plain.length ?? 0;
    kept.delete(key);
  }

  /**
   * @param key of the page, from validated parameters
   * @param shown what it is rendered from. Only digests are kept, since snapshots hold whole bodies
   */
  return function rendered(
    key: string,
    shown: readonly (Pick<Snapshot, "body"> | null)[],
    page: () => PageProps,
  ): Body {
    const from = shown.map((snapshot) => snapshot?.body.digest).join(" ");
    const before = kept.get(key);
    if (before?.from === from) return before.body;
    const body = makeBody(pageText(page(), notice));
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
