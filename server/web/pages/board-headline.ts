/** The answer to "is it down, or is it just me?" in a sentence or two. */
import type { Category } from "../../../shared/registry/registry.js";
import type { TypeOf } from "../api/shapes.js";
import type { statusResponse } from "../board/status.js";
import { durationText, instantText, isolated, moreText, nameList, sinceMs } from "./format.js";
import { plural, t } from "./language.js";
import { commonFault, isOnlyLimiting, isTrouble, stateRank } from "./states.js";
import { categoryWords, type State } from "./words.js";

const boardUnknownBecause = {
  never: (names: string) => t`Never seen good from here: ${names}.`,
  ended: (names: string) => t`The service has ended, so nothing is concluded from its answers: ${names}.`,
  blocked: (names: string) => t`Blocked from this place: ${names}.`,
};

export type Board = TypeOf<typeof statusResponse>;

export interface BoardHeadline {
  state: State;
  /** The venues in trouble, or that there are none. */
  answer: string;
  /** What else is to be said, in sentences. */
  more: string;
  /** For the browser's tab. */
  title: string;
}

/** A heading has room for so many venues of a state; the cards below it name all. */
const mostVenues = 3;

/** A sentence has room for so many names: on a board of a hundred venues, many may be unknown. */
const mostNames = 8;

/** @param category the only one on the board; null: all of them */
export function headlineOf({ venues, summary, generatedAt }: Board, category: Category | null): BoardHeadline {
  const healthy = venues.filter(({ state }) => state === "operational");
  const unknown = venues.filter(({ state }) => state === "unknown");
  const troubled = venues.filter(({ state }) => isTrouble(state));
  const recovering = healthy.filter(({ activeIncidents }) => activeIncidents > 0);
  const prefix = category === null ? "" : `${categoryWords[category]}: `;
  const counts = countsText(venues, healthy.length, unknown.length);
  const { commonTrouble: common } = summary;
  const isTroubled = troubled.length > 0;
  const sentences = [
    ...(isTroubled ? [`${counts}.`] : []),
    ...(common
      ? [t`${common.venues.length} venues at once, since ${instantText(common.since, generatedAt)}: a shared provider?`]
      : []),
    ...(isTroubled ? recovering.map((venue) => recoveringText(venue, generatedAt)) : []),
    ...unknownSentences(unknown, unknown.length === venues.length),
  ];
  const answer = isTroubled
    ? troubleText(troubled)
    : andRecovering(overallText(venues, healthy.length, unknown), recovering);
  const quietTitle = unknown.length > 0 ? andRecovering(`${counts}.`, recovering) : answer;
  return {
    state: stateOf(troubled, summary.state, recovering.length > 0),
    answer: prefix + answer,
    more: sentences.join(" "),
    title: prefix + (isTroubled ? `${answer} ${counts}` : withoutStop(quietTitle)),
  };
}

/** `All 15 venues are healthy; Gemini is recovering.` */
function andRecovering(sentence: string, recovering: Board["venues"]): string {
  if (recovering.length === 0) return sentence;
  const names = recovering.map(({ name }) => name);
  const recover = plural(names.length, "{1} is recovering", "{1} are recovering", nameList(names, mostVenues));
  return t`${withoutStop(sentence)}; ${recover}.`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** One venue that is down makes the board red, however many others are healthy. */
function stateOf(troubled: Board["venues"], ofBoard: State, isRecovering: boolean): State {
  const [worst] = troubled.map(({ state }) => state).sort((a, b) => stateRank(a) - stateRank(b));
  return worst ?? (isRecovering && ofBoard === "operational" ? "degraded" : ofBoard);
}

/** `Kraken is down. Bitget and OKX are degraded.` */
function troubleText(troubled: Board["venues"]): string {
  const groups = new Map<string, string[]>();
  for (const venue of [...troubled].sort((a, b) => stateRank(a.state) - stateRank(b.state))) {
    const does = predicateOf(venue);
    groups.set(does, [...(groups.get(does) ?? []), venue.name]);
  }
  return [...groups].map(([does, names]) => sentenceOf(does as Predicate, names)).join(" ");
}

/** The number decides the verb, and is not shown. */
const predicates = {
  down: (count: number, names: string) => plural(count, "{1} is down.", "{1} are down.", names),
  degraded: (count: number, names: string) => plural(count, "{1} is degraded.", "{1} are degraded.", names),
  limited: (count: number, names: string) =>
    plural(count, "{1} limits our requests.", "{1} limit our requests.", names),
};

type Predicate = keyof typeof predicates;

function predicateOf({ state, components }: Board["venues"][number]): Predicate {
  if (isOnlyLimiting(state, commonFault(components))) return "limited";
  return state === "outage" ? "down" : "degraded";
}

function sentenceOf(does: Predicate, names: readonly string[]): string {
  return predicates[does](names.length, nameList(names, mostVenues));
}

/** Never a count of the known as one of all. */
function countsText({ length: venues }: Board["venues"], healthy: number, unknown: number): string {
  if (unknown === venues) return plural(venues, "State unknown ({0} venue)", "State unknown ({0} venues)");
  return unknown > 0 ? t`${healthy} of ${venues} healthy, ${unknown} unknown` : t`${healthy} of ${venues} healthy`;
}

function overallText({ length: venues }: Board["venues"], healthy: number, unknown: Board["venues"]): string {
  if (venues === 0) return t`No venue is measured yet.`;
  if (unknown.length === venues)
    return unknown.some((venue) => reasonOf(venue) !== null)
      ? t`We cannot tell: there is no venue of which we can say whether it works.`
      : t`We cannot tell: no venue has enough recent measurements.`;
  if (healthy === venues) return plural(venues, "The only venue is healthy.", "All {0} venues are healthy.");
  return plural(
    healthy,
    "{0} of {1} venues is healthy, and we know of no trouble at the others.",
    "{0} of {1} venues are healthy, and we know of no trouble at the others.",
    venues,
  );
}

function recoveringText({ name, since }: Board["venues"][number], now: string): string {
  return t`Recovering: ${isolated(name)} (healthy for ${durationText(sinceMs(since, now))}).`;
}

/** A sentence for each reason. Those without one are not named if nothing else is known: the answer says so. */
function unknownSentences(unknown: Board["venues"], isAll: boolean): string[] {
  const namesFor = (wanted: Reason) => unknown.filter((venue) => reasonOf(venue) === wanted).map(({ name }) => name);
  const reasons = (["never", "blocked", "ended"] as const).filter((reason) => namesFor(reason).length > 0);
  const others = isAll && reasons.length === 0 ? [] : namesFor(null);
  return [
    ...reasons.map((reason) => boardUnknownBecause[reason](namesOf(namesFor(reason)))),
    ...(others.length > 0 ? [t`Unknown: ${namesOf(others)}.`] : []),
  ];
}

type Reason = keyof typeof boardUnknownBecause | null;

/** Why an unknown venue is unknown although it is measured: the reason of the first component that has one. */
function reasonOf({ components }: Board["venues"][number]): Reason {
  return components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause?.reason ?? null;
}

function namesOf(names: readonly string[]): string {
  const more = names.length - mostNames;
  const named = names.slice(0, mostNames).map(isolated).join(", ");
  return more > 0 ? t`${named} and ${moreText(more)}` : named;
}
