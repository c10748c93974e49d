import { feedLinkWords } from "../words.js";
import { isolated } from "./isolated.js";

/** A feed that a page advertises: its media type, title and address. */
export interface FeedLink {
  type: string;
  title: string;
  href: string;
}

/** The feeds of a venue, or of all: first that of incidents which most readers prefer, last the calendar. */
export function feedLinks(venue: { id: string; name: string } | null): FeedLink[] {
  const folder = venue === null ? "/feeds" : `/feeds/${venue.id}`;
  const name = venue && isolated(venue.name);
  return [
    { type: "application/atom+xml", title: feedLinkWords.incidents(name, "Atom"), href: `${folder}/incidents.atom` },
    { type: "application/rss+xml", title: feedLinkWords.incidents(name, "RSS"), href: `${folder}/incidents.rss` },
    { type: "text/calendar", title: feedLinkWords.maintenance(name), href: `${folder}/maintenance.ics` },
  ];
}
