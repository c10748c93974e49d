/** Texts of /compare, /detection and /regions. */
import type { TroubleKind } from "../../../shared/measurement/trouble-kinds.js";
import type { UnmeasuredReason } from "../../../shared/measurement/unmeasured.js";
import { windowWords } from "./site.js";

export const compareWords = {
  title: (days: number) => `Venues compared ${windowWords.during(days)}`,
  noVenues: "No venue of this selection is measured yet.",
  noneRanked: (during: string) => `No venue was measured enough ${during} to be ranked.`,
  alone: (name: string, rank: number, during: string) => `${name} alone has rank ${rank} ${during}.`,
  shared: (count: number, of: number, rank: number, during: string) =>
    `${count === of ? "All" : `${count} of`} ${of} venues share rank ${rank} ${during}: the measurements do not separate them.`,
  intro:
    "Uptime is the share of the measured minutes in which a venue was not down. Nobody knows what happened in the other minutes. So the bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had. A venue ranks below those whose lower bound is above its upper bound: they were more available, whatever happened in the unmeasured minutes.",
  days: "All days are UTC days, and the present day counts until a few minutes ago.",
  caption: (during: string) => `Venues by rank ${during}`,
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
  usual: "Latency of the median hour",
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
    "region impaired": "Most venues were cut off there at once, and in no other region whose own network worked",
    "vantage impaired": "Most venues were cut off at once in all regions on one machine, and in no other region",
  } as Record<string, string>,
  recognisedBy: (names: string) => `Recognised by ${names}.`,
  olderExcluded: (count: number) =>
    `${count} older ${count === 1 ? "period is" : "periods are"} listed in the JSON of this page.`,
  more: "The same figures, and how they are made",
  json: "As JSON",
  csv: "As CSV",
  xlsx: "As a workbook for spreadsheets (XLSX)",
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
  neverRead: "not read yet",
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
  silentFor: "nothing for",
  lastHour: "Last hour",
  samples: (count: number, good: string) => `${count} ${count === 1 ? "sample" : "samples"}, ${good} of them good`,
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
  never: {
    heading: (total: number) => `Never seen good: ${total} ${total === 1 ? "component" : "components"}`,
    caption: (name: string) => `Components that no region has seen good, as ${name} sees them`,
    venue: "Venue",
    component: "Component",
    newestFault: "What it saw last",
    since: "Since",
    advice: "What to do",
    more: (count: number) => `${count} more ${count === 1 ? "is" : "are"} not listed.`,
    means:
      "The entry of the registry, the network, or the country of this place may be the cause. Until a region has seen them good once, these components are unknown, open no incident, and count in no uptime.",
  },
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
    paused: "a pause of ours, because the venue limits or blocks our requests",
    provider: "the third party's node by which the venue is read failed",
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
