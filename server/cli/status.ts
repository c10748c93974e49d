import { VenuewatchError } from "@venuewatch/client";
import { UserError } from "../../shared/process/user-error.js";
import { categories, type Category } from "../../shared/registry/registry.js";
import type { BoardBody, StateName, VenueStateBody } from "../web/agents/agent-source.js";
import { quotedError, quotedTexts } from "../web/agents/quoted.js";
import { answerText } from "../web/pages/answer.js";
import { durationText } from "../web/pages/format.js";
import { faultVerbs } from "../web/pages/words.js";
import type { Given, Options } from "./command.js";
import { endWithAnswer } from "./exit.js";
import { optionWord } from "./option-values.js";
import { plainTable } from "./print.js";
import { type RemoteService, serviceAt, urlOption } from "./service.js";

export const help = `Asks a running venuewatch for the state of all venues, or of one with its components, the regions
that agree, and its open incidents. It needs no database and no login.

The exit code is the state: 0 operational, 1 degraded, 2 outage, 3 unknown. Without a venue it is the worst state of
those listed: outage before degraded before unknown before operational. It is also 3 if the service cannot be reached,
does not watch the venue, lists no venue, or has decided nothing for half a minute (stale data). A wrong command line
or setting is 64, a bug 70.`;

export const words = ["[VENUE]"];

export const options = {
  url: urlOption,
  category: { type: "string", help: "only venues of this category" },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words: [venue] }: Given): Promise<void> {
  const { category } = values;
  if (venue !== undefined && category !== undefined)
    throw new UserError("status: expected a venue or --category, got both");
  const of = category === undefined ? null : optionWord("--category", categories, category as string);
  const { service } = serviceAt(values["url"], { program: "status" });
  const answer = await statusOf(service, { venue: venue ?? null, category: of });
  const output = values["json"] === true ? `${JSON.stringify(answer.json, null, 2)}\n` : answer.text;
  await endWithAnswer(stateCodes[answer.json.state], output, answer.json.problem);
}

export interface StatusAnswer {
  json: StatusJson;
  /** For people; empty if there is only a problem. */
  text: string;
}

/** What `--json` prints: either a board or a venue. */
export interface StatusJson {
  url: string;
  /** What the exit code says. */
  state: StateName;
  /** Why the service says nothing, or nothing current; null if it does. */
  problem: string | null;
  /** Null: it says nothing. */
  board?: BoardBody | null;
  venue?: VenueStateBody | null;
}

interface Wanted {
  /** Null: all venues. */
  venue: string | null;
  /** Null: every category. */
  category: Category | null;
}

/** Asks the service. Whatever it does, there is an answer; its state is `unknown` if nothing else is certain. */
export async function statusOf(service: RemoteService, wanted: Wanted): Promise<StatusAnswer> {
  const { url } = service;
  const { venue } = wanted;
  try {
    if (venue !== null) return answerOfVenue(url, quotedTexts(await service.state(venue)));
    const { category } = wanted;
    return answerOfBoard(url, quotedTexts(await service.status(category === null ? {} : { category })));
  } catch (error) {
    if (!(error instanceof VenuewatchError)) throw error;
    const problem = quotedError(error) + (error.status === null ? elsewhereHint : "");
    const nothing = venue === null ? { board: null } : { venue: null };
    return { json: { url, state: "unknown", problem, ...nothing }, text: "" };
  }
}

function answerOfBoard(url: string, board: BoardBody): StatusAnswer {
  const { venues, stale } = board;
  const state = stale ? "unknown" : worstOf(venues.map(({ state }) => state));
  const problem = problemOf(url, board) ?? (venues.length === 0 ? `${url} lists no venue` : null);
  return { json: { url, state, problem, board }, text: boardText(board) };
}

function answerOfVenue(url: string, venue: VenueStateBody): StatusAnswer {
  const state = venue.stale ? "unknown" : venue.state;
  return { json: { url, state, problem: problemOf(url, venue), venue }, text: venueText(venue) };
}

function problemOf(url: string, { stale }: { stale: boolean }): string | null {
  return stale ? `${url} has decided nothing for half a minute or longer: check that its core runs` : null;
}

const elsewhereHint = "; name another place with --url, or start venuewatch there";

// States as text for people.

type Freshness = Pick<BoardBody, "generatedAt" | "stale" | "ageSeconds">;
type Row = BoardBody["venues"][number];

function boardText(board: BoardBody): string {
  const { venues } = board;
  if (venues.length === 0) return `no venues\n${asOfText(board)}\n`;
  const head = ["venue", "name", "state", "since", "worst components"];
  const rows = [...venues]
    .sort(byState)
    .map((venue) => [
      ...[venue.id, venue.name, stateText(venue.state, board), sinceText(venue.since, board)],
      worstComponents(venue),
    ]);
  return `${plainTable([head, ...rows])}\n${countsText(venues)}; ${asOfText(board)}\n`;
}

function venueText(venue: VenueStateBody): string {
  const { id, name, category, state, since, components, activeIncidents } = venue;
  const head = ["component", "state", "since", "regions that agree", "open incident"];
  const rows = components.map((one) => [
    ...[one.component, componentState(one, venue), sinceText(one.since, venue)],
    ...[`${one.agreeing} of ${one.counted}`, one.incident ?? "-"],
  ]);
  const open = activeIncidents === 1 ? "1 open incident" : `${activeIncidents} open incidents`;
  const first = `${name} (${id}, ${category}): ${stateText(state, venue)} since ${sinceText(since, venue)}`;
  return `${first}\n${inOneSentence(venue)}\n${plainTable([head, ...rows])}\n${reasonsText(venue)}${open}; ${asOfText(venue)}\n`;
}

/** What is wrong with a venue in trouble; empty for others, and while nobody knows. */
function inOneSentence(venue: VenueStateBody): string {
  const { stale, state, generatedAt: now } = venue;
  if (stale || (state !== "degraded" && state !== "outage")) return "";
  return `${answerText(venue, { now, labelOf: (component) => component })}\n`;
}

/** Why components are unknown although they are measured; each reason once. */
function reasonsText({ components, stale }: VenueStateBody): string {
  const details = stale ? [] : components.flatMap(({ unknownBecause }) => unknownBecause?.detail ?? []);
  const lines = [...new Set(details)].map((detail) => {
    const which = components.filter(({ unknownBecause }) => unknownBecause?.detail === detail);
    return `${which.map(({ component }) => component).join(", ")}: ${detail}\n`;
  });
  return lines.length === 0 ? "" : `${lines.join("")}\n`;
}

const mostNamed = 3;

function worstComponents({ components }: Row): string {
  const bad = components.filter(({ state }) => state !== "operational").sort(byState);
  const named = bad.slice(0, mostNamed).map((one) => `${one.component} ${wordOf(one)}`);
  const more = bad.length > mostNamed ? ` and ${bad.length - mostNamed} more` : "";
  return named.length === 0 ? "-" : `${named.join(", ")}${more}`;
}

function componentState(one: Stated, { stale, ...venue }: Freshness): string {
  return stale ? stateText(one.state, { stale, ...venue }) : wordOf(one);
}

type Stated = Pick<VenueStateBody["components"][number], "state" | "fault" | "unknownBecause">;

/** What a venue does is more than that it fails: one that limits our requests is not down. */
function wordOf({ state, fault, unknownBecause }: Stated): string {
  const verb = fault !== null && Object.hasOwn(faultVerbs, fault) ? faultVerbs[fault] : undefined;
  if (verb) return `${state}: ${verb.does}`;
  const because = unknownBecause === null ? undefined : unknownWords[unknownBecause.reason];
  return because === undefined ? state : `${state}: ${because}`;
}

const unknownWords: Partial<Record<string, string>> = {
  never: "never seen good from here",
  ended: "its entry has ended",
  blocked: "blocked from this place",
};

/** While the data are stale, nobody knows whether the state still holds. */
function stateText(state: string, { stale }: Freshness): string {
  return stale && state !== "unknown" ? `unknown (was ${state})` : state;
}

/** By the service's clock alone: this machine's may be wrong. */
function sinceText(since: string, { generatedAt }: Freshness): string {
  const ms = Math.max(0, Date.parse(generatedAt) - Date.parse(since));
  return `${toSecond(since)} (${durationText(ms)})`;
}

export function asOfText({ generatedAt, stale, ageSeconds }: Freshness): string {
  const asOf = `as of ${toSecond(generatedAt)}`;
  if (!stale) return asOf;
  const age = ageSeconds === null ? "for a time that is not known" : `for ${ageSeconds} s`;
  return `${asOf}: stale, because nothing has been decided ${age}`;
}

function countsText(venues: readonly Row[]): string {
  const counts = (["outage", "degraded", "unknown", "operational"] as const).flatMap((state) => {
    const count = venues.filter((venue) => venue.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return `${venues.length} ${venues.length === 1 ? "venue" : "venues"}: ${counts.join(", ")}`;
}

/** An instant to the second. */
function toSecond(iso: string): string {
  return iso.replace(/\.\d+Z$/, "Z");
}

/**
 * The exit codes of `status`. `check` uses the same for what the service says, so that scripts read both alike.
 */
export const stateCodes: Record<StateName, number> = { operational: 0, degraded: 1, outage: 2, unknown: 3 };

/** Worst first: an unknown state hides no trouble of others, and is never taken for operational. */
const worstFirst: readonly StateName[] = ["outage", "degraded", "unknown", "operational"];

/** The worst of some states; `unknown` if there are none. */
export function worstOf(states: readonly StateName[]): StateName {
  return worstFirst.find((state) => states.includes(state)) ?? "unknown";
}

/** Orders by state, the worst first. */
function byState(one: { state: StateName }, other: { state: StateName }): number {
  return worstFirst.indexOf(one.state) - worstFirst.indexOf(other.state);
}
