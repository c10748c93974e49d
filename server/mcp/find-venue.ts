/** Finds the venue that somebody means, by its id, a former id or its name. */
import { nearVenue, plainName } from "../api/near-venue.js";
import { type AgentSource, BadArgument, type KnownVenue } from "./agent-source.js";
import { mostName, namedVenue, quoted } from "./quoted.js";

/** Of ids that an error lists. */
const mostListed = 100;

/**
 * @throws BadArgument that says which venue may be meant, or which there are; NoData
 */
export async function findVenue(asked: string, source: AgentSource): Promise<string> {
  const typed = asked.trim().toLowerCase();
  const present = isId.test(typed) ? await source.presentId(typed) : null;
  if (present !== null) return present;
  const venues = await source.venues();
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

const isId = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

function idsOf(venues: readonly KnownVenue[]): string {
  const ids = venues.map(({ id }) => id);
  const more = ids.length > mostListed ? `, and ${ids.length - mostListed} more` : "";
  return ids.slice(0, mostListed).join(", ") + more;
}
