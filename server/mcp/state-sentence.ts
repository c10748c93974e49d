/** Whether a venue is up, in sentences that cannot be read another way. */
import type { JudgedState } from "./answer-head.js";
import { namedVenue } from "./quoted.js";
import { countedWords, listWords, sinceWords } from "./time-words.js";

interface StatedVenue {
  id: string;
  name: string;
  state: JudgedState;
  since: string;
  components: readonly { component: string; state: JudgedState }[];
}

/** @param now the instant that the data shows */
export function stateSentences(venue: StatedVenue, now: string): string {
  const name = namedVenue(venue);
  const { state, components } = venue;
  const since = sinceWords(venue.since, now);
  const broken = componentWords(venue, ["outage", "degraded"]);
  const unknown = components.filter((one) => one.state === "unknown");
  const also =
    state === "unknown" || unknown.length === 0
      ? ""
      : ` Whether ${componentList(unknown)} ${unknown.length === 1 ? "works" : "work"} is unknown: that is neither up nor down.`;
  switch (state) {
    case "operational":
      return `${name} is up: venuewatch has measured it as operational ${since}.${broken && ` But ${broken}.`}${also}`;
    case "degraded":
      return `${name} is degraded, which is not down as a whole: ${broken || "most regions see it far slower than usual"}. It has been degraded ${since}.${also}`;
    case "outage":
      return `${name} is down: venuewatch has measured an outage ${since}${broken && `; ${broken}`}.${also}`;
    case "unknown":
      return `${unknownSentence(name)} Too few regions have measured it ${since}.`;
  }
}

/** @param what a name, or several */
export function unknownSentence(what: string): string {
  return `Unknown: venuewatch does not know whether ${what} is up. This means neither up nor down.`;
}

/** `1 of 9 components is in outage (rest:ticker)`; empty if there are none. */
function componentWords({ components }: StatedVenue, states: readonly JudgedState[]): string {
  const parts = states.flatMap((state) => {
    const some = components.filter((one) => one.state === state);
    if (some.length === 0) return [];
    const verb = some.length === 1 ? "is" : "are";
    const word = state === "outage" ? "in outage" : state;
    return `${some.length} of ${countedWords(components.length, "component")} ${verb} ${word} (${componentList(some)})`;
  });
  return listWords(parts);
}

/** More would be read by nobody. */
const mostNamed = 12;

function componentList(components: readonly { component: string }[]): string {
  const named = components.slice(0, mostNamed).map(({ component }) => component);
  const more = components.length - named.length;
  return listWords(more > 0 ? [...named, `${more} more`] : named);
}
