import { type Fault, faults } from "../../../shared/measurement/sample.js";
import {
  counts,
  eitherOf,
  flag,
  freshness,
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
  type Schema,
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

/** The examples describe one incident, which is open at their `generatedAt`. */
const startedAt = "2026-01-31T11:41:06.000Z";
const openedAt = "2026-01-31T11:41:20.000Z";

export const component = text("rest:<name> or ws:<name>; ws:conn is the socket shared by the streams.", "rest:ticker");
const kind = oneOf(["rest", "ws"], "Kind of the component.");
export const componentLabel = text("Its name for people.", "Ticker");
export const target = text(
  "The measured address if it is in the catalogue; of an operator's own only the origin.",
  "https://api.kraken.com/0/public/Ticker?pair=XBTUSD",
);
export const fault = named(
  "Fault",
  shownAs(
    oneOf(
      faults,
      "Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far behind.",
    ),
    "timeout",
  ),
);
/** Of a component that is degraded or down. */
export const presentFault: Schema<Fault | null> = {
  ...orNull(fault),
  description:
    "What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault.",
};
const badSamples = counts(faults, "Number of bad samples by fault.", {
  timeout: 7,
});

export const stallBasis = oneOf(
  ["measured", "documented", "probed", "estimate"],
  "The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents (documented), which was counted by hand (probed), or which is only estimated (estimate).",
);

const incidentObject = object("An incident, the same object everywhere.", {
  id: integer("Number of the incident; breaks ties between cursors.", 4711, 1),
  slug,
  venue: venueId,
  component,
  kind,
  label: componentLabel,
  severity: {
    ...severity,
    description: "Current severity; for a closed incident the worst that it reached, equal to peakSeverity.",
  },
  peakSeverity: { ...severity, description: "The worst that it reached." },
  status: oneOf(["open", "closed"], "A closed incident no longer changes."),
  startedAt: instant("The first bad sample of the run that a quorum confirmed.", startedAt),
  openedAt: instant("The tick at which the quorum confirmed it.", openedAt),
  escalatedAt: shownAs(
    orNull(instant("The tick at which it first became an outage, if it opened as degraded; null otherwise.")),
    null,
  ),
  lastBadAt: instant("The last bad sample. The recovery hold follows it, so closedAt is later."),
  closedAt: shownAs(orNull(instant("The tick that ended the recovery hold; null while open.")), null),
  endedAt: shownAs(orNull(instant("When the trouble ended: lastBadAt, once the incident is closed; else null.")), null),
  flapping: flag(
    "Whether it was at least the third incident of its component within an hour. It then closes only after a longer hold, so a relapse extends it.",
    false,
  ),
  fault: {
    ...orNull(fault),
    description:
      "The fault of more than half of the failed and slow samples in the votes that opened it, or that made it an outage. With `limited` the venue limits our requests, and is not down. Null if no fault has so many, as of one that was only slow, or if no votes are on record.",
  },
  durationSeconds: shownAs(
    orNull(integer("From startedAt to endedAt, without the recovery hold. Null while open.", 1_134)),
    null,
  ),
  quorum: integer("Number of regions that had to agree at the opening.", 2, 1),
  reporting: integer("Number of regions that reported the component then.", 3, 1),
  counted: integer("Number of these whose votes counted.", 2, 1),
  regions: shownAs(
    list(
      "The regions that voted degraded or outage at the opening, without those that followed later. Empty if no votes are on record.",
      regionId,
    ),
    ["eu-central", "us-east"],
  ),
  official: {
    ...orNull(officialIncident),
    description:
      "The same venue's notice of kind incident that began nearest to it, at most 6 hours before or after; null if there is none, and officialObserved says whether we would know of one. Several incidents may have the same notice. Venues write and change notices later, so it may change after the incident closed.",
  },
  officialObserved: orNull(
    flag(
      "Whether we know what the venue's feed said when the incident started: a reading without problems covers that time, or ended at most 15 minutes before it. Only then does a missing notice mean something. Null if the venue has no feed.",
      true,
    ),
  ),
});
export const incident = named("Incident", incidentObject);

const machine = orNull(
  text(
    "Fingerprint of the only machine that all of the region's probes ran on; null if there were several, or it is unknown. Regions with the same fingerprint are one vantage.",
    "6f1d0c2b9a4e",
  ),
);

const lookedFrom = object(
  "Where the region's probes measured from at that decision, as they had reported until then; null where they disagreed or reported nothing.",
  {
    name: orNull(text("A short name given by the operator.", "fra1")),
    place: orNull(text("Its location.", "Frankfurt")),
    network: orNull(text("The operator of its network.", "Hetzner AS24940")),
  },
);

const vote = object("One region's vote.", {
  region: regionId,
  vote: { ...state, description: "What this region saw." },
  samples: integer("Samples in the window.", 7),
  bad: integer("Those among them that failed.", 7),
  slow: integer(
    "Good samples that were slow compared with the typical latency; 0 if there is none to compare with.",
    0,
  ),
  badRun: integer(
    "Consecutive failed or slow samples up to the newest; for a stream, without those that its socket prevented.",
    7,
  ),
  faults: badSamples,
  answers: integer("Good responses in the window, over which p50Ms is computed; 0 for a stream or a socket.", 0),
  p50Ms: shownAs(orNull(integer("Median latency of these; null if there were fewer than 3.", 310)), null),
  typicalP50Ms: orNull(integer("The typical latency that it was compared with; null if unknown.", 84)),
  newestAt: instant("Slot of the newest sample.", "2026-01-31T11:41:18.100Z"),
  ageMs: integer("Age of the newest sample.", 1_900),
  probeVersion,
  vantage: lookedFrom,
  unserved: integer(
    "Failed samples that were unserved, because the venue had told us to wait or the socket was down.",
    0,
  ),
  partial: orNull(
    object(
      "Partial failure over several consecutive windows, whether or not many samples in a row failed; null if there was none.",
      {
        samples: integer("Samples in all of these windows.", 36),
        bad: integer("Samples among them that failed.", 11),
      },
    ),
  ),
  refusal: orNull(
    text(
      "The venue's words in its latest refusal of the stream's subscription in the window; null if there was none.",
      "Invalid symbol",
    ),
  ),
  machine,
});

const votes = named(
  "Votes",
  object("The votes behind a decision.", {
    at: instant("The tick that decided.", openedAt),
    state: { ...state, description: "The state by quorum." },
    quorum: integer("Number of votes needed.", 2, 1),
    reporting: integer("Number of regions that reported the component.", 3),
    counted: integer("Number of regions with a vote.", 2),
    published: integer("Number of regions published in the registry.", 3),
    vantages: integer(
      "Number of vantages of the regions with a vote: regions whose probes run on one machine are one.",
      2,
    ),
    confirming: integer("Number of votes that confirm trouble: with a sufficient bad run, or failing in part.", 2),
    votes: list("Regions that had a vote.", named("Vote", vote)),
    notCounted: list(
      "Regions without a vote.",
      object("One entry.", {
        region: shownAs(regionId, "ap-southeast"),
        reason: text(
          "Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired: most venues were cut off there at once, and in no other region whose own network worked; refused: the venue blocks this place, and no second place confirms that it blocks everybody; outlier: it has seen this bad for long, and no quorum with it.",
          "newest sample too old",
        ),
        newestAt: orNull(instant("Slot of its newest sample, if any.", "2026-01-31T11:36:02.400Z")),
        vantage: lookedFrom,
        machine,
      }),
    ),
    notes: list(
      "Limitations of these votes, for people.",
      text("One entry.", "Regions whose probes run on one machine share its network: they are one vantage."),
    ),
  }),
);

const evidence = withOptional(
  object("The votes and their samples at the opening, the escalation and the closing.", { opening: votes }),
  {
    escalation: votes,
    closing: eitherOf(
      "The votes, or the reason why there were none.",
      votes,
      object("A component that is no longer watched.", {
        at: instant("The tick that closed it."),
        reason: text("Why.", "no longer watched"),
      }),
    ),
    closedBecause: text(
      "Why it closed, for people. Absent while it is open.",
      "a region that saw it sees it well, and a quorum has for the whole hold",
    ),
  },
);

const errors = object("Errors in the minutes that the incident touches.", {
  from: instant("Its startedAt.", startedAt),
  to: instant("Its lastBadAt: the recovery hold is excluded."),
  samples: orNull(integer("Samples taken; null if no minute is kept any longer.", 92)),
  bad: orNull(integer("Bad ones among them.", 92)),
  faults: list(
    "Over all regions, most frequent first.",
    object("One fault.", { fault, count: integer("Bad samples.", 92, 1) }),
  ),
  regions: list(
    "By region; a silent one has no samples. Empty if no minute is kept any longer.",
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
    buckets: integer(
      "Buckets, per endpoint and region, with a good response; the medians are computed over these.",
      180,
    ),
    answers: integer("Good responses in them.", 2_160),
    p50Ms: orNull(integer("Median of their medians; null if there were fewer than 3.", 84)),
    p95Ms: orNull(
      integer("Median of their 95th percentiles, over buckets with at least 10 responses; null if there is none.", 210),
    ),
    slowestMs: orNull(
      integer(
        "The highest of their medians, over buckets with at least 3 responses. Use it for an incident of a minute or two: half of the samples behind p50Ms and p95Ms are then from before and after it.",
        96,
      ),
    ),
  });
}

const latencySource = oneOf(
  ["component", "venue-rest"],
  "component, or for a stream, which has no latency of its own, the venue's REST (venue-rest).",
);

const latency = object(
  "Latency during the incident and before it. Null if there was no good response in either period.",
  {
    source: latencySource,
    label: text("The same as text.", "Latency of this endpoint"),
    bucketMs: integer(
      "Width of the buckets: a minute, or an hour if the incident lasted longer than a day.",
      60_000,
      1,
    ),
    before: measuredLatency("The day before it started.", "2026-01-30T11:41:06.000Z", startedAt),
    during: measuredLatency("From startedAt to lastBadAt.", startedAt),
    regions: list(
      "By region, since a region that saw nothing dilutes the others.",
      object("One region.", {
        region: regionId,
        beforeAnswers: integer("Good responses before.", 720),
        beforeP50Ms: orNull(integer("Median before; null if not measured.", 84)),
        answers: integer("Good responses during the incident.", 48),
        p50Ms: orNull(integer("Median during.", 84)),
        p95Ms: orNull(integer("95th percentile during.", 210)),
        slowestMs: orNull(integer("The highest median during.", 96)),
      }),
    ),
  },
);

export const incidentsResponse = named(
  "IncidentsResponse",
  object("History of incidents, newest first.", {
    ...freshness,
    incidents: list("One page; a page shorter than the limit is the last.", incident),
  }),
);

const eventKind = oneOf(
  ["started", "opened", "escalated", "last-bad", "closed"],
  "What happened. last-bad: a quorum saw the trouble for the last time; the recovery hold followed.",
);

export const incidentDetailResponse = named(
  "IncidentDetailResponse",
  object("One incident.", {
    ...freshness,
    incident,
    venue: object("The venue.", {
      id: venueId,
      name: venueName,
      symbol,
      quote,
    }),
    note: shownAs(
      orNull(
        text(
          "A sentence about what this venue is. Only incidents of chains have one: that the chain stands, and no provider is at fault.",
          "It is the chain that stands.",
        ),
      ),
      null,
    ),
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
          kind: eventKind,
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
          "The stream's current stall threshold (the last one, if it is no longer watched), which may have been different at the decision. Null for endpoints and sockets, and after an upgrade until core has read the registry.",
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
        "This incident alone compared with the venue's notices; /v1/targets/{venue} covers the venue's ninety days.",
    },
    official: official("the 6 hours before and after it began"),
    beganAtOnce: shownAs(
      list(
        "The incidents of other venues that began within two minutes of it, open or closed, the 100 nearest to it: perhaps the trouble of a provider that they share. It may grow after the incident closed.",
        slug,
      ),
      ["okx-2026-01-31-rest-outage"],
    ),
    related: shownAs(
      list(
        "Newest first, the nearest ten of each group: other incidents of the venue that started within six hours of it or were open when it started; others of its component within ninety days; and those of other venues that started within ten minutes of it. Venue and component identify the group.",
        incident,
      ),
      [],
    ),
  }),
);
