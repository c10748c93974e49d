import { atomNamespace } from "./atom.js";
import { language } from "../pages/words.js";
import type { FeedEntry, IncidentFeed } from "./incident-feed.js";
import { htmlOf } from "./paragraphs.js";
import { element, type XmlNode, xmlText } from "./xml.js";

/**
 * As RSS 2.0. RSS has no place for the instant of an update, so items have that of Atom, which readers know.
 *
 * @param self address of the feed itself
 */
export function rssText({ title, about, page, updatedAt, entries }: IncidentFeed, self: string): string {
  const channel = element("channel", {}, [
    element("title", {}, [unmarked(title)]),
    element("link", {}, [page]),
    element("description", {}, [unmarked(about)]),
    element("language", {}, [language]),
    element("lastBuildDate", {}, [rssDate(updatedAt)]),
    element("atom:link", { rel: "self", type: "application/rss+xml", href: self }),
    ...entries.map(rssItem),
  ]);
  return xmlText(element("rss", { version: "2.0" }, [channel]), { "": null, atom: atomNamespace });
}

function rssItem({ id, title, page, publishedAt, updatedAt, paragraphs, tags }: FeedEntry): XmlNode {
  return element("item", {}, [
    element("title", {}, [unmarked(title)]),
    element("link", {}, [page]),
    element("guid", { isPermaLink: "false" }, [id]),
    element("pubDate", {}, [rssDate(publishedAt)]),
    element("atom:updated", {}, [updatedAt]),
    ...tags.map((tag) => element("category", {}, [tag])),
    element("description", {}, [htmlOf(paragraphs)]),
  ]);
}

/**
 * RSS does not say whether a title is text or HTML, and readers differ. Without angle brackets both read the same, and
 * nothing can be markup.
 */
function unmarked(text: string): string {
  return text.replaceAll("<", "\u2039").replaceAll(">", "\u203a");
}

/** `Sat, 31 Jan 2026 12:00:00 GMT` (RFC 822, with four digits of the year). */
function rssDate(iso: string): string {
  return new Date(iso).toUTCString();
}
