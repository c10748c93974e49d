import { language } from "../pages/words.js";
import type { FeedEntry, IncidentFeed } from "./incident-feed.js";
import { htmlOf } from "./paragraphs.js";
import { element, type XmlNode, xmlText } from "./xml.js";

export const atomNamespace = "http://www.w3.org/2005/Atom";

/**
 * As Atom 1.0 (RFC 4287).
 *
 * @param self address of the feed itself
 */
export function atomText({ id, title, about, page, updatedAt, entries }: IncidentFeed, self: string): string {
  const feed = element("feed", { "xml:lang": language }, [
    element("id", {}, [id]),
    element("title", {}, [title]),
    element("subtitle", {}, [about]),
    element("updated", {}, [updatedAt]),
    element("link", { rel: "self", type: "application/atom+xml", href: self }),
    element("link", { rel: "alternate", type: "text/html", href: page }),
    // entries have no author of their own, so the feed must have one
    element("author", {}, [element("name", {}, ["venuewatch"])]),
    ...entries.map(atomEntry),
  ]);
  return xmlText(feed, { "": atomNamespace });
}

function atomEntry({ id, title, page, publishedAt, updatedAt, paragraphs, tags }: FeedEntry): XmlNode {
  return element("entry", {}, [
    element("id", {}, [id]),
    element("title", {}, [title]),
    element("published", {}, [publishedAt]),
    element("updated", {}, [updatedAt]),
    element("link", { rel: "alternate", type: "text/html", href: page }),
    ...tags.map((term) => element("category", { term })),
    element("content", { type: "html" }, [htmlOf(paragraphs)]),
  ]);
}
