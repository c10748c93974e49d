import { exampleOf } from "./example.js";
import { componentLabel, incident, target } from "./incident.js";
import {
  category,
  counts,
  flag,
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
  state,
  symbol,
  text,
  type TypeOf,
  venueId,
  venueName,
} from "./shapes.js";
import { faults } from "../../../shared/measurement/sample.js";

const decidedAt = "2026-01-31T11:41:20.000Z";

const vote = object("One region's vote.", {
  region: regionId,
  vote: { ...state, description: "What this region saw." },
  samples: integer("Samples in the window.", 7),
  bad: integer("Those among them that failed.", 7),
  slow: integer("Good ones that were slow against the typical latency; 0 where there is none to compare with.", 0),
  faults: counts(faults, "How many bad samples of each fault.", { timeout: 7 }),
  newestAt: orNull(instant("Slot of the newest sample; null where none is kept.", "2026-01-31T11:41:18.100Z")),
  probeVersion,
});

const usualVote = exampleOf(vote) as TypeOf<typeof vote>;

const evidence = object(
  "What the event was decided by: of an opening, an escalation or a closing each its own votes.",
  {
    summary: text(
      "The same in a sentence for people, with the faults of all votes; its words may change.",
      "2 of 2 reporting regions see it bad; 2 are needed: timeout 14",
    ),
    reporting: integer("How many regions had a vote.", 2),
    quorum: integer("How many votes were needed.", 2),
    confirming: integer(
      "How many of the votes are bad enough for an opening: with a run long enough, or failing in part.",
      2,
    ),
    votes: shownAs(list("Regions that had a vote.", vote), [
      { ...usualVote, region: "eu-central" },
      { ...usualVote, region: "us-east" },
    ]),
    notCounted: list(
      "Regions without a vote.",
      object("One of them.", {
        region: shownAs(regionId, "ap-southeast"),
        reason: text(
          "Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired: most venues turned bad there at once, and in no other region whose own network worked; outlier: it has seen this bad for long, and no quorum with it.",
          "no samples within the last hour",
        ),
      }),
    ),
  },
);

/** What a receiver of the native format gets, in the order in which its fields come. */
export const alert = named(
  "Alert",
  object("One event of an incident, as a receiver is told of it.", {
    eventId: integer(
      "Number of the event: the same however often it is sent, so that a receiver knows what it has. 0: a test.",
      8_123,
    ),
    test: flag("Whether an operator only tries the channel: then nothing of it happened.", false),
    kind: oneOf(["opened", "escalated", "closed"], "What happened to the incident."),
    severity: {
      ...severity,
      description: "Severity of the event; of a closing the worst that the incident reached.",
    },
    at: instant(
      "The instant for which the engine decided it. It may have been recorded later, where the engine had been away.",
      decidedAt,
    ),
    permalink: text(
      "The incident in this API, with all of its evidence; 404 once it is retracted, or its venue is watched no more.",
      "https://api.example.org/v1/incidents/kraken-2026-01-31-rest-outage",
    ),
    incident: {
      ...incident,
      description: "The incident as this API shows it when the alert is sent: it may have gone on since the event.",
    },
    venue: object("Its venue.", {
      id: venueId,
      name: venueName,
      category,
      symbol,
      quote,
    }),
    component: object("Its component.", {
      id: text("rest:<name> or ws:<name>; ws:conn is the socket that the streams share.", "rest:ticker"),
      kind: oneOf(["rest", "ws"], "Kind of the component."),
      label: componentLabel,
      target: orNull(target),
    }),
    evidence: orNull({
      ...evidence,
      description: `${evidence.description} Null where none is kept.`,
    }),
  }),
);
