import { exampleOf } from "./example.js";
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
  shownAs,
  type TypeOf,
  venueId,
  venueName,
} from "./shapes.js";

/** Null where no venue could be compared: not known is not zero. */
function ofCompared(description: string, example: number): Schema<number | null> {
  const schema = integer(description, example);
  return orNull({
    ...schema,
    description: `${description} Null where venuesCompared is 0.`,
  });
}

export const detection = named(
  "Detection",
  object(
    "How our incidents compare with the venues' own notices: oursCompared = paired + oursNear + oursOnly, and theirsCompared = paired + theirsNear + theirsOnly. Counted is only what the other side could see, and only once its six hours are over: before, nobody is late. Maintenance acknowledges nothing, and is not compared. By chance alone things pair, too.",
    {
      days: integer(
        "Length of the window in UTC days, today included. 1 on an incident's page, where the six hours before and after it are looked at.",
        90,
        1,
      ),
      measuredDays: integer(
        "Days of the window on which we measured the venue and know what its feed had to say, at some time at least. Of the fleet, days on which that holds of any venue; on an incident's page 1 where it is compared, else 0.",
        88,
      ),
      observed: flag("Whether we know what the venue's feed had to say for any of the window.", true),
      venuesCompared: integer(
        "Venues that are in the counts below; 1 or 0 on the row of one venue. The four counts of venues add up to all.",
        1,
      ),
      venuesUnseen: integer(
        "Venues that are not, because there is no day on which we measured them and know what their feed had to say; on an incident's page, because its six hours are not over or we do not know what the feed said in them.",
        0,
      ),
      venuesOnlyMaintenance: integer("Venues that are not, because their feed can tell of nothing but maintenance.", 0),
      venuesWithoutFeed: integer("Venues that are not, because they have none.", 0),
      ours: integer("All incidents of ours that started in the window, compared or not.", 9),
      oursCompared: ofCompared(
        "Those of them of which we know what the feed had to say from six hours before to six hours after.",
        8,
      ),
      theirs: ofCompared(
        "All notices of kind incident that began in the window, compared or not. One that two venues share counts for each.",
        9,
      ),
      theirsCompared: ofCompared(
        "Notices that are compared: each that is the pair of an incident in oursCompared, and those without a pair that began more than six hours ago, in the window, within a quarter of an hour of a minute that we measured.",
        8,
      ),
      paired: ofCompared(
        "Pairs: one of ours and one of theirs that began within 6 hours of each other and are each the nearest of the other. Nothing tests that they are about the same fault.",
        6,
      ),
      oursNear: ofCompared(
        "Ours that have a notice within 6 hours which is nearer to another of ours: one notice may stand for several incidents of one outage.",
        1,
      ),
      oursOnly: ofCompared("Ours without any notice within 6 hours.", 1),
      theirsNear: ofCompared("Notices that have one of ours within 6 hours which is nearer to another notice.", 1),
      theirsOnly: ofCompared("Notices without any of ours within 6 hours.", 1),
      maintenances: orNull(
        integer(
          "Maintenance of the venue's that began in the window; it is compared with nothing. Null where observed is false.",
          3,
        ),
      ),
      others: orNull(
        integer("Its notices about what we do not measure, by words in the registry. Null where observed is false.", 5),
      ),
      subjectMatched,
      leads: ofCompared("Pairs that have a lead: of some nobody knows when the notice was published.", 6),
      aheadUncorrelated: aheadMedian,
    },
  ),
);

type Detection = TypeOf<typeof detection>;

/** The same, with another example in this place. */
function detectionShown(other: Partial<Detection>): typeof detection {
  const usual = exampleOf(detection) as Detection;
  return shownAs(detection, { ...usual, ...other });
}

/** Of one incident alone. */
export const incidentDetection = detectionShown({
  ...{ days: 1, measuredDays: 1, ours: 1, oursCompared: 1 },
  ...{ theirs: 1, theirsCompared: 1, paired: 1, oursNear: 0, oursOnly: 0 },
  ...{ theirsNear: 0, theirsOnly: 0, maintenances: 0, others: 0 },
  ...{ leads: 1, aheadUncorrelated: 300 },
});

export const detectionResponse = named(
  "DetectionResponse",
  object(
    "Our incidents against the venues' own notices. One of ours and a notice of the same venue may be a pair when they began within 6 hours of each other, either way; nothing tests that they are about the same fault.",
    {
      generatedAt,
      days: integer("Length of the window in UTC days, today included.", 90, 1),
      fleet: {
        ...detectionShown({
          ...{ measuredDays: 90, venuesCompared: 10, venuesUnseen: 1 },
          ...{ venuesOnlyMaintenance: 2, venuesWithoutFeed: 2 },
          aheadUncorrelated: null,
        }),
        description: "The counts of all venues. Its aheadUncorrelated is always null: medians do not add up.",
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
