/** States as text for people. */
import { durationText } from "../../pages/format.js";
import { faultVerbs } from "../../pages/words.js";
import type { BoardBody, VenueStateBody } from "../../mcp/agent-source.js";
import { plainTable } from "../plain-table.js";
import { byState } from "./worst-state.js";

type Freshness = Pick<BoardBody, "generatedAt" | "stale" | "ageSeconds">;
type Row = BoardBody["venues"][number];

export function boardText(board: BoardBody): string {
  const { venues } = board;
  if (venues.length === 0) return `no venues\n${ageText(board)}\n`;
  const head = ["venue", "name", "state", "since", "worst components"];
  const rows = [...venues]
    .sort(byState)
    .map((venue) => [
      ...[venue.id, venue.name, stateText(venue.state, board), sinceText(venue.since, board)],
      worstComponents(venue),
    ]);
  return `${plainTable([head, ...rows])}\n${countsText(venues)}; ${ageText(board)}\n`;
}

export function venueText(venue: VenueStateBody): string {
  const { id, name, category, state, since, components, activeIncidents } = venue;
  const head = ["component", "state", "since", "regions that agree", "open incident"];
  const rows = components.map((one) => [
    ...[one.component, componentState(one, venue), sinceText(one.since, venue)],
    ...[`${one.agreeing} of ${one.counted}`, one.incident ?? "-"],
  ]);
  const open = activeIncidents === 1 ? "1 open incident" : `${activeIncidents} open incidents`;
  const first = `${name} (${id}, ${category}): ${stateText(state, venue)} since ${sinceText(since, venue)}`;
  return `${first}\n\n${plainTable([head, ...rows])}\n${reasonsText(venue)}${open}; ${ageText(venue)}\n`;
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
  return `${seconds(since)} (${durationText(ms).replaceAll("\u00a0", " ")})`;
}

export function ageText({ generatedAt, stale, ageSeconds }: Freshness): string {
  const asOf = `as of ${seconds(generatedAt)}`;
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
function seconds(iso: string): string {
  return iso.replace(/\.\d+Z$/, "Z");
}
