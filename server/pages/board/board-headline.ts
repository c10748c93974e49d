/** The answer to "is it down, or is it just me?" in a sentence or two. */
import type { statusResponse } from "../../api/schemas/status.js";
import type { incident } from "../../api/schemas/incident.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { durationText, instantText, sinceMs } from "../format.js";
import type { Category } from "../../../shared/registry/registry.js";
import { isolated } from "../parts/isolated.js";
import { commonFault, isTrouble, lookOf, rank } from "../parts/state-rank.js";
import { boardWords, categoryWords, type State } from "../words.js";

export type Board = TypeOf<typeof statusResponse>;
export type PublishedIncident = TypeOf<typeof incident>;

export interface BoardHeadline {
  state: State;
  /** How many venues are healthy. */
  answer: string;
  /** What is wrong, in sentences. */
  troubles: string[];
  /** For the browser's tab. */
  title: string;
}

/** A headline has room for as many venues. */
const mostVenues = 3;

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
  const worstFirst = [...troubled].sort((a, b) => rank(a.state) - rank(b.state));
  const prefix = category === null ? "" : `${categoryWords[category]}: `;
  const troubles = worstFirst.map((venue) => troubleOf(venue, incidents, generatedAt));
  const { commonTrouble: common } = summary;
  const sentences = troubles.slice(0, mostVenues);
  if (common) sentences.unshift(boardWords.atOnce(common.venues.length, instantText(common.since, generatedAt)));
  if (troubles.length > mostVenues) sentences.push(boardWords.moreVenues(troubles.length - mostVenues));
  if (recovering.length > 0) sentences.push(boardWords.recovering(namesOf(recovering.map(({ name }) => name))));
  sentences.push(...unknownSentences(unknown, unknown.length === venues.length));
  return {
    state: open.length > 0 && summary.state === "operational" ? "degraded" : summary.state,
    answer: prefix + overall(venues, healthy, unknown),
    troubles: sentences,
    title: [prefix + boardWords.shortTitle(healthy, venues.length), ...troubles.slice(0, 1)]
      .join(". ")
      .replace(/\.$/, ""),
  };
}

function overall({ length: venues }: Board["venues"], healthy: number, unknown: Board["venues"]): string {
  if (venues === 0) return boardWords.noVenues;
  if (unknown.length === venues)
    return unknown.some((venue) => reasonOf(venue) !== null) ? boardWords.noneJudged : boardWords.noneKnown;
  return healthy === venues ? boardWords.allHealthy(venues) : boardWords.someHealthy(healthy, venues);
}

/** A sentence for each reason. Those without one are not named if nothing else is known: the answer says so. */
function unknownSentences(unknown: Board["venues"], isAll: boolean): string[] {
  const namesFor = (wanted: Reason) => unknown.filter((venue) => reasonOf(venue) === wanted).map(({ name }) => name);
  const reasons = (["never", "blocked", "ended"] as const).filter((reason) => namesFor(reason).length > 0);
  const others = isAll && reasons.length === 0 ? [] : namesFor(null);
  return [
    ...reasons.map((reason) => boardWords.unknownBecause[reason](namesOf(namesFor(reason)))),
    ...(others.length > 0 ? [boardWords.unknown(namesOf(others))] : []),
  ];
}

type Reason = keyof typeof boardWords.unknownBecause | null;

/** Why an unknown venue is unknown although it is measured: the reason of the first component that has one. */
function reasonOf({ components }: Board["venues"][number]): Reason {
  return components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause?.reason ?? null;
}

/** `OKX: Ticker failing for 4 minutes, first seen by 2 of 3 regions.` */
function troubleOf(venue: Board["venues"][number], incidents: readonly PublishedIncident[], now: string): string {
  const open = incidents.filter(({ venue: id, status }) => id === venue.id && status === "open");
  const worst = open.find(({ severity }) => severity === "outage") ?? open[0];
  const name = isolated(venue.name);
  if (!worst) {
    const word = lookOf(venue.state, commonFault(venue.components)).word.toLowerCase();
    return `${name}: ${word} ${boardWords.lasting(durationText(sinceMs(venue.since, now)))}.`;
  }
  const { label, severity, fault, regions, counted, startedAt } = worst;
  const isDown = severity === "outage";
  if (venue.state === "unknown") return `${name}: ${boardWords.unseen(isolated(label), isDown, fault)}`;
  const lasting = boardWords.lasting(durationText(sinceMs(startedAt, now)));
  const parts = [
    boardWords.failing(isolated(label), isDown, fault, lasting),
    ...(regions.length > 0 ? [boardWords.seenBy(regions.length, counted)] : []),
  ];
  const others = open.length - 1;
  return `${name}: ${parts.join(", ")}${others > 0 ? boardWords.andOthers(others) : ""}.`;
}

function namesOf(names: readonly string[]): string {
  return names.map(isolated).join(", ");
}
