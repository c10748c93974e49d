import type { RequestHandler } from "express";
import { answerJson } from "../api/answer.js";
import { categoryFilter, parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  category,
  day,
  exactly,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  orNull,
  percent,
  quote,
  type Schema,
  shownAs,
  since,
  state,
  symbol,
  text,
  unknownBecause,
  venueId,
  venueName,
} from "../api/shapes.js";
import { agreeing, component, counted, presentFault } from "./component.js";
import { incident } from "./incidents.js";
import { maintenance, maintenanceNow } from "./maintenance.js";
import type { Boards } from "./snapshot.js";
import { uptimeBasis, uptimePct, withoutMaintenance } from "./uptime.js";

/** `/v1/status`: the live board. */
export function statusRoute(boards: Boards): RequestHandler {
  const read = parameterReader(statusParameters);
  return async (request, response) => {
    const { category } = read(queryOf(request));
    await answerJson(response, (await boards.status(category))!);
  };
}

export const statusParameters = { category: categoryFilter };

const uptimeDayObject = object(
  "One UTC day. Minutes are judged by a majority of the regions that measured them and were not impaired.",
  {
    date: day("The day."),
    uptimePct: orNull(
      percent(
        "Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured.",
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
        "Minutes of the day that should have been measured: since the venue has been watched, as far as minutes are published.",
      examples: [720],
    },
    coveragePct: shownAs(uptimeBasis.coveragePct, 100),
    uptimePctLow: shownAs(uptimeBasis.uptimePctLow, 97.5),
    uptimePctHigh: shownAs(uptimeBasis.uptimePctHigh, 97.5),
    downMinutes: orNull(
      integer(
        "Minutes in which at least half of the published REST components were down, or at least half of the published streams; null if nothing was measured.",
        18,
      ),
    ),
    degradedMinutes: orNull(
      integer("Other minutes in which some component was degraded or down; null if nothing was measured.", 0),
    ),
    withoutMaintenance,
    incidents: integer(
      "Our incidents that were open at some time of the day, from their first bad sample to their last. A component that was slow has an incident, but no degraded minutes: these know failed samples only.",
      0,
    ),
  },
);

export const uptimeDay = named("UptimeDay", uptimeDayObject);

const hourMs = 3_600_000;

function earlierInstant(instant: string, byMs: number): string {
  return new Date(Date.parse(instant) - byMs).toISOString();
}

export const ninetyDays = exactly(90, "The ninety days, oldest first.", uptimeDay, (at, today) =>
  at === 89
    ? today
    : {
        date: earlierInstant(today.date, (89 - at) * 24 * hourMs).slice(0, 10),
        uptimePct: 100,
        measuredMinutes: 1_440,
        scheduledMinutes: 1_440,
        coveragePct: 100,
        uptimePctLow: 100,
        uptimePctHigh: 100,
        downMinutes: 0,
        degradedMinutes: 0,
        withoutMaintenance: null,
        incidents: 0,
      },
);

export const venueHead = {
  id: venueId,
  name: venueName,
  category,
  symbol,
  quote,
};

export const typicalMinutes = integer("Number of per-minute medians that it is computed from.", 302_400);
export const typicalAsOf = orNull(
  instant(
    "When it was computed, about every ten minutes, before generatedAt; null if it has not been yet.",
    "2026-01-31T11:52:04.812Z",
  ),
);

export const componentState = object("One component of a venue.", {
  component,
  state: { ...state, description: "By quorum over all regions." },
  since,
  fault: presentFault,
  unknownBecause,
  agreeing: ofTrouble(agreeing),
  counted: ofTrouble(counted),
});

/** Counted only for what is degraded or down: the board is made at every tick. */
function ofTrouble(count: typeof agreeing): Schema<number | null> {
  return { ...orNull(count), description: `${count.description} Null unless it is degraded or in outage.` };
}

const venueStatus = object("One venue on the board.", {
  ...venueHead,
  ccxtId: orNull(
    text(
      "Id of the same exchange in ccxt; null if it is not in ccxt. It may differ from `id`, and ccxt may have another exchange of that id: its `coinbase` is Coinbase Advanced Trade, and ours is its `coinbaseexchange`.",
      "okx",
    ),
  ),
  state,
  since,
  uptimePct90d: {
    ...uptimePct,
    description:
      "Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured.",
  },
  measuredDays: integer("Days of the ninety with a measured minute.", 90),
  ...uptimeBasis,
  withoutMaintenance,
  typicalMs: orNull(
    integer(
      "Typical latency: the median of per-minute REST medians over seven days, all regions; null if there were fewer than 3.",
      84,
    ),
  ),
  typicalMinutes,
  typicalAsOf,
  activeIncidents: integer("Open incidents.", 1),
  maintenance: maintenanceNow,
  components: list("The components, in the registry's order.", named("ComponentState", componentState)),
  days: ninetyDays,
  sparkline: exactly(
    24,
    "The last 24 hours, oldest first.",
    object("One hour.", {
      at: instant("Start of the hour."),
      p50Ms: orNull(
        integer(
          "Median over endpoints and regions of the hour's medians; null if fewer than 3 responses were good. The current hour is as of its last roll-up, at most about five minutes before generatedAt.",
          84,
        ),
      ),
      samples: integer("Good REST samples of the hour.", 6_480),
    }),
    (at, hour) => ({ ...hour, at: earlierInstant(hour.at, (23 - at) * hourMs) }),
  ),
});

const categoryCounts = object("One category of the whole board.", {
  category,
  venues: integer("Venues in it.", 1),
  operational: integer("Number that are operational.", 0),
  degraded: integer("Number that are degraded.", 0),
  outage: integer("Number in outage.", 1),
  unknown: integer("Number without evidence.", 0),
  activeIncidents: integer("Open incidents in it.", 1),
});

export const statusResponse = named(
  "StatusResponse",
  object("The live board.", {
    ...freshness,
    summary: object("All rows of this response together.", {
      venues: integer("Rows.", 1),
      regions: integer("Regions that report now: measured, not configured.", 3),
      vantages: integer(
        "Number of distinct vantages of these: regions whose probes all run on one machine are one.",
        2,
      ),
      vantageNote: orNull(
        text(
          "What several regions on one machine mean for the results; null if no regions share one.",
          "eu-central, us-east run on one machine and are one vantage: trouble of its network may look like trouble of venues.",
        ),
      ),
      probeIntervalMs: integer("Default cadence in each region.", 5_000, 1),
      state: {
        ...state,
        description:
          "outage if at least half of the venues are in outage, degraded if any is degraded or in outage, unknown while fewer than half of the venues are known.",
      },
      uptimePct90d: {
        ...uptimePct,
        description:
          "Over all measured minutes of all rows; null if less than half of the scheduled ones were measured.",
      },
      ...uptimeBasis,
      withoutMaintenance,
      medianLatencyMs: orNull(
        integer(
          "Typical latency of all rows: the median of per-minute REST medians over seven days; null if there were fewer than 3.",
          84,
        ),
      ),
      medianLatencyMinutes: typicalMinutes,
      medianLatencyAsOf: typicalAsOf,
      activeIncidents: integer("Open incidents of the rows.", 1),
      commonTrouble: shownAs(
        orNull(
          named(
            "CommonTrouble",
            object(
              "Open incidents of at least four venues that began within two minutes of the first of them: perhaps the trouble of a provider that they share.",
              {
                since: instant("When the first of them began.", "2026-01-31T11:41:06.000Z"),
                venues: list("The venues.", venueId),
              },
            ),
          ),
        ),
        null,
      ),
      categories: list("All categories, whatever the filter.", named("CategoryCounts", categoryCounts)),
    }),
    venues: list("In the registry's order.", named("VenueStatus", venueStatus)),
    incidents: list("Open incidents, and those closed within the last day; newest first.", incident),
    maintenanceAhead: list(
      "Maintenance in the venues' own feeds that is under way, or planned for the next 48 hours; the first to begin first.",
      maintenance,
    ),
  }),
);
