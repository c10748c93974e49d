import type { RequestHandler } from "express";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson } from "../api/answer.js";
import { choice, regionParameter } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  day,
  exactly,
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  orNull,
  percent,
  regionId,
  regionName,
  severity,
  shownAs,
  since,
  slug,
  state,
  text,
  unknownBecause,
  venueId,
  venueName,
} from "../api/shapes.js";
import { noSuchVenue, venueFinder } from "../api/venue-ids.js";
import { component, componentLabel, fault, presentFault, target } from "./component.js";
import { detection, officialNotices } from "./detection.js";
import { incident } from "./incidents.js";
import { maintenance, maintenanceNow } from "./maintenance.js";
import { reliabilityVenue } from "./reliability.js";
import { type Boards } from "./snapshot.js";
import { ninetyDays, typicalAsOf, typicalMinutes, venueHead, uptimeDay } from "./status.js";
import {
  type AnswerTable,
  formReader,
  type Table,
  type TableFormat,
  ofTheWindow,
  propertiesOf,
  type TableSchema,
} from "./tables.js";
import { excluded, tableWithoutMaintenance, uptimeBasis, uptimePct, withoutMaintenance } from "./uptime.js";
import { regionView } from "./venue-state.js";

/** `/v1/exchanges/{venue}` and `/v1/targets/{venue}`: one venue in detail, the same bytes on both paths. */
export function venueRoute(
  registry: Registry,
  boards: Boards,
  answerTable: AnswerTable,
): RequestHandler<{ venue: string }> {
  const read = formReader(venueParameters(registry), null);
  const venueOf = venueFinder(registry);

  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    const { range, region, format, decimal } = read(queryOf(request));
    if (format !== "json") return answerTable(response, { format, decimal }, daysOf(venue));
    const snapshot = await boards.venue(venue, range, region);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
  };
}

/** `/v1/targets/{venue}/days.csv` and `.xlsx`: the venue's days as a table. */
export function venueDaysRoute(
  registry: Registry,
  answerTable: AnswerTable,
  ending: TableFormat,
): RequestHandler<{ venue: string }> {
  const read = formReader({}, ending);
  const venueOf = venueFinder(registry);

  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    const { decimal } = read(queryOf(request));
    await answerTable(response, { format: ending, decimal }, daysOf(venue));
  };
}

function daysOf(venue: string): Table {
  return {
    ...{ file: "venue_csv", values: [venue], schema: venueTable, name: `${venue}-days-90` },
    empty: () => noSuchVenue(venue),
  };
}

export function venueParameters(registry: Registry) {
  return {
    range: choice(
      "Window of the latency chart and the tables: 24h in one-minute buckets, 7d in one-hour buckets.",
      ["24h", "7d"],
      "24h",
    ),
    region: regionParameter(registry),
  };
}

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const latencyRanges = ["24h", "7d"] as const;

const latencyPoint = object("One bucket of the chart, computed exactly from raw samples.", {
  at: instant("Start of the bucket."),
  p50Ms: orNull(integer("Median of the good REST samples; null if there were fewer than 3.", 84)),
  p95Ms: orNull(integer("Their 95th percentile; null if there were fewer than 10.", 210)),
  samples: integer("Number of good REST samples.", 12),
});

const startedAt = "2026-01-31T11:41:06.000Z";

const measuredComponent = {
  component,
  name: text("The part after the colon.", "ticker"),
  label: componentLabel,
  target: {
    ...orNull(target),
    description: "The address that is measured; null for a chain, which is read at several.",
  },
  cadenceMs: integer("Its cadence in each region.", 5_000, 1),
  state: { ...state, description: "By quorum over all regions." },
  since,
  fault: presentFault,
  unknownBecause,
  regionState: { ...state, description: "As seen by the selected region." },
  samples: integer("Samples of the selected region in the range.", 17_280),
  goodPct: orNull(percent("Share of them that were good.", 98.403)),
};

const newestSample = {
  newestAt: orNull(instant("Slot of the newest sample.")),
  newestFault: orNull(fault),
};

const chainLag = orNull(
  object(
    "Distance to the freshest head that our fleet saw from this region, not to the true head. Null if the responses in the range named no head.",
    {
      blocks: orNull(
        integer(
          "Blocks behind the freshest head. Null if there is no recent head, or if providers are more than 100,000 blocks apart and none confirms this one.",
          2,
        ),
      ),
      head: orNull(
        integer(
          "The latest head named by this endpoint, if not older than three of its cadences or a minute, whichever is longer; else null.",
          21_500_000,
        ),
      ),
      freshestHead: orNull(
        integer(
          "The freshest head of the same chain known from this region when this endpoint was measured, from responses of the preceding minute; null if providers are more than 100,000 blocks apart and none confirms another.",
          21_500_002,
        ),
      ),
      at: orNull(instant("Slot in which this head was named.")),
      backwards: integer(
        "How often this endpoint named a head below its previous one in the last 24 hours, whatever the range.",
        0,
      ),
    },
  ),
);

const endpointStatus = object("One REST endpoint, seen from the selected region.", {
  ...measuredComponent,
  answers: integer("Good samples in the range, over which the percentiles are computed.", 17_004),
  p50Ms: orNull(integer("Their exact median; null if there were fewer than 3.", 84)),
  p95Ms: orNull(integer("Exact 95th percentile; null if there were fewer than 10.", 210)),
  ...newestSample,
  certificateExpiresAt: orNull(
    instant(
      "Expiry of the newest certificate that the server presented within the last day; null if none was seen.",
      "2026-04-12T23:59:59.000Z",
    ),
  ),
  // the venue in the examples reads no chain
  lag: shownAs(chainLag, null),
});

const streamStatus = object("One stream, or ws:conn, seen from the selected region.", {
  ...measuredComponent,
  component: shownAs(component, "ws:trades"),
  name: shownAs(measuredComponent.name, "trades"),
  label: shownAs(componentLabel, "Trades"),
  target: shownAs(target, "wss://ws.kraken.com/v2"),
  state: shownAs(measuredComponent.state, "operational"),
  since: shownAs(since, "2026-01-28T07:15:44.000Z"),
  regionState: shownAs(measuredComponent.regionState, "operational"),
  goodPct: shownAs(measuredComponent.goodPct, 100),
  messagesPerMinute: orNull(number("Data frames per minute, mean over the measured slots; null on ws:conn.", 236.5)),
  longestQuietMs: orNull(integer("The longest silence in the range.", 4_100)),
  eventAgeMs: orNull(
    integer(
      "Age of the newest event by the venue's own clock, corrected by the known error of our clock; negative if the venue's clock is ahead.",
      120, // a clock that is more than a year ahead is not credible
      -31_536_000_000,
    ),
  ),
  // the streams of the venue in the examples are not numbered
  sequenceGaps: shownAs(
    orNull(integer("Number of gaps in the venue's own frame numbers in the range; null if it gives none.", 2)),
    null,
  ),
  stallAfterMs: orNull(integer("Silence beyond this is a stall.", 30_000, 1)),
  newestAt: newestSample.newestAt,
  newestFault: shownAs(newestSample.newestFault, null),
});

const regionComparison = object("The venue as one region sees it, over exactly the range that ends at generatedAt.", {
  region: regionId,
  name: regionName,
  reporting: flag("Whether it reports this venue now.", true),
  impaired: flag("Whether the region is impaired and therefore has no vote; see /v1/regions.", false),
  state: {
    ...state,
    description:
      "What this region alone sees, also while it is impaired, when `view` is unknown; no decision rests on it alone.",
  },
  samples: integer("Samples of all components in the range.", 51_840),
  goodPct: orNull(percent("Share of them that were good.", 98.403)),
  answers: integer("Good REST samples in the range, over which the percentiles are computed.", 34_012),
  p50Ms: orNull(
    integer("Exact median REST latency of all endpoints together; null if there were fewer than 3 responses.", 84),
  ),
  p95Ms: orNull(integer("Exact 95th percentile; null if there were fewer than 10.", 210)),
  newestAt: orNull(instant("Slot of the newest sample.")),
  view: regionView,
});

const incidentPattern = object(
  "Incidents of one component and severity, by hour of the day and day of the week. All in UTC.",
  {
    component,
    severity: { ...severity, description: "The worst severity that they reached." },
    count: integer("Number of incidents.", 3, 1),
    days: integer("Days on which at least one of them started.", 3, 1),
    totalSeconds: integer("Sum of their lengths, each from startedAt to endedAt, or to generatedAt while open.", 3_402),
    newestAt: instant("Start of the newest.", startedAt),
    byHour: exactly(24, "Number started in each hour of the day.", integer("Count.", 3), (at, count) =>
      at === 11 ? count : 0,
    ),
    byWeekday: exactly(7, "Number started on each day of the week, Monday first.", integer("Count.", 3), (at, count) =>
      at === 5 ? count : 0,
    ),
    recurring: list(
      "Times at which it recurs, counted in days so that a bad afternoon counts once: an hour of a weekday, or an hour of any day, with at least three days and half of all days; or a weekday with at least four days and three quarters of all. Chance alone produces this in at most one of thirty patterns.",
      object("One such time.", {
        every: oneOf(["week", "day"], "How often it recurs."),
        weekday: orNull(shownAs(oneOf(weekdays, "Null for any day."), "saturday")),
        hour: orNull({
          ...integer("Hour of the day; null for any hour.", 11),
          maximum: 23,
        }),
        incidents: integer("Incidents that started at that time.", 3, 1),
        days: integer("Days on which they started.", 3, 1),
        ofDays: integer("Days with any incident of this pattern.", 3, 1),
      }),
    ),
    incidents: list(
      "All of them, newest first.",
      object("A link.", {
        slug,
        path: text("Its path: /v1/incidents/{slug}.", "/v1/incidents/kraken-2026-01-31-rest-outage"),
        startedAt: instant("When it started.", startedAt),
      }),
    ),
  },
);

/** A separate constant, like the words of states. */
const countedPer = oneOf(
  ["address", "account"],
  "What is counted: requests from one address, or those of one account, of which a probe has none.",
);

const venueEntry = object("What the registry says of its own entry for the venue; null where it says nothing.", {
  sources: orNull(
    list("Addresses of the venue's documentation and changelog.", text("One address.", "https://docs.kraken.com/api")),
  ),
  checkedAt: orNull(day("The day on which the entry was last compared with its sources.", "2026-01-12")),
  until: shownAs(
    orNull(
      object("What ends, and when. Its components are unknown from then on, and never down.", {
        date: day("The first day without it, in UTC.", "2027-03-01"),
        what: text("What ends.", "The venue switches this API off."),
        source: text("Where the venue says so.", "https://docs.kraken.com/changelog"),
        components: orNull(list("The components that end; null: all.", component)),
      }),
    ),
    null,
  ),
  endedAt: shownAs(
    orNull(
      object(
        "The end of the venue itself, past or announced. From that day on it is not measured, its components are unknown, and /v1/status, /v1/reliability and /metrics are without it; its history stays here.",
        {
          date: day("The first day without it, in UTC.", "2027-03-01"),
          what: text("What ends.", "The exchange closes."),
          source: text("Where that is said.", "https://www.kraken.com/legal"),
        },
      ),
    ),
    null,
  ),
  limits: orNull(
    list(
      "How many requests the venue accepts. All requests of the probes on one address stay below half of each limit by address; the cadences of endpoints and streams are the resolved ones.",
      object("One limit.", {
        origin: text("Of these addresses.", "https://api.kraken.com"),
        requests: integer("Number of requests.", 60, 1),
        periodMs: integer("In this time.", 60_000, 1),
        per: countedPer,
        endpoints: shownAs(
          orNull(list("Names of the endpoints that it is about; null: all of the origin.", text("A name.", "ticker"))),
          null,
        ),
        source: text("Where the venue says so.", "https://docs.kraken.com/api/docs/guides/spot-rest-ratelimits"),
      }),
    ),
  ),
  blockedIn: shownAs(
    orNull(
      object("Countries that the venue does not serve.", {
        countries: list("ISO 3166-1 alpha-2 codes.", text("One country.", "US")),
        source: text("Where the venue says so.", "https://www.kraken.com/legal"),
      }),
    ),
    null,
  ),
  edgeCacheMs: shownAs(
    orNull(
      integer(
        "For so long an edge in front of the venue may repeat an answer: a shorter outage behind it is invisible.",
        2_000,
      ),
    ),
    null,
  ),
});

export const exchangeResponse = named(
  "ExchangeResponse",
  object("One venue in detail.", {
    ...freshness,
    exchange: object("The venue.", venueHead),
    entry: named("VenueEntry", venueEntry),
    // the venue in the examples reads no chain
    chain: shownAs(
      orNull(
        object(
          "The chain that the venue reads, or is: a venue of its own. If it stands at all providers, that is its incident, and none of them is down for it. Null if the venue reads no chain, or one that fewer than two providers of category rpc read.",
          {
            venue: { ...venueId, description: "Its id as a venue." },
            name: venueName,
            state,
            since,
            providers: list("Ids of the providers at which we read it.", venueId),
            heads: orNull(
              list(
                "The heads that its providers named last, as the selected region saw them, in the registry's order; null unless the venue is the chain.",
                object("One endpoint of a provider.", {
                  venue: venueId,
                  name: venueName,
                  state: { ...state, description: "Of the provider, by quorum over all regions." },
                  component: orNull(component),
                  lag: { ...chainLag, description: "As of an endpoint; null if it named no head within a day." },
                }),
              ),
            ),
            standsSince: orNull(
              instant(
                "When its open incident began: since then it has stood still, or gone back to older blocks, at all providers.",
              ),
            ),
            incident: orNull(slug),
          },
        ),
      ),
      null,
    ),
    state,
    since,
    maintenance: maintenanceNow,
    maintenanceAhead: list(
      "Maintenance in the venue's own feed that is under way, or planned for the next 48 hours; the first to begin first.",
      maintenance,
    ),
    uptimePct90d: {
      ...uptimePct,
      description:
        "Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured.",
    },
    ...uptimeBasis,
    withoutMaintenance,
    typicalMs: orNull(integer("As on the board.", 84)),
    typicalMinutes,
    typicalAsOf,
    days: ninetyDays,
    latency: object("REST latency seen from the selected region.", {
      range: oneOf(latencyRanges, "The window."),
      bucketMs: integer("Width of a bucket.", 60_000, 1),
      points: list("Every bucket of the range, oldest first.", named("LatencyPoint", latencyPoint)),
    }),
    endpoints: list("REST, in the registry's order.", named("EndpointStatus", endpointStatus)),
    streams: list("The socket and its streams.", named("StreamStatus", streamStatus)),
    regions: object("Vantage points.", {
      selected: text("The region that the request resolved to.", "eu-central"),
      compare: list("Every region.", named("RegionComparison", regionComparison)),
    }),
    incidents: {
      ...list("The 50 most recent, however old; newest first.", incident),
      maxItems: 50,
    },
    incidentPatterns: list(
      "All incidents that started within ninety days by component and severity, each in exactly one pattern; most frequent first.",
      named("IncidentPattern", incidentPattern),
    ),
    official: officialNotices("the window of 90 days and after it"),
    detection,
    summary: {
      ...reliabilityVenue,
      description: "The row of /v1/reliability for this venue, over ninety days.",
    },
    excluded,
  }),
);

/** `/v1/targets/{venue}` as a table. */
export const venueTable: TableSchema = {
  sheet: "days",
  rows: "One row per day of ninety, oldest first, including unmeasured days",
  columns: {
    ...ofTheWindow,
    venue: venueId,
    ...propertiesOf(uptimeDay, [
      "date",
      "uptimePct",
      "measuredMinutes",
      "scheduledMinutes",
      "coveragePct",
      "uptimePctLow",
      "uptimePctHigh",
      "downMinutes",
      "degradedMinutes",
    ]),
    ...tableWithoutMaintenance,
    ...propertiesOf(uptimeDay, ["incidents"]),
  },
};
