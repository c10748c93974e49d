/** An incident as answers list it. */
import type { Fault } from "../../shared/measurement/sample.js";
import { component, componentLabel, fault } from "../api/schemas/incident.js";
import {
  flag,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  regionId,
  type Schema,
  severity,
  shownAs,
  slug,
  text,
  type TypeOf,
  venueId,
} from "../api/schemas/shapes.js";
import type { IncidentsBody } from "./agent-source.js";
import { mostName, mostTitle, quoted, quotedAddress } from "./quoted.js";

const mostRegions = 30;

const venueNotice = object("The notice of the venue itself that began nearest to it. Its texts are quoted.", {
  title: text("Title.", "Degraded REST API"),
  status: text("In the venue's own words.", "resolved"),
  startedAt: instant("When it began, according to the venue."),
  url: orNull(text("Its page; null if it has none.", "https://stspg.io/x1b2c3")),
});

const mainFault: Schema<Fault | null> = {
  ...orNull(fault),
  description:
    "The fault of most of the bad measurements by which it was decided; null if there is none. With `limited` the venue limits our requests, and is not down.",
};

export const incidentRow = object("An incident, decided by a majority of the reporting regions.", {
  slug,
  venue: venueId,
  component,
  label: componentLabel,
  severity: { ...severity, description: "The worst that it reached: degraded, or outage." },
  status: oneOf(["open", "closed"], "A closed incident is over and no longer changes."),
  flapping: flag("Whether its component failed again and again within an hour.", false),
  fault: mainFault,
  startedAt: instant("The first bad measurement.", "2026-01-31T11:41:06.000Z"),
  endedAt: shownAs(orNull(instant("The last bad one; null while it is open.")), null),
  durationSeconds: shownAs(orNull(integer("From startedAt to endedAt; null while it is open.", 1_134)), null),
  quorum: integer("Regions that had to agree.", 2, 1),
  reporting: integer("Regions that reported then.", 3, 1),
  counted: integer("Regions whose votes counted then.", 3, 1),
  regions: { ...list("Those that saw it at the opening.", regionId), maxItems: mostRegions },
  venueNotice: orNull({
    ...venueNotice,
    description:
      "Null if the venue announced nothing near it, or if what it announced is not known: see venueNoticeKnown.",
  }),
  venueNoticeKnown: orNull(
    flag("Whether the venue's own status feed was read at that time; null if it has none.", true),
  ),
  evidence: text(
    "Its page, with the votes of the regions.",
    "https://status.example.org/incidents/kraken-2026-01-31-rest-outage",
  ),
});

type ListedRow = IncidentsBody["incidents"][number];

export function incidentRowOf(incident: ListedRow, baseUrl: string): TypeOf<typeof incidentRow> {
  const { slug, venue, component, label, peakSeverity, status, flapping, startedAt, endedAt, durationSeconds } =
    incident;
  const { fault, quorum, reporting, counted, regions, official, officialObserved } = incident;
  return {
    ...{ slug, venue, component, label: quoted(label, mostName), severity: peakSeverity, status, flapping, fault },
    ...{ startedAt, endedAt, durationSeconds, quorum, reporting, counted, regions: regions.slice(0, mostRegions) },
    venueNotice: official && {
      ...{ title: quoted(official.title, mostTitle), status: quoted(official.status, mostName) },
      ...{ startedAt: official.startedAt, url: quotedAddress(official.url) },
    },
    venueNoticeKnown: officialObserved,
    evidence: `${baseUrl}/incidents/${slug}`,
  };
}
