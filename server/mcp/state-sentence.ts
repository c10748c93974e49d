/** Whether a venue is up, in sentences that cannot be read another way. */
import { presentFault } from "../api/schemas/incident.js";
import { type RegionView, unseenBecause } from "../api/schemas/region-view.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import { faultVerbs } from "../pages/words.js";
import type { JudgedState } from "./answer-head.js";
import { mostDetail, namedVenue, quoted } from "./quoted.js";
import { dissentWords, namedRegion, unseenWords } from "./region-words.js";
import { componentList, countedWords, listWords, sinceWords } from "./time-words.js";

interface StatedVenue {
  id: string;
  name: string;
  state: JudgedState;
  since: string;
  components: readonly StatedComponent[];
  /** The region whose view all this is, and what all of them decide; null: it is that itself. */
  region: RegionView | null;
  byQuorum: { state: JudgedState; since: string } | null;
  /** What single regions see. */
  regions: readonly RegionView[];
}

interface StatedComponent extends Explained {
  component: string;
  state: JudgedState;
}

/** What an answer says of a component besides its state. */
export const explained: { fault: typeof presentFault; unknownBecause: typeof unseenBecause } = {
  ...{ fault: presentFault, unknownBecause: unseenBecause },
};

export type Explained = { [Name in keyof typeof explained]: TypeOf<(typeof explained)[Name]> };

export function explainedOf({ fault, unknownBecause }: Explained): Explained {
  return {
    fault,
    unknownBecause: unknownBecause && { ...unknownBecause, detail: quoted(unknownBecause.detail, mostDetail) },
  };
}

/** @param now the instant that the data shows */
export function stateSentences(venue: StatedVenue, now: string): string {
  const { state, components, byQuorum } = venue;
  const name = subjectOf(venue);
  const since = sinceWords(venue.since, now);
  const broken = componentWords(venue, ["outage", "degraded"]);
  const unknown = components.filter((one) => one.state === "unknown");
  const reasons = reasonsOf(unknown);
  const also =
    state === "unknown" || unknown.length === 0
      ? ""
      : ` Whether ${componentList(unknown)} ${unknown.length === 1 ? "works" : "work"} is unknown: that is neither up nor down.${reasons && ` ${reasons}`}`;
  // of one region's view, what all together decide is said instead
  const dissent = byQuorum === null ? dissentWords(state, venue.regions, now) : "";
  const rest = `${also}${byQuorum === null ? unseenWords(venue.regions) : quorumWords(byQuorum, now)}`;
  switch (state) {
    case "operational":
      return `${name} is up: venuewatch has measured it as operational ${since}${dissent}.${broken && ` But ${broken}.`}${rest}`;
    case "degraded":
      return `${name} is degraded, which is not down as a whole: ${broken || "it is far slower than usual"}. It has been degraded ${since}${dissent}.${rest}`;
    case "outage":
      return `${name} is down: venuewatch has measured an outage ${since}${broken && `; ${broken}`}${dissent}.${rest}`;
    case "unknown":
      return `${unknownSentence(name)} Fewer than half of its components are known ${since}${dissent}.${reasons && ` ${reasons}`}${broken && ` But ${broken}.`}${rest}`;
  }
}

/** What an answer is about: a venue, or a venue as one region sees it. */
export function subjectOf(venue: Pick<StatedVenue, "id" | "name" | "region">): string {
  return `${namedVenue(venue)}${venue.region === null ? "" : `, seen from ${namedRegion(venue.region)},`}`;
}

function quorumWords({ state, since }: NonNullable<StatedVenue["byQuorum"]>, now: string): string {
  const word = { operational: "up", degraded: "degraded", outage: "down", unknown: "unknown" }[state];
  return ` This is what one region sees, which confirms nothing. By all regions together it is ${word} ${sinceWords(since, now)}.`;
}

/** @param what a name, or several */
export function unknownSentence(what: string): string {
  return `Unknown: venuewatch does not know whether ${what} is up. This means neither up nor down.`;
}

/** Why components are unknown although they are measured, in the words of the API; empty if there is no such reason. */
function reasonsOf(unknown: readonly StatedComponent[]): string {
  const details = new Set(unknown.flatMap(({ unknownBecause }) => unknownBecause?.detail ?? []));
  const [first] = details;
  if (first === undefined) return "";
  const more =
    details.size === 1
      ? ""
      : ` There ${details.size === 2 ? "is 1 more reason" : `are ${details.size - 1} more reasons`} for other components.`;
  return `The reason: ${quoted(first, mostDetail)}.${more}`;
}

/** `1 of 9 components is in outage (rest:ticker)`; empty if there are none. */
function componentWords({ components }: StatedVenue, states: readonly JudgedState[]): string {
  const of = `of ${countedWords(components.length, "component")}`;
  const parts = states.flatMap((wanted) => {
    const some = components.filter(({ state }) => state === wanted);
    return [...new Set(some.map(becauseOf))].map((because) => {
      const alike = some.filter((one) => becauseOf(one) === because);
      const word = wanted === "outage" ? "in outage" : wanted;
      return `${alike.length} ${of} ${alike.length === 1 ? "is" : "are"} ${word}${because} (${componentList(alike)})`;
    });
  });
  return listWords(parts);
}

/** Empty where the fault says no more than that it fails. */
function becauseOf({ fault }: StatedComponent): string {
  const verb = fault === null ? undefined : faultVerbs[fault];
  return verb ? `, because the venue ${verb.does}` : "";
}
