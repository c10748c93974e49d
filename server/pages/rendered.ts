import type { Body } from "../api/body.js";
import { makeRenderedBodies, type Shown } from "../api/rendered-bodies.js";
import { type PageProps, pageText } from "./page.js";

/** Bodies of pages by key, each with what it was rendered from. */
export type Rendered = ReturnType<typeof makeRendered>;

/** Room for each page of fifteen venues. A page in all encodings takes up to twice its own bytes. */
const mostBytes = 16_000_000;

/**
 * Renders a page again only when something that it shows has changed: all requests within a tick get the same bytes.
 *
 * @param notice of the operator, shown on every page; null: none
 * @param limit of all pages kept, in bytes
 */
export function makeRendered(notice: string | null = null, limit = mostBytes) {
  const rendered = makeRenderedBodies(limit);
  return (key: string, shown: readonly Shown[], page: () => PageProps): Body =>
    rendered(key, shown, () => pageText(page(), notice));
}
