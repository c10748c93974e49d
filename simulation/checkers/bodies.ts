/**
 * No body of the API contains anything newer than its `generatedAt`, which is never ahead of time; and the states of
 * the board are those of the second opinion at that instant, and unknown while the engine is silent.
 */
import type { Cluster } from "../cluster.js";
import type { ReadBody } from "../ledger.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { opinionOn } from "./second-opinion.js";

const { step_ms: stepMs, silent_after_ms: silentMs } = rulesRow;

export async function checkBodies(cluster: Cluster): Promise<string[]> {
  const { ledger } = cluster;
  if (ledger.bodies.length === 0) return ["no page of the API was answered"];
  const opinion = await opinionOn(cluster);
  const venuesAt = new Map(opinion.moments.map(({ at, venues }) => [at, venues]));
  return ledger.bodies.flatMap((body) => [...newerThings(body), ...otherStates(body)]);

  function otherStates({ path, text }: ReadBody): string[] {
    if (path !== "/v1/status") return [];
    const { generatedAt, ageSeconds, venues } = JSON.parse(text) as Board;
    const isSilent = ageSeconds !== null && ageSeconds * 1000 >= silentMs;
    // a change between two instants makes a body a millisecond newer
    const states = venuesAt.get(Math.floor(Date.parse(generatedAt) / stepMs) * stepMs);
    return venues.flatMap(({ id, state }) => {
      const expected = isSilent ? "unknown" : states?.find(({ venue }) => venue === id)?.state;
      return expected === undefined || expected === state
        ? []
        : [`the board of ${generatedAt} says that ${id} is ${state}, expected ${expected}`];
    });
  }
}

interface Board {
  generatedAt: string;
  /** Since the engine's last decision; null: it decides. */
  ageSeconds: number | null;
  venues: { id: string; state: string }[];
}

function newerThings({ path, text, atMs }: ReadBody): string[] {
  const body = JSON.parse(text) as { generatedAt: string };
  const { generatedAt } = body;
  const generatedMs = Date.parse(generatedAt);
  if (generatedMs > atMs) return [`${path} was generated at ${generatedAt}, after it was read`];
  return instantsOf(body)
    .filter(({ time }) => Date.parse(time) > generatedMs)
    .map(({ name, time }) => `${path} of ${generatedAt} has something newer: ${name} ${time}`);
}

/**
 * All instants of a body, at any depth. Of a venue's notice, only those that we set: the venue's own may be in the
 * future.
 */
function instantsOf(value: unknown, name = ""): { name: string; time: string }[] {
  if (typeof value === "string") return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? [{ name, time: value }] : [];
  if (typeof value !== "object" || value === null) return [];
  const isNotice = "firstSeenAt" in value;
  const ours = Object.entries(value).filter(([key]) => !isNotice || ["firstSeenAt", "lastSeenAt"].includes(key));
  return ours.flatMap(([key, inner]) => instantsOf(inner, Array.isArray(value) ? name : key));
}
