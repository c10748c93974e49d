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
  shownAs,
  state,
  symbol,
  text,
  venueId,
  venueName,
} from "./shapes.js";
import { uptimeBasis, uptimePct } from "./uptime.js";

const uptimeDayObject = object(
  "One UTC day. Minutes are judged by a majority of the regions that measured them and were not impaired.",
  {
    date: day("The day."),
    uptimePct: orNull(
      percent(
        "Share of the measured minutes that were not down, cut to three digits; null where less than half of the scheduled minutes were measured.",
        97.5,
      ),
    ),
    measuredMinutes: {
      ...uptimeBasis.measuredMinutes,
      examples: [720],
    },
    scheduledMinutes: {
      ...uptimeBasis.scheduledMinutes,
      description:
        "Minutes of the day that there were to measure: since the venue is watched, as far as minutes are published.",
      examples: [720],
    },
    coveragePct: shownAs(uptimeBasis.coveragePct, 100),
    uptimePctLow: orNull(
      percent(
        "The uptime if every scheduled minute that was not measured had been down, cut to three digits; null when nothing was measured.",
        97.5,
      ),
    ),
    uptimePctHigh: orNull(percent("The uptime if none of these had been down.", 97.5)),
    downMinutes: orNull(
      integer(
        "Minutes in which at least half of the measured REST components were down, or at least half of the measured streams; null when nothing was measured.",
        18,
      ),
    ),
    degradedMinutes: orNull(
      integer("Other minutes in which some component was degraded or down; null when nothing was measured.", 0),
    ),
  },
);

export const uptimeDay = named("UptimeDay", uptimeDayObject);

const hourMs = 3_600_000;

function earlier(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) - byMs).toISOString();
}

export const ninetyDays = exactly(90, "The ninety days, oldest first.", uptimeDay, (at, today) =>
  at === 89
    ? today
    : {
        date: earlier(today.date, (89 - at) * 24 * hourMs).slice(0, 10),
        uptimePct: 100,
        measuredMinutes: 1_440,
        scheduledMinutes: 1_440,
        coveragePct: 100,
        uptimePctLow: 100,
        uptimePctHigh: 100,
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

export const typicalMinutes = integer("Per-minute medians that it is the median of.", 302_400);
export const typicalAsOf = orNull(
  instant(
    "When it was counted, every ten minutes or so, before generatedAt; null where nobody has yet.",
    "2026-01-31T11:52:04.812Z",
  ),
);

const venueStatus = object("One venue on the board.", {
  ...venueHead,
  state,
  since,
  uptimePct90d: {
    ...uptimePct,
    description:
      "Over the measured minutes of ninety days; null where less than half of the scheduled ones were measured.",
  },
  measuredDays: integer("Days of the ninety with a measured minute.", 90),
  ...uptimeBasis,
  typicalMs: orNull(
    integer("Median of per-minute REST medians over seven days, all regions; null when there were fewer than 3.", 84),
  ),
  typicalMinutes,
  typicalAsOf,
  activeIncidents: integer("Open incidents.", 1),
  days: ninetyDays,
  sparkline: exactly(
    24,
    "The last 24 hours, oldest first.",
    object("One hour.", {
      at: instant("Start of the hour."),
      p50Ms: orNull(
        integer(
          "Median over endpoints and regions of the hour's median; null when fewer than 3 answers were good. Of the hour that runs as it stood when it was rolled up last, a minute or so before generatedAt.",
          84,
        ),
      ),
      samples: integer("Good REST samples of the hour.", 6_480),
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
      vantages: integer("How many distinct places these are: regions whose probes all run on one machine are one.", 2),
      vantageNote: orNull(
        text(
          "What follows from several regions being on one machine; null where none are.",
          "eu-central, us-east run on one machine and are one vantage: trouble of its network may look like trouble of venues.",
        ),
      ),
      probeIntervalMs: integer("Default cadence in each region.", 5_000, 1),
      state: {
        ...state,
        description:
          "outage when at least half of the known venues are, degraded when any is degraded or out, unknown when none has evidence.",
      },
      uptimePct90d: {
        ...uptimePct,
        description:
          "Over all measured minutes of all rows; null where less than half of the scheduled ones were measured.",
      },
      ...uptimeBasis,
      medianLatencyMs: orNull(
        integer(
          "Median of per-minute REST medians over seven days, over all rows; null when there were fewer than 3.",
          84,
        ),
      ),
      medianLatencyMinutes: typicalMinutes,
      medianLatencyAsOf: typicalAsOf,
      activeIncidents: integer("Open incidents of the rows.", 1),
      categories: list("All categories, whatever the filter.", named("CategoryCounts", categoryCounts)),
    }),
    venues: list("In the registry's order.", named("VenueStatus", venueStatus)),
    incidents: list("Open ones, and those closed within the last day; newest first.", incident),
  }),
);
