import type { Registry } from "../../shared/registry/registry.js";
import { choice, integer, type Parameter } from "./parameters.js";
import { exampleOf } from "./schemas/example.js";
import { venueId } from "./schemas/shapes.js";

const expected = "the address of a venue's page, https://status.example.org/venues/{venue}";

/** Parameters of oEmbed 1.0. */
export function oembedParameters({ venues }: Registry) {
  const example = String(exampleOf({ ...venueId, enum: venues.map(({ id }) => id) }));
  const url: Parameter<string> = {
    schema: {
      type: "string",
      pattern: "^https?://",
      maxLength: 2_000,
      examples: [`https://status.example.org/venues/${example}`],
    },
    description:
      "Address of a venue's page or of its card: `/venues/{venue}`, `/is-{venue}-down` or `/embed/{venue}`. Its host is not compared, since a service may have several names.",
    read: (text) => (URL.canParse(text) ? text : undefined),
    expected,
    absent: "",
    required: true,
  };
  return {
    url,
    format: choice("Only json.", ["json"], "json"),
    maxwidth: integer("The card is at most this wide, in CSS pixels.", 1, 10_000, null),
    maxheight: integer("The card is at most this high, in CSS pixels.", 1, 10_000, null),
  };
}
