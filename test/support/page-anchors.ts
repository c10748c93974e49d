/** What browsers send. */
export const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

export function idsOf(html: string): string[] {
  return [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
}

/** Links within a page that lead to none of its elements. */
export function deadAnchorsOf(html: string): string[] {
  const ids = new Set(idsOf(html));
  const links = [...html.matchAll(/<a [^>]*href="#([^"]*)"/g)].map(([, id = ""]) => id);
  return links.filter((id) => !ids.has(id));
}
