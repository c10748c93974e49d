/**
 * No state rests on a minority: a venue that is not unknown has at least half of its components known, and one in
 * outage at least half of all its endpoints or of all its streams in outage. This holds at every decision and in every
 * body of the board, whose fleet likewise needs half of its venues.
 */
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { componentsOf } from "../../shared/registry/components.js";
import type { Cluster } from "../cluster.js";
import type { NotedStates, ReadBody } from "../ledger.js";

interface Part {
  component: string;
  state: string;
}

export function checkMinorities({ ledger, largerRegistry }: Cluster): Promise<string[]> {
  const published = new Map(watchedVenues(largerRegistry).map((venue) => [venue.id, componentsOf(venue)]));
  const bodies = ledger.bodies.filter(({ path }) => path === "/v1/status");
  const unread = [
    ...(ledger.notedStates.length === 0 ? ["expected states at each decision, got none (simulation/states.ts)"] : []),
    ...(bodies.length === 0 ? ["expected bodies of the board, got none (simulation/reader.ts)"] : []),
  ];
  return Promise.resolve([...unread, ...ledger.notedStates.flatMap(inEngine), ...bodies.flatMap(onBoard)]);

  function inEngine({ instantMs, venues }: NotedStates): string[] {
    const when = `the engine at ${new Date(instantMs).toISOString()}`;
    return venues.flatMap(({ venue, state, components }) => problemsOf(when, venue, state, components));
  }

  function onBoard({ text }: ReadBody): string[] {
    const { generatedAt, summary, venues } = JSON.parse(text) as Board;
    const when = `the board of ${generatedAt}`;
    const known = venues.filter(({ state }) => state !== "unknown").length;
    const down = venues.filter(({ state }) => state === "outage").length;
    const by = summary.state === "outage" ? down : known;
    const isOfFew = summary.state !== "unknown" && by * 2 < venues.length;
    return [
      ...(isOfFew ? [`${when} says ${summary.state} by a minority: ${by} of ${venues.length} venues`] : []),
      ...venues.flatMap(({ id, state, components }) => problemsOf(when, id, state, components)),
    ];
  }

  function problemsOf(when: string, venue: string, state: string, parts: readonly Part[]): string[] {
    if (state === "unknown") return [];
    // those that have no state yet are unknown
    const all = (published.get(venue) ?? []).map(({ id, kind }) => ({
      kind,
      state: parts.find(({ component }) => component === id)?.state ?? "unknown",
    }));
    const known = all.filter(isKnown);
    const says = `${when} says ${state} by a minority: ${venue},`;
    if (known.length === 0 || known.length * 2 < all.length)
      return [`${says} ${known.length} of ${all.length} components are known`];
    const isDown = ["rest", "ws"].some((kind) => {
      const ofKind = all.filter((one) => one.kind === kind);
      const down = ofKind.filter((one) => one.state === "outage").length;
      return down > 0 && down * 2 >= ofKind.length;
    });
    return state !== "outage" || isDown ? [] : [`${says} ${known.map((one) => `${one.kind} ${one.state}`).join(", ")}`];
  }
}

interface Board {
  generatedAt: string;
  summary: { state: string };
  venues: { id: string; state: string; components: Part[] }[];
}

function isKnown({ state }: { state: string }): boolean {
  return state !== "unknown";
}
