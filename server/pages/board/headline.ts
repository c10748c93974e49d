/** The answer to "is it down, or is it just me?" in a sentence or two. */
import type { statusResponse } from "../../api/schemas/status.js";
import type { incident } from "../../api/schemas/incident.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { durationText, sinceMs } from "../format.js";
import { boardWords, type State, stateWords } from "../words.js";

export type Board = TypeOf<typeof statusResponse>;
export type PublishedIncident = TypeOf<typeof incident>;

export interface Headline {
  state: State;
  sentences: string[];
  /** For the browser's tab. */
  title: string;
}

/** A headline has room for as many venues. */
const mostVenues = 3;

export function headlineOf({ venues, incidents, summary, generatedAt }: Board): Headline {
  const healthy = venues.filter(({ state }) => state === "operational").length;
  const unknown = venues.filter(({ state }) => state === "unknown");
  const troubled = venues.filter(({ state, activeIncidents }) => isTrouble(state) || activeIncidents > 0);
  const worstFirst = [...troubled].sort((a, b) => rank(a.state) - rank(b.state));
  const sentences = [overall(venues.length, healthy, unknown.length)];
  const troubles = worstFirst.map((venue) => troubleOf(venue, incidents, generatedAt));
  sentences.push(...troubles.slice(0, mostVenues));
  if (troubles.length > mostVenues) sentences.push(boardWords.moreVenues(troubles.length - mostVenues));
  const onlySome = unknown.length > 0 && unknown.length < venues.length;
  if (onlySome) sentences.push(boardWords.unknown(namesOf(unknown.map(({ name }) => name))));
  return {
    state: troubled.length > 0 && summary.state === "operational" ? "degraded" : summary.state,
    sentences,
    title: [boardWords.shortTitle(healthy, venues.length), ...troubles.slice(0, 1)].join(". ").replace(/\.$/, ""),
  };
}

function overall(venues: number, healthy: number, unknown: number): string {
  if (venues === 0) return boardWords.noVenues;
  if (unknown === venues) return boardWords.noneKnown;
  return healthy === venues ? boardWords.allHealthy(venues) : boardWords.someHealthy(healthy, venues);
}

/** `OKX: Ticker failing in 2 of 3 regions for 4 minutes.` */
function troubleOf(venue: Board["venues"][number], incidents: readonly PublishedIncident[], now: string): string {
  const open = incidents.filter(({ venue: id, status }) => id === venue.id && status === "open");
  const worst = open.find(({ severity }) => severity === "outage") ?? open[0];
  const name = isolated(venue.name);
  if (!worst) {
    const word = stateWords[venue.state].toLowerCase();
    return `${name}: ${word} ${boardWords.lasting(durationText(sinceMs(venue.since, now)))}.`;
  }
  const { label, severity, regions, reporting, startedAt } = worst;
  if (venue.state === "operational") return `${name}: ${boardWords.recovering(isolated(label))}`;
  const parts = [
    boardWords.failing(isolated(label), severity === "outage"),
    ...(regions.length > 0 ? [boardWords.inRegions(regions.length, reporting)] : []),
    boardWords.lasting(durationText(sinceMs(startedAt, now))),
  ];
  const others = open.length - 1;
  return `${name}: ${parts.join(" ")}${others > 0 ? boardWords.andOthers(others) : ""}.`;
}

export function isTrouble(state: State): boolean {
  return state === "degraded" || state === "outage";
}

export function rank(state: State): number {
  return ["outage", "degraded", "unknown", "operational"].indexOf(state);
}

function namesOf(names: readonly string[]): string {
  return names.map(isolated).join(", ");
}

/** A name may hold characters that change the direction of text; the isolate keeps them from changing what follows. */
export function isolated(name: string): string {
  return /^[\x20-\u058f]*$/.test(name) ? name : `\u2068${name}\u2069`;
}
