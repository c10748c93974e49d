import { dataCache } from "./answer.js";
import { bytes, type Schema } from "./schemas/shapes.js";

interface FeedFormat {
  /** Name within an operation's id. */
  id: string;
  file: string;
  summary: string;
  description: string;
  answers: Record<string, Schema>;
}

const atom = bytes(
  "An Atom 1.0 document (RFC 4287). It changes only with its entries.",
  `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>urn:uuid:6f1d0c2b-9a4e-8c1f-a5e0-1d2c3b4a5f6e</id>…</feed>
`,
);
const rss = bytes(
  "An RSS 2.0 document. It changes only with its items.",
  `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>venuewatch: incidents of all venues</title>…</channel></rss>
`,
);
const calendar = bytes(
  "An iCalendar object (RFC 5545). An event has DTEND only if the venue gave an end; its description says whether that is a plan.",
  "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n…\r\nEND:VCALENDAR\r\n",
);

const entries =
  "At most 50 incidents, the newest event first. An incident is one entry with a permanent id, which is updated when it escalates, closes or is retracted; a retraction is listed for thirty days.";

const formats: FeedFormat[] = [
  {
    id: "IncidentsAtom",
    file: "incidents.atom",
    summary: "Incidents, as Atom",
    description: entries,
    answers: { "application/atom+xml": atom },
  },
  {
    id: "IncidentsRss",
    file: "incidents.rss",
    summary: "Incidents, as RSS",
    description: entries,
    answers: { "application/rss+xml": rss },
  },
  {
    id: "MaintenanceCalendar",
    file: "maintenance.ics",
    description:
      "What venues announce in their own feeds: the last ninety days, under way, and to come; at most 200 events.",
    summary: "Maintenance that venues announced, as a calendar",
    answers: { "text/calendar": calendar },
  },
];

/** The feeds of all venues, and those of each. */
export function feedOperations(venue: Schema<string>) {
  const shared = { group: "feeds" as const, cache: [dataCache], asksDatabase: true, limited: true };
  return formats.flatMap(({ id, file, summary, ...described }) => [
    { ...shared, id: `get${id}`, path: `/feeds/${file}`, summary: `${summary}: all venues`, ...described },
    {
      ...shared,
      id: `getVenue${id}`,
      path: `/feeds/{venue}/${file}`,
      summary: `${summary}: one venue`,
      names: { venue },
      ...described,
    },
  ]);
}
