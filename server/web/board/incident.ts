import type { RequestHandler } from "express";
import type { Pool } from "../../../shared/database/pool.js";
import { faults } from "../../../shared/measurement/sample.js";
import { answerJson, longCache } from "../api/answer.js";
import { Problem, shortened } from "../api/problem.js";
import {
  counts,
  eitherOf,
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
  severity,
  shownAs,
  slug,
  state,
  symbol,
  text,
  venueId,
  venueName,
  withOptional,
} from "../api/shapes.js";
import { startedAt, openedAt, component, kind, componentLabel, target, fault, stallBasisShape } from "./component.js";
import { incidentDetection, officialNotices } from "./detection.js";
import { incident } from "./incidents.js";
import type { Snapshot, Snapshots } from "./snapshot.js";

/** `/v1/incidents/{slug}`: one incident with its evidence. */
export function incidentRoute(pool: Pick<Pool, "file">, snapshots: Snapshots): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const incident = await incidentNamed(pool, snapshots, request.params.slug);
    await answerJson(response, incident, cacheOf(incident));
  };
}

/**
 * The incident of this slug, as JSON.
 *
 * @throws Problem 404 which says whether it was retracted
 */
export async function incidentNamed(pool: Pick<Pool, "file">, snapshots: Snapshots, slug: string): Promise<Snapshot> {
  const known = isSlug(slug);
  const incident = known ? await snapshots("incident", [slug], [slug]) : null;
  if (!incident) throw (known && (await goneOf(pool, slug))) || noSuchIncident(slug);
  return incident;
}

/** Matches every slug that the engine generates. */
export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*-\d{4}-\d\d-\d\d-(rest|ws)-(degraded|outage)(-\d{1,9})?$/;

export function isSlug(text: string): boolean {
  return text.length < 200 && slugPattern.test(text);
}

export function cacheOf({ closed }: Snapshot): string {
  return incidentCache[closed ? "closed" : "open"];
}

/** Open incidents change; closed ones do not. */
export const incidentCache = { open: "public, max-age=5", closed: longCache };

function noSuchIncident(slug: string): Problem {
  return new Problem(404, `Unknown incident ${JSON.stringify(shortened(slug))}. /v1/incidents lists all incidents.`);
}

/**
 * The problem for a retracted incident; null if no retracted incident has this slug. A retraction is final, so it may
 * be cached as long as a closed incident.
 */
async function goneOf(pool: Pick<Pool, "file">, slug: string): Promise<Problem | null> {
  const [row] = await pool.file<RetractedRow>("retracted", [slug]);
  if (!row) return null;
  const { retracted_at: retractedAt, reason } = row;
  return new Problem(404, `The incident ${slug} was retracted at ${retractedAt}: ${reason}`, {
    retracted: { slug, retractedAt, reason },
    cache: longCache,
  });
}

interface RetractedRow {
  retracted_at: string;
  reason: string;
}

const badSamples = counts(faults, "Number of bad samples by fault.", {
  timeout: 7,
});

const machineName = orNull(
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

const regionVote = object("One region's vote.", {
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
  machine: machineName,
});

const regionVotes = named(
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
    votes: list("Regions that had a vote.", named("Vote", regionVote)),
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
        machine: machineName,
      }),
    ),
    notes: list(
      "Limitations of these votes, for people.",
      text("One entry.", "Regions whose probes run on one machine share its network: they are one vantage."),
    ),
  }),
);

const incidentEvidence = withOptional(
  object("The votes and their samples at the opening, the escalation and the closing.", { opening: regionVotes }),
  {
    escalation: regionVotes,
    closing: eitherOf(
      "The votes, or the reason why there were none.",
      regionVotes,
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

const errorMinutes = object("Errors in the minutes that the incident touches.", {
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
      integer(
        "Median of their 95th percentiles, over buckets with at least 10 responses; null if fewer than half of the buckets have so many, or if it would lie below p50Ms, which is of all buckets.",
        210,
      ),
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

const incidentLatency = object(
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
    evidence: incidentEvidence,
    stallThreshold: shownAs(
      orNull(
        object(
          "The stream's current stall threshold (the last one, if it is no longer watched), which may have been different at the decision. Null for endpoints and sockets, and after an upgrade until core has read the registry.",
          {
            afterMs: integer("Silence beyond this is a stall.", 30_000, 1),
            basis: stallBasisShape,
          },
        ),
      ),
      null,
    ),
    errors: named("ErrorBreakdown", errorMinutes),
    latency: orNull(named("IncidentLatency", incidentLatency)),
    detection: {
      ...incidentDetection,
      description:
        "This incident alone compared with the venue's notices; /v1/targets/{venue} covers the venue's ninety days.",
    },
    official: officialNotices("the 6 hours before and after it began"),
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
