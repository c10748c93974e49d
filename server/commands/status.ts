import type { Given, Options } from "../cli/command.js";
import { endWithAnswer } from "../cli/exit-codes.js";
import { VenuewatchError } from "@venuewatch/client";
import type { BoardBody, StateWord, VenueStateBody } from "../mcp/agent-source.js";
import { quotedError, quotedTexts } from "../mcp/quoted.js";
import type { RemoteService } from "../remote/service.js";
import { categories, type Category } from "../../shared/registry/registry.js";
import { UserError } from "../../shared/process/user-error.js";
import { oneOf } from "./one-of.js";
import { serviceAt, url } from "./service-option.js";
import { boardText, venueText } from "./status/state-text.js";
import { stateCodes, worstOf } from "./status/worst-state.js";

export const help = `Asks a running venuewatch for the state of all venues, or of one with its components, the regions
that agree, and its open incidents. It needs no database and no login.

The exit code is the state: 0 operational, 1 degraded, 2 outage, 3 unknown. Without a venue it is the worst state of
those listed: outage before degraded before unknown before operational. It is also 3 if the service cannot be reached,
does not watch the venue, lists no venue, or has decided nothing for half a minute (stale data). A wrong command line
or setting is 64, a bug 70.`;

export const words = ["[VENUE]"];

export const options = {
  url,
  category: { type: "string", help: "only venues of this category" },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words: [venue] }: Given): Promise<void> {
  const { category } = values;
  if (venue !== undefined && category !== undefined)
    throw new UserError("status: expected a venue or --category, got both");
  const of = category === undefined ? null : oneOf("--category", categories, category as string);
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
  state: StateWord;
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
    const problem = quotedError(error) + (error.status === null ? hint : "");
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

const hint = "; name another place with --url, or start venuewatch there";
