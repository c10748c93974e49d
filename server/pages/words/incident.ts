/** Texts of /incidents and of one incident. */
import type { Fault } from "../../../shared/measurement/sample.js";
import { faultVerbs } from "./site.js";

/** `/incidents`. */
export const historyWords = {
  venue: "Venue",
  anyVenue: "All venues",
  status: "Status",
  statuses: { all: "Open and closed", open: "Only open", closed: "Only closed" },
  days: "Days back",
  apply: "Apply",
  count: (count: number, isFull: boolean) => {
    if (count === 0) return "No incident of this selection began";
    if (isFull) return `These are the newest ${count} incidents that began`;
    return count === 1 ? "One incident began" : `${count} incidents began`;
  },
  since: (day: string, days: number) =>
    days === 1 ? `today (${day}, UTC)` : `since ${day} (${days} UTC days, today included)`,
  before: (instant: string) => `and before ${instant}`,
  open: (count: number, of: number) => {
    if (of === 1) return "It is open.";
    return count === 1 ? "One of them is open." : `${count} of them are open.`;
  },
  whereMeasured: "We can only find an incident where we measured.",
  showAll: "Show all incidents",
  pages: "Pages of the history",
  newest: "Newest incidents",
  older: "Older incidents",
  json: "This selection as JSON",
  csv: "This selection as CSV",
  xlsx: "This selection as a workbook (XLSX)",
  formats: "Other formats",
};

/** `/incidents/{slug}`. */
export const incidentPageWords = {
  was: (kind: "down" | "failing" | "degraded", fault: Fault | null, duration: string) =>
    `${verbOf(fault)?.did ?? `was ${kind}`} for ${duration}`,
  since: (kind: "failing" | "degraded", fault: Fault | null) => `${verbOf(fault)?.hasDone ?? `has been ${kind}`} since`,
  beganTo: (kind: "failing" | "degraded", fault: Fault | null) =>
    `${verbOf(fault)?.began ?? { failing: "began to fail", degraded: "became degraded" }[kind]} at`,
  quietFor: "Too few regions have seen trouble for the last",
  stillOpen: "the incident is still open",
  quiet: (duration: string) => `no trouble seen for ${duration}, still open`,
  lasting: (kind: "failing" | "degraded", fault: Fault | null, duration: string) =>
    `${verbOf(fault)?.hasDone ?? kind} for ${duration}`,
  status: "Status",
  open: "Open. Enough regions saw the trouble for the last time at",
  closesWhen: "It closes when enough regions have seen it healthy for long enough.",
  lastSeen: "Closed. Enough regions saw the trouble for the last time at",
  closed: "We closed the incident at",
  /** The engine's own words are in the JSON. */
  closedBecause: {
    "a region that saw it sees it well, and a quorum has for the whole hold":
      "enough regions had seen it healthy for long enough, one of those that had seen the trouble among them",
    "no quorum has seen it bad, or well for the whole hold, for so long that its end is unknown":
      "for a long time too few regions had seen it fail or seen it healthy, so its end is unknown",
  } as Record<string, string>,
  severity: "Severity",
  severities: {
    degraded: "enough regions saw it fail in part, or answer far slower than usual.",
    outage: "enough regions saw at least half of their requests or messages fail.",
  },
  limitedSeverity:
    "enough regions had their requests limited. The venue answers, and we may simply ask too often from one address.",
  worstWas: "At its worst it was an outage.",
  fault: "Most frequent fault",
  mostOften: (meaning: string, fault: string, count: number, bad: number) =>
    `${sentence(meaning)} (${fault}): ${count} of ${bad} failed samples.`,
  onlySlow: (samples: number) => `None: none of ${samples} samples failed. The answers were too slow.`,
  noSamples: "Unknown: no sample was taken.",
  faultsForgotten: "Unknown: measurements of that time are no longer kept.",
  measured: "What we measure",
  targets: {
    endpoint: "An endpoint",
    stream: "A stream of messages",
    socket: "The WebSocket that all streams of the venue share",
  },
  noTarget: "whose address is not on record",
  stall: (after: string, basis: string) => `We call the stream silent after ${after} (present limit, ${basis})`,
  stallBases: {
    measured: "from measured silences",
    documented: "from the rate that the venue documents",
    probed: "from a rate that we counted",
    estimate: "an estimate",
  },
  agreement: "Agreement",
  needed: (quorum: number, counted: number) =>
    `${quorum} of the ${counted} regions with a vote had to see the trouble before we opened the incident.`,
  agreed: (regions: string) => `These did: ${regions}.`,
  noVotes: "No votes are on record.",
  flapping: "Flapping",
  isFlapping:
    "It is at least the third incident of the same component within an hour. It closes only after a longer hold.",
  timeline: "What happened when",
  events: {
    started: "Trouble began",
    opened: "We opened the incident",
    escalated: "It became an outage",
    "last-bad": "Enough regions saw the trouble for the last time",
    closed: "We closed the incident",
  },
  afterStart: (duration: string) => `${duration} after the beginning`,
  evidence: "Why we decided so",
  aboutVotes: "At each decision, every region votes with its newest samples. These are the votes as they were then.",
  decisions: {
    opening: "Opening,",
    escalation: "Escalation to an outage,",
    closing: "Closing,",
  },
  votesOf: {
    opening: "Votes at the opening",
    escalation: "Votes at the escalation",
    closing: "Votes at the closing",
  },
  tally: {
    opening: ({ bad, counted, quorum, confirming }: Tally) =>
      `${bad} of ${counted} regions with a vote saw it degraded or down; ${quorum} were needed. ${confirming} had seen it for long enough to confirm it.`,
    closing: ({ bad, counted, quorum }: Tally) =>
      `${bad} of ${counted} regions with a vote still saw it degraded or down; ${quorum} would be needed.`,
  },
  fleet: (published: number, vantages: number) =>
    `We measure from ${published} ${published === 1 ? "region" : "regions"}; those that voted measured from ${vantages} ${vantages === 1 ? "place" : "different places"}.`,
  closedWithoutVotes: (reason: string) => `The incident was closed without votes: ${reason}.`,
  notCounted: "Regions without a vote:",
  noNewest: "We have no sample of it.",
  newest: "Its newest sample was of",
  from: (vantage: string) => `Measured from: ${vantage}.`,
  vantageUnknown: "place not known",
  machine: "machine",
  probe: (version: string) => `probe ${version}`,
  tooFew: "unknown",
  typicalUnknown: "unknown",
  noLatencies: "none",
  faultCount: (count: number, meaning: string) => `${count} × ${meaning}`,
  unserved: (count: number) => `${count} could not be tried, because the venue prevented it`,
  partial: (bad: number, samples: number) => `failing in part: ${bad} of ${samples} over several minutes`,
  refusal: (text: string) => `the venue's words: “${text}”`,
  noFaults: "none",
  errors: "Failed samples during the incident",
  errorsCaption: "Samples in the minutes of the incident, by region and fault",
  region: "Region",
  allRegions: "All regions",
  samples: "Samples",
  failed: "Failed",
  notMeasured: "not measured",
  unknown: "unknown",
  latency: "Latency before and during the incident",
  latencyCaption: "Latency of good answers, by region",
  latencySources: {
    component: "This is the latency of the endpoint itself.",
    "venue-rest": "A stream has no latency of its own; this is that of the venue's endpoints.",
  },
  bucket: {
    minute: "It is kept by whole minutes, so a short incident includes some time before and after it.",
    hour: "It is kept by whole hours, since the incident lasted longer than a day.",
  },
  noLatency: "Not known: there was no good answer in the day before, nor during the incident.",
  beforeAndDuring: (before: string, during: string) => `Median before: ${before}; during: ${during}`,
  official: "What the venue says",
  related: "Related incidents",
  noRelated: "None: the venue had no other incident within six hours, nor any other venue within ten minutes.",
  ofVenue: "The same venue, around that time",
  ofComponent: "The same component, within ninety days",
  elsewhere: "Other venues, at the same time",
  allOfVenue: "All incidents of this venue",
  checking: "How to check this yourself",
};

function verbOf(fault: Fault | null) {
  return fault === null ? undefined : faultVerbs[fault];
}

interface Tally {
  bad: number;
  counted: number;
  quorum: number;
  confirming: number;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Columns of a table of votes; figures are aligned to the end. */
export const voteColumns: [name: string, isFigure: boolean][] = [
  ["Region", false],
  ["Verdict", false],
  ["Samples", true],
  ["Failed", true],
  ["Slow", true],
  ["Bad in a row", true],
  ["Faults", false],
  ["Median (expected)", true],
  ["Age of newest", true],
  ["Measured from", false],
];

export const latencyColumns: [name: string, isFigure: boolean][] = [
  ["Region", false],
  ["Before (outline) and during (filled)", false],
  ["Median in the day before", true],
  ["Median during", true],
  ["95th percentile during", true],
  ["Slowest median during", true],
  ["Answers before", true],
  ["Answers during", true],
];

/** What the venue itself says, beside an incident. */
export const officialWords = {
  after: (duration: string) => `The venue posted a notice ${duration} after we opened this incident:`,
  before: (duration: string) => `The venue posted a notice ${duration} before we opened this incident:`,
  atOnce: "The venue posted a notice at the moment at which we opened this incident:",
  leadUnknown: "The venue posted a notice; whether it was before or after we opened this incident is not known:",
  quoted: (title: string) => `“${title}”.`,
  untested: "Nothing tests that it is about the same fault.",
  silent:
    "It has said nothing about an incident. We could read its feed when this one began, and found no notice within six hours of that.",
  silentSoFar:
    "It has said nothing about an incident so far. We could read its feed when this one began; venues often write hours later.",
  unread: "We could not read its feed then, so we do not know whether it said anything.",
  noFeed: "It has no feed that we can read, so we do not know whether it said anything.",
  onlyMaintenance:
    "Its feed announces maintenance only. It cannot say that something is down, so its silence means nothing.",
  unreadableNow: (problem: string) => `Its feed cannot be read at the moment: ${problem}.`,
  readAt: "We last read its feed at",
  all: "All of its notices that began within six hours of the beginning of this incident. The words are the venue's; so are the times where it gives any, otherwise they are those of our readings:",
  began: "Began",
  posted: "posted",
  postedUnknown: "posted at an unknown time",
  resolved: "resolved",
  notResolved: "not resolved according to the venue",
  vanished: "The venue has removed it since.",
  doubtful: "Its times are not plausible.",
  page: "The venue's own status page",
};

/** How readers recompute an incident. */
export const checkingWords = {
  evidence:
    "Anybody with access to the database as an analyst can recompute the votes from the raw samples. This compares them with those above:",
  evidenceLabel: "Statement that recomputes the votes",
  samples: "These are the samples of the five minutes before the opening:",
  samplesLabel: "Statement that lists the samples",
  kept: "Raw samples are kept for eight days. After that, the votes above are the only record.",
  json: "This incident as JSON",
  csv: "The venue's incidents as CSV",
  xlsx: "The same as a workbook (XLSX)",
  thresholds: "All limits and their reasons",
  checking: "How to check an incident step by step",
  rulebook: "How a verdict is reached",
  methodology: "How we measure",
  comparing: "How we compare ourselves with the venues' notices",
};
