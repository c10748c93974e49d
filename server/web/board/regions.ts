import type { RequestHandler } from "express";
import { troubleKinds, unmeasuredReasons } from "../../../shared/measurement/sample.js";
import { answerJson } from "../api/answer.js";
import {
  counts,
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  percent,
  probeVersion,
  regionId,
  regionName,
  shownAs,
  text,
  venueId,
} from "../api/shapes.js";
import { component, fault } from "./component.js";
import type { Boards } from "./snapshot.js";

/** `/v1/regions`: the fleet, as measured, and its quorum. */
export function regionsRoute(boards: Boards): RequestHandler {
  return async (_request, response) => {
    await answerJson(response, (await boards.regions())!);
  };
}

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
