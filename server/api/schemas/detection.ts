import { aheadMedian, feed, subjectMatched } from "./official.js";
import {
  category,
  flag,
  generatedAt,
  integer,
  list,
  named,
  object,
  orNull,
  type Schema,
  venueId,
  venueName,
} from "./shapes.js";

/** Null where no venue could be compared: not known is not zero. */
function ofCompared(
  description: string,
  example: number,
): Schema<number | null> {
  const schema = integer(description, example);
  return orNull({
    ...schema,
    description: `${description} Null where venuesCompared is 0.`,
  });
}

export const detection = named(
  "Detection",
  object(
    "How our incidents compare with the venues' own notices: oursCompared = paired + oursNear + oursOnly, and theirsCompared = paired + theirsNear + theirsOnly. Compared is only what began while the other side could be seen: of ours what began while the feed's word was known, of theirs what began while we measured the venue. Maintenance acknowledges nothing, and is not compared.",
    {
      days: integer(
        "Length of the window in UTC days, today included. An incident's page has no window: it says 90 there, whenever the incident was.",
        90,
        1,
      ),
      measuredDays: integer(
        "Days of the window on which we measured the venue and know what its feed had to say, at some time at least. Of the fleet, days on which that holds of any venue; on an incident's page 1 or 0.",
        88,
      ),
      observed: flag(
        "Whether the venue's feed could be read for any of the window.",
        true,
      ),
      venuesCompared: integer(
        "Venues that are in the counts below; 1 or 0 on the row of one venue. The four counts of venues add up to all.",
        1,
      ),
      venuesUnread: integer(
        "Venues that are not, because their feed could not be read on any day on which we measured them.",
        0,
      ),
      venuesOnlyMaintenance: integer(
        "Venues that are not, because their feed can tell of nothing but maintenance.",
        0,
      ),
      venuesWithoutFeed: integer(
        "Venues that are not, because they have none.",
        0,
      ),
      ours: integer(
        "All incidents of ours that started in the window, compared or not.",
        9,
      ),
      oursCompared: ofCompared("Those of them that are compared.", 8),
      theirs: ofCompared(
        "Notices of kind incident that began in the window, compared or not. A notice that two venues share counts for each.",
        7,
      ),
      theirsCompared: ofCompared("Those of them that are compared.", 6),
      paired: ofCompared(
        "Pairs: one of ours and one of theirs that began within 6 hours of each other, the nearest first, each in one pair at the most. Nothing tests that they are about the same fault.",
        4,
      ),
      oursNear: ofCompared(
        "Ours that have a notice within 6 hours which is the pair of another: one notice may stand for several incidents of one outage.",
        2,
      ),
      oursOnly: ofCompared("Ours without any notice within 6 hours.", 2),
      theirsNear: ofCompared(
        "Notices that have one of ours within 6 hours which is the pair of another.",
        1,
      ),
      theirsOnly: ofCompared("Notices without any of ours within 6 hours.", 1),
      maintenances: orNull(
        integer(
          "Maintenance that the venue announced for the window; it is compared with nothing. Null where observed is false.",
          3,
        ),
      ),
      others: orNull(
        integer(
          "Its notices about what we do not measure, by words in the registry. Null where observed is false.",
          5,
        ),
      ),
      subjectMatched,
      leads: ofCompared(
        "Pairs that have a lead: of some nobody knows when the notice was published.",
        4,
      ),
      aheadUncorrelated: aheadMedian,
    },
  ),
);

export const detectionResponse = named(
  "DetectionResponse",
  object(
    "Our incidents against the venues' own notices. One of ours and a notice of the same venue may be a pair when they began within 6 hours of each other, either way; nothing tests that they are about the same fault.",
    {
      generatedAt,
      days: integer("Length of the window in UTC days, today included.", 90, 1),
      fleet: {
        ...detection,
        description:
          "The counts of all venues. Its aheadUncorrelated is always null: medians do not add up.",
      },
      venues: list(
        "In the registry's order.",
        object("One venue.", {
          id: venueId,
          name: venueName,
          category,
          feed,
          detection,
        }),
      ),
    },
  ),
);
