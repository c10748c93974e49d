/** What one region by itself sees of a venue, as `sql/board/028-region-views.sql` says it. */
import type { RequestHandler } from "express";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { nearestWord } from "../../../shared/text/nearest-word.js";
import { answerJson } from "../api/answer.js";
import { parameterReader, viewOf, presentIds } from "../api/parameters.js";
import { Problem, shortened } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import {
  category,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  regionId,
  regionName,
  type Schema,
  shownAs,
  since,
  slug,
  state,
  text,
  type TypeOf,
  venueId,
  venueName,
} from "../api/shapes.js";
import { component, presentFault } from "./component.js";
import { type Boards } from "./snapshot.js";

/** A separate constant: as an argument, its words would be inferred as `string`. */
const reasons = oneOf(
  ["never", "ended", "blocked", "impaired", "silent", "unmeasured"],
  "never, ended, blocked: as in UnknownBecause. Of one region alone: impaired: its own network is in trouble. silent: no measurement has come from it of late. unmeasured: none is known.",
);

const unseen = object("Why a state is unknown, by quorum or to one region.", {
  reason: reasons,
  detail: text("The same in words.", "no measurement has come from us-east since 2026-01-31T11:40:05.000Z"),
});

/** The same as `unknownBecause` of other bodies, where the view may be that of one region. */
const unseenBecause: Schema<TypeOf<typeof unseen> | null> = shownAs(
  {
    ...orNull(named("UnseenBecause", unseen)),
    description:
      "Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether the engine decides.",
  },
  null,
);

const seenState: Schema<TypeOf<typeof state>> = {
  ...state,
  description: "What this region alone sees; no decision depends on it.",
};

const seenSince = instant("The tick since which this region sees it so.", "2026-01-31T11:41:20.000Z");

const dissent = object("A component that this region sees otherwise than all regions together.", {
  component,
  state: seenState,
  since: seenSince,
  fault: { ...presentFault, description: "Fault of the newest measurement there; null if it was good, or slow." },
});

const dissents = list(
  "The components that it sees otherwise than all regions together.",
  named("RegionDissent", dissent),
);

export const regionView = named(
  "RegionView",
  object("The venue as one region alone sees it. While the region is impaired, it is unknown.", {
    region: regionId,
    name: regionName,
    state: seenState,
    since: seenSince,
    unknownBecause: unseenBecause,
    dissent: dissents,
  }),
);

export type RegionView = TypeOf<typeof regionView>;

const quorum = object("The state.", { state, since });

/** Beside the view of one region, what all of them together decide. */
const byQuorum: Schema<TypeOf<typeof quorum> | null> = shownAs(
  {
    ...orNull(quorum),
    description: "The venue by quorum over all regions; null where `state` is that itself, because no region is given.",
  },
  null,
);

const componentVerdict = object("One component, by quorum over all regions, or as `region` sees it.", {
  component,
  state,
  since,
  fault: presentFault,
  unknownBecause: unseenBecause,
  agreeing: integer("Number of the counted regions that see this state, or for `degraded` an outage.", 2),
  counted: integer(
    "Number of regions whose votes count now: of those that report it, without impaired and refused ones and outliers.",
    2,
  ),
  reporting: integer("Number of regions that report it now, whether or not their votes count.", 3),
  incident: orNull({ ...slug, description: "Slug of its open incident; null if it has none." }),
});

export const venueStateResponse = named(
  "VenueStateResponse",
  object("The state of one venue, by quorum over all regions, or as `region` sees it.", {
    ...freshness,
    id: venueId,
    name: venueName,
    category,
    state,
    since,
    activeIncidents: integer("Open incidents.", 1),
    components: list("The components, in the registry's order.", named("ComponentVerdict", componentVerdict)),
    byQuorum,
    region: shownAs(
      {
        ...orNull(regionView),
        description: "The region whose view `state`, `since` and the components' are; null: they are by quorum.",
      },
      null,
    ),
    regions: list(
      "The regions that see the venue or one of its components otherwise than all together, or cannot tell. Empty if all agree.",
      regionView,
    ),
  }),
);

export function venueStateParameters(registry: Registry) {
  return {
    region: viewOf(
      registry,
      "As this region alone sees it: `state`, `since`, and those of the components. Absent: by quorum over all regions.",
    ),
  };
}

/** `/v1/targets/{venue}/state`, and the same bytes below `/v1/exchanges`: for programs that ask often. */
export function venueStateRoute(registry: Registry, boards: Boards): RequestHandler<{ venue: string }> {
  const read = parameterReader(venueStateParameters(registry));
  const ids = presentIds(registry);
  return async (request, response) => {
    const asked = request.params.venue;
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    const { region } = read(queryOf(request));
    const snapshot = await boards.state(venue, region);
    if (!snapshot) throw region === null ? noSuchVenue(venue) : noSuchView(venue, region);
    await answerJson(response, snapshot);
  };
}

/** The registry has both, but the database does not yet. */
export function noSuchView(venue: string, region: string): Problem {
  return new Problem(
    503,
    `The database does not have both venue ${venue} and region ${region} yet: venuewatch migrate adds them. Try again later.`,
  );
}

/** @param registry absent: it has the venue, only the database does not */
export function noSuchVenue(venue: string, registry?: Registry): Problem {
  const near = registry ? nearVenue(shortened(venue), namedVenues(registry)) : null;
  const meant = near === null ? "" : ` Did you mean ${near.id}?`;
  return new Problem(
    404,
    `Unknown venue ${JSON.stringify(shortened(venue))}.${meant} /v1/status lists all watched venues.`,
  );
}

function namedVenues(registry: Registry): NamedVenue[] {
  return watchedVenues(registry).map(({ id, name, ccxt }) => ({ id, name, ccxtId: ccxt?.id ?? null }));
}

// Guesses which venue somebody means by an id that no venue has.

export interface NamedVenue {
  id: string;
  name: string;
  /** What ccxt calls it; null: it is not in ccxt. */
  ccxtId: string | null;
}

export function nearVenue<Venue extends NamedVenue>(typed: string, venues: readonly Venue[]): Venue | null {
  const plain = plainName(typed);
  const called = venues.find((venue) => wordsOf(venue).some((word) => plainName(word) === plain));
  if (called) return called;
  const words = venues.flatMap((venue) => [venue.id, venue.name].map((word) => ({ venue, word: plainName(word) })));
  // the longest: "binance futures exchange" means `binance-futures`, not `binance`
  const [within] = words
    .filter(({ word }) => word.length > 2 && plain.includes(word))
    .sort((a, b) => b.word.length - a.word.length);
  if (within) return within.venue;
  // the shortest, and not by a mere syllable: `usd` and `coin` occur in unrelated names
  const [longer] = words
    .filter(({ word }) => plain.length >= 5 && word.includes(plain))
    .sort((a, b) => a.word.length - b.word.length);
  if (longer) return longer.venue;
  const nearest = nearestWord(typed, venues.flatMap(wordsOf));
  return venues.find((venue) => wordsOf(venue).some((word) => word === nearest)) ?? null;
}

function wordsOf({ id, name, ccxtId }: NamedVenue): string[] {
  return ccxtId === null ? [id, name] : [id, name, ccxtId];
}

/** `Binance US`, `binance-us` and `Binance.US` are the same to people. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
