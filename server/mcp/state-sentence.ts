/** Whether a venue is up, in sentences that cannot be read another way. */
import type { RegionView } from "../api/schemas/region-view.js";
import { durationText, sinceMs } from "../pages/format.js";
import { faultVerbs } from "../pages/words.js";
import type { StateWord, VenueStateBody } from "./agent-source.js";
import { mostDetail, namedVenue, quoted } from "./quoted.js";

type StatedComponent = VenueStateBody["components"][number];

/** What the sentences need of a body. */
export type StatedVenue = Pick<
  VenueStateBody,
  "generatedAt" | "stale" | "ageSeconds" | "id" | "name" | "state" | "since" | "byQuorum" | "region" | "regions"
> & { components: readonly Pick<StatedComponent, "component" | "state" | "fault" | "unknownBecause">[] };

/** A sentence to begin with, where the data may no longer be true. */
export function staleSentence({ stale, ageSeconds }: Pick<StatedVenue, "stale" | "ageSeconds">): string {
  if (!stale) return "";
  if (ageSeconds === null) return "Out of date: venuewatch has decided nothing yet. ";
  return `Out of date: venuewatch has decided nothing for the last ${ageSeconds} seconds. What follows is what it knew then, and says nothing about the time since. `;
}

/** @param what a name, or several */
export function unknownSentence(what: string): string {
  return `Unknown: venuewatch does not know whether ${what} is up. This means neither up nor down.`;
}

export function stateSentences(venue: StatedVenue): string {
  const seenFrom = venue.region && `, seen from ${namedRegion(venue.region)},`;
  const name = `${namedVenue(venue)}${seenFrom ?? ""}`;
  if (venue.stale) return `${staleSentence(venue)}${unknownSentence(name)} The last known state was ${venue.state}.`;
  const { state, byQuorum, generatedAt: now } = venue;
  const since = sinceWords(venue.since, now);
  const broken = brokenWords(venue);
  // for one region's view, the decision of all regions takes the place of dissent
  const dissent = byQuorum === null ? dissentWords(state, venue.regions, now) : "";
  const unseen = byQuorum === null ? unseenWords(venue.regions) : quorumWords(byQuorum, now);
  const rest = `${unknownWords(venue)}${unseen}`;
  switch (state) {
    case "operational":
      return `${name} is up: venuewatch has measured it as operational ${since}${dissent}.${broken && ` But ${broken}.`}${rest}`;
    case "degraded":
      return `${name} is degraded, which is not down as a whole: ${broken || "it is far slower than usual"}. It has been degraded ${since}${dissent}.${rest}`;
    case "outage":
      return `${name} is down: venuewatch has measured an outage ${since}${broken && `; ${broken}`}${dissent}.${rest}`;
    case "unknown":
      return `${unknownSentence(name)} Fewer than half of its components are known ${since}${dissent}.${broken && ` But ${broken}.`}${rest}`;
  }
}

/** `since 2026-01-31T11:41:20.000Z, for 12 minutes` */
function sinceWords(since: string, now: string): string {
  return `since ${since}, for ${durationText(sinceMs(since, now))}`;
}

function quorumWords({ state, since }: { state: StateWord; since: string }, now: string): string {
  const word = { operational: "up", degraded: "degraded", outage: "down", unknown: "unknown" }[state];
  return ` This is what one region sees, which confirms nothing. By all regions together it is ${word} ${sinceWords(since, now)}.`;
}

/** `1 of 9 components is in outage (rest:ticker)`; empty if there are none. */
function brokenWords({ components }: Pick<StatedVenue, "components">): string {
  const parts = (["outage", "degraded"] as const).flatMap((wanted) => {
    const some = components.filter(({ state }) => state === wanted);
    return [...new Set(some.map(({ fault }) => becauseOf(fault)))].map((because) => {
      const alike = some.filter(({ fault }) => becauseOf(fault) === because);
      const word = wanted === "outage" ? "in outage" : wanted;
      return `${alike.length} of ${countedWords(components.length, "component")} ${alike.length === 1 ? "is" : "are"} ${word}${because} (${componentList(alike)})`;
    });
  });
  return listWords(parts);
}

/** Empty where the fault says no more than that it fails. */
function becauseOf(fault: StatedComponent["fault"]): string {
  // a later release of a service elsewhere may have more faults
  const verb = fault !== null && Object.hasOwn(faultVerbs, fault) ? faultVerbs[fault] : undefined;
  return verb ? `, because the venue ${verb.does}` : "";
}

/** Which components are unknown, and the first reason in the words of the API. */
function unknownWords({ state, components }: StatedVenue): string {
  const unknown = components.filter((one) => one.state === "unknown");
  const [reason, ...more] = new Set(unknown.flatMap(({ unknownBecause }) => unknownBecause?.detail ?? []));
  const others = more.length === 0 ? "" : ` Other components have ${countedWords(more.length, "other reason")}.`;
  const because = reason === undefined ? "" : ` The reason: ${quoted(reason, mostDetail)}.${others}`;
  if (state === "unknown" || unknown.length === 0) return because;
  return ` Whether ${componentList(unknown)} ${unknown.length === 1 ? "works" : "work"} is unknown: that is neither up nor down.${because}`;
}

/** Nobody would read more. */
const [mostRegions, mostComponents] = [6, 12];

/** `; "US East" (us-east) is blocked since …`: the regions that see it otherwise than all together; empty: none. */
function dissentWords(state: StateWord, regions: readonly RegionView[], now: string): string {
  const clauses = regions.flatMap((view) => clauseOf(view, state, now));
  const more = clauses.length - mostRegions;
  const shown = more > 0 ? [...clauses.slice(0, mostRegions), `${more} more see it otherwise, too`] : clauses;
  return shown.length === 0 ? "" : `; ${listWords(shown)}`;
}

function clauseOf(view: RegionView, venue: StateWord, now: string): string[] {
  const { state, since, dissent } = view;
  const who = namedRegion(view);
  if (state !== "unknown" && state !== venue) {
    const faults = dissent.filter((one) => one.state !== "operational").map(({ fault }) => fault);
    const [because = "", ...others] = new Set(faults.map(becauseOf));
    if (state === "operational") return [`${who} sees it up ${sinceWords(since, now)}`];
    if (state === "outage" && others.length === 0 && because === becauseOf("blocked"))
      return [`${who} is blocked ${sinceWords(since, now)}`];
    const word = state === "outage" ? "down" : "degraded";
    return [`${who} sees it ${word} ${sinceWords(since, now)}${others.length === 0 ? because : ""}`];
  }
  if (dissent.length === 0) return [];
  const words = { outage: "in outage", degraded: "degraded", operational: "up" };
  const seen = (["outage", "degraded", "operational"] as const).flatMap((state) => {
    const some = dissent.filter((one) => one.state === state);
    return some.length === 0 ? [] : `${componentList(some)} ${words[state]}`;
  });
  const earliest = dissent.map((one) => one.since).reduce((first, one) => (one < first ? one : first));
  return [`${who} sees ${listWords(seen)} ${sinceWords(earliest, now)}`];
}

/** A sentence about the regions that see nothing: that is no dissent. */
function unseenWords(regions: readonly RegionView[]): string {
  return regions
    .filter(({ unknownBecause }) => unknownBecause !== null)
    .slice(0, mostRegions)
    .map((view) => ` ${namedRegion(view)} cannot tell: ${quoted(view.unknownBecause!.detail, mostDetail)}.`)
    .join("");
}

function namedRegion({ region, name }: Pick<RegionView, "region" | "name">): string {
  return namedVenue({ id: region, name });
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

function componentList(components: readonly { component: string }[]): string {
  const named = components.slice(0, mostComponents).map(({ component }) => component);
  const more = components.length - named.length;
  return listWords(more > 0 ? [...named, `${more} more`] : named);
}
