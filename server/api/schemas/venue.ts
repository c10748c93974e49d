import {
  component,
  componentLabel,
  detection,
  fault,
  incident,
  target,
} from "./incident.js";
import { reliabilityVenue } from "./reliability.js";
import {
  flag,
  generatedAt,
  instant,
  integer,
  list,
  named,
  nothing,
  number,
  object,
  officialPage,
  officialSource,
  oneOf,
  orNull,
  percent,
  regionId,
  regionName,
  severity,
  since,
  slug,
  state,
  text,
} from "./shapes.js";
import { uptimeDay, venueHead } from "./status.js";

const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
];

const latencyPoint = object(
  "One bucket of the chart, exact over raw samples.",
  {
    at: instant("Start of the bucket."),
    p50Ms: orNull(
      integer("Median of the good REST samples; null when there was none."),
    ),
    p95Ms: orNull(integer("Their 95th percentile.")),
    samples: integer("How many there were."),
  },
);

const measuredComponent = {
  component,
  name: text("The part after the colon.", "ticker"),
  label: componentLabel,
  target,
  cadenceMs: integer("How often it is measured from each region.", 1),
  state: { ...state, description: "By quorum over all regions." },
  since,
  regionState: { ...state, description: "As the selected region sees it." },
  samples: integer("Samples of the selected region in the range."),
  goodPct: orNull(percent("Share of them that were good.")),
};

const newest = {
  newestAt: orNull(instant("Slot of the newest sample.")),
  newestFault: orNull(fault),
};

const endpoint = object("One REST endpoint, seen from the selected region.", {
  ...measuredComponent,
  p50Ms: orNull(integer("Exact median of the good samples in the range.")),
  p95Ms: orNull(integer("Exact 95th percentile.")),
  ...newest,
  lag: orNull(
    object(
      "Distance to the freshest head that our fleet saw from this region; not to the true head.",
      {
        blocks: integer("Blocks behind it."),
        head: integer("This endpoint's newest head."),
        freshestHead: integer("The freshest one."),
        at: instant("When this head was seen."),
      },
    ),
  ),
});

const streamStatus = object(
  "One stream, or ws:conn, seen from the selected region.",
  {
    ...measuredComponent,
    messagesPerMinute: orNull(
      number("Data frames, mean over the measured slots; null on ws:conn."),
    ),
    longestQuietMs: orNull(integer("The longest silence in the range.")),
    eventAgeMs: orNull(
      integer(
        "Age of the newest event by the venue's own clock, which may be ahead of ours.",
        // a clock that is ahead by more than a year is none
        -31_536_000_000,
      ),
    ),
    stallAfterMs: orNull(integer("Silence beyond this is a stall.", 1)),
    ...newest,
  },
);

const regionComparison = object(
  "The venue as one region sees it, over the range.",
  {
    region: regionId,
    name: regionName,
    reporting: flag("Whether it reports this venue now."),
    impaired: flag(
      "Whether it has trouble of its own, and so no vote; /v1/regions says more.",
    ),
    state: {
      ...state,
      description: "What this region alone sees; it decides nothing.",
    },
    samples: integer("Samples in the range."),
    goodPct: orNull(percent("Share of them that were good.")),
    p50Ms: orNull(
      integer("Median over endpoints and hours of the hour's exact median."),
    ),
    p95Ms: orNull(integer("The same of the 95th percentiles.")),
    newestAt: orNull(instant("Slot of the newest sample.")),
  },
);

const incidentPattern = object(
  "What befell one component, as badly, and when in the day and in the week it did. All in UTC.",
  {
    component,
    severity: { ...severity, description: "The worst that they reached." },
    count: integer("How many incidents.", 1),
    days: integer("Days on which one or more of them started.", 1),
    totalSeconds: integer("Their length together, open ones until now."),
    newestAt: instant("Start of the newest."),
    byHour: {
      ...list("How many started in each hour of the day.", integer("Count.")),
      minItems: 24,
      maxItems: 24,
    },
    byWeekday: {
      ...list(
        "How many started on each day of the week, Monday first.",
        integer("Count."),
      ),
      minItems: 7,
      maxItems: 7,
    },
    recurring: list(
      "Times at which it keeps happening, by days so that a bad afternoon counts once: an hour of a weekday, or an hour of any day, with three days or more and at least half of all; or a weekday with four or more and at least three quarters. Chance alone looks like this in one pattern of thirty at the most.",
      object("One such time.", {
        every: oneOf(["week", "day"], "How often it comes round."),
        weekday: orNull(oneOf(weekdays, "Null when it is any day.")),
        hour: orNull({
          ...integer("Hour of the day; null when it is any."),
          maximum: 23,
        }),
        incidents: integer("Incidents that started then.", 1),
        days: integer("Days on which they did.", 1),
        ofDays: integer("Days with any incident of this pattern.", 1),
      }),
    ),
    incidents: list(
      "All of them, newest first.",
      object("A link.", {
        slug,
        path: text(
          "Where it is: /v1/incidents/{slug}.",
          "/v1/incidents/kraken-2026-01-31-rest-outage",
        ),
        startedAt: instant("When it started."),
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
    uptimePct90d: orNull(percent("All regions combined.")),
    typicalMs: orNull(integer("As on the board.")),
    days: {
      ...list("The ninety days, oldest first.", uptimeDay),
      minItems: 90,
      maxItems: 90,
    },
    latency: object("REST latency seen from the selected region.", {
      range: oneOf(["24h", "7d"], "The window."),
      bucketMs: integer("Width of a bucket.", 1),
      points: list(
        "Every bucket of the range, oldest first.",
        named("LatencyPoint", latencyPoint),
      ),
    }),
    endpoints: list(
      "REST, in the registry's order.",
      named("EndpointStatus", endpoint),
    ),
    streams: list(
      "The socket and its streams.",
      named("StreamStatus", streamStatus),
    ),
    regions: object("Vantage points.", {
      selected: text("The region that the request resolved to.", "eu-central"),
      compare: list(
        "Every region.",
        named("RegionComparison", regionComparison),
      ),
    }),
    incidents: {
      ...list("The 50 most recent, however old; newest first.", incident),
      maxItems: 50,
    },
    incidentPatterns: list(
      "All incidents that started within ninety days by component and severity, each in exactly one pattern; most frequent first.",
      named("IncidentPattern", incidentPattern),
    ),
    official: object("The venue's own channel.", {
      source: officialSource,
      page: officialPage,
      observed: flag("Whether it could be read in the window."),
      incidents: {
        ...list("None is read yet.", nothing("None.")),
        maxItems: 0,
      },
    }),
    detection,
    summary: {
      ...reliabilityVenue,
      description:
        "The row of /v1/reliability for this venue, over ninety days.",
    },
  }),
);
