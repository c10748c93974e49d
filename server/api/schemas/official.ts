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

/** Not `const: false`: generators of clients compare it with the text "false", and refuse every answer. */
export const subjectMatched = flag("Always false: nothing tests that a notice describes the same fault.", false);

/** Seconds, with their sign. */
export function lead(description: string, example: number): Schema<number> {
  return { type: "integer", description, examples: [example] };
}

const leadMeaning =
  "Seconds by which we told of the incident (openedAt) before the venue published the notice (postedAt); negative where the venue was first";

/**
 * A notice of a venue, the same object wherever it appears. Its texts are the venue's: bounded, without control
 * characters, never HTML to be trusted.
 */
export const officialIncident = named(
  "OfficialIncident",
  object("A notice of the venue's own. Its texts and times are the venue's: escape them where you show them.", {
    id: text(
      "Name that the venue gave the notice; where its feed gives none, what it said and since when we saw it.",
      "x1b2c3d4e5f6",
    ),
    title: text("Title of the notice.", "Degraded REST API"),
    url: orNull(text("Its page; null where it has none.", "https://stspg.io/x1b2c3")),
    kind: oneOf(
      ["incident", "maintenance", "other"],
      "other: an incident of the venue that is not about anything that we measure (deposits, listings), by words in the registry. Only incidents are compared with ours.",
    ),
    status: text("In the venue's own words.", "resolved"),
    impact: orNull(text("In the venue's own words; null where it gives none.", "major")),
    startedAt: instant(
      "When it began, as the venue says; where it does not say, when we saw it first.",
      "2026-01-31T11:44:00.000Z",
    ),
    postedAt: orNull(
      instant(
        "When the venue published it. Where its feed does not tell, the newest of our readings that had it not yet, so that it was published after that; null where there was none just before.",
        "2026-01-31T11:46:20.000Z",
      ),
    ),
    resolvedAt: shownAs(
      orNull(
        instant(
          "When it was over, as the venue says; null until then. Of a feed that tells only what holds now, our first reading that had it no more.",
          "2026-01-31T11:58:00.000Z",
        ),
      ),
      "2026-01-31T11:58:00.000Z",
    ),
    firstSeenAt: instant("The first of our readings that had it.", "2026-01-31T11:47:02.000Z"),
    lastSeenAt: instant("The newest of our readings that had it.", "2026-01-31T11:59:31.000Z"),
    vanished: flag(
      "Whether the venue took it down: it left the feed although the feed reaches back so far, or before it was over. It stays here.",
      false,
    ),
    timesDoubtful: flag(
      "Whether its times cannot be true: in the future, or more than a year before it was first seen. Then it is compared with nothing.",
      false,
    ),
    subjectMatched,
    aheadUncorrelated: orNull(
      lead(
        `${leadMeaning}. Null where it stands beside no incident, where the feed does not tell when it was published, and where we told late because the engine had been away.`,
        300,
      ),
    ),
  }),
);

export const aheadMedian = orNull(
  lead(
    `${leadMeaning}. The median of the pairs that have one; null while there are fewer than 5. On an incident's page that of its own pair.`,
    240,
  ),
);

/** The state of a venue's feed. */
export const feed = named(
  "Feed",
  object("Whether the venue's own feed can be read.", {
    state: oneOf(
      ["readable", "unreadable", "none"],
      "Whether the venue's feed can be read now; none: it has none that a program can read. It never moves the venue's own state.",
    ),
    problem: shownAs(
      orNull(
        text("What went wrong at the newest reading; null unless it is unreadable.", "answered HTML instead of JSON"),
      ),
      null,
    ),
    since: orNull(
      instant("Since when that is so without a break; null where there is no feed.", "2026-01-30T02:10:44.000Z"),
    ),
    tellsIncidents: flag(
      "Whether it could tell of an outage: false where there is none, and where it has a word for maintenance alone (Binance). What is not said there means nothing then.",
      true,
    ),
    readAt: orNull(instant("When it was last read and understood; null: never.", "2026-01-31T11:59:31.000Z")),
  }),
);

/** Where a venue speaks itself, and what it said. @param window in words */
export function official(window: string) {
  return object("Where the venue speaks of its troubles itself.", {
    source: officialSource,
    page: officialPage,
    observed: flag(`Whether we know what its feed had to say in ${window}, for some of it at least.`, true),
    feed,
    incidents: {
      ...list(
        `Its notices that began in ${window}, maintenance and all; the 50 newest, newest first, of which those about what we measure and with times that can be true go before others.`,
        officialIncident,
      ),
      maxItems: 50,
    },
  });
}
