/** Texts of the board and of the wall. */
import type { Fault } from "../../../shared/measurement/sample.js";
import { faultVerbs } from "./site.js";

export const boardWords = {
  allHealthy: (venues: number) => (venues === 1 ? "The only venue is healthy." : `All ${venues} venues are healthy.`),
  someHealthy: (healthy: number, venues: number) =>
    `${healthy === 0 ? "None" : healthy} of ${venues} venues ${healthy === 1 ? "is" : "are"} healthy.`,
  noneKnown: "We cannot tell: no venue has enough recent measurements.",
  noVenues: "No venue is measured yet.",
  noneJudged: "We cannot tell: there is no venue of which we can say whether it works.",
  unknown: (names: string) => `Unknown: ${names}.`,
  unknownBecause: {
    never: (names: string) => `Never seen good from here: ${names}.`,
    ended: (names: string) => `The service has ended, so nothing is concluded from its answers: ${names}.`,
    blocked: (names: string) => `Blocked from this place: ${names}.`,
  },
  failing: (label: string, isDown: boolean, fault: Fault | null, where: string) => {
    const verb = fault === null ? undefined : faultVerbs[fault];
    return verb ? `${label} ${verb.does}, ${where}` : `${label} ${isDown ? "failing" : "degraded"} ${where}`;
  },
  atOnce: (venues: number, since: string) => `${venues} venues at once, since ${since}: a shared provider?`,
  recovering: (names: string) => `Healthy again, but not for long enough to close the incident: ${names}.`,
  inRegions: (saw: number, of: number) => `in ${saw} of ${of} regions`,
  seenBy: (saw: number, of: number) => `first seen by ${saw} of ${of} regions`,
  unseen: (label: string, isDown: boolean, fault: Fault | null) =>
    `${label} ${(fault !== null && faultVerbs[fault]?.did) || `was ${isDown ? "failing" : "degraded"}`} when we last measured it; the incident is still open.`,
  lasting: (duration: string) => `for ${duration}`,
  andOthers: (count: number) => `, and ${count} more ${count === 1 ? "incident" : "incidents"}`,
  moreVenues: (count: number) => `Also in trouble: ${count} more ${count === 1 ? "venue" : "venues"}.`,
  shortTitle: (healthy: number, venues: number) => `${healthy} of ${venues} healthy`,
  openIncidents: "Open incidents",
  scope:
    "We measure public market data over REST and WebSocket, and nothing that needs an account: no orders, deposits or withdrawals.",
  oneVantage:
    "All regions that report measure from one machine: trouble of its network may look like trouble of the venues.",
  alsoOpen: "Also:",
  noOpenIncidents: "No incident is open.",
  noneOpenHere: "No incident of this category is open.",
  venues: "Venues",
  since: "since",
  forTime: "for",
  anyTrouble: "Degraded or down",
  noUptime: "Uptime unknown",
  legendDays:
    "A bar is a day: low without trouble, higher with degraded minutes, highest with down minutes, hollow if we measured less than half of it, and a gap where nothing was measured.",
  typically: "typically",
  coverage: (percent: string) => `${percent} measured`,
  notMeasured: "not measured",
  regions: "Regions",
  regionReports: "reports",
  regionSilent: "sends nothing: its votes are not counted",
  regionImpaired: "impaired: its votes are not counted",
  regionTroubled: "has trouble of its own",
  quorum: (quorum: number, voting: number) =>
    `${quorum} of the ${voting} regions that count now must agree before we call a venue degraded or down.`,
  noQuorum: (voting: number, quorum: number) =>
    `Only ${voting} ${voting === 1 ? "region counts" : "regions count"} now, and ${quorum} must agree: no verdict is possible.`,
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
  days: (count: Record<"operational" | "degraded" | "outage" | "partly" | "unmeasured", number>) =>
    `90 days: ${count.operational} without trouble, ${count.degraded} with degraded minutes, ${count.outage} with down minutes, ${count.partly} measured less than half without trouble, ${count.unmeasured} not measured`,
  latencies: (least: string, most: string) => `Median latency by hour, from ${least} to ${most}`,
  noLatencies: "No latency measured in the last 24 hours",
};

export const incidentWords = {
  began: "began",
  openFor: "open for",
  lasted: (duration: string) => `lasted ${duration}`,
  venueSays: (title: string) => `The venue's notice nearest in time: ${title}.`,
  venueSilent: "The venue's feed has no notice of it.",
  feedUnread: "We could not read what the venue says.",
  noFeed: "The venue has no status feed that we can read.",
};

export const wallWords = {
  title: "Wall",
  moreOpen: (count: number) => `and ${count} more`,
  openIncidents: (count: number) => `${count} open ${count === 1 ? "incident" : "incidents"}.`,
  incidents: (count: number) => `${count} open ${count === 1 ? "incident" : "incidents"}`,
};
