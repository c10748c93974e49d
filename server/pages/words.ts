/** Every text of the pages that is not data, so that this is the only file to translate. */
import type { state } from "../api/schemas/shapes.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import type { Category } from "../../shared/registry/registry.js";

export type State = TypeOf<typeof state>;

/** The language of these texts, as BCP 47 writes it. */
export const language = "en";

export const stateWords: Record<State, string> = {
  operational: "Healthy",
  degraded: "Degraded",
  outage: "Down",
  unknown: "Unknown",
};

export const stateMeanings: Record<State, string> = {
  operational: "most regions see it answer as usual",
  degraded: "most regions see it fail in part, or answer far slower than usual",
  outage: "most regions see it fail",
  unknown: "too few regions measured it to say",
};

export const categoryWords: Record<Category, string> = {
  exchange: "Exchanges",
  rpc: "RPC providers",
  "market-data": "Market data",
  oracle: "Oracles",
  stablecoin: "Stablecoins",
  bridge: "Bridges",
  ramp: "Ramps",
};

/** Names of pages, in the navigation and in titles. */
export const pageWords = {
  board: "Board",
  incidents: "Incidents",
  compare: "Compare",
  detection: "Detection",
  regions: "Regions",
  docs: "Docs",
  wall: "Wall",
};

export const siteWords = {
  name: "venuewatch",
  skip: "Skip to the content",
  navigation: "Pages",
  asOf: "As of",
  asJson: "This page as JSON",
  everyTick: "The board is decided again every few seconds, from measurements of several regions.",
  old: (age: string) =>
    `This is ${age} old: our engine has decided nothing since. It says nothing about the venues since then.`,
  localTime: "Show local time",
  utc: "Show UTC",
  lost: "The connection to this page's server is lost. What you see may be old.",
  methodology: "How this is measured",
  rulebook: "How a verdict is reached",
};

export const boardWords = {
  allHealthy: (venues: number) => (venues === 1 ? "The only venue is healthy." : `All ${venues} venues are healthy.`),
  someHealthy: (healthy: number, venues: number) =>
    `${healthy === 0 ? "None" : healthy} of ${venues} venues ${healthy === 1 ? "is" : "are"} healthy.`,
  noneKnown: "We cannot tell: no venue has enough recent measurements.",
  noVenues: "No venue is measured yet.",
  unknown: (names: string) => `Unknown: ${names}.`,
  failing: (label: string, isDown: boolean) => `${label} ${isDown ? "failing" : "degraded"}`,
  inRegions: (saw: number, of: number) => `in ${saw} of ${of} regions`,
  lasting: (duration: string) => `for ${duration}`,
  andOthers: (count: number) => `, and ${count} more ${count === 1 ? "incident" : "incidents"}`,
  moreVenues: (count: number) => `Also in trouble: ${count} more ${count === 1 ? "venue" : "venues"}.`,
  shortTitle: (healthy: number, venues: number) => `${healthy} of ${venues} healthy`,
  openIncidents: "Open incidents",
  noOpenIncidents: "No incident is open.",
  venues: "Venues",
  since: "since",
  forTime: "for",
  anyTrouble: "Degraded or down",
  noUptime: "Uptime unknown",
  legendDays:
    "A bar is a day: low without trouble, higher with degraded minutes, highest with down minutes, and a gap where nothing was measured.",
  typically: "typically",
  coverage: (percent: string) => `${percent} measured`,
  notMeasured: "not measured",
  regions: "Regions",
  regionReports: "reports",
  regionSilent: "sends nothing: its votes are not counted",
  regionImpaired: "impaired: its votes are not counted",
  regionTroubled: "has trouble of its own",
  quorum: (quorum: number, regions: number) =>
    `${quorum} of the ${regions} regions that report now must agree before we call a venue degraded or down.`,
  search: "Search",
  category: "Category",
  anyCategory: "All categories",
  state: "State",
  anyState: "All states",
  sort: "Order",
  byCategory: "By category",
  worstFirst: "Worst first",
  apply: "Apply",
  nothingFound: "No venue matches this filter.",
  showAll: "Show all venues",
  legend: "What the signs mean",
  days: (good: number, degraded: number, down: number, unmeasured: number) =>
    `90 days: ${good} without trouble, ${degraded} with degraded minutes, ${down} with down minutes, ${unmeasured} not measured`,
  latencies: (least: string, most: string) => `Median latency by hour, from ${least} to ${most}`,
  noLatencies: "No latency measured in the last 24 hours",
};

export const incidentWords = {
  began: "began",
  openFor: "open for",
  lasted: (duration: string) => `lasted ${duration}`,
  venueSays: (title: string) => `The venue says: ${title}.`,
  venueSilent: "The venue has not said anything.",
  feedUnread: "We could not read what the venue says.",
  noFeed: "The venue has no status feed that we can read.",
};

export const errorWords = {
  title: (status: number) => `${status}`,
  headings: {
    400: "We do not understand this address",
    404: "There is no such page",
    405: "This can only be read",
    429: "Too many requests from your address",
    500: "This is our fault",
    503: "We cannot read our own data at the moment",
  } as Record<number, string>,
  unavailable: "This says nothing about any venue. The page tries again by itself every few seconds.",
  toBoard: "To the board",
};

/** Parts of instants and durations. */
export const timeWords = {
  utc: "UTC",
  lessThanAMinute: "less than a minute",
  ago: (duration: string) => `${duration} ago`,
  units: {
    second: ["second", "seconds"],
    minute: ["minute", "minutes"],
    hour: ["hour", "hours"],
    day: ["day", "days"],
  } as Record<"second" | "minute" | "hour" | "day", [one: string, many: string]>,
  and: " ",
};
