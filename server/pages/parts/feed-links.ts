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
    { type: "application/atom+xml", title: incidentsText(name, "Atom"), href: `${folder}/incidents.atom` },
    { type: "application/rss+xml", title: incidentsText(name, "RSS"), href: `${folder}/incidents.rss` },
    {
      type: "text/calendar",
      title: name === null ? "Announced maintenance (calendar)" : `Announced maintenance of ${name} (calendar)`,
      href: `${folder}/maintenance.ics`,
    },
  ];
}

function incidentsText(venue: string | null, format: string): string {
  return `${venue === null ? "Incidents" : `Incidents of ${venue}`} (${format})`;
}
