/** States as text for people. */
import { durationText } from "../../pages/format.js";
import type { RemoteBoard, RemoteVenue } from "../../remote/state-bodies.js";
import { plainTable } from "../plain-table.js";
import { byState } from "./worst-state.js";

type Freshness = Pick<RemoteBoard, "generatedAt" | "stale" | "ageSeconds">;
type Row = RemoteBoard["venues"][number];

export function boardText(board: RemoteBoard): string {
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

export function venueText(venue: RemoteVenue): string {
  const { id, name, category, state, since, components, activeIncidents } = venue;
  const head = ["component", "state", "since", "regions that agree", "open incident"];
  const rows = components.map((one) => [
    ...[one.component, stateText(one.state, venue), sinceText(one.since, venue)],
    ...[`${one.agreeing} of ${one.reporting}`, one.incident ?? "-"],
  ]);
  const open = activeIncidents === 1 ? "1 open incident" : `${activeIncidents} open incidents`;
  const first = `${name} (${id}, ${category}): ${stateText(state, venue)} since ${sinceText(since, venue)}`;
  return `${first}\n\n${plainTable([head, ...rows])}\n${open}; ${ageText(venue)}\n`;
}

const mostNamed = 3;

function worstComponents({ components }: Row): string {
  const bad = components.filter(({ state }) => state !== "operational").sort(byState);
  const named = bad.slice(0, mostNamed).map(({ component, state }) => `${component} ${state}`);
  const more = bad.length > mostNamed ? ` and ${bad.length - mostNamed} more` : "";
  return named.length === 0 ? "-" : `${named.join(", ")}${more}`;
}

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
