import type { Registry } from "../../shared/registry/registry.js";
import { badgeParameters } from "./badge-parameters.js";
import { json, type Operation, perTick } from "./operation.js";
import { badgeSvg, embeddedCard, shieldsBadge } from "./schemas/embed.js";
import type { Schema } from "./schemas/shapes.js";

/** What other sites embed. */
export function embedOperations(registry: Registry, venue: Schema<string>): Operation[] {
  const ofVenue = { group: "formats", names: { venue }, ...perTick } as const;
  return [
    {
      id: "getBadge",
      path: "/badges/{venue}.svg",
      summary: "A badge of a venue, as an image",
      description: "Unknown has a look of its own: hollow, and neither green nor red. So has a state that is old.",
      parameters: badgeParameters(registry),
      answers: { "image/svg+xml": badgeSvg },
      ...ofVenue,
    },
    {
      id: "getShieldsBadge",
      path: "/badges/{venue}.json",
      summary: "A badge of a venue, for shields.io to draw",
      description: "The format of `https://img.shields.io/endpoint`. shields.io keeps it for five minutes.",
      parameters: badgeParameters(registry),
      answers: { [json]: shieldsBadge },
      ...ofVenue,
    },
    {
      id: "getCard",
      path: "/embed/{venue}",
      summary: "A card of a venue, for an iframe",
      description: "Any site may frame it: its Content-Security-Policy says `frame-ancestors *` and allows no scripts.",
      answers: { "text/html": embeddedCard },
      ...ofVenue,
    },
  ];
}
