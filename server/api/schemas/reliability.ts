import {
  category,
  generatedAt,
  integer,
  list,
  named,
  object,
  orNull,
  percent,
  shownAs,
  venueId,
  venueName,
} from "./shapes.js";

const windowDays = integer(
  "Length of the window in UTC days, today included.",
  90,
  1,
);
const typicalP50Ms = orNull(
  integer(
    "The median REST latency of a usual hour: the median of the exact medians of hours, over all endpoints and regions; null when no hour has one.",
    84,
  ),
);
const typicalP95Ms = orNull(
  integer(
    "The same of the 95th percentiles of the same hours: how long the slowest twentieth of a usual hour takes; null with it.",
    210,
  ),
);

export const reliabilityVenue = named(
  "ReliabilityVenue",
  object(
    "How reliable a venue was over the window. Everything is of the same UTC days.",
    {
      id: venueId,
      name: venueName,
      category,
      days: windowDays,
      measuredDays: integer("Days of them with any measurement.", 90),
      measuredMinutes: integer(
        "Minutes with any measurement: the denominator.",
        128_880,
      ),
      downMinutes: orNull(
        integer("Of them, down; null when nothing was measured.", 18),
      ),
      degradedMinutes: orNull(
        integer("Of them, degraded; null when nothing was measured.", 0),
      ),
      uptimePct: orNull(
        percent(
          "Share of the measured minutes that were not down, cut to three digits; null when nothing was measured.",
          99.986,
        ),
      ),
      typicalP50Ms,
      typicalP95Ms,
      incidents: integer("Incidents that started in the window.", 1),
      outages: integer("Of them, those that reached outage.", 1),
      openIncidents: integer("Of them, those that are still open.", 1),
      meanIncidentSeconds: shownAs(
        orNull(
          integer(
            "Mean length of the closed ones, from startedAt to closedAt, the recovery hold included; null when there is none.",
            1_134,
          ),
        ),
        null,
      ),
      longestIncidentSeconds: orNull(
        integer(
          "The longest one, from startedAt to closedAt; of one that is still open, until generatedAt; null when there is none.",
          1_134,
        ),
      ),
    },
  ),
);

export const reliabilityResponse = named(
  "ReliabilityResponse",
  object("The venues compared.", {
    generatedAt,
    days: windowDays,
    fleet: object("The rows of this answer together, and no others.", {
      venues: integer("Rows.", 1),
      uptimePct: orNull(
        percent("Over the measured minutes of all rows together.", 99.986),
      ),
      typicalP50Ms: {
        ...typicalP50Ms,
        description:
          "The median over the hours of all rows; it is no mean of the rows' medians.",
      },
      typicalP95Ms: {
        ...typicalP95Ms,
        description: "The same of the 95th percentiles of those hours.",
      },
      incidents: integer("Incidents of all rows.", 1),
    }),
    venues: list(
      "The most available first; those without a measurement last.",
      reliabilityVenue,
    ),
  }),
);
