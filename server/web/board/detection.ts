import type { RequestHandler } from "express";
import { answerJson } from "../api/answer.js";
import { integerParameter, parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  category,
  exampleOf,
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  officialPage,
  officialSource,
  oneOf,
  orNull,
  type Schema,
  shownAs,
  text,
  type TypeOf,
  venueId,
  venueName,
} from "../api/shapes.js";
import type { Windows } from "./snapshot.js";

/** `/v1/detection`: our incidents against the venues' own notices. */
export function detectionRoute(windows: Windows): RequestHandler {
  const read = parameterReader(detectionParameters);
  return async (request, response) => {
    const { days } = read(queryOf(request));
    await answerJson(response, await windows.detection(days));
  };
}

export const detectionParameters = {
  days: integerParameter("Length of the window in UTC days, today included.", 1, 90, 90),
};

/** Not `const: false`: client generators compare it with the text "false" and refuse every response. */
const subjectMatched = flag("Always false: nothing tests that a notice describes the same fault.", false);

/** Signed seconds. */
export function leadSeconds(description: string, example: number): Schema<number> {
  return { type: "integer", description, examples: [example] };
}

const leadMeaning =
  "Seconds from our opening of the incident (openedAt) to the venue's publication of the notice (postedAt); negative if the venue was first";

const noticeKind = oneOf(
  ["incident", "maintenance", "other"],
  "other: an incident of the venue about something that we do not measure (deposits, listings), recognised by words in the registry. Only kind incident is compared with our incidents.",
);

/**
 * A venue's notice, the same object wherever it appears. Its texts are the venue's: length-limited, without control
 * characters, never trusted as HTML.
 */
export const officialIncident = named(
  "OfficialIncident",
  object("An official notice of the venue. Its texts and times are the venue's: escape them before display.", {
    id: text("The venue's id of the notice; if its feed has none, its text and when we first saw it.", "x1b2c3d4e5f6"),
    title: text("Title of the notice.", "Degraded REST API"),
    url: orNull(text("Its page; null if it has none.", "https://stspg.io/x1b2c3")),
    kind: noticeKind,
    status: text("In the venue's own words.", "resolved"),
    impact: orNull(text("In the venue's own words; null if it gives none.", "major")),
    startedAt: instant(
      "When it began, according to the venue; if the venue does not say, when we first saw it.",
      "2026-01-31T11:44:00.000Z",
    ),
    postedAt: orNull(
      instant(
        "When the venue published it. If its feed does not say, our last reading without it, so it was published after that; null if there was no reading shortly before.",
        "2026-01-31T11:46:20.000Z",
      ),
    ),
    resolvedAt: shownAs(
      orNull(
        instant(
          "When it was over, according to the venue; null until then. For a feed that lists only current notices, our first reading without it.",
          "2026-01-31T11:58:00.000Z",
        ),
      ),
      "2026-01-31T11:58:00.000Z",
    ),
    firstSeenAt: instant("The first of our readings that had it.", "2026-01-31T11:47:02.000Z"),
    lastSeenAt: instant("The newest of our readings that had it.", "2026-01-31T11:59:31.000Z"),
    vanished: flag(
      "Whether the venue removed it: it left the feed although the feed reaches back that far, or before it was over. It is kept here.",
      false,
    ),
    timesDoubtful: flag(
      "Whether its times are implausible: in the future, more than a year before it was first seen, or over before it began. Such a notice is not compared.",
      false,
    ),
    subjectMatched,
    aheadUncorrelated: orNull(
      leadSeconds(
        `${leadMeaning}. Null if it is not shown beside an incident, if the feed does not say when it was published, or if our opening was late because the engine had not been running.`,
        300,
      ),
    ),
  }),
);

const aheadMedian = orNull(
  leadSeconds(
    `${leadMeaning}. The median over the pairs that have a lead; null if there are fewer than 5. On an incident's page, the lead of its own pair.`,
    240,
  ),
);

/** The state of a venue's feed. */
export const venueFeed = named(
  "Feed",
  object("Whether the venue's own feed can be read.", {
    state: oneOf(
      ["readable", "unreadable", "none"],
      "Whether the venue's feed can be read now; none: it has no machine-readable feed. It never affects the venue's state.",
    ),
    problem: shownAs(
      orNull(text("Error of the newest reading; null unless unreadable.", "answered HTML instead of JSON")),
      null,
    ),
    since: orNull(
      instant(
        "Since when the feed has been in this state without a break; null if there is no feed.",
        "2026-01-30T02:10:44.000Z",
      ),
    ),
    tellsIncidents: flag(
      "Whether it could announce an outage: false if there is no feed, or if it only announces maintenance (Binance, Bitget, Gate). Its silence then means nothing.",
      true,
    ),
    readAt: orNull(instant("When it was last read and understood; null: never.", "2026-01-31T11:59:31.000Z")),
  }),
);

/**
 * The venue's status feed and its notices.
 *
 * @param window in words
 */
export function officialNotices(window: string) {
  return object("The venue's own status feed and notices.", {
    source: officialSource,
    page: officialPage,
    observed: flag(`Whether its feed was read for at least part of ${window}.`, true),
    feed: venueFeed,
    incidents: {
      ...list(
        `Its notices that began in ${window}, including maintenance; at most 50, newest first. If there are more, notices about what we measure and with plausible times take precedence.`,
        officialIncident,
      ),
      maxItems: 50,
    },
  });
}

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
          feed: venueFeed,
          detection,
        }),
      ),
    },
  ),
);
