import type { Body } from "../api/body.js";
import { makeDerived, type Shown } from "../api/derived.js";
import { type PageProps, pageText } from "./page.js";

/** Bodies of pages by key, each with what it was rendered from. */
export type Rendered = ReturnType<typeof makeRendered>;

/** Room for each page of fifteen venues. */
const mostBytes = 16_000_000;

/**
 * Renders a page again only when something that it shows has changed.
 *
 * @param notice of the operator, shown on every page; null: none
 * @param limit of all pages kept, in bytes
 */
export function makeRendered(notice: string | null = null, limit = mostBytes) {
  const derived = makeDerived(limit);
  return (key: string, shown: readonly Shown[], page: () => PageProps): Body =>
    derived(key, shown, () => pageText(page(), notice));
}
