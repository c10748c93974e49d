import type { ParameterObject, PathItemObject, ResponseObject } from "openapi3-ts/oas31";
import { alert } from "./schemas/alert.js";
import { exampleOf } from "./schemas/example.js";

/**
 * The request that a channel of the native format receives. Channels are created by operators, not through this API.
 */
export function alertWebhook(siteUrl: string): PathItemObject {
  return {
    post: {
      operationId: "receiveAlert",
      tags: ["alerts"],
      summary: "An event of an incident, as sent to a receiver",
      description: `Delivered at least once, one at a time per channel, in the order of events. Receivers verify the raw body before parsing it, and de-duplicate by \`eventId\`. Details and code are at ${siteUrl}/receiving.`,
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
    "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the channel's secret, as it was shown, as the key. While a secret is being rotated there are two `v1`; one valid value suffices. Reject a timestamp more than 300 seconds out of date.",
    "^t=\\d+(,v1=[0-9a-f]{64})+$",
    "t=1769859681,v1=5c3a2b9f0d1e4f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  ),
  header(
    "webhook-id",
    "Standard Webhooks: `evt_` and the eventId; for a test, `test_` and a number of its own.",
    "^(evt|test)_\\d+$",
    "evt_8123",
  ),
  header("webhook-timestamp", "Standard Webhooks: sending time in Unix seconds.", "^\\d+$", "1769859681"),
  header(
    "webhook-signature",
    "Standard Webhooks: `v1,<base64>` of `<webhook-id>.<webhook-timestamp>.<raw body>`; two values are separated by a space.",
    "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function header(name: string, description: string, pattern: string, example: string): ParameterObject {
  const schema = { type: "string", pattern } as const;
  return { name, in: "header", required: true, description, schema, example };
}

const responses: Record<string, ResponseObject> = {
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
