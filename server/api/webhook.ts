import type { ParameterObject, PathItemObject, ResponseObject } from "openapi3-ts/oas31";
import { alert } from "./schemas/alert.js";
import { exampleOf } from "./schemas/example.js";

/** What is sent to a channel of the native format. Channels are made by operators: no request of this API makes one. */
export function alertWebhook(siteUrl: string): PathItemObject {
  return {
    post: {
      operationId: "receiveAlert",
      tags: ["alerts"],
      summary: "An event of an incident, as a receiver gets it",
      description: `At least once, one at a time for a channel, in the order in which things happened. Receivers verify the raw body before they parse it, and know what they have by \`eventId\`. Everything is at ${siteUrl}/receiving, with code.`,
      parameters: headers,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Alert" },
            example: exampleOf(alert),
          },
        },
      },
      responses,
    },
  };
}

const headers = [
  header(
    "x-svc-signature",
    "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, whose key is the channel's secret as it was shown. While a secret is exchanged there are two `v1`: one that is right will do. Refuse what is more than 300 seconds out of date.",
    "^t=\\d+(,v1=[0-9a-f]{64})+$",
    "t=1769859681,v1=5c3a2b9f0d1e4f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  ),
  header(
    "webhook-id",
    "Of Standard Webhooks: `evt_` and the eventId, of a test `test_` and a number of its own.",
    "^(evt|test)_\\d+$",
    "evt_8123",
  ),
  header("webhook-timestamp", "Of Standard Webhooks: when it was sent, in Unix seconds.", "^\\d+$", "1769859681"),
  header(
    "webhook-signature",
    "Of Standard Webhooks: `v1,<base64>`, of `<webhook-id>.<webhook-timestamp>.<raw body>`; with a space between, while there are two.",
    "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function header(name: string, description: string, pattern: string, example: string): ParameterObject {
  const schema = { type: "string", pattern } as const;
  return { name, in: "header", required: true, description, schema, example };
}

const responses: Record<string, ResponseObject> = {
  "2XX": { description: "Taken: it is not sent again." },
  "410": {
    description: "Nobody is there any more: the channel is switched off at once.",
  },
  "429": {
    description: "Too many: it is sent again after Retry-After, within ten minutes.",
  },
  default: {
    description:
      "Not taken, as is what does not answer within 10 seconds: it is sent again, up to 5 times in all. Redirects are not followed. 10 failures in a row switch the channel off.",
  },
};
