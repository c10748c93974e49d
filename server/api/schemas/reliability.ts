import { category, generatedAt, integer, list, named, object, orNull, shownAs, venueId, venueName } from "./shapes.js";
import { componentUptime, excluded, uptimeBasis, uptimePart, uptimePct } from "./uptime.js";

const windowDays = integer("Length of the window in UTC days, today included.", 90, 1);
const typicalP50Ms = orNull(
  integer(
    "The median REST latency of a usual hour: the median of the exact medians of hours, over all endpoints and regions; null when there were fewer than 3 hours.",
    84,
  ),
);
const typicalP95Ms = orNull(
  integer(
    "The same of the 95th percentiles of the same hours: how long the slowest twentieth of a usual hour takes; null with it.",
    210,
  ),
);

const typicalHours = integer("Hours that both are of: those with 10 answers and more, by endpoint and region.", 19_440);

export const reliabilityVenue = named(
  "ReliabilityVenue",
  object("How reliable a venue was over the window. Everything is of the same UTC days.", {
    id: venueId,
    name: venueName,
    category,
    days: windowDays,
    measuredDays: integer("Days of them with a measured minute.", 90),
    ...uptimeBasis,
    downMinutes: orNull(integer("Of them, down; null when nothing was measured.", 18)),
    degradedMinutes: orNull(integer("Of them, degraded; null when nothing was measured.", 0)),
    uptimePct,
    rest: uptimePart("REST alone: down when at least half of the measured endpoints are."),
    streams: uptimePart("The socket and its streams alone: down when at least half of them are."),
    components: list(
      "Each component by itself, in the registry's order: an outage of one component need not be one of the venue.",
      componentUptime,
    ),
    typicalP50Ms,
    typicalP95Ms,
    typicalHours,
    incidents: integer("Incidents that started in the window.", 1),
    outages: integer("Of them, those that reached outage.", 1),
    openIncidents: integer("Of them, those that are still open.", 1),
    meanIncidentSeconds: shownAs(
      orNull(integer("Mean length of the closed ones, from startedAt to endedAt; null when there is none.", 1_134)),
      null,
    ),
    longestIncidentSeconds: orNull(
      integer(
        "The longest one, from startedAt to endedAt; of one that is still open, until generatedAt; null when there is none.",
        1_134,
      ),
    ),
  }),
);

export const reliabilityResponse = named(
  "ReliabilityResponse",
  object("The venues compared.", {
    generatedAt,
    days: windowDays,
    fleet: object("The rows of this answer together, and no others.", {
      venues: integer("Rows.", 1),
      uptimePct: {
        ...uptimePct,
        description:
          "Over the measured minutes of all rows together; null where less than half of the scheduled ones were measured.",
      },
      ...uptimeBasis,
      typicalP50Ms: {
        ...typicalP50Ms,
        description: "The median over the hours of all rows; it is no mean of the rows' medians.",
      },
      typicalP95Ms: {
        ...typicalP95Ms,
        description: "The same of the 95th percentiles of those hours.",
      },
      typicalHours,
      incidents: integer("Incidents of all rows.", 1),
    }),
    venues: list("The most available first; those without an uptime last.", reliabilityVenue),
    ranks: list(
      "The rows by rank, the first one first; those of which nothing was measured have none. A rank is one more than there are rows that were certainly more available: those whose uptimePctLow is above the uptimePctHigh of these. Rows that cannot be told apart by that share a rank.",
      object("Rows of one rank.", {
        rank: integer("The rank.", 1, 1),
        venues: list("The rows that have it, in the registry's order.", venueId),
      }),
    ),
    excluded,
  }),
);
