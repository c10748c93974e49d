import { units } from "../../../shared/measurement/rule.js";
import { services } from "../../../shared/config/service.js";
import { unmeasuredReasons } from "../../../shared/measurement/unmeasured.js";
import { troubleKinds } from "../../../shared/measurement/trouble.js";
import {
  counts,
  day,
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
  probeVersion,
  regionId,
  regionName,
  type Schema,
  text,
  venueId,
  withOptional,
} from "./shapes.js";

const probeId = text(
  "Names a probe; the same after a restart in the same data directory.",
  "0f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11",
);

const vantage = named(
  "Vantage",
  object("From where is looked.", {
    name: orNull(text("A short name that the operator gave it; null, as the next two, where he says nothing.", "fra1")),
    place: orNull(text("Where on earth it is.", "Frankfurt")),
    network: orNull(text("Whose network it is in.", "Hetzner AS24940")),
    machine: orNull(
      text(
        "Fingerprint of the machine; those with the same one run on one. Null where it is not known.",
        "9f86d081884c7d65",
      ),
    ),
  }),
);

const recognisedBy = {
  venues: list("The venues that turned bad there alone.", venueId),
  measured: integer("How many the region measured then.", 15, 1),
};

export const regionsResponse = named(
  "RegionsResponse",
  object("The fleet of probes.", {
    generatedAt,
    regions: list(
      "Every region of the registry; a silent one is listed, never left out.",
      named(
        "RegionSummary",
        object("One region.", {
          id: regionId,
          name: regionName,
          reporting: flag("Whether it shipped a sample within the last minute.", true),
          newestAt: orNull(instant("Slot of its newest sample.")),
          samplesLastHour: integer("Samples shipped.", 6_480),
          goodPctLastHour: orNull(percent("Share of them that were good.", 99.938)),
          probeVersion,
          probeStartedAt: orNull(instant("When its probe started; the first of several.")),
          unmeasuredSlots: orNull(
            integer(
              "Slots not measured since then, for reasons of our own. What a venue prevented is a bad sample.",
              4,
            ),
          ),
          probes: list(
            "The region's probes that are alive, or the one that was alive last; they share its venues between them.",
            object("One probe.", {
              id: probeId,
              version: text("Its build.", "0.8.0"),
              startedAt: instant("When it started."),
              seenAt: instant("When the database last heard of it."),
              venues: integer("Venues that it measures.", 15),
              unmeasuredSlots: integer("Slots not measured since then.", 4),
              unmeasuredByReason: counts(
                unmeasuredReasons,
                "The same by reason; those that did not occur are left out.",
                { late: 1, subscribing: 3 },
              ),
              clockErrorMs: orNull(
                integer(
                  "Its clock less that of most venues, by the Date headers of their answers; null while fewer than three agree. Ages of events are corrected by it.",
                  -12,
                  null,
                ),
              ),
              clockErrorWithinMs: orNull(integer("The most by which that may be wrong.", 35)),
              vantage,
            }),
          ),
          troubles: list(
            "What of their own keeps its probes from measuring, or from measuring right, now. It is never booked on a venue.",
            object("One of them.", {
              probe: probeId,
              kind: oneOf(
                troubleKinds,
                "No route, no name that resolves, no socket left, a clock that is off by more than half a second, a process or machine that stands still, a spool that cannot be written.",
              ),
              since: instant("When it began."),
              detail: text(
                "The same in words.",
                "there is no way out of this machine: 37 slots of 15 venues not measured",
              ),
            }),
          ),
          vantage: {
            ...vantage,
            description:
              "From where its probes look; what they do not agree on is null. The machine is the one that all that live run on, as of generatedAt.",
          },
          sameMachineAs: list(
            "Other regions whose probes all run on the same machine: together they are one vantage, and trouble of its network reaches all of them.",
            { ...regionId, examples: ["us-east"] },
          ),
          impaired: orNull(
            object(
              "Trouble of the region's own: it goes on measuring, and has no vote. Null when it has none, and while the engine is silent.",
              {
                since: instant("The instant at which the first of it showed."),
                recognisedAt: instant("The tick that recognised it."),
                ...recognisedBy,
                reason: text(
                  "The same in words.",
                  "14 of 15 venues measured there turned bad at once, and in no other region whose own network worked: its votes are not counted",
                ),
              },
            ),
          ),
          impairments: list(
            "What was recorded of it in the last seven days, the present one included; newest first.",
            object("One of them.", {
              startedAt: instant("The instant at which the first of it showed."),
              recognisedAt: instant("The tick that recognised it."),
              endedAt: orNull(instant("The tick that ended it; null until then.")),
              ...recognisedBy,
            }),
          ),
        }),
      ),
    ),
    quorum: integer(
      "A simple majority of the regions that report now and are not impaired: how many must agree.",
      2,
      1,
    ),
    vantages: integer("How many distinct places the regions that report now are: all on one machine are one.", 3),
  }),
);

export const stallBasis = oneOf(
  ["measured", "documented", "probed", "estimate"],
  "What the threshold stands on: measured silences, or the usual rate, which the venue documents, which was counted by hand, or which is only an estimate.",
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
          name: text("Name; the rulebook says what it does.", "recoveryHoldMs"),
          value: number("Value.", 60_000),
          unit: oneOf(
            units,
            "Its unit. share is of one; times is a multiple of what is usual; cadences are of the component that is judged.",
          ),
          reason: text("Why it is what it is.", "Twice the time in which most restarts are over."),
          appliedBy: oneOf(
            ["engine", "probe", "figures"],
            "Who goes by it: the engine when it decides, probes when they judge a slot, or published figures. Only the engine's can be tried in a replay.",
          ),
        }),
      ),
    ),
    stalls: list(
      "One a stream.",
      named(
        "StallThreshold",
        object("Stall threshold of one stream.", {
          venue: venueId,
          component: text("ws:<name>.", "ws:trades"),
          afterMs: integer("Silence beyond this is a stall.", 30_000, 1),
          typicalPerMinute: number("Usual data frames a minute.", 240),
          rateBasis: oneOf(["documented", "probed", "estimate"], "Where that number comes from."),
          basis: stallBasis,
          counterpart: orNull(
            text(
              "The REST endpoint that shows whether there was anything to say while the stream was silent; null where there is none.",
              "rest:trades",
            ),
          ),
          distribution: orNull(
            object("The measured quiet periods that it was read off; null while it is reckoned from the usual rate.", {
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
  object("A sign of life that asks no database.", {
    status: oneOf(["ok"], "Always ok: a program that is not does not answer."),
    service: oneOf(services, "The program."),
    version: text("Its build.", "0.8.0"),
    uptimeSeconds: integer("Since it started.", 86_400),
    time: instant("Its clock."),
    generatedAt: instant("The same."),
  }),
);

/** What `problemBody` writes. */
export const problem = named(
  "Problem",
  withOptional(
    object("An error, by RFC 9457.", {
      type: text("about:blank: the status says it all.", "about:blank"),
      title: text("The status in words.", "Bad Request"),
      status: integer("The HTTP status.", 400, 400),
      detail: text("What was wrong and what to do.", "A parameter is not usable: days."),
    }),
    {
      errors: list(
        "With 400: every parameter that is not usable. Left out where it is the address itself.",
        object("One of them.", {
          parameter: text("Its name.", "days"),
          message: text("What was expected, and what came.", 'expected an integer from 1 to 90; got "91"'),
        }),
      ),
      slug: text(
        "With 404, of an incident that was retracted: its name. The next two come with it.",
        "kraken-2026-01-31-rest-outage",
      ),
      retractedAt: instant("When it was retracted."),
      reason: orNull(
        text(
          "Why, in the words of the engine or of the operator; null where the operator gave the reason before reasons were public.",
          "Our check of a good answer was wrong.",
        ),
      ),
    },
  ),
);

export const openapiResponse = object(
  "A description in OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.0 says what is in it.",
  {
    openapi: text("The version of OpenAPI.", "3.1.0"),
    "x-generatedAt": instant(
      "When this program made it. It is this document's generatedAt: OpenAPI allows no property of ours without x-.",
    ),
    info: partOfOpenapi("What this API is."),
    servers: list("Where it is served.", partOfOpenapi("An address.")),
    security: {
      ...list("What is needed to ask: nothing.", partOfOpenapi("A key.")),
      maxItems: 0,
    },
    tags: list("Groups of what may be asked.", partOfOpenapi("A group.")),
    paths: partOfOpenapi("What may be asked, and what it answers."),
    webhooks: partOfOpenapi("What is sent to receivers of alerts."),
    components: partOfOpenapi("What is referred to."),
  },
);

function partOfOpenapi(description: string): Schema {
  return { type: "object", description, examples: [{}] };
}
