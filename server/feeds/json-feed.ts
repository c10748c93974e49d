import type { jsonFeedResponse } from "../api/schemas/json-feed.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import { language, siteWords } from "./feed-words.js";
import type { FeedEntry, IncidentFeed } from "./incident-feed.js";
import { htmlOf } from "./paragraphs.js";

type JsonFeed = TypeOf<typeof jsonFeedResponse>;

/**
 * As JSON Feed 1.1.
 *
 * @param self address of the feed itself
 */
export function jsonFeedText({ title, about, page, entries }: IncidentFeed, self: string): string {
  const feed: JsonFeed = {
    version: "https://jsonfeed.org/version/1.1",
    title,
    home_page_url: page,
    feed_url: self,
    description: about,
    language,
    authors: [{ name: siteWords.name }],
    items: entries.map(jsonItem),
  };
  return JSON.stringify(feed);
}

function jsonItem(entry: FeedEntry): JsonFeed["items"][number] {
  const { id, title, page, publishedAt, updatedAt, paragraphs, tags, incident } = entry;
  return {
    ...{ id, url: page, title, content_text: paragraphs.join("\n\n"), content_html: htmlOf(paragraphs) },
    ...{ date_published: publishedAt, date_modified: updatedAt, tags, _venuewatch: incident },
  };
}
