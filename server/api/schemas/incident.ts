import { faults } from "../../../shared/measurement/sample.js";
import {
  counts,
  eitherOf,
  flag,
  generatedAt,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  probeVersion,
  quote,
  regionId,
  severity,
  shownAs,
  slug,
  state,
  symbol,
  text,
  venueId,
  venueName,
  withOptional,
} from "./shapes.js";
import { incidentDetection } from "./detection.js";
import { official, officialIncident } from "./official.js";
import { stallBasis } from "./service.js";

/** The examples tell of one incident, which is open at their `generatedAt`. */
const startedAt = "2026-01-31T11:41:06.000Z";
const openedAt = "2026-01-31T11:41:20.000Z";

export const component = text("rest:<name> or ws:<name>; ws:conn is the socket that the streams share.", "rest:ticker");
const kind = oneOf(["rest", "ws"], "Kind of the component.");
export const componentLabel = text("What it is, in words.", "Ticker");
export const target = text("The address that is measured.", "https://api.kraken.com/0/public/Ticker?pair=XBTUSD");
export const fault = named(
  "Fault",
  shownAs(
    oneOf(
      faults,
      "Why a sample is bad. blocked: 403, 451 and kin; limited: 429 or 418; stall: a stream that is silent on a living socket; stale: data whose own time stands still or is far behind.",
    ),
    "timeout",
  ),
);
const badSamples = counts(faults, "How many bad samples of each fault.", {
  timeout: 7,
});

const incidentObject = object("An incident, the same object everywhere.", {
  id: integer("Number of the incident; breaks ties between cursors.", 4711, 1),
  slug,
  venue: venueId,
  component,
  kind,
  label: componentLabel,
  severity: {
    ...severity,
    description: "Severity now; of a closed one the worst that it reached, as peakSeverity.",
  },
  peakSeverity: { ...severity, description: "The worst that it reached." },
  status: oneOf(["open", "closed"], "A closed incident no longer changes."),
  startedAt: instant("The first bad sample of the run that a quorum confirmed.", startedAt),
  openedAt: instant("The tick at which the quorum confirmed it.", openedAt),
  escalatedAt: shownAs(
    orNull(instant("The tick at which it first became an outage, if it opened as degraded; null otherwise.")),
    null,
  ),
  lastBadAt: instant("The last bad sample. The recovery hold follows, so that closedAt is later."),
  closedAt: shownAs(orNull(instant("The tick that ended the recovery hold; null while open.")), null),
  endedAt: shownAs(orNull(instant("When the trouble ended: lastBadAt, once it is closed; else null.")), null),
  flapping: flag(
    "Whether it was at least the third of its component within an hour: a relapse then extends it, since it closes only after a longer hold.",
    false,
  ),
  durationSeconds: shownAs(
    orNull(integer("From startedAt to endedAt, without the recovery hold. Null while open.", 1_134)),
    null,
  ),
  quorum: integer("How many regions had to agree at the opening.", 2, 1),
  reporting: integer("How many regions reported the component then.", 2, 1),
  regions: shownAs(
    list(
      "The regions that voted degraded or outage at the opening. Others may have followed later: they are not added. Empty where no votes are on record.",
      regionId,
    ),
    ["eu-central", "us-east"],
  ),
  official: {
    ...orNull(officialIncident),
    description:
      "The notice of the same venue, of kind incident, that began nearest to it and within 6 hours, either way; null where there is none, of which officialObserved says whether we would know. It may stand beside several incidents. Venues write and change notices afterwards, so it may change after the incident closed.",
  },
  officialObserved: orNull(
    flag("Whether we know what the venue's own feed had to say when it began; null where the venue has none.", true),
  ),
});
export const incident = named("Incident", incidentObject);

/** What came with 0.9.0: incidents that were decided by an earlier version do not have it. */
const machine = orNull(
  text(
    "Fingerprint of the one machine that all of the region's probes ran on; null where there were several, or nobody knew. Regions with the same one are one vantage. Absent in what an earlier version decided.",
    "6f1d0c2b9a4e",
  ),
);

const lookedFrom = object(
  "From where the region looked at that decision, by what all of its probes had said until then; what they did not agree on, or nobody had said, is null.",
  {
    name: orNull(text("A short name that the operator gave it.", "fra1")),
    place: orNull(text("Where on earth it is.", "Frankfurt")),
    network: orNull(text("Whose network it is in.", "Hetzner AS24940")),
  },
);

const voteObject = object("One region's vote.", {
  region: regionId,
  vote: { ...state, description: "What this region saw." },
  samples: integer("Samples in the window.", 7),
  bad: integer("Those among them that failed.", 7),
  slow: integer("Good ones that were slow against the typical latency; 0 where there is none to compare with.", 0),
  badRun: integer(
    "Failed or slow ones in a row, up to the newest; of a stream without those that its socket prevented.",
    7,
  ),
  faults: badSamples,
  answers: integer("Good answers in the window, of which p50Ms is; 0 for a stream or a socket.", 0),
  p50Ms: shownAs(orNull(integer("Median latency of these; null where there were fewer than 3.", 310)), null),
  typicalP50Ms: orNull(integer("The typical latency that it was compared with; null where it was not known.", 84)),
  newestAt: instant("Slot of the newest sample.", "2026-01-31T11:41:18.100Z"),
  ageMs: integer("How old that was.", 1_900),
  probeVersion,
  vantage: lookedFrom,
});

const vote = withOptional(voteObject, {
  unserved: integer(
    "Failed ones that were never asked for or heard, since the venue had told us to wait or the socket was down. Absent in what an earlier version decided.",
    0,
  ),
  partial: orNull(
    object(
      "What failed in part, window after window, whether or not many in a row did; null where it did not. Absent in what an earlier version decided.",
      {
        samples: integer("Samples in all of these windows.", 36),
        bad: integer("Those among them that failed.", 11),
      },
    ),
  ),
  refusal: orNull(
    text(
      "The venue's own words when it refused the stream's subscription, the latest in the window; null where it did not. Absent in what an earlier version decided.",
      "Invalid symbol",
    ),
  ),
  machine,
});

const votesObject = object("The votes behind a decision.", {
  at: instant("The tick that decided.", openedAt),
  state: { ...state, description: "What the quorum said." },
  quorum: integer("How many votes were needed.", 2, 1),
  reporting: integer("How many regions had a vote.", 2),
  confirming: integer(
    "How many of the votes are bad enough for an opening: with a run long enough, or failing in part.",
    2,
  ),
  votes: list("Regions that had a vote.", named("Vote", vote)),
  notCounted: list(
    "Regions without a vote.",
    withOptional(
      object("One of them.", {
        region: shownAs(regionId, "ap-southeast"),
        reason: text(
          "Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired: most venues turned bad there at once, and in no other region whose own network worked; outlier: it has seen this bad for long, and no quorum with it.",
          "newest sample too old",
        ),
        newestAt: orNull(instant("Slot of its newest sample, if any.", "2026-01-31T11:36:02.400Z")),
        vantage: lookedFrom,
      }),
      { machine },
    ),
  ),
});

const votes = named(
  "Votes",
  withOptional(votesObject, {
    published: integer("How many regions the registry published. Absent in what an earlier version decided.", 3),
    vantages: integer(
      "From how many places the regions with a vote looked: those whose probes run on one machine are one. Absent in what an earlier version decided.",
      2,
    ),
    notes: list(
      "What limits these votes, for people. Absent in what an earlier version decided.",
      text("One of them.", "Regions whose probes run on one machine share its network: they are one vantage."),
    ),
  }),
);

const evidence = withOptional(
  object("Who voted what and on which samples, at the opening, the escalation and the closing.", { opening: votes }),
  {
    escalation: votes,
    closing: eitherOf(
      "The votes, or why there were none.",
      votes,
      object("A component that is no longer watched.", {
        at: instant("The tick that closed it."),
        reason: text("Why.", "no longer watched"),
      }),
    ),
    closedBecause: text(
      "Why it closed, for people. Absent while it is open, and in what an earlier version closed.",
      "a region that saw it sees it well, and a quorum has for the whole hold",
    ),
  },
);

const errors = object("What went wrong, by the minutes that the incident touches.", {
  from: instant("Its startedAt.", startedAt),
  to: instant("Its lastBadAt: the recovery hold is left out."),
  samples: orNull(integer("Samples taken; null when no minute is kept any more.", 92)),
  bad: orNull(integer("Bad ones among them.", 92)),
  faults: list(
    "Over all regions, most frequent first.",
    object("One fault.", { fault, count: integer("Bad samples.", 92, 1) }),
  ),
  regions: list(
    "By region; one that was silent has no samples. Empty when no minute is kept any more.",
    object("One region.", {
      region: regionId,
      samples: integer("Samples taken.", 92),
      bad: integer("Bad ones among them.", 92),
      faults: shownAs(badSamples, { timeout: 92 }),
    }),
  ),
});

function measuredLatency(description: string, from: string, to?: string) {
  return object(description, {
    from: instant("Start.", from),
    to: instant("End.", to),
    buckets: integer("Buckets of endpoints and regions with a good answer: what the medians are of.", 180),
    answers: integer("Good answers in them.", 2_160),
    p50Ms: orNull(integer("Median of their medians; null where fewer than 3 were answered.", 84)),
    p95Ms: orNull(
      integer("Median of their 95th percentiles, of those with 10 answers and more; null where there is none.", 210),
    ),
    slowestMs: orNull(
      integer(
        "The highest of their medians, of those with 3 answers and more: of what lasted a minute or two, the others are half of what was before and after it.",
        96,
      ),
    ),
  });
}

const latency = object("How slow it was, and how slow before. Null where there was no good answer in either time.", {
  source: oneOf(["component", "venue-rest"], "A stream has no latency of its own: then it is the venue's REST."),
  label: text("The same in words.", "Latency of this endpoint"),
  bucketMs: integer(
    "Width of the buckets: a minute, or an hour where the incident lasted longer than a day.",
    60_000,
    1,
  ),
  before: measuredLatency("The day before it started.", "2026-01-30T11:41:06.000Z", startedAt),
  during: measuredLatency("From startedAt to lastBadAt.", startedAt),
  regions: list(
    "By region, since a region that saw nothing dilutes the others.",
    object("One region.", {
      region: regionId,
      beforeAnswers: integer("Good answers before.", 720),
      beforeP50Ms: orNull(integer("Before, null where not measured.", 84)),
      answers: integer("Good answers during.", 48),
      p50Ms: orNull(integer("During.", 84)),
      p95Ms: orNull(integer("During.", 210)),
      slowestMs: orNull(integer("During.", 96)),
    }),
  ),
});

export const incidentsResponse = named(
  "IncidentsResponse",
  object("History of incidents, newest first.", {
    generatedAt,
    incidents: list("A page; one shorter than the limit is the last.", incident),
  }),
);

export const incidentDetailResponse = named(
  "IncidentDetailResponse",
  object("One incident.", {
    generatedAt,
    incident,
    venue: object("The venue.", {
      id: venueId,
      name: venueName,
      symbol,
      quote,
    }),
    component: object("The component.", {
      id: { ...component, pattern: "^(rest|ws):[a-z]+$" },
      kind,
      label: componentLabel,
      target: orNull(target),
    }),
    events: list(
      "Timeline, from the incident's own columns.",
      named(
        "IncidentEvent",
        object("One event.", {
          kind: oneOf(
            ["started", "opened", "escalated", "last-bad", "closed"],
            "What happened. last-bad: a quorum saw it for the last time; the recovery hold followed.",
          ),
          at: instant("When.", startedAt),
          severity: orNull({
            ...severity,
            description: "Severity from then on.",
          }),
        }),
      ),
    ),
    evidence,
    stallThreshold: shownAs(
      orNull(
        object(
          "Of a stream: the threshold in force now (or last, where it is watched no more), which may have been another one at the decision. Null for endpoints and sockets, and after an upgrade until core has read the registry.",
          {
            afterMs: integer("Silence beyond this is a stall.", 30_000, 1),
            basis: stallBasis,
          },
        ),
      ),
      null,
    ),
    errors: named("ErrorBreakdown", errors),
    latency: orNull(named("IncidentLatency", latency)),
    detection: {
      ...incidentDetection,
      description:
        "This incident alone against the venue's own notices; /v1/targets/{venue} has all of the venue's ninety days.",
    },
    official: official("the 6 hours before and after it began"),
    related: shownAs(
      list(
        "Newest first, the nearest ten of each: others of the venue that started within six hours of it or were under way when it started; others of its component within ninety days; and those of other venues that started within ten minutes of it. Venue and component tell which is which.",
        incident,
      ),
      [],
    ),
  }),
);
