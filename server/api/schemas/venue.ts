import { component, componentLabel, fault, incident, target } from "./incident.js";
import { detection } from "./detection.js";
import { official } from "./official.js";
import { reliabilityVenue } from "./reliability.js";
import {
  exactly,
  flag,
  generatedAt,
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
} from "./shapes.js";
import { ninetyDays, typicalAsOf, typicalMinutes, venueHead } from "./status.js";
import { excluded, uptimeBasis, uptimePct } from "./uptime.js";

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const latencyPoint = object("One bucket of the chart, exact over raw samples.", {
  at: instant("Start of the bucket."),
  p50Ms: orNull(integer("Median of the good REST samples; null when there were fewer than 3.", 84)),
  p95Ms: orNull(integer("Their 95th percentile; null when there were fewer than 10.", 210)),
  samples: integer("How many there were.", 12),
});

const startedAt = "2026-01-31T11:41:06.000Z";

const measuredComponent = {
  component,
  name: text("The part after the colon.", "ticker"),
  label: componentLabel,
  target,
  cadenceMs: integer("How often it is measured from each region.", 5_000, 1),
  state: { ...state, description: "By quorum over all regions." },
  since,
  regionState: { ...state, description: "As the selected region sees it." },
  samples: integer("Samples of the selected region in the range.", 17_280),
  goodPct: orNull(percent("Share of them that were good.", 98.403)),
};

const newest = {
  newestAt: orNull(instant("Slot of the newest sample.")),
  newestFault: orNull(fault),
};

const endpoint = object("One REST endpoint, seen from the selected region.", {
  ...measuredComponent,
  answers: integer("Good samples in the range: what the percentiles are of.", 17_004),
  p50Ms: orNull(integer("Their exact median; null when there were fewer than 3.", 84)),
  p95Ms: orNull(integer("Exact 95th percentile; null when there were fewer than 10.", 210)),
  ...newest,
  certificateExpiresAt: orNull(
    instant(
      "Until when the certificate is valid that the server showed last, within the last day; null where none was seen.",
      "2026-04-12T23:59:59.000Z",
    ),
  ),
  // of the venue of the examples, no chain is read
  lag: shownAs(
    orNull(
      object(
        "Distance to the freshest head that our fleet saw from this region; not to the true head. Null where the answers named no head in the range.",
        {
          blocks: orNull(
            integer(
              "Blocks behind the freshest head. Null without a head of late, and where providers are more than 100,000 blocks apart and none bears this one out.",
              2,
            ),
          ),
          head: orNull(
            integer(
              "The head that this endpoint named last, within three of its cadences and at least a minute; null where it named none of late.",
              21_500_000,
            ),
          ),
          freshestHead: orNull(
            integer(
              "The freshest head of the same chain that we had from this region when this endpoint was asked, from answers of the minute before; null where providers are more than 100,000 blocks apart and none is borne out by another.",
              21_500_002,
            ),
          ),
          at: orNull(instant("Slot in which this head was named.")),
          backwards: integer(
            "How often in the last 24 hours, whatever the range, this endpoint named a head below the one that it had named last.",
            0,
          ),
        },
      ),
    ),
    null,
  ),
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
  messagesPerMinute: orNull(number("Data frames, mean over the measured slots; null on ws:conn.", 236.5)),
  longestQuietMs: orNull(integer("The longest silence in the range.", 4_100)),
  eventAgeMs: orNull(
    integer(
      "Age of the newest event by the venue's own clock, less what our clock is known to be wrong; negative where theirs is ahead.",
      120, // a clock that is ahead by more than a year is none
      -31_536_000_000,
    ),
  ),
  // of the venue of the examples, no stream is numbered
  sequenceGaps: shownAs(
    orNull(
      integer(
        "How often in the range a frame did not follow the one before by the venue's own numbers; null where it gives none.",
        2,
      ),
    ),
    null,
  ),
  stallAfterMs: orNull(integer("Silence beyond this is a stall.", 30_000, 1)),
  newestAt: newest.newestAt,
  newestFault: shownAs(newest.newestFault, null),
});

const regionComparison = object(
  "The venue as one region sees it, over exactly the range: from generatedAt less its length until generatedAt.",
  {
    region: regionId,
    name: regionName,
    reporting: flag("Whether it reports this venue now.", true),
    impaired: flag("Whether it has trouble of its own, and so no vote; /v1/regions says more.", false),
    state: {
      ...state,
      description: "What this region alone sees; it decides nothing.",
    },
    samples: integer("Samples of all components in the range.", 51_840),
    goodPct: orNull(percent("Share of them that were good.", 98.403)),
    answers: integer("Good REST samples in the range: what the percentiles are of.", 34_012),
    p50Ms: orNull(
      integer(
        "Exact median of the latency of REST, of all endpoints together; null when there were fewer than 3 answers.",
        84,
      ),
    ),
    p95Ms: orNull(integer("Exact 95th percentile; null when there were fewer than 10.", 210)),
    newestAt: orNull(instant("Slot of the newest sample.")),
  },
);

const incidentPattern = object(
  "What befell one component, as badly, and when in the day and in the week it did. All in UTC.",
  {
    component,
    severity: { ...severity, description: "The worst that they reached." },
    count: integer("How many incidents.", 3, 1),
    days: integer("Days on which one or more of them started.", 3, 1),
    totalSeconds: integer(
      "Their lengths together, each from startedAt to endedAt, or until generatedAt while open.",
      3_402,
    ),
    newestAt: instant("Start of the newest.", startedAt),
    byHour: exactly(24, "How many started in each hour of the day.", integer("Count.", 3), (at, count) =>
      at === 11 ? count : 0,
    ),
    byWeekday: exactly(
      7,
      "How many started on each day of the week, Monday first.",
      integer("Count.", 3),
      (at, count) => (at === 5 ? count : 0),
    ),
    recurring: list(
      "Times at which it keeps happening, by days so that a bad afternoon counts once: an hour of a weekday, or an hour of any day, with three days or more and at least half of all; or a weekday with four or more and at least three quarters. Chance alone looks like this in one pattern of thirty at the most.",
      object("One such time.", {
        every: oneOf(["week", "day"], "How often it comes round."),
        weekday: orNull(shownAs(oneOf(weekdays, "Null when it is any day."), "saturday")),
        hour: orNull({
          ...integer("Hour of the day; null when it is any.", 11),
          maximum: 23,
        }),
        incidents: integer("Incidents that started then.", 3, 1),
        days: integer("Days on which they did.", 3, 1),
        ofDays: integer("Days with any incident of this pattern.", 3, 1),
      }),
    ),
    incidents: list(
      "All of them, newest first.",
      object("A link.", {
        slug,
        path: text("Where it is: /v1/incidents/{slug}.", "/v1/incidents/kraken-2026-01-31-rest-outage"),
        startedAt: instant("When it started.", startedAt),
      }),
    ),
  },
);

export const exchangeResponse = named(
  "ExchangeResponse",
  object("One venue in detail.", {
    generatedAt,
    exchange: object("The venue.", venueHead),
    state,
    since,
    uptimePct90d: {
      ...uptimePct,
      description:
        "Over the measured minutes of ninety days; null where less than half of the scheduled ones were measured.",
    },
    ...uptimeBasis,
    typicalMs: orNull(integer("As on the board.", 84)),
    typicalMinutes,
    typicalAsOf,
    days: ninetyDays,
    latency: object("REST latency seen from the selected region.", {
      range: oneOf(["24h", "7d"], "The window."),
      bucketMs: integer("Width of a bucket.", 60_000, 1),
      points: list("Every bucket of the range, oldest first.", named("LatencyPoint", latencyPoint)),
    }),
    endpoints: list("REST, in the registry's order.", named("EndpointStatus", endpoint)),
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
    official: official("the window of 90 days and after it"),
    detection,
    summary: {
      ...reliabilityVenue,
      description: "The row of /v1/reliability for this venue, over ninety days.",
    },
    excluded,
  }),
);
