import { incident } from "./incident.js";
import {
  category,
  day,
  exactly,
  generatedAt,
  instant,
  integer,
  list,
  named,
  object,
  orNull,
  percent,
  quote,
  since,
  state,
  symbol,
  venueId,
  venueName,
} from "./shapes.js";

const uptimeDayObject = object(
  "One UTC day. Minutes are judged by a majority of the regions that measured them.",
  {
    date: day("The day."),
    uptimePct: orNull(
      percent(
        "Share of the measured minutes that were not down, cut to three digits; null when nothing was measured.",
        97.5,
      ),
    ),
    measuredMinutes: integer("Minutes with at least one sample.", 720),
    downMinutes: orNull(
      integer(
        "Minutes in which at least half of the measured components were down; null when nothing was measured.",
        18,
      ),
    ),
    degradedMinutes: orNull(
      integer(
        "Other minutes in which some component was degraded or down; null when nothing was measured.",
        0,
      ),
    ),
  },
);

export const uptimeDay = named("UptimeDay", uptimeDayObject);

const hourMs = 3_600_000;

function earlier(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) - byMs).toISOString();
}

export const ninetyDays = exactly(
  90,
  "The ninety days, oldest first.",
  uptimeDay,
  (at, today) =>
    at === 89
      ? today
      : {
          date: earlier(today.date, (89 - at) * 24 * hourMs).slice(0, 10),
          uptimePct: 100,
          measuredMinutes: 1_440,
          downMinutes: 0,
          degradedMinutes: 0,
        },
);

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
  uptimePct90d: orNull(
    percent("Over the measured minutes of ninety days.", 99.986),
  ),
  measuredDays: integer("Days of the ninety with any measurement.", 90),
  typicalMs: orNull(
    integer(
      "Median of per-minute REST medians over seven days, all regions.",
      84,
    ),
  ),
  activeIncidents: integer("Open incidents.", 1),
  days: ninetyDays,
  sparkline: exactly(
    24,
    "The last 24 hours, oldest first.",
    object("One hour.", {
      at: instant("Start of the hour."),
      p50Ms: orNull(
        integer(
          "Median over endpoints and regions of the hour's median; null when not measured.",
          84,
        ),
      ),
    }),
    (at, hour) => ({ ...hour, at: earlier(hour.at, (23 - at) * hourMs) }),
  ),
});

const categoryCounts = object("One category of the whole board.", {
  category,
  venues: integer("Venues in it.", 1),
  operational: integer("Of them, operational.", 0),
  degraded: integer("Of them, degraded.", 0),
  outage: integer("Of them, in outage.", 1),
  unknown: integer("Of them, without evidence.", 0),
  activeIncidents: integer("Open incidents in it.", 1),
});

export const statusResponse = named(
  "StatusResponse",
  object("The live board.", {
    generatedAt,
    summary: object("The rows of this answer as a whole.", {
      venues: integer("Rows.", 1),
      regions: integer("Regions that report now: measured, not configured.", 3),
      probeIntervalMs: integer("Default cadence in each region.", 5_000, 1),
      state: {
        ...state,
        description:
          "outage when at least half of the known venues are, degraded when any is degraded or out, unknown when none has evidence.",
      },
      uptimePct90d: orNull(
        percent("Over all measured minutes of all rows.", 99.986),
      ),
      medianLatencyMs: orNull(
        integer(
          "Median of per-minute REST medians over seven days, over all rows.",
          84,
        ),
      ),
      activeIncidents: integer("Open incidents of the rows.", 1),
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
