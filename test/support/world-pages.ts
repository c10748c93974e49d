/** A simulated world with scripted posts, and its venues' status feeds. */
import type { Test } from "tap";
import type { Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ask } from "../../simulator/clients.js";
import type { ScriptedPost } from "../../simulator/notices/posts.js";
import { startWorld, type World } from "../../simulator/world.js";

export const registry = await loadRegistry("registry/default.json");
export const begin = new Date("2026-03-01T12:00:00Z");
export const at = (minute: number) => new Date(+begin + minute * 60_000);

/** Posted at minute 10, resolved at minute 30. */
export function outage(venue: string, more: Partial<ScriptedPost> = {}): ScriptedPost {
  return { venue, title: "Errors", impact: "major", postedAt: at(10), endedAt: at(30), ...more };
}

export async function titlesOf({ registry }: World, venue: string) {
  const { api } = venueOf(registry, venue).official!;
  const { body } = await ask({ url: api!, method: "GET" });
  return (JSON.parse(body) as Body).incidents.map((one) => one["name"]);
}

type Entry = Record<string, unknown>;

interface Body extends Entry {
  page: Entry;
  incidents: Entry[];
  scheduled_maintenances: Entry[];
  components?: Entry[];
}

export async function openPages(t: Test, posts: ScriptedPost[], ports: Record<string, number> = {}) {
  let now = begin;
  const world = await startWorld({ registry, posts, ports, now: () => now });
  t.teardown(() => world.close());
  const official = (id: string) => {
    const { official } = venueOf(world.registry, id);
    return { ...official!, api: official!.api! };
  };
  return {
    world,
    official,
    clock: { to: (minute: number) => (now = at(minute)) },
    /** Reads a document next to the feed's own, by the last part of its path. */
    read: async (id: string, document: string): Promise<Body> => {
      const base = official(id).api;
      const url = base.endsWith("incidents.json")
        ? base.replace("incidents.json", document)
        : base + document.replace(/^[^?]*/, "");
      const { status, headers, body } = await ask({ url, method: "GET" });
      t.equal(status, 200, `${id} ${document}`);
      t.equal(headers["content-type"], "application/json");
      return JSON.parse(body) as Body;
    },
  };
}

export function venueOf({ venues }: Registry, id: string) {
  return venues.find((venue) => venue.id === id)!;
}

/** Returns every key of every object in it. */
export function flat(value: unknown): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  JSON.stringify(value, (key, inner: unknown) => {
    keys[key] = true;
    return inner;
  });
  return keys;
}
