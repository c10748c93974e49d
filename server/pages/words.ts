/** Every text of the pages that is not data, so that this is the only file to translate. */
import type { state } from "../api/schemas/shapes.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import type { TroubleKind } from "../../shared/measurement/trouble-kinds.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { Fault } from "../../shared/measurement/sample.js";
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

/** The choice of a window of days. */
export const windowWords = {
  label: "Length of the window",
  link: (days: number) => (days === 1 ? "Today" : `${days} days`),
  days: "Days",
  show: "Show",
  during: (days: number) => (days === 1 ? "today" : `over the last ${days} days`),
};

export const listWords = {
  and: " and ",
  more: (count: number) => `${count} more`,
};

export const compareWords = {
  title: (days: number) => `Venues compared ${windowWords.during(days)}`,
  noVenues: "No venue of this selection is measured yet.",
  noneRanked: (during: string) => `No venue was measured enough ${during} to be ranked.`,
  alone: (name: string, rank: number, during: string) => `${name} alone has rank ${rank} ${during}.`,
  shared: (count: number, of: number, rank: number, during: string) =>
    `${count === of ? "All" : `${count} of`} ${of} venues share rank ${rank} ${during}: the measurements do not separate them.`,
  intro:
    "Uptime is the share of the measured minutes in which a venue was not down. Nobody knows what happened in the other minutes. So the bounds say where the uptime of all minutes lies; they are right about 95 times in a hundred. A venue ranks below those whose lower bound is above its upper bound.",
  days: "All days are UTC days, and the present day counts until a few minutes ago.",
  caption: (during: string) => `Venues by rank ${during}`,
  region: "Leaderboard",
  rank: (rank: number, count: number) =>
    count === 1 ? `Rank ${rank}` : `Rank ${rank}, shared by ${count} venues: the measurements do not separate them`,
  unranked: "Not measured enough: less than half of the minutes, so there is no uptime",
  venue: "Venue",
  uptime: "Uptime",
  bounds: (from: string) => `Bounds, drawn from ${from} to 100\u00a0%`,
  anyBounds: "Bounds",
  boundsText: (low: number, high: string) => `${low} to ${high}`,
  coverage: "Measured",
  down: "Minutes down",
  degraded: "Minutes degraded",
  incidents: "Incidents",
  stillOpen: (count: number) => `${count} open`,
  usual: "Usual latency",
  slowest: "One in 20 is slower than",
  longest: "Longest incident",
  none: "none",
  notMeasured: "not measured",
  notEnough: "not enough measured",
  tooFewHours: "too few answers",
  fleet: (venues: number) => (venues === 1 ? "This venue" : `All ${venues} venues together`),
  excluded: "What does not count",
  nothingExcluded: "Every measured minute of every region counts: no region was impaired.",
  excludedSum: (count: number, minutes: string) =>
    `${count === 1 ? "One period is" : `${count} periods are`} left out of all figures above, ${minutes} in all. In them a region had trouble of its own, so what it saw counts against no venue.`,
  excludedFor: (minutes: string) => `was left out for ${minutes}`,
  from: "from",
  until: "until",
  now: "now, and it still lasts",
  reasons: {
    "region impaired": "Most venues turned bad there at once, and in no other region whose own network worked",
    "vantage impaired": "Most venues turned bad at once in all regions on one machine, and in no other region",
  } as Record<string, string>,
  recognisedBy: (names: string) => `Recognised by ${names}.`,
  olderExcluded: (count: number) =>
    `${count} older ${count === 1 ? "period is" : "periods are"} listed in the JSON of this page.`,
  more: "The same figures, and how they are made",
  json: "As JSON",
  csv: "As a table for spreadsheets (CSV)",
  methodology: "How this is measured",
};

export const detectionWords = {
  title: "Our incidents and the venues' own notices",
  noVenues: "No venue is measured yet.",
  nothingCompared: (during: string) =>
    `Nothing could be compared ${during}: we did not measure any venue while we could read what it says.`,
  noOurs: (during: string) => `No incident of ours ${during} can be compared with the notices of its venue.`,
  ours: (of: number, during: string, within: number) => {
    const has = within === 1 || of === 1 ? "has" : "have";
    const which = of === 1 ? "The only incident" : `Of ${of} incidents`;
    const many = of === 1 ? "" : `, ${within === of ? "all" : within === 0 ? "none" : within}`;
    const notice = of === 1 && within === 0 ? "no notice" : "a notice";
    return `${which} of ours ${during} that can be compared${many} ${has} ${notice} of the venue within six hours.`;
  },
  theirs: (of: number, within: number, only: number) =>
    `${of} ${of === 1 ? "notice" : "notices"} of the venues can be compared: ${within} with an incident of ours within six hours, and ${only} without any.`,
  noTheirs: "No notice of the venues can be compared.",
  pairs: (pairs: number) =>
    `${pairs === 1 ? "There is 1 pair" : `There are ${pairs} pairs`} of an incident and a notice that are the nearest to each other.`,
  untested:
    "Nothing tests that a notice and an incident are about the same fault. They are compared by the times at which they began, and some pairs arise by chance.",
  compared: (compared: number, of: number) =>
    `${compared} of ${of} venues ${compared === 1 ? "is" : "are"} compared. An incident counts only if we know what the venue's feed said from six hours before it to six hours after it. A notice without a pair counts only if it began more than six hours ago and we measured the venue then.`,
  others: (maintenances: number, others: number) =>
    `${maintenances} ${maintenances === 1 ? "notice" : "notices"} of maintenance and ${others} about what we do not measure are not compared.`,
  caption: (during: string) => `Venues compared with what they say ${during}`,
  region: "Comparison by venue",
  venue: "Venue",
  feed: "The venue's feed",
  days: "Days compared",
  ofDays: (measured: number, days: number) => `${measured} of ${days}`,
  oursCompared: "Our incidents compared",
  paired: "Both: a pair",
  oursNear: "Ours near a notice",
  oursOnly: "Only ours",
  theirsCompared: "Notices compared",
  theirsNear: "Notices near ours",
  theirsOnly: "Only the venue's",
  first: "Who was first",
  of: (count: number, all: number) => `${count} of ${all}`,
  notComparable: "Not comparable, because",
  withoutFeed: "the venue has no feed that a program can read.",
  onlyMaintenance: "its feed only announces maintenance: its silence about an outage means nothing.",
  unseen: "there was no day on which we measured it and could read its feed.",
  readable: "readable, last read",
  neverRead: "never read",
  unreadable: "not readable since",
  noFeed: "none",
  weWere: (duration: string) => `we were, by ${duration} (median)`,
  theyWere: (duration: string) => `the venue was, by ${duration} (median)`,
  together: "both at once (median)",
  noPairs: "no pairs",
  fewLeads: (leads: number) => `${leads} ${leads === 1 ? "pair" : "pairs"} with known times: a median needs five`,
  fleet: "All venues",
  noMedian: "medians of venues do not add up",
  terms: "What the columns mean",
  meanings: [
    [
      "Both: a pair",
      "One incident and one notice of a venue that began within six hours of each other, and each is the nearest to the other.",
    ],
    [
      "Ours near a notice",
      "An incident with a notice within six hours, but the notice is nearer to another incident. One outage often makes several incidents and one notice.",
    ],
    ["Only ours", "An incident without any notice of the venue within six hours."],
    ["Notices near ours", "A notice with an incident within six hours, but the incident is nearer to another notice."],
    ["Only the venue's", "A notice without any incident of ours within six hours."],
    [
      "Who was first",
      "The time from our announcement of the incident to the publication of the notice, as the median of the pairs. When each says that it began plays no part, because that is written in hindsight.",
    ],
  ] as [term: string, meaning: string][],
  more: "How this is compared, with SQL that recomputes every number",
};

export const regionsWords = {
  headline: (reporting: number, of: number) =>
    of === 0
      ? "There are no regions."
      : `${reporting === 0 ? "None" : reporting} of ${of} ${of === 1 ? "region" : "regions"} ${reporting === 1 ? "reports" : "report"}.`,
  impaired: (names: string) => `Impaired: ${names}.`,
  silent: (names: string) => `Silent: ${names}.`,
  title: "Regions",
  newest: "Newest sample",
  noSample: "none known",
  silentFor: (duration: string) => `nothing for ${duration}`,
  lastHour: "Last hour",
  samples: (count: number, good: string) => `${count} samples, ${good} of them good`,
  noSamples: "no samples",
  standsIn: "Measures from",
  placeUnknown: "place and network not given",
  machine: "Machine",
  machineUnknown: "not known: its probes name none, or several",
  ownMachine: "shared with no other region",
  shared: (names: string) =>
    `shared with ${names}: together they are one vantage, and a fault of its network affects all of them`,
  unmeasured: "Not measured",
  slots: (count: number) => `${count} ${count === 1 ? "slot" : "slots"} since its probes started, for our own reasons`,
  unmeasuredUnknown: "not known",
  impairedNow: "Impaired since",
  troubles: "Trouble of its own",
  troublesMean: "It keeps probes from measuring, or from measuring correctly. It never counts against a venue.",
  troubleKinds: {
    network: "No route",
    resolver: "No name resolution",
    sockets: "No free socket",
    clock: "Wrong clock",
    starved: "Process or machine stalls",
    spool: "Samples cannot be stored",
  } satisfies Record<TroubleKind, string>,
  since: "since",
  noProbe: "No probe of this region is known.",
  probes: (name: string) => `Probes of ${name}`,
  probe: "Probe",
  version: "Version",
  started: "Started",
  seen: "Last seen",
  venues: "Venues",
  slotsUnmeasured: "Slots not measured",
  clock: "Clock",
  vantage: "Vantage",
  none: "none",
  reasons: {
    overlap: "the measurement before was still running",
    late: "started too late: the process was busy, or the machine slept",
    starved: "the process got no time to run while it measured",
    resolver: "no name could be resolved",
    network: "no way out of the machine, or no venue at all answered",
    sockets: "no free socket, port or memory",
    clock: "the clock was wrong by seconds",
    stale: "a kept connection was closed just as it was used again",
    starting: "the socket was not open yet",
    subscribing: "the stream was not subscribed for the whole slot",
    broken: "a bug of the probe",
  } satisfies Record<UnmeasuredReason, string>,
  clockUnknown: "not known: fewer than three venues agree",
  clockRight: (by: string, within: string) => `right, as far as we can measure it (${by} off, ±${within})`,
  clockFast: (by: string, within: string) => `${by} fast (±${within})`,
  clockSlow: (by: string, within: string) => `${by} slow (±${within})`,
  impairments: "Impairments of the last seven days",
  noImpairments: "No impairment in the last seven days.",
  impairmentsOf: (name: string) => `Impairments of ${name}, newest first`,
  began: "Began",
  recognised: "Recognised",
  ended: "Ended",
  lasts: "it still lasts",
  lasted: "Lasted",
  recognisedBy: "Venues that turned bad there alone",
  ofMeasured: (count: number, measured: number) => `${count} of ${measured} measured`,
  method: "When a region has no vote",
  rulebook: "How a verdict is reached",
  silence: "A region that sent nothing in the last minute has no vote.",
  impairment:
    "A region is impaired when most venues turn bad there at once and in no other region whose own network works. It keeps measuring, but its votes are not counted, and what it saw counts against no venue.",
  oneVantage: (vantages: number, reporting: number) =>
    `Regions whose probes all run on one machine are one vantage. The ${reporting} regions that report now are ${vantages} ${vantages === 1 ? "vantage: trouble of its network may look like trouble of venues" : "vantages"}.`,
  allApart: "Each region that reports now runs on a machine of its own, as far as its probes have named it.",
  quorum: (quorum: number, votes: number) =>
    `${quorum} of the ${votes} regions that have a vote now must agree before we call a venue degraded or down.`,
  noQuorum: (quorum: number, votes: number) =>
    `${votes === 0 ? "No region has" : `Only ${votes} ${votes === 1 ? "region has" : "regions have"}`} a vote now, and ${quorum} must agree. So the state of every venue is unknown.`,
};

export const wallWords = {
  title: "Wall",
  moreOpen: (count: number) => `and ${count} more`,
  noOpen: "No incident is open.",
  openIncidents: (count: number) => `${count} open ${count === 1 ? "incident" : "incidents"}.`,
  incidents: (count: number) => `${count} open ${count === 1 ? "incident" : "incidents"}`,
};

/** What a fault means, as the end of a sentence. */
export const faultMeanings: Record<Fault, string> = {
  dns: "its name did not resolve",
  connect: "no connection",
  tls: "its certificate or encryption failed",
  timeout: "no answer in time",
  http: "an error instead of an answer",
  blocked: "the venue refused our region",
  limited: "the venue asked us to slow down",
  body: "an answer without the expected content",
  handshake: "the stream was refused",
  closed: "the connection was cut",
  stall: "the stream was silent while its socket was open",
  stale: "old data",
};

/** `/incidents`. */
export const historyWords = {
  venue: "Venue",
  anyVenue: "All venues",
  category: "Category",
  anyCategory: "All categories",
  status: "Status",
  statuses: { all: "Open and closed", open: "Only open", closed: "Only closed" },
  days: "Days back",
  apply: "Apply",
  count: (count: number, isFull: boolean) => {
    if (count === 0) return "No incident of this selection began";
    if (isFull) return `The newest ${count} incidents that began`;
    return count === 1 ? "One incident that began" : `${count} incidents that began`;
  },
  since: (day: string, days: number) =>
    days === 1 ? `today (${day}, UTC)` : `since ${day} (${days} UTC days, today included)`,
  before: (instant: string) => `and before ${instant}`,
  open: (count: number) => (count === 1 ? "One of them is open." : `${count} of them are open.`),
  whereMeasured: "We can only find an incident where we measured.",
  showAll: "Show all incidents",
  pages: "Pages of the history",
  newest: "Newest incidents",
  older: "Older incidents",
  json: "This selection as JSON",
  csv: "This selection as CSV",
  formats: "Other formats",
};

/** `/incidents/{slug}`. */
export const incidentPageWords = {
  was: (kind: "down" | "failing" | "degraded", duration: string) => `was ${kind} for ${duration}`,
  since: {
    down: "has been down since",
    failing: "has been failing since",
    degraded: "has been degraded since",
  },
  beganTo: {
    down: "went down at",
    failing: "began to fail at",
    degraded: "became degraded at",
  },
  quietFor: "Too few regions have seen trouble for the last",
  stillOpen: "the incident is still open",
  quiet: "seems well again",
  lasting: (kind: "down" | "failing" | "degraded", duration: string) => `${kind} for ${duration}`,
  status: "Status",
  open: "Open. Enough regions last saw the trouble",
  closesWhen: "It closes when enough regions have seen it healthy for long enough.",
  lastSeen: "Closed. Enough regions saw the trouble for the last time at",
  closed: "We closed the incident at",
  severity: "Severity",
  severities: {
    degraded: "enough regions saw it fail in part, or answer far slower than usual.",
    outage: "enough regions saw at least half of their requests or messages fail.",
  },
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
  needed: (quorum: number, reporting: number) =>
    `${quorum} of the ${reporting} regions that reported had to see the trouble before we opened the incident.`,
  agreed: (regions: string) => `These did: ${regions}.`,
  noVotes: "No votes are on record.",
  flapping: "Flapping",
  isFlapping: {
    yes: "Yes: at least the third incident of the same component within an hour. It closes only after a longer hold.",
    no: "No.",
  },
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
    opening: ({ bad, reporting, quorum, confirming }: Tally) =>
      `${bad} of ${reporting} reporting regions saw it degraded or down; ${quorum} were needed. ${confirming} had seen it for long enough to confirm it.`,
    closing: ({ bad, reporting, quorum }: Tally) =>
      `${bad} of ${reporting} reporting regions still saw it degraded or down; ${quorum} would be needed.`,
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

interface Tally {
  bad: number;
  reporting: number;
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
  ["Median (usual)", true],
  ["Newest, age", true],
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
  kinds: { incident: "incident", maintenance: "maintenance", other: "about something that we do not measure" },
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
  thresholds: "All limits and their reasons",
  checking: "How to check an incident step by step",
  rulebook: "How a verdict is reached",
  methodology: "How we measure",
  comparing: "How we compare ourselves with the venues' notices",
};
