/** What all tools need: which venue is meant, and the words around an answer. */
import { type Schema, text } from "../api/shapes.js";
import { type NamedVenue, nearVenue, plainName } from "../api/venue-ids.js";
import { type AgentSource, BadArgument, type BoardBody } from "./agent-source.js";
import { mostName, namedVenue, quoted } from "./quoted.js";

export const venueArgument: Schema<string> = {
  ...text("A venue's id or name, such as `okx`, `binance-futures` or `Kraken`.", "okx"),
  ...{ minLength: 1, maxLength: 80 },
};

/** Of ids that an error lists. */
const mostListed = 100;

/**
 * Finds the venue that somebody means, by its id, a former id or its name.
 *
 * @throws BadArgument that says which venue may be meant, or which there are; NoData
 */
export async function findVenue(asked: string, source: AgentSource): Promise<string> {
  const typed = asked.trim().toLowerCase();
  const present = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(typed) ? await source.state(typed, null) : null;
  if (present !== null) return present.id;
  const { venues } = await source.status();
  const plain = plainName(typed);
  const named = venues.filter(({ id, name }) => plain !== "" && [id, name].some((one) => plainName(one) === plain));
  if (named.length === 1) return named[0]!.id;
  const words = JSON.stringify(quoted(asked, mostName));
  if (named.length > 1)
    throw new BadArgument(`several venues are called ${words}: expected one of the ids ${idsOf(named)}`);
  const near = nearVenue(typed, venues);
  const hint = near === null ? "" : ` Did you mean ${namedVenue(near)}?`;
  throw new BadArgument(
    `venuewatch does not watch a venue ${words}, so it knows nothing about it.${hint} It watches: ${idsOf(venues)}`,
  );
}

function idsOf(venues: readonly NamedVenue[]): string {
  const ids = venues.map(({ id }) => id);
  const more = ids.length > mostListed ? `, and ${ids.length - mostListed} more` : "";
  return ids.slice(0, mostListed).join(", ") + more;
}

/** A sentence to begin with, where the data may no longer be true. */
export function staleSentence({ stale, ageSeconds }: Pick<BoardBody, "stale" | "ageSeconds">): string {
  if (!stale) return "";
  if (ageSeconds === null) return "Out of date: venuewatch has decided nothing yet. ";
  return `Out of date: venuewatch has decided nothing for the last ${ageSeconds} seconds. What follows is what it knew then, and says nothing about the time since. `;
}

/** `1 component`, `3 components` */
export function countedWords(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** `a`, `a and b`, `a, b and c` */
export function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
