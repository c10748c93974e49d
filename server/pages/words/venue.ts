/** Texts of the page of a venue. */
import type { Rule } from "../../../shared/measurement/rule.js";
import type { Stream } from "../../../shared/registry/registry.js";

/** A venue's page, from top to bottom. */
export const venueWords = {
  is: (name: string, state: string) => `${name} is ${state}`,
  healthy: (name: string, see: number, counted: number, others: number) =>
    `${name} is healthy, as ${see} of ${counted} ${counted === 1 ? "region sees" : "regions see"} it.` +
    `${others === 0 ? "" : ` ${others} more ${others === 1 ? "region does" : "regions do"} not count.`}`,
  healthyAgain: (name: string, label: string) =>
    `${name} is healthy again. The incident of ${label} closes once this has lasted.`,
  unknown: (name: string) => `We do not know whether ${name} works: fewer than half of its components are known.`,
  unknownBecause: {
    never: (name: string) => `We do not know whether ${name} works: we have never seen it good from here.`,
    ended: (name: string, detail: string) => `We do not know whether ${name} works. Its service ${detail}.`,
    blocked: (name: string) => `We do not know whether ${name} works: it refuses the place that we measure from.`,
  },
  engineSilent: (name: string) => `We do not know whether ${name} works: our own engine decides nothing at present.`,
  moreComponents: (count: number) => `, and ${count} more ${count === 1 ? "component" : "components"}`,
  since: "since",
  typical: (latency: string) => `An answer typically takes ${latency}.`,
  measuredBy: (symbol: string) => `Measured with ${symbol}.`,
  chainStands: (name: string) => `${name} has stood still or gone back since`,
  notAtFault: (providers: number) => `at all ${providers} providers that we read; none of them is down for it.`,
  readAt: "Its blocks are read at",
  noneAtFault: "If it stands at all of them, it is the fault of none.",
  figuresOf: "The figures below the matrix are of",
};

export const matrixWords = {
  heading: "What each region sees now",
  caption: "Components by region",
  noComponents: "No component of this venue is measured.",
  component: "Component",
  together: "All regions together",
  kinds: { rest: "REST", ws: "stream" },
  folded: (count: number, isAll: boolean) =>
    isAll
      ? `All ${count} components are healthy in every region`
      : `${count} more ${count === 1 ? "component is" : "components are"} healthy in every region`,
  foldedCaption: "Components that are healthy in every region",
  failed: (bad: number, samples: number) => `${bad} of ${samples} failed`,
  slow: (slow: number, samples: number) => `${slow} of ${samples} slow`,
  newest: (fault: string) => `newest: ${fault}`,
  tooFew: "too few samples to say",
  late: (age: string) => `not counted: its newest sample is ${age} old`,
  notCounted: {
    engine: "not decided: our engine is silent",
    impaired: "not counted: region impaired",
    outlier: "not counted: it has seen this bad for long while no quorum did",
    refused: "not counted: the venue refuses this place, which is no outage unless a second place confirms it",
    never: "not counted: it sends nothing",
  },
  explained:
    "Regions vote. A component is degraded or down once a quorum of those that count agrees. A region is impaired while most venues fail there at once and nowhere else.",
  rules: "How a verdict is reached",
};

export const viewWords = {
  label: "Choose region and range",
  from: "Seen from",
  over: "Over",
  ranges: { "24h": "24 hours", "7d": "7 days" },
};

export const latencyWords = {
  heading: "Latency",
  explained: {
    "24h": (region: string) => `Time to a full answer of all REST endpoints, minute by minute, seen from ${region}.`,
    "7d": (region: string) => `Time to a full answer of all REST endpoints, hour by hour, seen from ${region}.`,
  },
  none: "No latency was measured from this region in this range.",
  p50: "Median",
  p95: "95th percentile",
  gap: "too little measured",
  asTable: "Latency as a table",
  label: (of: {
    range: string;
    region: string;
    least: string;
    most: string;
    slowest: string | null;
    missing: number;
    buckets: number;
  }) =>
    `Latency over ${of.range}, seen from ${of.region}: the median is between ${of.least} and ${of.most}` +
    `${of.slowest === null ? "" : `, the 95th percentile at most ${of.slowest}`}. ` +
    `${of.missing} of ${of.buckets} points have too few answers.`,
  hoursCaption: "Latency hour by hour",
  minutesCaption: "Latency by hour: its lowest and highest minute",
  hourFrom: "Hour from",
  answers: "Answers",
  minutes: "Minutes measured",
  ofMinutes: (measured: number, minutes: number) => `${measured} of ${minutes}`,
  leastP50: "Lowest median",
  mostP50: "Highest median",
  mostP95: "Highest 95th percentile",
  zoomIn: "Zoom into this chart",
  zoomHint: "Drag over a part of the chart to zoom in. Double-click to see all of it.",
  zoomOut: "Back to the plain chart",
  zoomFailed: "The chart could not be loaded. Try again",
};

/** Columns of endpoints, streams and regions. */
export const measuredWords = {
  seenHere: "Seen from here",
  good: "Good samples",
  newest: (fault: string) => `newest: ${fault}`,
  ofSamples: (samples: number) => `of ${samples}`,
};

export const endpointWords = {
  heading: "REST endpoints",
  caption: (region: string) => `Endpoints as seen from ${region}`,
  endpoint: "Endpoint",
  p50: "Median",
  p95: "95th percentile",
  certificate: "Certificate",
  noCertificate: "none seen in a day",
  expires: "expires",
  expired: "expired",
  inTime: (time: string) => `in ${time}`,
  lag: "Chain head",
  noHead: "names no head",
  lagUnknown: "distance unknown",
  behind: (blocks: number) =>
    blocks === 0 ? "at the freshest head" : `${blocks} ${blocks === 1 ? "block" : "blocks"} behind`,
  backwards: (times: number) => `went backwards ${times} ${times === 1 ? "time" : "times"} in 24 hours`,
};

export const streamWords = {
  heading: "Streams",
  caption: (region: string) => `Streams as heard from ${region}`,
  stream: "Stream",
  messages: "Messages per minute",
  quiet: "Longest silence",
  against: (longest: string, threshold: string) => `${longest}; a stall after ${threshold}`,
  age: "Age of newest event",
  noAge: "unknown",
  ahead: (time: string) => `its clock is ${time} ahead`,
  gaps: "Gaps in numbering",
  notNumbered: "not numbered",
  socket: "The connection that the streams share. It carries no messages of its own.",
};

export const regionTableWords = {
  heading: "Regions compared",
  explained: "This is what each region alone sees. No decision rests on one region while several are published.",
  caption: (range: string) => `The venue from each region, over ${range}`,
  region: "Region",
  sees: "Sees now",
  counts: "Does it count?",
  impaired: "no: it is impaired",
  reports: "yes, it reports",
  never: "no: it sends nothing",
  silent: (age: string) => `no: its newest sample is ${age} old`,
  p50: "Median",
  p95: "95th percentile",
};

export const dayWords = {
  heading: "Ninety days",
  asTable: "The ninety days as a table",
  caption: "Uptime by day (UTC), newest first",
  day: "Day",
  excluded: (count: number) => `${count} ${count === 1 ? "period is" : "periods are"} left out of every uptime`,
  excludedExplained: "In these minutes a region had trouble of its own. They count against no venue.",
  from: "from",
};

export const uptimeWords = {
  heading: "Uptime over ninety days",
  explained:
    "Uptime is the share of measured minutes without an outage. The bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had.",
  method: "How it is computed",
  caption: "Uptime of the venue and its parts",
  what: "What",
  venue: "The venue",
  rest: "All REST endpoints",
  streams: "All streams",
  uptime: "Uptime",
  bounds: "Bounds",
  between: (low: string, high: string) => `${low} to ${high}`,
  coverage: "Measured",
  down: "Down",
  degraded: "Degraded",
  noMinutes: "none",
  byComponent: "see below",
};

export const venueIncidentWords = {
  heading: "Incidents",
  none: "No incident of this venue is on record.",
  all: (name: string) => `All incidents of ${name}`,
  patterns: "When incidents recur",
};

export const patternWords = {
  head: (label: string, severity: string) => `${label} ${severity}`,
  recurs: (incidents: number, count: number, when: string, days: number) =>
    `${incidents} of ${count} incidents began ${when}${when.endsWith("0") ? " UTC" : " (UTC)"}, on ${days} ${days === 1 ? "day" : "days"}`,
  none: "no day or hour stands out",
  sum: (count: number, duration: string) =>
    `In ninety days ${count} ${count === 1 ? "incident" : "incidents"} lasted ${duration} together.`,
  on: (weekday: string) => `on ${weekday}`,
  between: (from: string, to: string) => `between ${from} and ${to}`,
  weekdays: {
    monday: "Mondays",
    tuesday: "Tuesdays",
    wednesday: "Wednesdays",
    thursday: "Thursdays",
    friday: "Fridays",
    saturday: "Saturdays",
    sunday: "Sundays",
  },
};

export const noticeWords = {
  heading: (name: string) => `What ${name} itself says`,
  page: "Its status page",
  noFeed: "It has no status feed that a program can read, so its silence means nothing.",
  unreadable: (problem: string) => `Its status feed cannot be read: ${problem}. Its silence means nothing now.`,
  noReason: "we do not know why",
  readable: "Its status feed can be read.",
  onlyMaintenance:
    "Its status feed can be read, but announces only maintenance. Its silence about outages means nothing.",
  lastRead: "Last read:",
  detection: "All venues compared",
  caption: "Its notices, newest first",
  notice: "Notice",
  kind: "Kind and status",
  kinds: { incident: "incident", maintenance: "maintenance", other: "about something that we do not measure" },
  began: "Began",
  posted: "Published",
  over: "Over",
  notOver: "not yet",
  unknownTime: "unknown",
  vanished: "the venue has removed it",
  doubtful: "its times are not plausible",
  ours: "Ours beside it",
  incidentOfOurs: "our incident",
  noneOfOurs: "no incident of ours",
  notCompared: "not compared",
};

export const detectionSentenceWords = {
  noFeed: "We cannot compare our incidents with its notices, since it has no feed.",
  onlyMaintenance: "We do not compare maintenance with our incidents.",
  unseen:
    "Our incidents are not compared with its notices yet: a comparison needs six hours before and after, measured and read.",
  days: (measured: number, days: number) => `Compared on ${measured} of ${days} days.`,
  ours: (all: number, paired: number, near: number, only: number) =>
    `Of ${all} ${all === 1 ? "incident" : "incidents"} of ours, ${paired} ${paired === 1 ? "has a notice" : "have a notice each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`,
  theirs: (all: number, paired: number, near: number, only: number) =>
    `Of ${all} ${all === 1 ? "notice" : "notices"} of the venue, ${paired} ${paired === 1 ? "has an incident" : "have an incident each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`,
  lead: (time: string, isOurs: boolean) => `${isOurs ? "We were" : "The venue was"} first by ${time} (median).`,
  untested: "Only their times are compared: nothing tests that they are about the same fault.",
};

export const entryWords = {
  heading: "How we measure it",
  checked: "Our entry for it",
  checkedOn: (day: string) => `last compared with its documentation on ${day}:`,
  neverChecked: "when it was last compared with the venue's documentation is not on record",
  ends: "It ends",
  onlyOf: (names: string) => ` (only ${names})`,
  limits: "Its limits",
  noLimits: "none is on record",
  belowHalf: "All requests of our probes on one address stay below half of each limit by address:",
  limit: (requests: number, period: string, per: "address" | "account") =>
    `${requests} ${requests === 1 ? "request" : "requests"} in ${period} ${per === "address" ? "from one address" : "of one account"}, at`,
  blocked: "It does not serve",
  refuses: (countries: string) => `${countries}: from there it refuses our requests, and that says nothing about it`,
  edge: "Edge cache",
  edgeAnswers: (time: string) =>
    `An edge in front of it answers for up to ${time}: a shorter outage behind it is invisible.`,
  source: "source",
};

export const thresholdWords = {
  heading: "The thresholds that apply",
  measured: "How each component is measured, from every region",
  address: "Address",
  every: "Every",
  badIf: "Bad if",
  timeout: (time: string) => `no full answer within ${time}`,
  stands: (time: string) => `no provider has a new block for more than ${time}`,
  readAt: (providers: string) => `read at ${providers}`,
  stale: (time: string) => `its data are more than ${time} old`,
  stall: (time: string, basis: string) => `silent for more than ${time} (${basis})`,
  socket: "it cannot be opened, or is closed, or answers no ping",
  bases: {
    measured: "from measured silences",
    documented: "from the rate that the venue documents",
    probed: "from a rate counted by hand",
    estimate: "from an estimated rate",
  } as Record<"measured" | Stream["rateBasis"], string>,
  decided: "How samples become a verdict",
  rule: "Rule",
  value: "Value",
  reason: "Why",
  rules: {
    window_ms: "Time by which a component is judged",
    min_samples: "Fewest samples for a verdict",
    degraded_bad_share: "Share of failed samples that makes it degraded",
    outage_bad_share: "Share of failed samples that makes it down",
    slow_multiple: "An answer is slow at this multiple of its typical latency",
    slow_floor_ms: "And at least this much above it",
    opening_bad_run: "Bad samples in a row that confirm trouble",
    vote_max_age_ms: "Oldest newest sample with which a region counts",
    quorum_min_regions: "Fewest regions that must agree",
    outlier_after_ms: "Time after which a region that stands alone counts no more",
    recovery_hold_ms: "Healthy time after which an incident closes",
    stale_event_ms: "Age from which events of a stream are too old",
  },
  quantity: (value: number | string, unit: Rule["unit"]) =>
    unit === "share"
      ? `${Math.round(Number(value) * 1000) / 10}\u00a0%`
      : unit === "ms"
        ? String(value)
        : `${value} ${unit}`,
  more: "A slow component has longer windows. All rules and their reasons:",
  rulebook: "the rule book",
  all: "every threshold as JSON",
};
