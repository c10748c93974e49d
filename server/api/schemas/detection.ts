import { exampleOf } from "./example.js";
import { aheadMedian, feed, subjectMatched } from "./official.js";
import {
  category,
  flag,
  freshness,
  integer,
  list,
  named,
  object,
  orNull,
  type Schema,
  shownAs,
  type TypeOf,
  venueId,
  venueName,
} from "./shapes.js";

/** Null if no venue could be compared, since unknown is not zero. */
function ofCompared(description: string, example: number): Schema<number | null> {
  const schema = integer(description, example);
  return orNull({
    ...schema,
    description: `${description} Null if venuesCompared is 0.`,
  });
}

export const detection = named(
  "Detection",
  object(
    "How our incidents compare with the venues' own notices: oursCompared = paired + oursNear + oursOnly, and theirsCompared = paired + theirsNear + theirsOnly. Only what the other side could have seen is counted, and only six hours later, since the other side may still follow until then. Maintenance is not compared. Some pairs arise by chance.",
    {
      days: integer(
        "Length of the window in UTC days, today included. 1 on an incident's page, which covers the six hours before and after it.",
        90,
        1,
      ),
      measuredDays: integer(
        "Days of the window on which, at least at some time, we measured the venue and had read its feed. For the fleet, days on which this holds for any venue; on an incident's page 1 if it is compared, else 0.",
        88,
      ),
      observed: flag("Whether the venue's feed was read for any part of the window.", true),
      venuesCompared: integer(
        "Venues included in the counts below; 1 or 0 on the row of one venue. The four counts of venues add up to all venues.",
        1,
      ),
      venuesUnseen: integer(
        "Venues not included because on no day we both measured them and had read their feed; on an incident's page, because its six hours are not over or the feed was not read in them.",
        0,
      ),
      venuesOnlyMaintenance: integer("Venues not included because their feed only announces maintenance.", 0),
      venuesWithoutFeed: integer("Venues not included because they have no feed.", 0),
      ours: integer("All our incidents that started in the window, compared or not.", 9),
      oursCompared: ofCompared("Those for which the feed was read from six hours before to six hours after.", 8),
      theirs: ofCompared(
        "All notices of kind incident that began in the window, compared or not. A notice shared by two venues counts for each.",
        9,
      ),
      theirsCompared: ofCompared(
        "Notices that are compared: those paired with an incident in oursCompared, and unpaired ones that began in the window, more than six hours ago, and within a quarter of an hour of a minute that we measured.",
        8,
      ),
      paired: ofCompared(
        "Pairs of one incident and one notice that began within 6 hours of each other and are each other's nearest. Nothing tests that they are about the same fault.",
        6,
      ),
      oursNear: ofCompared(
        "Our incidents with a notice within 6 hours that is nearer to another of ours: one notice may cover several incidents of one outage.",
        1,
      ),
      oursOnly: ofCompared("Our incidents without any notice within 6 hours.", 1),
      theirsNear: ofCompared("Notices with an incident of ours within 6 hours that is nearer to another notice.", 1),
      theirsOnly: ofCompared("Notices without any incident of ours within 6 hours.", 1),
      maintenances: orNull(
        integer("Maintenance notices that began in the window; they are not compared. Null if observed is false.", 3),
      ),
      others: orNull(
        integer(
          "Notices about what we do not measure, recognised by words in the registry. Null if observed is false.",
          5,
        ),
      ),
      subjectMatched,
      leads: ofCompared("Pairs with a lead: for some, it is unknown when the notice was published.", 6),
      aheadUncorrelated: aheadMedian,
    },
  ),
);

type Detection = TypeOf<typeof detection>;

/** The same schema with a different example here. */
function detectionShown(other: Partial<Detection>): typeof detection {
  const usual = exampleOf(detection) as Detection;
  return shownAs(detection, { ...usual, ...other });
}

/** The comparison of one incident. */
export const incidentDetection = detectionShown({
  ...{ days: 1, measuredDays: 1, ours: 1, oursCompared: 1 },
  ...{ theirs: 1, theirsCompared: 1, paired: 1, oursNear: 0, oursOnly: 0 },
  ...{ theirsNear: 0, theirsOnly: 0, maintenances: 0, others: 0 },
  ...{ leads: 1, aheadUncorrelated: 300 },
});

export const detectionResponse = named(
  "DetectionResponse",
  object(
    "Our incidents against the venues' own notices. An incident and a notice of the same venue can form a pair if they began within 6 hours of each other, in either order; nothing tests that they are about the same fault.",
    {
      ...freshness,
      days: integer("Length of the window in UTC days, today included.", 90, 1),
      fleet: {
        ...detectionShown({
          ...{ measuredDays: 90, venuesCompared: 10, venuesUnseen: 1 },
          ...{ venuesOnlyMaintenance: 2, venuesWithoutFeed: 2 },
          aheadUncorrelated: null,
        }),
        description: "The counts of all venues. Its aheadUncorrelated is always null, since medians cannot be pooled.",
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
