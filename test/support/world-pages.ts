/** What tests of the simulated world share: its fifteen venues, a clock, and a notice. */
import type { Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { ScriptedPost } from "../../world/notices/posts.js";

export const registry = await loadRegistry("registry/exchanges.json");
export const begin = new Date("2026-03-01T12:00:00Z");
export const at = (minute: number) => new Date(+begin + minute * 60_000);

/** Posted at minute 10, resolved at minute 30. */
export function outage(venue: string, more: Partial<ScriptedPost> = {}): ScriptedPost {
  return { venue, title: "Errors", impact: "major", postedAt: at(10), endedAt: at(30), ...more };
}

export function venueOf({ venues }: Registry, id: string) {
  return venues.find((venue) => venue.id === id)!;
}
