/** Which venue is meant: by a present id, by a former one, or by a word that no venue has. */
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { nearestWord } from "../../../shared/text/nearest-word.js";
import { Problem, shortened } from "./problem.js";

/**
 * Makes a finder of present ids. Answers for a former id are those for the present one, so that programs that poll it
 * keep working, whether or not they follow redirects.
 *
 * @returns a function from an id of a request, present or former, to the present one
 * @throws (the function) Problem 404, which names the venue that may be meant
 */
export function venueFinder(registry: Registry): (asked: string) => string {
  const ids = presentIds(registry);
  return (asked) => {
    const venue = ids.get(asked);
    if (venue === undefined) throw unknownVenue(asked, nearVenue(shortened(asked), namedVenues(registry)));
    return venue;
  };
}

/** Each venue's present id, by its present and former ids. */
export function presentIds(registry: Registry): ReadonlyMap<string, string> {
  return new Map(
    watchedVenues(registry).flatMap(({ id, formerIds = [] }) => [id, ...formerIds].map((one) => [one, id] as const)),
  );
}

/**
 * Makes a finder of the venue that people mean by an id or a name in any spelling: `OKX`, `binance.us`.
 *
 * @returns a function from what was typed to the present id; undefined: no venue has this name, or several
 */
export function spelledVenueFinder(registry: Registry): (typed: string) => string | undefined {
  const ids = new Map([...presentIds(registry)].map(([id, present]) => [plainName(id), present]));
  const names = new Map<string, string | undefined>();
  for (const { id, name } of watchedVenues(registry)) {
    const plain = plainName(name);
    names.set(plain, names.has(plain) ? undefined : id);
  }
  return (typed) => {
    if (!isName.test(typed)) return undefined;
    const plain = plainName(typed);
    return ids.get(plain) ?? names.get(plain);
  };
}

/** Other signs belong to no name, though `plainName` would leave them out. */
const isName = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u;

/** The registry has the venue, but the database does not yet. */
export function noSuchVenue(venue: string): Problem {
  return unknownVenue(venue, null);
}

/** The registry has both, but the database does not yet. */
export function noSuchView(venue: string, region: string): Problem {
  return new Problem(
    503,
    `The database does not have both venue ${venue} and region ${region} yet: venuewatch migrate adds them. Try again later.`,
  );
}

/** @param near the venue that may be meant */
function unknownVenue(asked: string, near: NamedVenue | null): Problem {
  const meant = near === null ? "" : ` Did you mean ${near.id}?`;
  return new Problem(
    404,
    `Unknown venue ${JSON.stringify(shortened(asked))}.${meant} /v1/status lists all watched venues.`,
    { page: { venue: { asked: shortened(asked), near: near && { id: near.id, name: near.name } } } },
  );
}

export function namedVenues(registry: Registry): NamedVenue[] {
  return watchedVenues(registry).map(({ id, name, ccxt }) => ({ id, name, ccxtId: ccxt?.id ?? null }));
}

export interface NamedVenue {
  id: string;
  name: string;
  /** What ccxt calls it; null: it is not in ccxt. */
  ccxtId: string | null;
}

/** Guesses which venue somebody means by an id or a name that no venue has; null: none is near. */
export function nearVenue<Venue extends NamedVenue>(typed: string, venues: readonly Venue[]): Venue | null {
  const plain = plainName(typed);
  const called = venues.find((venue) => namesOf(venue).some((word) => plainName(word) === plain));
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
  const nearest = nearestWord(typed, venues.flatMap(namesOf));
  return venues.find((venue) => namesOf(venue).some((word) => word === nearest)) ?? null;
}

function namesOf({ id, name, ccxtId }: NamedVenue): string[] {
  return ccxtId === null ? [id, name] : [id, name, ccxtId];
}

/** `Binance US`, `binance-us` and `Binance.US` are the same to people. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
