import type { ParameterObject, PathItemObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import { faults } from "../../shared/measurement/sample.js";
import {
  category,
  counts,
  exampleOf,
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
} from "./api/shapes.js";
import { componentLabel, target } from "./board/component.js";
import { incident } from "./board/incidents.js";
import { asset, network, networkName, venueNetwork } from "./board/transfers.js";

/**
 * The requests that a channel of the native format receives. Channels are created by operators, not through this API.
 */
export function alertWebhooks(siteUrl: string): Record<string, PathItemObject> {
  const delivery = `Delivered at least once, one at a time per channel, in the order of events. Receivers verify the raw body before parsing it, and de-duplicate by \`eventId\`. Details and code are at ${siteUrl}/receiving.`;
  return {
    alert: webhook("receiveAlert", "An event of an incident, as sent to a receiver", delivery, alertBody),
    transferAlert: webhook(
      "receiveTransferAlert",
      "Deposits or withdrawals that a venue declares paused, or open again",
      `Sent to channels that asked for the asset, in the same order as the other alerts. ${delivery}`,
      transferAlertBody,
    ),
  };
}

function webhook(operationId: string, summary: string, description: string, body: SchemaObject): PathItemObject {
  return {
    post: {
      ...{ operationId, tags: ["alerts"], summary, description },
      parameters: webhookHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${body.title}` },
            example: exampleOf(body),
          },
        },
      },
      responses: webhookResponses,
    },
  };
}

const webhookHeaders = [
  headerParameter(
    "x-svc-signature",
    "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the channel's secret, as it was shown, as the key. While a secret is being rotated there are two `v1`; one valid value suffices. Reject a timestamp more than 300 seconds out of date.",
    "^t=\\d+(,v1=[0-9a-f]{64})+$",
    "t=1769859681,v1=5c3a2b9f0d1e4f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  ),
  headerParameter(
    "webhook-id",
    "Standard Webhooks: `evt_` and the eventId; for a test, `test_` and a number of its own.",
    "^(evt|test)_\\d+$",
    "evt_8123",
  ),
  headerParameter("webhook-timestamp", "Standard Webhooks: sending time in Unix seconds.", "^\\d+$", "1769859681"),
  headerParameter(
    "webhook-signature",
    "Standard Webhooks: `v1,<base64>` of `<webhook-id>.<webhook-timestamp>.<raw body>`; two values are separated by a space.",
    "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function headerParameter(name: string, description: string, pattern: string, example: string): ParameterObject {
  const schema = { type: "string", pattern } as const;
  return { name, in: "header", required: true, description, schema, example };
}

const webhookResponses: Record<string, ResponseObject> = {
  "2XX": { description: "Accepted: not sent again." },
  "410": {
    description: "Gone: the channel is switched off at once.",
  },
  "429": {
    description: "Rate-limited: retried after Retry-After, within ten minutes.",
  },
  default: {
    description:
      "Failed, as is a request without a response within 10 seconds: retried, up to 5 attempts in all. Redirects are not followed. 10 consecutive failures switch the channel off.",
  },
};

const decidedAt = "2026-01-31T11:41:20.000Z";

const regionVote = object("One region's vote.", {
  region: regionId,
  vote: { ...state, description: "What this region saw." },
  samples: integer("Samples in the window.", 7),
  bad: integer("Samples among them that failed.", 7),
  slow: integer(
    "Good samples that were slow compared with the typical latency; 0 if there is none to compare with.",
    0,
  ),
  faults: counts(faults, "Number of bad samples by fault.", { timeout: 7 }),
  newestAt: orNull(instant("Slot of the newest sample; null if none is kept.", "2026-01-31T11:41:18.100Z")),
  probeVersion,
});

const usualVote = exampleOf(regionVote) as TypeOf<typeof regionVote>;

const alertEvidence = object("The evidence of the event: the votes at this opening, escalation or closing.", {
  summary: text(
    "The same as a sentence for people, with the faults of all votes; the wording may change.",
    "2 of 2 regions with a vote see it bad; 2 are needed: timeout 14",
  ),
  reporting: integer("Number of regions that reported the component.", 3),
  counted: integer("Number of regions with a vote.", 2),
  quorum: integer("Number of votes needed.", 2),
  confirming: integer("Number of votes that confirm trouble: with a sufficient bad run, or failing in part.", 2),
  votes: shownAs(list("Regions that had a vote.", regionVote), [
    { ...usualVote, region: "eu-central" },
    { ...usualVote, region: "us-east" },
  ]),
  notCounted: list(
    "Regions without a vote.",
    object("One entry.", {
      region: shownAs(regionId, "ap-southeast"),
      reason: text(
        "Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired: most venues were cut off there at once, and in no other region whose own network worked; refused: the venue blocks this place, and no second place confirms that it blocks everybody; outlier: it has seen this bad for long, and no quorum with it.",
        "no samples within the last hour",
      ),
    }),
  ),
});

const alertVenue = object("Its venue.", {
  id: venueId,
  name: venueName,
  category,
  symbol,
  quote,
});

/** What a receiver of the native format gets of an incident, with the fields in this order. */
export const alertBody = named(
  "Alert",
  object("One event of an incident, as sent to a receiver.", {
    eventId: integer(
      "Number of the event, the same in every attempt, so that receivers can de-duplicate. 0: a test.",
      8_123,
    ),
    test: flag("Whether this is an operator's test of the channel: the event did not happen.", false),
    kind: oneOf(["opened", "escalated", "closed"], "What happened to the incident."),
    severity: {
      ...severity,
      description: "Severity of the event; for a closing, the worst that the incident reached.",
    },
    at: instant(
      "The instant for which the engine decided it. It may have been recorded later, if the engine had not been running.",
      decidedAt,
    ),
    permalink: text(
      "The incident's page for people, with all of its evidence; 404 once it is retracted or its venue is no longer watched.",
      "https://api.example.org/incidents/kraken-2026-01-31-rest-outage",
    ),
    jsonUrl: text(
      "The same incident as JSON, for programs; 404 when the page is, with a problem document that says why.",
      "https://api.example.org/v1/incidents/kraken-2026-01-31-rest-outage",
    ),
    incident: {
      ...incident,
      description: "The incident as this API shows it when the alert is sent: it may have changed since the event.",
    },
    venue: alertVenue,
    component: object("Its component.", {
      id: text("rest:<name> or ws:<name>; ws:conn is the socket shared by the streams.", "rest:ticker"),
      kind: oneOf(["rest", "ws"], "Kind of the component."),
      label: componentLabel,
      target: orNull(target),
    }),
    evidence: orNull({
      ...alertEvidence,
      description: `${alertEvidence.description} Null if none is kept.`,
    }),
  }),
);

/** The same of a pause of deposits or withdrawals, for channels that asked for its asset. */
export const transferAlertBody = named(
  "TransferAlert",
  object("A pause of deposits or withdrawals, or its end, as sent to a receiver that asked for the asset.", {
    eventId: integer("Number of the event, as of an alert about an incident.", 8_124),
    test: flag("Always false: a test of a channel is about an incident.", false),
    kind: oneOf(
      ["transfer_paused", "transfer_resumed", "transfer_unknown"],
      "transfer_paused: the venue has declared it paused for ten minutes. After such a pause, transfer_resumed: it is open again; transfer_unknown: the venue has said nothing of it for a day, and nothing more is sent of this pause.",
    ),
    at: instant("The reading of the venue's list that showed it.", "2026-01-31T09:20:00.000Z"),
    permalink: text(
      "The venue's page, where it lists what is paused; 404 once the venue is no longer watched.",
      "https://api.example.org/venues/kraken#transfers",
    ),
    jsonUrl: text("The same as JSON, for programs.", "https://api.example.org/v1/transfers/kraken"),
    transfer: object("What the venue declares; we do not measure it.", {
      asset,
      network,
      networkName,
      venueNetwork,
      direction: oneOf(["deposit", "withdrawal"], "What is paused."),
      state: oneOf(["paused", "open", "unknown"], "What the venue declares, at this event."),
      because: shownAs(orNull(text("The venue's words; null if there are none. Escape them.", "x")), "Delayed sends"),
      pausedAt: instant("The first of our readings that showed the pause.", "2026-01-31T09:10:00.000Z"),
      resumedAt: shownAs(
        orNull(instant("The first that showed it open again; null unless it is `transfer_resumed`.")),
        null,
      ),
    }),
    venue: alertVenue,
  }),
);
