import { categories } from "../../registry.js";
import { incident } from "./incident.js";
import {
  day,
  generatedAt,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  percent,
  quote,
  since,
  state,
  symbol,
  venueId,
  venueName,
} from "./shapes.js";

export const category = named(
  "Category",
  oneOf(categories, "Category of the venue."),
);

const uptimeDayObject = object(
  "One UTC day. Minutes are judged by a majority of the regions that measured them.",
  {
    date: day("The day."),
    uptimePct: orNull(
      percent(
        "Share of the measured minutes that were not down, cut to three digits; null when nothing was measured.",
      ),
    ),
    measuredMinutes: integer("Minutes with at least one sample."),
    downMinutes: orNull(
      integer(
        "Minutes in which at least half of the measured components were down.",
      ),
    ),
    degradedMinutes: orNull(
      integer("Other minutes in which some component was degraded or down."),
    ),
  },
);

export const uptimeDay = named("UptimeDay", uptimeDayObject);

export const venueHead = {
  id: venueId,
  name: venueName,
  category,
  symbol,
  quote,
};

const venueStatus = object("One venue on the board.", {
  ...venueHead,
  state,
  since,
  uptimePct90d: orNull(percent("Over the measured minutes of ninety days.")),
  measuredDays: integer("Days of the ninety with any measurement."),
  typicalMs: orNull(
    integer("Median of per-minute REST medians over seven days, all regions."),
  ),
  activeIncidents: integer("Open incidents."),
  days: {
    ...list("The ninety days, oldest first.", uptimeDay),
    minItems: 90,
    maxItems: 90,
  },
  sparkline: {
    ...list(
      "The last 24 hours, oldest first.",
      object("One hour.", {
        at: instant("Start of the hour."),
        p50Ms: orNull(
          integer(
            "Median over endpoints and regions of the hour's median; null when not measured.",
          ),
        ),
      }),
    ),
    minItems: 24,
    maxItems: 24,
  },
});

const categoryCounts = object("One category of the whole board.", {
  category,
  venues: integer("Venues in it."),
  operational: integer("Of them, operational."),
  degraded: integer("Of them, degraded."),
  outage: integer("Of them, in outage."),
  unknown: integer("Of them, without evidence."),
  activeIncidents: integer("Open incidents in it."),
});

export const statusResponse = named(
  "StatusResponse",
  object("The live board.", {
    generatedAt,
    summary: object("The rows of this answer as a whole.", {
      venues: integer("Rows."),
      regions: integer("Regions that report now: measured, not configured."),
      probeIntervalMs: integer("Default cadence in each region.", 1),
      state: {
        ...state,
        description:
          "outage when at least half of the known venues are, degraded when any is degraded or out, unknown when none has evidence.",
      },
      uptimePct90d: orNull(percent("Over all measured minutes of all rows.")),
      medianLatencyMs: orNull(
        integer(
          "Median of per-minute REST medians over seven days, over all rows.",
        ),
      ),
      activeIncidents: integer("Open incidents of the rows."),
      categories: list(
        "All categories, whatever the filter.",
        named("CategoryCounts", categoryCounts),
      ),
    }),
    venues: list("In the registry's order.", named("VenueStatus", venueStatus)),
    incidents: list(
      "Open ones, and those closed within the last day; newest first.",
      incident,
    ),
  }),
);
