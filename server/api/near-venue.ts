/** Guesses which venue somebody means by an id that no venue has. */
import type { Registry } from "../../shared/registry/registry.js";
import { nearestWord } from "../../shared/text/nearest-word.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";

export interface NamedVenue {
  id: string;
  name: string;
  /** What ccxt calls it; null: it is not in ccxt. */
  ccxtId: string | null;
}

export function namedVenues(registry: Registry): NamedVenue[] {
  return watchedVenues(registry).map(({ id, name, ccxt }) => ({ id, name, ccxtId: ccxt?.id ?? null }));
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

/** `Binance US`, `binance-us` and `Binance.US` are the same to people. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

function wordsOf({ id, name, ccxtId }: NamedVenue): string[] {
  return ccxtId === null ? [id, name] : [id, name, ccxtId];
}
