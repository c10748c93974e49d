/** What the address of the board may select: `/?category=rpc&state=trouble&q=alch&sort=worst`. */
import { categories } from "../../../shared/registry/registry.js";
import { choice, type Parameter, type Values } from "../../api/parameters.js";
import type { Board } from "./board-headline.js";
import { isTrouble, rank } from "../parts/state-rank.js";

/** Any text that a reader may type. */
const search: Parameter<string | null> = {
  schema: { type: "string", maxLength: 100 },
  description: "Part of a venue's name or id.",
  read: (text) => text.trim(),
  expected: "at most 100 characters",
  absent: null,
};

/** `trouble`: degraded or down. */
export const filterStates = ["operational", "degraded", "outage", "unknown", "trouble"] as const;

export const boardParameters = {
  category: choice("Only this category.", categories, null),
  state: choice("Only venues in this state.", filterStates, null),
  q: search,
  sort: choice("Order of the venues.", ["category", "worst"], "category"),
};

export type Filter = Values<typeof boardParameters>;

/** The venues that the filter leaves, in its order. The category is selected by the statement already. */
export function selectedVenues({ venues }: Board, { state, q, sort }: Filter): Board["venues"] {
  const found = venues.filter(
    (venue) =>
      (state === null || (state === "trouble" ? isTrouble(venue.state) : venue.state === state)) &&
      (q === null || `${venue.name} ${venue.id} ${venue.symbol}`.toLowerCase().includes(q.toLowerCase())),
  );
  if (sort !== "worst") return found;
  return found.sort((a, b) => rank(a.state) - rank(b.state) || b.activeIncidents - a.activeIncidents);
}
