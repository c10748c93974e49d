/** The answer to "is it down, or is it just me?" in a sentence or two. */
import type { Category } from "../../../shared/registry/registry.js";
import type { TypeOf } from "../api/shapes.js";
import type { statusResponse } from "../board/status.js";
import { durationText, instantText, isolated, maintenanceText, sinceMs } from "./format.js";
import { commonFault, isTrouble, lookOf, stateRank, type PublishedIncident } from "./parts.js";
import { boardWords, categoryWords, type State, verbOf } from "./words.js";

const boardUnknownBecause = {
  never: (names: string) => `Never seen good from here: ${names}.`,
  ended: (names: string) => `The service has ended, so nothing is concluded from its answers: ${names}.`,
  blocked: (names: string) => `Blocked from this place: ${names}.`,
};

export type Board = TypeOf<typeof statusResponse>;

export interface BoardHeadline {
  state: State;
  /** How many venues are healthy. */
  answer: string;
  /** What is wrong, in sentences. */
  troubles: string[];
  /** For the browser's tab. */
  title: string;
}

/** A headline has room for as many sentences about venues. */
const mostVenues = 3;

/** And for as many names in one of them: on a board of a hundred venues, many may be unknown. */
const mostNames = 8;

/** @param category the only one on the board; null: all of them */
export function headlineOf(
  { venues, incidents, summary, generatedAt }: Board,
  category: Category | null,
): BoardHeadline {
  const healthy = venues.filter(({ state }) => state === "operational").length;
  const unknown = venues.filter(({ state }) => state === "unknown");
  const open = venues.filter(({ activeIncidents }) => activeIncidents > 0);
  const troubled = venues.filter(
    (venue) => isTrouble(venue.state) || (venue.state === "unknown" && open.includes(venue)),
  );
  const recovering = open.filter(({ state }) => state === "operational");
  const worstFirst = [...troubled].sort((a, b) => stateRank(a.state) - stateRank(b.state));
  const prefix = category === null ? "" : `${categoryWords[category]}: `;
  const troubles = worstFirst.map((venue) => troubleOf(venue, incidents, generatedAt));
  const { commonTrouble: common } = summary;
  const sentences = troubles.slice(0, mostVenues);
  if (common)
    sentences.unshift(
      `${common.venues.length} venues at once, since ${instantText(common.since, generatedAt)}: a shared provider?`,
    );
  if (troubles.length > mostVenues) sentences.push(moreVenuesText(troubles.length - mostVenues));
  if (recovering.length > 0)
    sentences.push(
      `Healthy again, but not for long enough to close the incident: ${namesOf(recovering.map(({ name }) => name))}.`,
    );
  sentences.push(...unknownSentences(unknown, unknown.length === venues.length));
  return {
    state: open.length > 0 && summary.state === "operational" ? "degraded" : summary.state,
    answer: prefix + overallHeadline(venues, healthy, unknown),
    troubles: sentences,
    title: [prefix + `${healthy} of ${venues.length} healthy`, ...troubles.slice(0, 1)].join(". ").replace(/\.$/, ""),
  };
}

function overallHeadline({ length: venues }: Board["venues"], healthy: number, unknown: Board["venues"]): string {
  if (venues === 0) return "No venue is measured yet.";
  if (unknown.length === venues)
    return unknown.some((venue) => reasonOf(venue) !== null)
      ? "We cannot tell: there is no venue of which we can say whether it works."
      : "We cannot tell: no venue has enough recent measurements.";
  return healthy === venues
    ? venues === 1
      ? "The only venue is healthy."
      : `All ${venues} venues are healthy.`
    : `${healthy === 0 ? "None" : healthy} of ${venues} venues ${healthy === 1 ? "is" : "are"} healthy.`;
}

/** A sentence for each reason. Those without one are not named if nothing else is known: the answer says so. */
function unknownSentences(unknown: Board["venues"], isAll: boolean): string[] {
  const namesFor = (wanted: Reason) => unknown.filter((venue) => reasonOf(venue) === wanted).map(({ name }) => name);
  const reasons = (["never", "blocked", "ended"] as const).filter((reason) => namesFor(reason).length > 0);
  const others = isAll && reasons.length === 0 ? [] : namesFor(null);
  return [
    ...reasons.map((reason) => boardUnknownBecause[reason](namesOf(namesFor(reason)))),
    ...(others.length > 0 ? [`Unknown: ${namesOf(others)}.`] : []),
  ];
}

type Reason = keyof typeof boardUnknownBecause | null;

/** Why an unknown venue is unknown although it is measured: the reason of the first component that has one. */
function reasonOf({ components }: Board["venues"][number]): Reason {
  return components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause?.reason ?? null;
}

/** `OKX: Ticker failing for 4 minutes, first seen by 2 of 3 regions.` */
function troubleOf(venue: Board["venues"][number], incidents: readonly PublishedIncident[], now: string): string {
  const open = incidents.filter(({ venue: id, status }) => id === venue.id && status === "open");
  const worst = open.find(({ severity }) => severity === "outage") ?? open[0];
  const name = isolated(venue.name);
  const { maintenance } = venue;
  const announced = maintenance === null ? "" : `; ${maintenanceText(maintenance, now)}`;
  if (!worst) {
    const word = lookOf(venue.state, commonFault(venue.components)).word.toLowerCase();
    return `${name}: ${word} ${boardWords.lasting(durationText(sinceMs(venue.since, now)))}${announced}.`;
  }
  const { label, severity, fault, regions, counted, startedAt } = worst;
  const isDown = severity === "outage";
  if (venue.state === "unknown")
    return `${name}: ${isolated(label)} ${verbOf(fault)?.did ?? `was ${isDown ? "failing" : "degraded"}`} when we last measured it; the incident is still open.`;
  const lasting = boardWords.lasting(durationText(sinceMs(startedAt, now)));
  const parts = [
    boardWords.failing(isolated(label), isDown, fault, lasting),
    ...(regions.length > 0 ? [boardWords.seenBy(regions.length, counted)] : []),
  ];
  const others = open.length - 1;
  return `${name}: ${parts.join(", ")}${others > 0 ? `, and ${others} more ${others === 1 ? "incident" : "incidents"}` : ""}${announced}.`;
}

function namesOf(names: readonly string[]): string {
  const more = names.length - mostNames;
  const named = names.slice(0, mostNames).map(isolated).join(", ");
  return more > 0 ? `${named} and ${more} more` : named;
}

function moreVenuesText(count: number): string {
  return `Also in trouble: ${count} more ${count === 1 ? "venue" : "venues"}.`;
}
