/**
 * The answer to "is it down?" for one venue, in the same words in the board's cards, on the wall, as the heading and
 * title of the venue's page, and in `venuewatch status`. Badges, feeds, alerts and tools for agents have their own.
 */
import type { Fault } from "../../../shared/measurement/sample.js";
import { durationText, instantText, isolated, nameList, sinceMs, whereText } from "./format.js";
import { t } from "./language.js";
import { commonFault, isOnlyLimiting, isTrouble, isUnjudged, stateRank } from "./states.js";
import { type State, verbOf } from "./words.js";

export interface AnsweredVenue {
  name: string;
  state: State;
  since: string;
  /** Open incidents. */
  activeIncidents: number;
  components: readonly AnsweredComponent[];
}

export interface AnsweredComponent {
  /** `rest:<name>` or `ws:<name>` */
  component: string;
  state: State;
  fault: Fault | null;
  unknownBecause: { reason: string; detail?: string } | null;
  /** Regions that see this state now, of those that count; null where that is not known. */
  agreeing: number | null;
  counted: number | null;
}

export interface AnswerContext {
  /** The instant of the data. */
  now: string;
  /** A component's name for people. */
  labelOf: (component: string) => string;
}

/** Parts of the answer, without full stops. */
export interface VenueAnswer {
  /** `Kraken is down` */
  verdict: string;
  /** `all 5 REST endpoints`; null where nothing is in trouble. */
  what: string | null;
  /** `in all 3 regions` */
  where: string | null;
  /** `its streams work`; null: neither kind works completely, or the venue has only one. */
  rest: string | null;
}

export function answerOf(venue: AnsweredVenue, { labelOf }: AnswerContext): VenueAnswer {
  const verdict = verdictOf(venue);
  if (!isTrouble(venue.state)) return { verdict, what: null, where: null, rest: null };
  return {
    verdict,
    what: whatOf(venue, labelOf),
    where: whereOf(venue.components),
    rest: workingKind(venue.components),
  };
}

/** `Kraken is down: all 5 REST endpoints, in all 3 regions, since 01:16 UTC (2 min); its streams work.` */
export function answerText(venue: AnsweredVenue, context: AnswerContext): string {
  const { rest } = answerOf(venue, context);
  const { now } = context;
  const { head, hasDetails } = headOf(venue, context);
  const [since, duration] = [instantText(venue.since, now), durationText(sinceMs(venue.since, now))];
  const answer = hasDetails ? t`${head}, since ${since} (${duration})` : t`${head} since ${since} (${duration})`;
  return rest === null ? `${answer}.` : t`${answer}; ${rest}.`;
}

/** The same without its times, for headings and titles: `Kraken is down: all 5 REST endpoints, in all 3 regions` */
export function answerHead(venue: AnsweredVenue, context: AnswerContext): string {
  return headOf(venue, context).head;
}

function headOf(venue: AnsweredVenue, context: AnswerContext): { head: string; hasDetails: boolean } {
  const { verdict, what, where } = answerOf(venue, context);
  const details = [what, where].filter((part) => part !== null);
  return details.length === 0
    ? { head: verdict, hasDetails: false }
    : { head: `${verdict}: ${details.join(", ")}`, hasDetails: true };
}

/** `Kraken is down`, without what and where. */
export function verdictOf({ name, state, activeIncidents, components }: AnsweredVenue): string {
  const shown = isolated(name);
  if (state === "unknown") return t`${shown} is unknown`;
  if (state === "operational") return activeIncidents > 0 ? t`${shown} is healthy again` : t`${shown} is healthy`;
  const fault = commonFault(components);
  if (isOnlyLimiting(state, fault)) return t`${shown} limits our requests`;
  return state === "outage" ? t`${shown} is down` : t`${shown} is degraded`;
}

const kinds = [
  {
    prefix: "rest:",
    all: (count: number) => t`all ${count} REST endpoints`,
    some: (count: number, of: number) => t`${count} of ${of} REST endpoints`,
    works: () => t`its REST API works`,
  },
  {
    prefix: "ws:",
    all: (count: number) => t`all ${count} streams`,
    some: (count: number, of: number) => t`${count} of ${of} streams`,
    works: () => t`its streams work`,
  },
];

type Kind = (typeof kinds)[number];

/** The socket that all streams of a venue share: if it fails, they have nothing to say. */
const socket = "ws:conn";

function whatOf({ state, components }: AnsweredVenue, labelOf: (component: string) => string): string | null {
  const groups = kinds.flatMap((kind) => {
    const ofKind = components.filter(({ component }) => component.startsWith(kind.prefix));
    const bad = ofKind.filter((one) => isTrouble(one.state)).sort((a, b) => stateRank(a.state) - stateRank(b.state));
    if (bad.length === 0) return [];
    return [
      {
        text: doingText(groupText(ofKind, bad, kind, labelOf), bad, state),
        isPair: areNamed(bad, ofKind) && bad.length > 1,
      },
    ];
  });
  const [first, second] = groups;
  if (first === undefined) return null;
  if (second === undefined) return first.text;
  return first.isPair ? t`${first.text}, and ${second.text}` : t`${first.text} and ${second.text}`;
}

/** Where the worst component is seen so at present. */
function whereOf(components: readonly AnsweredComponent[]): string | null {
  const [worst] = components
    .filter(({ state }) => isTrouble(state))
    .sort((a, b) => stateRank(a.state) - stateRank(b.state));
  if (worst === undefined || worst.agreeing === null || worst.counted === null) return null;
  return whereText({ saw: worst.agreeing, of: worst.counted });
}

/** A sentence has room for two names; more are counted. */
const mostNames = 2;

function groupText(
  ofKind: readonly AnsweredComponent[],
  bad: readonly AnsweredComponent[],
  kind: Kind,
  labelOf: (component: string) => string,
): string {
  if (bad.some(({ component }) => component === socket)) return t`its WebSocket`;
  if (areNamed(bad, ofKind)) return nameList(bad.map(({ component }) => labelOf(component)));
  const counted = ofKind.filter(({ component, unknownBecause }) => component !== socket && !isUnjudged(unknownBecause));
  if (counted.length === 1) return nameList(bad.map(({ component }) => labelOf(component)));
  return bad.length >= counted.length ? kind.all(bad.length) : kind.some(bad.length, counted.length);
}

function areNamed(bad: readonly unknown[], ofKind: readonly unknown[]): boolean {
  return bad.length <= mostNames && bad.length < ofKind.length;
}

/** With what they do, where that is not what the venue's state says already. */
function doingText(group: string, bad: readonly AnsweredComponent[], ofVenue: State): string {
  const fault = commonFault(bad);
  const worst = bad[0]!.state;
  if (isOnlyLimiting(ofVenue, fault)) return group;
  const verb = verbOf(fault);
  if (verb) return bad.length === 1 ? `${group} ${verb.does}` : `${group} (${verb.does})`;
  if (worst === ofVenue) return group;
  return worst === "outage" ? t`${group} down` : t`${group} degraded`;
}

/** The kind of component that works completely, beside trouble of the other. */
function workingKind(components: readonly AnsweredComponent[]): string | null {
  for (const { prefix, works } of kinds) {
    const ofKind = components.filter(({ component }) => component.startsWith(prefix));
    if (ofKind.length > 0 && ofKind.every(({ state }) => state === "operational")) return works();
  }
  return null;
}
