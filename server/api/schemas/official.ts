import {
  flag,
  instant,
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
} from "./shapes.js";

/** Not `const: false`: client generators compare it with the text "false" and refuse every response. */
export const subjectMatched = flag("Always false: nothing tests that a notice describes the same fault.", false);

/** Signed seconds. */
export function lead(description: string, example: number): Schema<number> {
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
      lead(
        `${leadMeaning}. Null if it is not shown beside an incident, if the feed does not say when it was published, or if our opening was late because the engine had not been running.`,
        300,
      ),
    ),
  }),
);

export const aheadMedian = orNull(
  lead(
    `${leadMeaning}. The median over the pairs that have a lead; null if there are fewer than 5. On an incident's page, the lead of its own pair.`,
    240,
  ),
);

/** The state of a venue's feed. */
export const feed = named(
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
export function official(window: string) {
  return object("The venue's own status feed and notices.", {
    source: officialSource,
    page: officialPage,
    observed: flag(`Whether its feed was read for at least part of ${window}.`, true),
    feed,
    incidents: {
      ...list(
        `Its notices that began in ${window}, including maintenance; at most 50, newest first. If there are more, notices about what we measure and with plausible times take precedence.`,
        officialIncident,
      ),
      maxItems: 50,
    },
  });
}
