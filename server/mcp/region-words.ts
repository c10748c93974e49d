/** What single regions see, as clauses and sentences of an answer about a venue. */
import type { RegionView } from "../api/schemas/region-view.js";
import { faultVerbs } from "../pages/words.js";
import type { JudgedState } from "./answer-head.js";
import { mostDetail, namedVenue, quoted } from "./quoted.js";
import { componentList, listWords, sinceWords } from "./time-words.js";

/** More would be read by nobody. */
const mostRegions = 6;

export function namedRegion({ region, name }: Pick<RegionView, "region" | "name">): string {
  return namedVenue({ id: region, name });
}

/** `; "US East" (us-east) is blocked since …`: the regions that see it otherwise than all together; empty: none. */
export function dissentWords(state: JudgedState, regions: readonly RegionView[], now: string): string {
  const clauses = regions.flatMap((view) => clauseOf(view, state, now));
  const more = clauses.length - mostRegions;
  const shown = more > 0 ? [...clauses.slice(0, mostRegions), `${more} more see it otherwise, too`] : clauses;
  return shown.length === 0 ? "" : `; ${listWords(shown)}`;
}

/** A sentence about the regions that see nothing: that is no dissent. */
export function unseenWords(regions: readonly RegionView[]): string {
  return regions
    .filter(({ unknownBecause }) => unknownBecause !== null)
    .slice(0, mostRegions)
    .map((view) => ` ${namedRegion(view)} cannot tell: ${quoted(view.unknownBecause!.detail, mostDetail)}.`)
    .join("");
}

function clauseOf(view: RegionView, venue: JudgedState, now: string): string[] {
  const { state, since, dissent } = view;
  const who = namedRegion(view);
  if (state !== "unknown" && state !== venue) {
    const [fault = null, ...others] = new Set(
      dissent.filter((one) => one.state !== "operational").map((one) => one.fault),
    );
    const verb = fault === null || others.length > 0 ? undefined : faultVerbs[fault];
    if (state === "operational") return [`${who} sees it up ${sinceWords(since, now)}`];
    if (state === "outage" && verb === faultVerbs.blocked) return [`${who} is blocked ${sinceWords(since, now)}`];
    const word = state === "outage" ? "down" : "degraded";
    return [`${who} sees it ${word} ${sinceWords(since, now)}${verb ? `, because the venue ${verb.does}` : ""}`];
  }
  if (dissent.length === 0) return [];
  const seen = (["outage", "degraded", "operational"] as const).flatMap((state) => {
    const some = dissent.filter((one) => one.state === state);
    return some.length === 0 ? [] : `${componentList(some)} ${wordOf[state]}`;
  });
  const earliest = dissent.map((one) => one.since).reduce((first, one) => (one < first ? one : first));
  return [`${who} sees ${listWords(seen)} ${sinceWords(earliest, now)}`];
}

const wordOf = { outage: "in outage", degraded: "degraded", operational: "up" };
