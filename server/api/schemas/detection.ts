import { detection } from "./incident.js";
import {
  generatedAt,
  integer,
  list,
  named,
  object,
  venueId,
  venueName,
} from "./shapes.js";
import { category } from "./status.js";

export const detectionResponse = named(
  "DetectionResponse",
  object(
    "Our incidents against the venues' own notices. One of ours and a notice of the same venue are a pair when they began within 6 hours of each other, either way; nothing tests that they are about the same fault.",
    {
      generatedAt,
      days: integer("Length of the window in UTC days, today included.", 90, 1),
      fleet: {
        ...detection,
        description:
          "The counts of all venues. It never has a lead time: medians do not add up.",
      },
      venues: list(
        "In the registry's order.",
        object("One venue.", {
          id: venueId,
          name: venueName,
          category,
          detection,
        }),
      ),
    },
  ),
);
