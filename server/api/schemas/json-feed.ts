import { component } from "./incident.js";
import { instant, list, named, object, oneOf, orNull, severity, shownAs, slug, text, venueId } from "./shapes.js";

const entryId = text(
  "Permanent id of the entry. It never changes, whatever becomes of the incident or of the service's address.",
  "urn:uuid:1f7f7d3a-8c1f-8b5e-a0c4-6d1f0b0a9e55",
);

const item = object("An incident.", {
  id: entryId,
  url: text("The incident's page.", "https://status.example.org/incidents/kraken-2026-01-31-rest-outage"),
  title: text("What happened, to whom.", "Kraken: Ticker was down for 18 minutes"),
  content_text: text("What is known, as text.", "Trouble began at 2026-01-31 11:41:06 UTC."),
  content_html: text("The same as HTML.", "<p>Trouble began at 2026-01-31 11:41:06 UTC.</p>"),
  date_published: instant("When the incident was opened.", "2026-01-31T11:41:20.000Z"),
  date_modified: instant("When it was last opened, escalated, closed or retracted.", "2026-01-31T12:01:00.000Z"),
  tags: shownAs(list("Id and category of the venue.", text("One of them.", "kraken")), ["kraken", "exchange"]),
  _venuewatch: object("The incident for programs.", {
    slug,
    venue: venueId,
    component,
    status: oneOf(["open", "closed", "retracted"], "What became of it."),
    severity: orNull({ ...severity, description: "The worst that it reached; null once it is retracted." }),
  }),
});

export const jsonFeedResponse = named(
  "JsonFeed",
  object("Incidents as a JSON Feed, version 1.1. It has no `generatedAt`: it changes only with its items.", {
    version: oneOf(["https://jsonfeed.org/version/1.1"], "Version of the format."),
    title: text("Title of the feed.", "venuewatch: incidents of all venues"),
    home_page_url: text("The page for people.", "https://status.example.org/"),
    feed_url: text("The feed itself.", "https://status.example.org/feeds/incidents.json"),
    description: text("What it is about.", "When a venue fails or is degraded."),
    language: text("Language of its texts.", "en"),
    authors: list("Who publishes it.", object("One of them.", { name: text("Name.", "venuewatch") })),
    items: list("At most 50, the newest event first.", item),
  }),
);
