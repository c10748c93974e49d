/** What agents can ask. Each tool answers with a sentence and a body of the API. */
import { eitherOf, integer, list, object, oneOf, text, withOptional } from "../api/shapes.js";
import { incidentsResponse } from "../board/incidents.js";
import { reliabilityResponse } from "../board/reliability.js";
import { statusResponse } from "../board/status.js";
import { type RegionView, venueStateResponse } from "../board/venue-state.js";
import { exchangeResponse } from "../board/venue.js";
import { durationText, sinceMs } from "../pages/format.js";
import { faultVerbs } from "../pages/words.js";
import {
  type AgentSource,
  type AskedIncidents,
  BadArgument,
  type BoardBody,
  type IncidentsBody,
  NoData,
  type ReliabilityBody,
  type StateName,
  type VenueStateBody,
} from "./agent-source.js";
import { countedWords, findVenue, listWords, staleSentence, venueArgument } from "./asked-venue.js";
import { mostDetail, mostName, mostTitle, namedVenue, quoted } from "./quoted.js";
import { type AgentTool, type Found, makeTool, narrowed } from "./tool.js";
import { transfersTool } from "./transfers-tool.js";

const regionArgument = {
  ...text(
    "A region's id, such as `us-east`: what is seen from there alone. Use it where the user says from where they ask. Without it, the answer is what a majority of all regions sees, and it names those that see it otherwise.",
    "us-east",
  ),
  ...{ minLength: 1, maxLength: 80 },
};

/** A separate constant: as an argument, its words would be inferred as `string`. */
const statusWords = oneOf(["open", "closed", "all"], "Only open or only closed incidents, or all.");

const uptimeParts = ["measuredDays", "measuredMinutes", "scheduledMinutes", "uptimePctLow", "uptimePctHigh"];

const boardPart = narrowed(
  {
    ...statusResponse,
    description:
      "All venues, the worst first, with only those of their components that are not operational. `summary.venues` counts them; the list may be shorter.",
  },
  [
    ...["incidents", "venues.days", "venues.sparkline", "venues.ccxtId", "venues.symbol", "venues.quote"],
    ...["typicalMinutes", "typicalAsOf", ...uptimeParts].map((name) => `venues.${name}`),
    ...["categories", "medianLatencyMinutes", "medianLatencyAsOf", ...uptimeParts].map((name) => `summary.${name}`),
  ],
  { venues: 100 },
);

const isItDownTool = makeTool({
  name: "is_it_down",
  title: "Is it down?",
  description:
    'Says whether an exchange, RPC provider, market data API, oracle, stablecoin, bridge or ramp is up, degraded, down or unknown, as measured from several regions and decided by a majority of them. Use it for "is OKX down?" and "is it down or just me?": the answer names regions that see it otherwise, and `region` asks for the view of one. Without a venue it says which of all watched venues have trouble. `unknown` is neither up nor down.',
  input: withOptional(object("Which venue.", {}), { venue: venueArgument, region: regionArgument }),
  body: eitherOf("Of the venue asked for, or of all.", narrowed(venueStateResponse), boardPart),
  async find({ venue, region = null }, source): Promise<Found<VenueStateBody | BoardBody>> {
    if (venue === undefined && region !== null)
      throw new BadArgument("venue is missing: a region's view is of one venue at a time");
    try {
      if (venue === undefined) return boardFound(await source.status());
      const { id, body, sentence, state } = await stateOf(venue, region, source);
      const query = region === null ? "" : `?${new URLSearchParams({ region })}`;
      return { sentence, state, body, page: `/venues/${id}`, api: `/v1/targets/${id}/state${query}` };
    } catch (error) {
      if (!(error instanceof NoData)) throw error;
      // no error: "unknown" is the answer, and a caller must not take its absence for anything else
      const what = venue === undefined ? "any of its venues" : JSON.stringify(quoted(venue, mostTitle));
      const sentence = `${unknownSentence(what)} The reason: ${error.message}. Try again in a minute. ${askedWords(source)}`;
      return { sentence, state: "unknown", body: null, page: "/", api: "/v1/status" };
    }
  },
});

const venueTool = makeTool({
  name: "venue",
  title: "One venue in detail",
  description:
    "The state of one venue with each of its components and regions, its newest incidents, its latency and its uptime over ninety days, and what its own status page says. Use `is_it_down` if only the state matters.",
  input: withOptional(object("Which venue.", { venue: venueArgument }), { region: regionArgument }),
  body: narrowed(
    exchangeResponse,
    [
      ...["entry", "chain", "days", "latency", "incidentPatterns", "detection", "excluded", "typicalMinutes"],
      ...["typicalAsOf", "uptimePct90d", "coveragePct", ...uptimeParts],
      ...["components", "rest", "streams", "typicalHours"].map((name) => `summary.${name}`),
      ...["endpoints", "streams"].flatMap((list) =>
        ["name", "target", "cadenceMs", "samples", "answers", "newestFault", "lag"].map((name) => `${list}.${name}`),
      ),
    ],
    { incidents: 10, "official.incidents": 5, "regions.compare": 30 },
  ),
  async find({ venue, region = null }, source) {
    // first, so that it is not newer than the instant of the answer
    const { id, sentence, state } = await stateOf(venue, region, source);
    const body = await source.venue(id, region);
    return { sentence, state, body, page: `/venues/${id}`, api: `/v1/targets/${id}` };
  },
});

const incidentsTool = makeTool({
  name: "incidents",
  title: "Incidents",
  description:
    "Incidents of all venues or of one, newest first: what failed, since when, for how long, how many regions agreed, and what the venue said itself. With status `open`: what is broken now. No incident does not mean that a venue was up: it may not have been measured, which `is_it_down` and `compare` show.",
  input: withOptional(object("Which incidents.", {}), {
    venue: { ...venueArgument, description: `Only of this venue. ${venueArgument.description}` },
    status: { ...statusWords, default: "all" },
    days: {
      ...integer("Length of the window in UTC days, today included: incidents that started in it.", 30, 1),
      ...{ maximum: 365, default: 30 },
    },
    limit: { ...integer("Incidents in the answer.", 10, 1), maximum: 25, default: 10 },
    before: {
      ...text("For the next page: `startedAt` of the last incident of the previous one.", "2026-01-31T11:41:06.000Z"),
      ...{ minLength: 20, maxLength: 32 },
    },
    beforeId: { ...integer("Beside `before`: the `id` of that incident.", 4711, 1), maximum: Number.MAX_SAFE_INTEGER },
  }),
  body: narrowed(incidentsResponse),
  async find({ venue: asked, status = "all", days = 30, limit = 10, ...cursor }, source) {
    const venue = asked === undefined ? undefined : await findVenue(asked, source);
    const filter: AskedIncidents = { ...(venue !== undefined && { venue }), status, days };
    const query = { ...filter, limit, ...cursor };
    const body = await source.incidents(query);
    return {
      ...{ sentence: incidentsSentence(body, query), state: null },
      body: { ...body, incidents: body.incidents.slice(0, limit) },
      ...{ page: `/incidents?${queryOf(filter)}`, api: `/v1/incidents?${queryOf(query)}` },
    };
  },
});

const compareTool = makeTool({
  name: "compare",
  title: "Compare the reliability of venues",
  description:
    "Uptime, downtime, incidents and latency of two to ten venues over the same days, with how much of the time was measured and which venues were more available whatever happened in the unmeasured minutes. An uptime of null means that too little was measured, not zero.",
  input: withOptional(
    object("Which venues, over how many days.", {
      venues: {
        ...list(venueArgument.description!, venueArgument),
        ...{ minItems: 2, maxItems: 10, examples: [["okx", "kraken"]] },
      },
    }),
    { days: { ...integer("Length of the window in UTC days, today included.", 90, 1), maximum: 90, default: 90 } },
  ),
  body: narrowed({ ...reliabilityResponse, description: "The venues compared: the rows of those asked for." }, [
    "fleet",
    "ranks",
    "venues.components",
  ]),
  async find({ venues: asked, days = 90 }, source) {
    const ids = new Set<string>();
    for (const one of asked) ids.add(await findVenue(one, source));
    if (ids.size < 2)
      throw new BadArgument(
        `venues: expected at least 2 different venues; got ${listWords(asked.map((one) => JSON.stringify(quoted(one, mostName))))}, which are one`,
      );
    const body = await source.reliability(days);
    const venues = body.venues.filter(({ id }) => ids.has(id));
    const missing = [...ids].filter((id) => !venues.some((one) => one.id === id));
    if (missing.length > 0) throw new NoData(`there are no figures of ${listWords(missing)}: not yet, or no longer`);
    return {
      ...{ sentence: compareSentence({ ...body, venues }), state: null, body: { ...body, venues } },
      ...{ page: `/compare?days=${days}`, api: `/v1/reliability?days=${days}` },
    };
  },
});

/** In the order in which agents see them. */
export const agentTools: readonly AgentTool[] = [isItDownTool, venueTool, incidentsTool, compareTool, transfersTool];

async function stateOf(venue: string, region: string | null, source: AgentSource) {
  const id = await findVenue(venue, source);
  const body = await source.state(id, region);
  if (body === null) throw new NoData(`it does not know ${id} any longer`);
  return { id, body, sentence: stateSentences(body), state: body.stale ? ("unknown" as const) : body.state };
}

const worstFirst: readonly StateName[] = ["outage", "degraded", "unknown", "operational"];

function boardFound(board: BoardBody): Found<BoardBody> {
  const { stale, summary } = board;
  const venues = board.venues
    .map((venue) => ({ ...venue, components: venue.components.filter(({ state }) => state !== "operational") }))
    .sort((a, b) => worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state));
  const words = {
    outage: "Down",
    degraded: "Degraded, not down as a whole",
    unknown: "Unknown, which is neither up nor down",
  };
  const parts = (["outage", "degraded", "unknown"] as const).flatMap((state) => {
    const some = venues.filter((venue) => (stale ? "unknown" : venue.state) === state);
    const named = some.slice(0, mostNamed).map(namedVenue);
    const more = some.length > mostNamed ? [`${some.length - mostNamed} more`] : [];
    return some.length === 0 ? [] : ` ${words[state]}: ${listWords([...named, ...more])}.`;
  });
  const up = stale ? 0 : venues.filter(({ state }) => state === "operational").length;
  return {
    sentence: `${staleSentence(board)}${up} of ${venues.length} watched venues ${up === 1 ? "is" : "are"} up.${parts.join("")}`,
    state: stale ? "unknown" : summary.state,
    ...{ body: { ...board, venues }, page: "/", api: "/v1/status" },
  };
}

/** Of venues in one state. */
const mostNamed = 50;

function queryOf(values: object): string {
  return new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString();
}

function incidentsSentence(body: IncidentsBody, { venue, status, days, limit, before }: AskedIncidents): string {
  const { length } = body.incidents;
  const kind = status === "all" ? "incident" : `${status} incident`;
  const which = `${venue === undefined ? "" : ` of ${venue}`} that started in the last ${countedWords(days!, "UTC day")}`;
  if (length === 0)
    return `${staleSentence(body)}venuewatch knows no ${before === undefined ? "" : "further "}${kind}${which}. That does not mean that it was up: time that was not measured has no incidents.`;
  const more = length < limit! ? "" : " There may be more: ask again with `before` and `beforeId`.";
  return `${staleSentence(body)}${countedWords(length, kind)}${which}, newest first.${more}`;
}

function compareSentence(body: ReliabilityBody): string {
  const { venues, days } = body;
  const named = venues.map(
    (one) =>
      `${namedVenue(one)} ${one.uptimePct === null ? "unknown, as too little was measured" : `${one.uptimePct} %`}`,
  );
  const ahead = venues.flatMap(({ id, uptimePctLow: low }) => {
    const lower = venues.filter(({ uptimePctHigh: high }) => low !== null && high !== null && high < low);
    return lower.length === 0 ? [] : `${id} than ${listWords(lower.map((one) => one.id))}`;
  });
  const differences =
    ahead.length === 0
      ? "Do not rank them by uptime: the bounds of each two of them overlap or are unknown."
      : `More available whatever happened in the unmeasured minutes: ${ahead.join("; ")}. Do not rank other pairs by uptime: their bounds overlap or are unknown.`;
  return `${staleSentence(body)}Uptime over the last ${countedWords(days, "UTC day")}, of the measured time, the most available first: ${named.join(", ")}. ${differences}`;
}

/** For an answer without data: when it was asked for, and where to look instead. */
export function askedWords({ baseUrl }: Pick<AgentSource, "baseUrl">): string {
  return `Asked at ${new Date().toISOString()}; ${baseUrl}/ is the page for people.`;
}

// Whether a venue is up, in sentences that cannot be read another way.

type StatedComponent = VenueStateBody["components"][number];

/** What the sentences need of a body. */
export type StatedVenue = Pick<
  VenueStateBody,
  "generatedAt" | "stale" | "ageSeconds" | "id" | "name" | "state" | "since" | "byQuorum" | "region" | "regions"
> & { components: readonly Pick<StatedComponent, "component" | "state" | "fault" | "unknownBecause">[] };

/** @param what a name, or several */
function unknownSentence(what: string): string {
  return `Unknown: venuewatch does not know whether ${what} is up. This means neither up nor down.`;
}

export function stateSentences(venue: StatedVenue): string {
  const seenFrom = venue.region && `, seen from ${namedRegion(venue.region)},`;
  const name = `${namedVenue(venue)}${seenFrom ?? ""}`;
  if (venue.stale) return `${staleSentence(venue)}${unknownSentence(name)} The last known state was ${venue.state}.`;
  const { state, byQuorum, generatedAt: now } = venue;
  const since = sinceWords(venue.since, now);
  const broken = brokenWords(venue);
  // for one region's view, the decision of all regions takes the place of dissent
  const dissent = byQuorum === null ? dissentWords(state, venue.regions, now) : "";
  const unseen = byQuorum === null ? unseenWords(venue.regions) : quorumWords(byQuorum, now);
  const rest = `${unknownWords(venue)}${unseen}`;
  switch (state) {
    case "operational":
      return `${name} is up: venuewatch has measured it as operational ${since}${dissent}.${broken && ` But ${broken}.`}${rest}`;
    case "degraded":
      return `${name} is degraded, which is not down as a whole: ${broken || "it is far slower than usual"}. It has been degraded ${since}${dissent}.${rest}`;
    case "outage":
      return `${name} is down: venuewatch has measured an outage ${since}${broken && `; ${broken}`}${dissent}.${rest}`;
    case "unknown":
      return `${unknownSentence(name)} Fewer than half of its components are known ${since}${dissent}.${broken && ` But ${broken}.`}${rest}`;
  }
}

/** `since 2026-01-31T11:41:20.000Z, for 12 minutes` */
function sinceWords(since: string, now: string): string {
  return `since ${since}, for ${durationText(sinceMs(since, now))}`;
}

function quorumWords({ state, since }: { state: StateName; since: string }, now: string): string {
  const word = { operational: "up", degraded: "degraded", outage: "down", unknown: "unknown" }[state];
  return ` This is what one region sees, which confirms nothing. By all regions together it is ${word} ${sinceWords(since, now)}.`;
}

/** `1 of 9 components is in outage (rest:ticker)`; empty if there are none. */
function brokenWords({ components }: Pick<StatedVenue, "components">): string {
  const parts = (["outage", "degraded"] as const).flatMap((wanted) => {
    const some = components.filter(({ state }) => state === wanted);
    return [...new Set(some.map(({ fault }) => becauseOf(fault)))].map((because) => {
      const alike = some.filter(({ fault }) => becauseOf(fault) === because);
      const word = wanted === "outage" ? "in outage" : wanted;
      return `${alike.length} of ${countedWords(components.length, "component")} ${alike.length === 1 ? "is" : "are"} ${word}${because} (${componentList(alike)})`;
    });
  });
  return listWords(parts);
}

/** Empty where the fault says no more than that it fails. */
function becauseOf(fault: StatedComponent["fault"]): string {
  // a later release of a service elsewhere may have more faults
  const verb = fault !== null && Object.hasOwn(faultVerbs, fault) ? faultVerbs[fault] : undefined;
  return verb ? `, because the venue ${verb.does}` : "";
}

/** Which components are unknown, and the first reason in the words of the API. */
function unknownWords({ state, components }: StatedVenue): string {
  const unknown = components.filter((one) => one.state === "unknown");
  const [reason, ...more] = new Set(unknown.flatMap(({ unknownBecause }) => unknownBecause?.detail ?? []));
  const others = more.length === 0 ? "" : ` Other components have ${countedWords(more.length, "other reason")}.`;
  const because = reason === undefined ? "" : ` The reason: ${quoted(reason, mostDetail)}.${others}`;
  if (state === "unknown" || unknown.length === 0) return because;
  return ` Whether ${componentList(unknown)} ${unknown.length === 1 ? "works" : "work"} is unknown: that is neither up nor down.${because}`;
}

/** Nobody would read more. */
const [mostRegions, mostComponents] = [6, 12];

/** `; "US East" (us-east) is blocked since …`: the regions that see it otherwise than all together; empty: none. */
function dissentWords(state: StateName, regions: readonly RegionView[], now: string): string {
  const clauses = regions.flatMap((view) => clauseOf(view, state, now));
  const more = clauses.length - mostRegions;
  const shown = more > 0 ? [...clauses.slice(0, mostRegions), `${more} more see it otherwise, too`] : clauses;
  return shown.length === 0 ? "" : `; ${listWords(shown)}`;
}

function clauseOf(view: RegionView, venue: StateName, now: string): string[] {
  const { state, since, dissent } = view;
  const who = namedRegion(view);
  if (state !== "unknown" && state !== venue) {
    const faults = dissent.filter((one) => one.state !== "operational").map(({ fault }) => fault);
    const [because = "", ...others] = new Set(faults.map(becauseOf));
    if (state === "operational") return [`${who} sees it up ${sinceWords(since, now)}`];
    if (state === "outage" && others.length === 0 && because === becauseOf("blocked"))
      return [`${who} is blocked ${sinceWords(since, now)}`];
    const word = state === "outage" ? "down" : "degraded";
    return [`${who} sees it ${word} ${sinceWords(since, now)}${others.length === 0 ? because : ""}`];
  }
  if (dissent.length === 0) return [];
  const words = { outage: "in outage", degraded: "degraded", operational: "up" };
  const seen = (["outage", "degraded", "operational"] as const).flatMap((state) => {
    const some = dissent.filter((one) => one.state === state);
    return some.length === 0 ? [] : `${componentList(some)} ${words[state]}`;
  });
  const earliest = dissent.map((one) => one.since).reduce((first, one) => (one < first ? one : first));
  return [`${who} sees ${listWords(seen)} ${sinceWords(earliest, now)}`];
}

/** A sentence about the regions that see nothing: that is no dissent. */
function unseenWords(regions: readonly RegionView[]): string {
  return regions
    .filter(({ unknownBecause }) => unknownBecause !== null)
    .slice(0, mostRegions)
    .map((view) => ` ${namedRegion(view)} cannot tell: ${quoted(view.unknownBecause!.detail, mostDetail)}.`)
    .join("");
}

function namedRegion({ region, name }: Pick<RegionView, "region" | "name">): string {
  return namedVenue({ id: region, name });
}

function componentList(components: readonly { component: string }[]): string {
  const named = components.slice(0, mostComponents).map(({ component }) => component);
  const more = components.length - named.length;
  return listWords(more > 0 ? [...named, `${more} more`] : named);
}
