import { units } from "../../../shared/measurement/rule.js";
import { services } from "../../../shared/config/service.js";
import { unmeasuredReasons } from "../../../shared/measurement/unmeasured.js";
import { troubleKinds } from "../../../shared/measurement/trouble-kinds.js";
import {
  counts,
  day,
  flag,
  freshness,
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
  probeVersion,
  regionId,
  regionName,
  shownAs,
  type Schema,
  text,
  venueId,
  withOptional,
} from "./shapes.js";
import { component, fault, stallBasis } from "./incident.js";

const probeId = text(
  "Identifies a probe; kept across restarts in the same data directory.",
  "0f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11",
);

const vantage = named(
  "Vantage",
  object("The place from which a region measures.", {
    name: orNull(text("A short name given by the operator; like the next two, null if not set.", "fra1")),
    place: orNull(text("Its location.", "Frankfurt")),
    network: orNull(text("The operator of its network.", "Hetzner AS24940")),
    machine: orNull(
      text(
        "Fingerprint of the machine; probes with the same fingerprint share it. Null if unknown.",
        "9f86d081884c7d65",
      ),
    ),
  }),
);

const recognisedBy = {
  venues: list("The venues that turned bad in this region only.", venueId),
  measured: integer("Number of venues that the region measured then.", 15, 1),
};

export const regionsResponse = named(
  "RegionsResponse",
  object("The fleet of probes.", {
    ...freshness,
    regions: list(
      "Every region of the registry; a silent one is listed, never omitted.",
      named(
        "RegionSummary",
        object("One region.", {
          id: regionId,
          name: regionName,
          reporting: flag("Whether it shipped a sample within the last minute.", true),
          newestAt: orNull(instant("Slot of its newest sample.")),
          samplesLastHour: integer("Samples shipped in the last hour.", 6_480),
          goodPctLastHour: orNull(percent("Share of them that were good.", 99.938)),
          probeVersion,
          probeStartedAt: orNull(instant("When its probe started; with several probes, the earliest start.")),
          unmeasuredSlots: orNull(
            integer(
              "Slots unmeasured since then, for reasons of our own. A slot that a venue prevented is a bad sample instead.",
              4,
            ),
          ),
          probes: list(
            "The region's live probes, or the one that was live last; they divide its venues among themselves.",
            object("One probe.", {
              id: probeId,
              version: text("Its build.", "0.8.0"),
              startedAt: instant("When it started."),
              seenAt: instant("Its newest heartbeat."),
              venues: integer("Venues that it measures.", 15),
              unmeasuredSlots: integer("Slots unmeasured since it started.", 4),
              unmeasuredByReason: counts(
                unmeasuredReasons,
                "The same by reason; reasons that did not occur are omitted.",
                { late: 1, subscribing: 3 },
              ),
              clockErrorMs: orNull(
                integer(
                  "Its clock minus that of most venues, by the Date headers of their responses; null while fewer than three agree. Ages of events are corrected by it.",
                  -12,
                  null,
                ),
              ),
              clockErrorWithinMs: orNull(integer("Maximum error of clockErrorMs.", 35)),
              vantage,
            }),
          ),
          troubles: list(
            "Current probe trouble: what keeps its probes from measuring, or from measuring correctly. It never counts against a venue.",
            object("One entry.", {
              probe: probeId,
              kind: oneOf(
                troubleKinds,
                "No route, no name resolution, no free socket, a clock that is wrong by more than half a second, a process or machine that stalls, or a spool that cannot be written.",
              ),
              since: instant("When it began."),
              detail: text(
                "The same as text.",
                "there is no way out of this machine: 37 slots of 15 venues not measured",
              ),
            }),
          ),
          vantage: {
            ...vantage,
            description:
              "Where its probes measure from; null where they disagree. The machine is the one that all live probes run on, as of generatedAt.",
          },
          sameMachineAs: list(
            "Other regions whose probes all run on the same machine: together they are one vantage, and a fault of its network affects all of them.",
            { ...regionId, examples: ["us-east"] },
          ),
          neverSeenGood: shownAs(
            {
              ...list(
                "Components that no region has seen good by their present entry in the registry, and that this region sees fail: the entry, this network or this place may be the cause. They are unknown, open no incident and send no alert. The first 200, in the registry's order; none while the engine is silent.",
                named(
                  "NeverSeenGood",
                  object("One component.", {
                    venue: venueId,
                    component,
                    fault: { ...fault, description: "The newest fault that this region saw." },
                    since: instant("Since when it is unknown for this reason."),
                    advice: text("What to do.", "check the address in the entry, and this network"),
                  }),
                ),
              ),
              maxItems: 200,
            },
            [],
          ),
          neverSeenGoodTotal: integer("Number of such components, of which at most 200 are listed.", 0),
          impaired: orNull(
            object(
              "The region's current impairment: it keeps measuring, but has no vote. Null if there is none, and while the engine is silent.",
              {
                since: instant("When its first sign appeared."),
                recognisedAt: instant("The tick that recognised it."),
                ...recognisedBy,
                reason: text(
                  "The same as text.",
                  "14 of 15 venues measured there turned bad at once, and in no other region whose own network worked: its votes are not counted",
                ),
              },
            ),
          ),
          impairments: list(
            "Its impairments of the last seven days, including a current one; newest first.",
            object("One entry.", {
              startedAt: instant("When its first sign appeared."),
              recognisedAt: instant("The tick that recognised it."),
              endedAt: orNull(instant("The tick that ended it; null while it lasts.")),
              ...recognisedBy,
            }),
          ),
        }),
      ),
    ),
    quorum: integer(
      "The number of regions that must agree: a simple majority of those that report now and are not impaired.",
      2,
      1,
    ),
    vantages: integer(
      "Number of distinct vantages of the regions that report now: regions on one machine are one vantage.",
      3,
    ),
  }),
);

export const thresholdsResponse = named(
  "ThresholdsResponse",
  object("The rules of this build.", {
    generatedAt,
    version: text("Build of the engine.", "0.8.0"),
    rules: list(
      "Every constant of the engine, then those of probes and of published figures.",
      named(
        "PublishedRule",
        object("One rule.", {
          name: text("Name; the rulebook explains it.", "recoveryHoldMs"),
          value: number("Value.", 60_000),
          unit: oneOf(
            units,
            "Its unit. share is a fraction of 1; times is a multiple of the usual value; cadences are those of the judged component.",
          ),
          reason: text("The reason for the value.", "Twice the time that most restarts take."),
          appliedBy: oneOf(
            ["engine", "probe", "figures"],
            "Where it applies: the engine's decisions, a probe's judgement of a slot, or published figures. Only the engine's can be changed in a replay.",
          ),
        }),
      ),
    ),
    stalls: list(
      "One per stream.",
      named(
        "StallThreshold",
        object("Stall threshold of one stream.", {
          venue: venueId,
          component: text("ws:<name>.", "ws:trades"),
          afterMs: integer("Silence beyond this is a stall.", 30_000, 1),
          typicalPerMinute: number("Usual data frames a minute.", 240),
          rateBasis: oneOf(["documented", "probed", "estimate"], "The source of typicalPerMinute."),
          basis: stallBasis,
          counterpart: orNull(
            text(
              "The REST endpoint that shows whether a silent stream should have sent something; null if there is none.",
              "rest:trades",
            ),
          ),
          distribution: orNull(
            object("The measured quiet periods that it is based on; null while it is computed from the usual rate.", {
              periods: integer("Periods measured.", 120_960),
              from: day("First day."),
              to: day("Last day."),
              p50Ms: integer("Median.", 180),
              p99Ms: integer("99th percentile.", 9_200),
              p999Ms: integer("99.9th percentile.", 14_800),
            }),
          ),
        }),
      ),
    ),
  }),
);

export const healthResponse = named(
  "HealthResponse",
  object("Liveness, without using the database.", {
    status: oneOf(["ok"], "Always ok: a program that is not live does not respond."),
    service: oneOf(services, "The program."),
    version: text("Its build.", "0.8.0"),
    uptimeSeconds: integer("Seconds since it started.", 86_400),
    time: instant("Its clock."),
    generatedAt: instant("The same as time."),
  }),
);

/** What `problemBody` writes. */
export const problem = named(
  "Problem",
  withOptional(
    object("An error in the format of RFC 9457.", {
      type: text("about:blank: no more specific than the status.", "about:blank"),
      title: text("The status in words.", "Bad Request"),
      status: integer("The HTTP status.", 400, 400),
      detail: text("What was wrong, and what to do.", "Invalid parameter: days."),
    }),
    {
      errors: list(
        "With 400: every invalid parameter. Omitted if the path or query itself is invalid.",
        object("One entry.", {
          parameter: text("Its name.", "days"),
          message: text("What was expected, and what came.", 'expected an integer from 1 to 90; got "91"'),
        }),
      ),
      slug: text(
        "With 404 of a retracted incident: its slug. retractedAt and reason come with it.",
        "kraken-2026-01-31-rest-outage",
      ),
      retractedAt: instant("When it was retracted."),
      reason: text("Why, in the words of the engine or the operator.", "Our check of a good response was wrong."),
    },
  ),
);

export const openapiResponse = object(
  "An OpenAPI 3.1 description, as specified at https://spec.openapis.org/oas/v3.1.0.",
  {
    openapi: text("The version of OpenAPI.", "3.1.0"),
    "x-generatedAt": instant(
      "When this program generated it. It serves as generatedAt: OpenAPI requires the prefix x- for other properties.",
    ),
    info: partOfOpenapi("What this API is."),
    servers: list("Where it is served.", partOfOpenapi("An address.")),
    security: {
      ...list("Always empty: no key is needed.", partOfOpenapi("A key.")),
      maxItems: 0,
    },
    tags: list("Groups of operations.", partOfOpenapi("A group.")),
    paths: partOfOpenapi("Operations and their responses."),
    webhooks: partOfOpenapi("Requests to alert receivers."),
    components: partOfOpenapi("Referenced parts."),
  },
);

function partOfOpenapi(description: string): Schema {
  return { type: "object", description, examples: [{}] };
}
