"""Made of the API's description by `make clients`. Do not edit."""
# fmt: off
# ruff: noqa

from __future__ import annotations

from typing import Literal, TypedDict, Union

State = Literal["operational", "degraded", "outage", "unknown"]
"""As confirmed by a quorum of the counted regions; unknown if there is no evidence."""

Severity = Literal["degraded", "outage"]
"""How bad an incident is."""

Category = Literal["exchange", "rpc", "market-data", "oracle", "stablecoin", "bridge", "ramp"]
"""Category of the venue."""

Fault = Literal["dns", "connect", "tls", "timeout", "http", "blocked", "limited", "halted", "body", "handshake", "closed", "stall", "stale"]
"""Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or
an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that
it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far
behind."""


class UnknownBecause(TypedDict):
    """Why a component is unknown although it is measured."""

    reason: Literal["never", "ended", "blocked"]
    """never: no region has seen it good by its present entry in the registry. ended: its entry has ended.
    blocked: the venue refuses the only place that we measure it from."""
    detail: str
    """The same in words, with what to do."""


class OfficialIncident(TypedDict):
    """An official notice of the venue. Its texts and times are the venue's: escape them before display."""

    id: str
    """The venue's id of the notice; if its feed has none, its text and when we first saw it."""
    title: str
    """Title of the notice."""
    url: Union[str, None]
    """Its page; null if it has none."""
    kind: Literal["incident", "maintenance", "other"]
    """other: an incident of the venue about something that we do not measure (deposits, listings), recognised
    by words in the registry. Only kind incident is compared with our incidents."""
    status: str
    """In the venue's own words."""
    impact: Union[str, None]
    """In the venue's own words; null if it gives none."""
    startedAt: str
    """When it began, according to the venue; if the venue does not say, when we first saw it."""
    postedAt: Union[str, None]
    """When the venue published it. If its feed does not say, our last reading without it, so it was published
    after that; null if there was no reading shortly before."""
    resolvedAt: Union[str, None]
    """When it was over, according to the venue; null until then. For a feed that lists only current notices,
    our first reading without it."""
    firstSeenAt: str
    """The first of our readings that had it."""
    lastSeenAt: str
    """The newest of our readings that had it."""
    vanished: bool
    """Whether the venue removed it: it left the feed although the feed reaches back that far, or before it was
    over. It is kept here."""
    timesDoubtful: bool
    """Whether its times are implausible: in the future, more than a year before it was first seen, or over
    before it began. Such a notice is not compared."""
    subjectMatched: bool
    """Always false: nothing tests that a notice describes the same fault."""
    aheadUncorrelated: Union[int, None]
    """Seconds from our opening of the incident (openedAt) to the venue's publication of the notice (postedAt);
    negative if the venue was first. Null if it is not shown beside an incident, if the feed does not say when
    it was published, or if our opening was late because the engine had not been running."""


class Feed(TypedDict):
    """Whether the venue's own feed can be read."""

    state: Literal["readable", "unreadable", "none"]
    """Whether the venue's feed can be read now; none: it has no machine-readable feed. It never affects the
    venue's state."""
    problem: Union[str, None]
    """Error of the newest reading; null unless unreadable."""
    since: Union[str, None]
    """Since when the feed has been in this state without a break; null if there is no feed."""
    tellsIncidents: bool
    """Whether it could announce an outage: false if there is no feed, or if it only announces maintenance
    (Binance, Bitget, Gate). Its silence then means nothing."""
    readAt: Union[str, None]
    """When it was last read and understood; null: never."""


class Detection(TypedDict):
    """How our incidents compare with the venues' own notices: oursCompared = paired + oursNear + oursOnly, and
    theirsCompared = paired + theirsNear + theirsOnly. Only what the other side could have seen is counted, and
    only six hours later, since the other side may still follow until then. Maintenance is not compared. Some
    pairs arise by chance."""

    days: int
    """Length of the window in UTC days, today included. 1 on an incident's page, which covers the six hours
    before and after it."""
    measuredDays: int
    """Days of the window on which, at least at some time, we measured the venue and had read its feed. For the
    fleet, days on which this holds for any venue; on an incident's page 1 if it is compared, else 0."""
    observed: bool
    """Whether the venue's feed was read for any part of the window."""
    venuesCompared: int
    """Venues included in the counts below; 1 or 0 on the row of one venue. The four counts of venues add up to
    all venues."""
    venuesUnseen: int
    """Venues not included because on no day we both measured them and had read their feed; on an incident's
    page, because its six hours are not over or the feed was not read in them."""
    venuesOnlyMaintenance: int
    """Venues not included because their feed only announces maintenance."""
    venuesWithoutFeed: int
    """Venues not included because they have no feed."""
    ours: int
    """All our incidents that started in the window, compared or not."""
    oursCompared: Union[int, None]
    """Those for which the feed was read from six hours before to six hours after. Null if venuesCompared is 0."""
    theirs: Union[int, None]
    """All notices of kind incident that began in the window, compared or not. A notice shared by two venues
    counts for each. Null if venuesCompared is 0."""
    theirsCompared: Union[int, None]
    """Notices that are compared: those paired with an incident in oursCompared, and unpaired ones that began in
    the window, more than six hours ago, and within a quarter of an hour of a minute that we measured. Null if
    venuesCompared is 0."""
    paired: Union[int, None]
    """Pairs of one incident and one notice that began within 6 hours of each other and are each other's
    nearest. Nothing tests that they are about the same fault. Null if venuesCompared is 0."""
    oursNear: Union[int, None]
    """Our incidents with a notice within 6 hours that is nearer to another of ours: one notice may cover
    several incidents of one outage. Null if venuesCompared is 0."""
    oursOnly: Union[int, None]
    """Our incidents without any notice within 6 hours. Null if venuesCompared is 0."""
    theirsNear: Union[int, None]
    """Notices with an incident of ours within 6 hours that is nearer to another notice. Null if venuesCompared
    is 0."""
    theirsOnly: Union[int, None]
    """Notices without any incident of ours within 6 hours. Null if venuesCompared is 0."""
    maintenances: Union[int, None]
    """Maintenance notices that began in the window; they are not compared. Null if observed is false."""
    others: Union[int, None]
    """Notices about what we do not measure, recognised by words in the registry. Null if observed is false."""
    subjectMatched: bool
    """Always false: nothing tests that a notice describes the same fault."""
    leads: Union[int, None]
    """Pairs with a lead: for some, it is unknown when the notice was published. Null if venuesCompared is 0."""
    aheadUncorrelated: Union[int, None]
    """Seconds from our opening of the incident (openedAt) to the venue's publication of the notice (postedAt);
    negative if the venue was first. The median over the pairs that have a lead; null if there are fewer than 5.
    On an incident's page, the lead of its own pair."""


class DetectionResponseVenuesItem(TypedDict):
    """One venue."""

    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    category: Category
    feed: Feed
    detection: Detection


class DetectionResponse(TypedDict):
    """Our incidents against the venues' own notices. An incident and a notice of the same venue can form a pair
    if they began within 6 hours of each other, in either order; nothing tests that they are about the same
    fault."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    days: int
    """Length of the window in UTC days, today included."""
    fleet: Detection
    """The counts of all venues. Its aheadUncorrelated is always null, since medians cannot be pooled."""
    venues: list[DetectionResponseVenuesItem]
    """In the registry's order."""


class Incident(TypedDict):
    """An incident, the same object everywhere."""

    id: int
    """Number of the incident; breaks ties between cursors."""
    slug: str
    """Permanent name of an incident, given at opening."""
    venue: str
    """Registry id of the venue."""
    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    kind: Literal["rest", "ws"]
    """Kind of the component."""
    label: str
    """Its name for people."""
    severity: Severity
    """Current severity; for a closed incident the worst that it reached, equal to peakSeverity."""
    peakSeverity: Severity
    """The worst that it reached."""
    status: Literal["open", "closed"]
    """A closed incident no longer changes."""
    startedAt: str
    """The first bad sample of the run that a quorum confirmed."""
    openedAt: str
    """The tick at which the quorum confirmed it."""
    escalatedAt: Union[str, None]
    """The tick at which it first became an outage, if it opened as degraded; null otherwise."""
    lastBadAt: str
    """The last bad sample. The recovery hold follows it, so closedAt is later."""
    closedAt: Union[str, None]
    """The tick that ended the recovery hold; null while open."""
    endedAt: Union[str, None]
    """When the trouble ended: lastBadAt, once the incident is closed; else null."""
    flapping: bool
    """Whether it was at least the third incident of its component within an hour. It then closes only after a
    longer hold, so a relapse extends it."""
    fault: Union[Fault, None]
    """The fault of more than half of the failed and slow samples in the votes that opened it, or that made it
    an outage. With `limited` the venue limits our requests, and is not down. Null if no fault has so many, as
    of one that was only slow, or if no votes are on record."""
    durationSeconds: Union[int, None]
    """From startedAt to endedAt, without the recovery hold. Null while open."""
    quorum: int
    """Number of regions that had to agree at the opening."""
    reporting: int
    """Number of regions that reported the component then; until release 0.10 the same as counted."""
    counted: int
    """Number of these whose votes counted."""
    regions: list[str]
    """The regions that voted degraded or outage at the opening, without those that followed later. Empty if no
    votes are on record."""
    official: Union[OfficialIncident, None]
    """The same venue's notice of kind incident that began nearest to it, at most 6 hours before or after; null
    if there is none, and officialObserved says whether we would know of one. Several incidents may have the
    same notice. Venues write and change notices later, so it may change after the incident closed."""
    officialObserved: Union[bool, None]
    """Whether we know what the venue's feed said when the incident started: a reading without problems covers
    that time, or ended at most 15 minutes before it. Only then does a missing notice mean something. Null if
    the venue has no feed."""


class VoteVantage(TypedDict):
    """Where the region's probes measured from at that decision, as they had reported until then; null where
    they disagreed or reported nothing."""

    name: Union[str, None]
    """A short name given by the operator."""
    place: Union[str, None]
    """Its location."""
    network: Union[str, None]
    """The operator of its network."""


class VotePartial(TypedDict):

    samples: int
    """Samples in all of these windows."""
    bad: int
    """Samples among them that failed."""


class _Vote(TypedDict):
    """One region's vote."""

    region: str
    """Region id."""
    vote: State
    """What this region saw."""
    samples: int
    """Samples in the window."""
    bad: int
    """Those among them that failed."""
    slow: int
    """Good samples that were slow compared with the typical latency; 0 if there is none to compare with."""
    badRun: int
    """Consecutive failed or slow samples up to the newest; for a stream, without those that its socket
    prevented."""
    faults: dict[str, int]
    """Number of bad samples by fault."""
    answers: int
    """Good responses in the window, over which p50Ms is computed; 0 for a stream or a socket."""
    p50Ms: Union[int, None]
    """Median latency of these; null if there were fewer than 3."""
    typicalP50Ms: Union[int, None]
    """The typical latency that it was compared with; null if unknown."""
    newestAt: str
    """Slot of the newest sample."""
    ageMs: int
    """Age of the newest sample."""
    probeVersion: Union[str, None]
    """Build of the probe."""
    vantage: VoteVantage
    """Where the region's probes measured from at that decision, as they had reported until then; null where
    they disagreed or reported nothing."""


class Vote(_Vote, total=False):
    """One region's vote."""

    unserved: int
    """Failed samples that were unserved, because the venue had told us to wait or the socket was down. Absent
    in decisions of an earlier version."""
    partial: Union[VotePartial, None]
    """Partial failure over several consecutive windows, whether or not many samples in a row failed; null if
    there was none. Absent in decisions of an earlier version."""
    refusal: Union[str, None]
    """The venue's words in its latest refusal of the stream's subscription in the window; null if there was
    none. Absent in decisions of an earlier version."""
    machine: Union[str, None]
    """Fingerprint of the only machine that all of the region's probes ran on; null if there were several, or it
    is unknown. Regions with the same fingerprint are one vantage. Absent in decisions of an earlier version."""


class VotesNotCountedItemVantage(TypedDict):
    """Where the region's probes measured from at that decision, as they had reported until then; null where
    they disagreed or reported nothing."""

    name: Union[str, None]
    """A short name given by the operator."""
    place: Union[str, None]
    """Its location."""
    network: Union[str, None]
    """The operator of its network."""


class _VotesNotCountedItem(TypedDict):
    """One entry."""

    region: str
    """Region id."""
    reason: str
    """Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired:
    most venues were cut off there at once, and in no other region whose own network worked; refused: the venue
    blocks this place, and no second place confirms that it blocks everybody; outlier: it has seen this bad for
    long, and no quorum with it."""
    newestAt: Union[str, None]
    """Slot of its newest sample, if any."""
    vantage: VotesNotCountedItemVantage
    """Where the region's probes measured from at that decision, as they had reported until then; null where
    they disagreed or reported nothing."""


class VotesNotCountedItem(_VotesNotCountedItem, total=False):
    """One entry."""

    machine: Union[str, None]
    """Fingerprint of the only machine that all of the region's probes ran on; null if there were several, or it
    is unknown. Regions with the same fingerprint are one vantage. Absent in decisions of an earlier version."""


class _Votes(TypedDict):
    """The votes behind a decision."""

    at: str
    """The tick that decided."""
    state: State
    """The state by quorum."""
    quorum: int
    """Number of votes needed."""
    reporting: int
    """Number of regions that reported the component; in decisions of an earlier version, which lack `counted`,
    those with a vote."""
    confirming: int
    """Number of votes that confirm trouble: with a sufficient bad run, or failing in part."""
    votes: list[Vote]
    """Regions that had a vote."""
    notCounted: list[VotesNotCountedItem]
    """Regions without a vote."""


class Votes(_Votes, total=False):
    """The votes behind a decision."""

    counted: int
    """Number of regions with a vote. Absent in decisions of an earlier version."""
    published: int
    """Number of regions published in the registry. Absent in decisions of an earlier version."""
    vantages: int
    """Number of vantages of the regions with a vote: regions whose probes run on one machine are one. Absent in
    decisions of an earlier version."""
    notes: list[str]
    """Limitations of these votes, for people. Absent in decisions of an earlier version."""


class IncidentsResponse(TypedDict):
    """History of incidents, newest first."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    incidents: list[Incident]
    """One page; a page shorter than the limit is the last."""


class IncidentEvent(TypedDict):
    """One event."""

    kind: Literal["started", "opened", "escalated", "last-bad", "closed"]
    """What happened. last-bad: a quorum saw the trouble for the last time; the recovery hold followed."""
    at: str
    """When."""
    severity: Union[Severity, None]
    """Severity from then on."""


class ErrorBreakdownFaultsItem(TypedDict):
    """One fault."""

    fault: Fault
    count: int
    """Bad samples."""


class ErrorBreakdownRegionsItem(TypedDict):
    """One region."""

    region: str
    """Region id."""
    samples: int
    """Samples taken."""
    bad: int
    """Bad ones among them."""
    faults: dict[str, int]
    """Number of bad samples by fault."""


ErrorBreakdown = TypedDict("ErrorBreakdown", {
    "from": "str",
    "to": "str",
    "samples": "Union[int, None]",
    "bad": "Union[int, None]",
    "faults": "list[ErrorBreakdownFaultsItem]",
    "regions": "list[ErrorBreakdownRegionsItem]",
})
"""Errors in the minutes that the incident touches."""


IncidentLatencyBefore = TypedDict("IncidentLatencyBefore", {
    "from": "str",
    "to": "str",
    "buckets": "int",
    "answers": "int",
    "p50Ms": "Union[int, None]",
    "p95Ms": "Union[int, None]",
    "slowestMs": "Union[int, None]",
})
"""The day before it started."""


IncidentLatencyDuring = TypedDict("IncidentLatencyDuring", {
    "from": "str",
    "to": "str",
    "buckets": "int",
    "answers": "int",
    "p50Ms": "Union[int, None]",
    "p95Ms": "Union[int, None]",
    "slowestMs": "Union[int, None]",
})
"""From startedAt to lastBadAt."""


class IncidentLatencyRegionsItem(TypedDict):
    """One region."""

    region: str
    """Region id."""
    beforeAnswers: int
    """Good responses before."""
    beforeP50Ms: Union[int, None]
    """Median before; null if not measured."""
    answers: int
    """Good responses during the incident."""
    p50Ms: Union[int, None]
    """Median during."""
    p95Ms: Union[int, None]
    """95th percentile during."""
    slowestMs: Union[int, None]
    """The highest median during."""


class IncidentLatency(TypedDict):
    """Latency during the incident and before it. Null if there was no good response in either period."""

    source: Literal["component", "venue-rest"]
    """component, or for a stream, which has no latency of its own, the venue's REST (venue-rest)."""
    label: str
    """The same as text."""
    bucketMs: int
    """Width of the buckets: a minute, or an hour if the incident lasted longer than a day."""
    before: IncidentLatencyBefore
    """The day before it started."""
    during: IncidentLatencyDuring
    """From startedAt to lastBadAt."""
    regions: list[IncidentLatencyRegionsItem]
    """By region, since a region that saw nothing dilutes the others."""


class IncidentDetailResponseVenue(TypedDict):
    """The venue."""

    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    symbol: Union[str, None]
    """Instrument probed, in the venue's own notation; null if the venue trades none."""
    quote: Union[str, None]
    """Currency in which the symbol is priced."""


class IncidentDetailResponseComponent(TypedDict):
    """The component."""

    id: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    kind: Literal["rest", "ws"]
    """Kind of the component."""
    label: str
    """Its name for people."""
    target: Union[str, None]
    """The measured address if it is in the catalogue; of an operator's own only the origin."""


class IncidentDetailResponseEvidenceClosing2(TypedDict):
    """A component that is no longer watched."""

    at: str
    """The tick that closed it."""
    reason: str
    """Why."""


class _IncidentDetailResponseEvidence(TypedDict):
    """The votes and their samples at the opening, the escalation and the closing."""

    opening: Votes


class IncidentDetailResponseEvidence(_IncidentDetailResponseEvidence, total=False):
    """The votes and their samples at the opening, the escalation and the closing."""

    escalation: Votes
    closing: Union[Votes, IncidentDetailResponseEvidenceClosing2]
    """The votes, or the reason why there were none."""
    closedBecause: str
    """Why it closed, for people. Absent while it is open, and if an earlier version closed it."""


class IncidentDetailResponseStallThreshold(TypedDict):

    afterMs: int
    """Silence beyond this is a stall."""
    basis: Literal["measured", "documented", "probed", "estimate"]
    """The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents
    (documented), which was counted by hand (probed), or which is only estimated (estimate)."""


class IncidentDetailResponseOfficial(TypedDict):
    """The venue's own status feed and notices."""

    source: Union[str, None]
    """Kind of the venue's status feed."""
    page: Union[str, None]
    """The venue's status page."""
    observed: bool
    """Whether its feed was read for at least part of the 6 hours before and after it began."""
    feed: Feed
    incidents: list[OfficialIncident]
    """Its notices that began in the 6 hours before and after it began, including maintenance; at most 50,
    newest first. If there are more, notices about what we measure and with plausible times take precedence."""


class IncidentDetailResponse(TypedDict):
    """One incident."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    incident: Incident
    venue: IncidentDetailResponseVenue
    """The venue."""
    note: Union[str, None]
    """A sentence about what this venue is. Only incidents of chains have one: that the chain stands, and no
    provider is at fault."""
    component: IncidentDetailResponseComponent
    """The component."""
    events: list[IncidentEvent]
    """Timeline, from the incident's own columns."""
    evidence: IncidentDetailResponseEvidence
    """The votes and their samples at the opening, the escalation and the closing."""
    stallThreshold: Union[IncidentDetailResponseStallThreshold, None]
    """The stream's current stall threshold (the last one, if it is no longer watched), which may have been
    different at the decision. Null for endpoints and sockets, and after an upgrade until core has read the
    registry."""
    errors: ErrorBreakdown
    latency: Union[IncidentLatency, None]
    """Latency during the incident and before it. Null if there was no good response in either period."""
    detection: Detection
    """This incident alone compared with the venue's notices; /v1/targets/{venue} covers the venue's ninety
    days."""
    official: IncidentDetailResponseOfficial
    """The venue's own status feed and notices."""
    beganAtOnce: list[str]
    """The incidents of other venues that began within two minutes of it, open or closed, the 100 nearest to it:
    perhaps the trouble of a provider that they share. It may grow after the incident closed."""
    related: list[Incident]
    """Newest first, the nearest ten of each group: other incidents of the venue that started within six hours
    of it or were open when it started; others of its component within ninety days; and those of other venues
    that started within ten minutes of it. Venue and component identify the group."""


class ReliabilityVenueRest(TypedDict):
    """REST alone: down when at least half of the published endpoints are down."""

    uptimePct: Union[float, None]
    """Percentage of the measured minutes that were not down, truncated to three digits; null if less than half
    of the scheduled minutes were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    downMinutes: Union[int, None]
    """Measured minutes that were down; null if none was measured."""


class ReliabilityVenueStreams(TypedDict):
    """The socket and its streams alone: down when at least half of them are down."""

    uptimePct: Union[float, None]
    """Percentage of the measured minutes that were not down, truncated to three digits; null if less than half
    of the scheduled minutes were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    downMinutes: Union[int, None]
    """Measured minutes that were down; null if none was measured."""


class ReliabilityVenueComponentsItem(TypedDict):
    """The uptime of one component."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    label: str
    """Its name for people."""
    uptimePct: Union[float, None]
    """Percentage of the measured minutes that were not down, truncated to three digits; null if less than half
    of the scheduled minutes were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    downMinutes: Union[int, None]
    """Measured minutes that were down; null if none was measured."""
    degradedMinutes: Union[int, None]
    """Measured minutes that were degraded; null if none was measured."""


class ReliabilityVenue(TypedDict):
    """How reliable a venue was over the window. All values cover the same UTC days."""

    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    category: Category
    days: int
    """Length of the window in UTC days, today included."""
    measuredDays: int
    """Days of the window with a measured minute."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    downMinutes: Union[int, None]
    """Measured minutes that were down; null if nothing was measured."""
    degradedMinutes: Union[int, None]
    """Measured minutes that were degraded; null if nothing was measured."""
    uptimePct: Union[float, None]
    """Percentage of the measured minutes that were not down, truncated to three digits; null if less than half
    of the scheduled minutes were measured."""
    rest: ReliabilityVenueRest
    """REST alone: down when at least half of the published endpoints are down."""
    streams: ReliabilityVenueStreams
    """The socket and its streams alone: down when at least half of them are down."""
    components: list[ReliabilityVenueComponentsItem]
    """Each component by itself, in the registry's order: an outage of one component is not always an outage of
    the venue."""
    typicalP50Ms: Union[int, None]
    """Latency of the median hour: the median of the exact hourly medians of REST in the window, over all
    endpoints and regions; null if there were fewer than 3 hours. Another figure than the typical latency of the
    board (typicalMs), which is that of the median minute of seven days."""
    typicalP95Ms: Union[int, None]
    """The median of the 95th percentiles of the same hours: in the median hour, a twentieth of the responses
    take longer; null if typicalP50Ms is."""
    typicalHours: int
    """Hours that both are computed from: those with at least 10 responses, per endpoint and region."""
    incidents: int
    """Incidents that started in the window."""
    outages: int
    """Number of these that reached outage."""
    openIncidents: int
    """Number of these that are still open."""
    meanIncidentSeconds: Union[int, None]
    """Mean length of the closed ones, from startedAt to endedAt; null if there is none."""
    longestIncidentSeconds: Union[int, None]
    """The longest, from startedAt to endedAt, or to generatedAt if still open; null if there is none."""


class ReliabilityResponseFleet(TypedDict):
    """Only the rows of this response, together."""

    venues: int
    """Rows."""
    uptimePct: Union[float, None]
    """Over the measured minutes of all rows together; null if less than half of the scheduled ones were
    measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    typicalP50Ms: Union[int, None]
    """The median over the hours of all rows, not a mean of the rows' medians."""
    typicalP95Ms: Union[int, None]
    """The median of the 95th percentiles of those hours."""
    typicalHours: int
    """Hours that both are computed from: those with at least 10 responses, per endpoint and region."""
    incidents: int
    """Incidents of all rows."""


class ReliabilityResponseRanksItem(TypedDict):
    """Rows of one rank."""

    rank: int
    """The rank."""
    venues: list[str]
    """The venues with this rank, in the registry's order."""


ReliabilityResponseExcludedItem = TypedDict("ReliabilityResponseExcludedItem", {
    "region": "str",
    "from": "str",
    "to": "Union[str, None]",
    "minutes": "int",
    "reason": "str",
    "venues": "list[str]",
})
"""Excluded minutes of one region."""


class ReliabilityResponse(TypedDict):
    """The venues compared."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    days: int
    """Length of the window in UTC days, today included."""
    fleet: ReliabilityResponseFleet
    """Only the rows of this response, together."""
    venues: list[ReliabilityVenue]
    """The most available first; those without an uptime last."""
    ranks: list[ReliabilityResponseRanksItem]
    """The rows by rank, first rank first; unmeasured rows have none. A row's rank is one more than the number
    of rows that were more available beyond the bounds: those whose uptimePctLow is above its uptimePctHigh.
    Rows that cannot be distinguished this way share a rank."""
    excluded: list[ReliabilityResponseExcludedItem]
    """What was excluded from the window: whole minutes in which a region was impaired and no other region saw
    the same (until `generatedAt` for an impairment in progress), so that its own trouble counts against no
    venue. Newest first."""


class UptimeDay(TypedDict):
    """One UTC day. Minutes are judged by a majority of the regions that measured them and were not impaired."""

    date: str
    """The day."""
    uptimePct: Union[float, None]
    """Percentage of the measured minutes that were not down, truncated to three digits; null if less than half
    of the scheduled minutes were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the day that should have been measured: since the venue has been watched, as far as minutes
    are published."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """The uptime if every unmeasured scheduled minute had been down, truncated to three digits; null if nothing
    was measured."""
    uptimePctHigh: Union[float, None]
    """The uptime if no unmeasured scheduled minute had been down."""
    downMinutes: Union[int, None]
    """Minutes in which at least half of the published REST components were down, or at least half of the
    published streams; null if nothing was measured."""
    degradedMinutes: Union[int, None]
    """Other minutes in which some component was degraded or down; null if nothing was measured."""


class ComponentState(TypedDict):
    """One component of a venue."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    state: State
    """By quorum over all regions."""
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    fault: Union[Fault, None]
    """What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else
    the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is
    neither, and if there is no such fault."""
    unknownBecause: Union[UnknownBecause, None]
    """Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a
    decision."""


class CommonTrouble(TypedDict):
    """Open incidents of at least four venues that began within two minutes of the first of them: perhaps the
    trouble of a provider that they share."""

    since: str
    """When the first of them began."""
    venues: list[str]
    """The venues."""


class CategoryCounts(TypedDict):
    """One category of the whole board."""

    category: Category
    venues: int
    """Venues in it."""
    operational: int
    """Number that are operational."""
    degraded: int
    """Number that are degraded."""
    outage: int
    """Number in outage."""
    unknown: int
    """Number without evidence."""
    activeIncidents: int
    """Open incidents in it."""


class VenueStatusSparklineItem(TypedDict):
    """One hour."""

    at: str
    """Start of the hour."""
    p50Ms: Union[int, None]
    """Median over endpoints and regions of the hour's medians; null if fewer than 3 responses were good. The
    current hour is as of its last roll-up, at most about five minutes before generatedAt."""
    samples: int
    """Good REST samples of the hour."""


class VenueStatus(TypedDict):
    """One venue on the board."""

    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    category: Category
    symbol: Union[str, None]
    """Instrument probed, in the venue's own notation; null if the venue trades none."""
    quote: Union[str, None]
    """Currency in which the symbol is priced."""
    ccxtId: Union[str, None]
    """Id of the same exchange in ccxt; null if it is not in ccxt. It may differ from `id`, and ccxt may have
    another exchange of that id: its `coinbase` is Coinbase Advanced Trade, and ours is its `coinbaseexchange`."""
    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    uptimePct90d: Union[float, None]
    """Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured."""
    measuredDays: int
    """Days of the ninety with a measured minute."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    typicalMs: Union[int, None]
    """Typical latency: the median of per-minute REST medians over seven days, all regions; null if there were
    fewer than 3."""
    typicalMinutes: int
    """Number of per-minute medians that it is computed from."""
    typicalAsOf: Union[str, None]
    """When it was computed, about every ten minutes, before generatedAt; null if it has not been yet."""
    activeIncidents: int
    """Open incidents."""
    components: list[ComponentState]
    """The components, in the registry's order."""
    days: list[UptimeDay]
    """The ninety days, oldest first."""
    sparkline: list[VenueStatusSparklineItem]
    """The last 24 hours, oldest first."""


class StatusResponseSummary(TypedDict):
    """All rows of this response together."""

    venues: int
    """Rows."""
    regions: int
    """Regions that report now: measured, not configured."""
    vantages: int
    """Number of distinct vantages of these: regions whose probes all run on one machine are one."""
    vantageNote: Union[str, None]
    """What several regions on one machine mean for the results; null if no regions share one."""
    probeIntervalMs: int
    """Default cadence in each region."""
    state: State
    """outage if at least half of the venues are in outage, degraded if any is degraded or in outage, unknown
    while fewer than half of the venues are known."""
    uptimePct90d: Union[float, None]
    """Over all measured minutes of all rows; null if less than half of the scheduled ones were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    medianLatencyMs: Union[int, None]
    """Typical latency of all rows: the median of per-minute REST medians over seven days; null if there were
    fewer than 3."""
    medianLatencyMinutes: int
    """Number of per-minute medians that it is computed from."""
    medianLatencyAsOf: Union[str, None]
    """When it was computed, about every ten minutes, before generatedAt; null if it has not been yet."""
    activeIncidents: int
    """Open incidents of the rows."""
    commonTrouble: Union[CommonTrouble, None]
    """Open incidents of at least four venues that began within two minutes of the first of them: perhaps the
    trouble of a provider that they share."""
    categories: list[CategoryCounts]
    """All categories, whatever the filter."""


class StatusResponse(TypedDict):
    """The live board."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    summary: StatusResponseSummary
    """All rows of this response together."""
    venues: list[VenueStatus]
    """In the registry's order."""
    incidents: list[Incident]
    """Open incidents, and those closed within the last day; newest first."""


class NotifyResponse(TypedDict):
    """How soon alerts arrive: from an incident's first bad sample, its `startedAt`, until a channel accepted
    the opening alert, over all channels. Closings, escalations, retracted incidents, failures, deliveries that
    an operator requested, and events that waited for more than an hour before their delivery began do not
    count."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    days: int
    """Length of the window: 30."""
    deliveries: int
    """Delivered opening alerts, over which the percentiles are computed."""
    p50Ms: Union[int, None]
    """Median; null if there is no delivery."""
    p95Ms: Union[int, None]
    """95th percentile; null if there is no delivery."""


class Vantage(TypedDict):
    """The place from which a region measures."""

    name: Union[str, None]
    """A short name given by the operator; like the next two, null if not set."""
    place: Union[str, None]
    """Its location."""
    network: Union[str, None]
    """The operator of its network."""
    machine: Union[str, None]
    """Fingerprint of the machine; probes with the same fingerprint share it. Null if unknown."""


class NeverSeenGood(TypedDict):
    """One component."""

    venue: str
    """Registry id of the venue."""
    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    fault: Fault
    """The newest fault that this region saw."""
    since: str
    """Since when it is unknown for this reason."""
    advice: str
    """What to do."""


class RegionSummaryProbesItem(TypedDict):
    """One probe."""

    id: str
    """Identifies a probe; kept across restarts in the same data directory."""
    version: str
    """Its build."""
    startedAt: str
    """When it started."""
    seenAt: str
    """Its newest heartbeat."""
    venues: int
    """Venues that it measures."""
    unmeasuredSlots: int
    """Slots unmeasured since it started."""
    unmeasuredByReason: dict[str, int]
    """The same by reason; reasons that did not occur are omitted."""
    clockErrorMs: Union[int, None]
    """Its clock minus that of most venues, by the Date headers of their responses; null while fewer than three
    agree. Ages of events are corrected by it."""
    clockErrorWithinMs: Union[int, None]
    """Maximum error of clockErrorMs."""
    vantage: Vantage


class RegionSummaryTroublesItem(TypedDict):
    """One entry."""

    probe: str
    """Identifies a probe; kept across restarts in the same data directory."""
    kind: Literal["network", "resolver", "sockets", "clock", "starved", "spool"]
    """No route, no name resolution, no free socket, a clock that is wrong by more than half a second, a process
    or machine that stalls, or a spool that cannot be written."""
    since: str
    """When it began."""
    detail: str
    """The same as text."""


class RegionSummaryImpaired(TypedDict):

    since: str
    """When its first sign appeared."""
    recognisedAt: str
    """The tick that recognised it."""
    venues: list[str]
    """The venues that turned bad in this region only."""
    measured: int
    """Number of venues that the region measured then."""
    reason: str
    """The same as text."""


class RegionSummaryImpairmentsItem(TypedDict):
    """One entry."""

    startedAt: str
    """When its first sign appeared."""
    recognisedAt: str
    """The tick that recognised it."""
    endedAt: Union[str, None]
    """The tick that ended it; null while it lasts."""
    venues: list[str]
    """The venues that turned bad in this region only."""
    measured: int
    """Number of venues that the region measured then."""


class RegionSummary(TypedDict):
    """One region."""

    id: str
    """Region id."""
    name: str
    """Name."""
    reporting: bool
    """Whether it shipped a sample within the last minute."""
    newestAt: Union[str, None]
    """Slot of its newest sample."""
    samplesLastHour: int
    """Samples shipped in the last hour."""
    goodPctLastHour: Union[float, None]
    """Share of them that were good."""
    probeVersion: Union[str, None]
    """Build of the probe."""
    probeStartedAt: Union[str, None]
    """When its probe started; with several probes, the earliest start."""
    unmeasuredSlots: Union[int, None]
    """Slots unmeasured since then, for reasons of our own. A slot that a venue prevented is a bad sample
    instead."""
    probes: list[RegionSummaryProbesItem]
    """The region's live probes, or the one that was live last; they divide its venues among themselves."""
    troubles: list[RegionSummaryTroublesItem]
    """Current probe trouble: what keeps its probes from measuring, or from measuring correctly. It never counts
    against a venue."""
    vantage: Vantage
    """Where its probes measure from; null where they disagree. The machine is the one that all live probes run
    on, as of generatedAt."""
    sameMachineAs: list[str]
    """Other regions whose probes all run on the same machine: together they are one vantage, and a fault of its
    network affects all of them."""
    neverSeenGood: list[NeverSeenGood]
    """Components that no region has seen good by their present entry in the registry, and that this region sees
    fail: the entry, this network or this place may be the cause. They are unknown, open no incident and send no
    alert. The first 200, in the registry's order; none while the engine is silent."""
    neverSeenGoodTotal: int
    """Number of such components, of which at most 200 are listed."""
    impaired: Union[RegionSummaryImpaired, None]
    """The region's current impairment: it keeps measuring, but has no vote. Null if there is none, and while
    the engine is silent."""
    impairments: list[RegionSummaryImpairmentsItem]
    """Its impairments of the last seven days, including a current one; newest first."""


class RegionsResponse(TypedDict):
    """The fleet of probes."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    regions: list[RegionSummary]
    """Every region of the registry; a silent one is listed, never omitted."""
    quorum: int
    """The number of regions that must agree: a simple majority of those that report now and are not impaired."""
    vantages: int
    """Number of distinct vantages of the regions that report now: regions on one machine are one vantage."""


class PublishedRule(TypedDict):
    """One rule."""

    name: str
    """Name; the rulebook explains it."""
    value: float
    """Value."""
    unit: Literal["ms", "hours", "days", "samples", "cadences", "windows", "regions", "vantages", "incidents", "venues", "share", "times"]
    """Its unit. share is a fraction of 1; times is a multiple of the usual value; cadences are those of the
    judged component."""
    reason: str
    """The reason for the value."""
    appliedBy: Literal["engine", "probe", "figures"]
    """Where it applies: the engine's decisions, a probe's judgement of a slot, or published figures. Only the
    engine's can be changed in a replay."""


StallThresholdDistribution = TypedDict("StallThresholdDistribution", {
    "periods": "int",
    "from": "str",
    "to": "str",
    "p50Ms": "int",
    "p99Ms": "int",
    "p999Ms": "int",
})


class StallThreshold(TypedDict):
    """Stall threshold of one stream."""

    venue: str
    """Registry id of the venue."""
    component: str
    """ws:<name>."""
    afterMs: int
    """Silence beyond this is a stall."""
    typicalPerMinute: float
    """Usual data frames a minute."""
    rateBasis: Literal["documented", "probed", "estimate"]
    """The source of typicalPerMinute."""
    basis: Literal["measured", "documented", "probed", "estimate"]
    """The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents
    (documented), which was counted by hand (probed), or which is only estimated (estimate)."""
    counterpart: Union[str, None]
    """The REST endpoint that shows whether a silent stream should have sent something; null if there is none."""
    distribution: Union[StallThresholdDistribution, None]
    """The measured quiet periods that it is based on; null while it is computed from the usual rate."""


class ThresholdsResponse(TypedDict):
    """The rules of this build."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    version: str
    """Build of the engine."""
    rules: list[PublishedRule]
    """Every constant of the engine, then those of probes and of published figures."""
    stalls: list[StallThreshold]
    """One per stream."""


class ProblemErrorsItem(TypedDict):
    """One entry."""

    parameter: str
    """Its name."""
    message: str
    """What was expected, and what came."""


class _Problem(TypedDict):
    """An error in the format of RFC 9457."""

    type: str
    """about:blank: no more specific than the status."""
    title: str
    """The status in words."""
    status: int
    """The HTTP status."""
    detail: str
    """What was wrong, and what to do."""


class Problem(_Problem, total=False):
    """An error in the format of RFC 9457."""

    errors: list[ProblemErrorsItem]
    """With 400: every invalid parameter. Omitted if the path or query itself is invalid."""
    slug: str
    """With 404 of a retracted incident: its slug. retractedAt and reason come with it."""
    retractedAt: str
    """When it was retracted."""
    reason: Union[str, None]
    """Why, in the words of the engine or the operator; null if the operator gave the reason before reasons were
    public."""


class UnseenBecause(TypedDict):
    """Why a state is unknown, by quorum or to one region."""

    reason: Literal["never", "ended", "blocked", "impaired", "silent", "unmeasured"]
    """never, ended, blocked: as in UnknownBecause. Of one region alone: impaired: its own network is in
    trouble. silent: no measurement has come from it of late. unmeasured: none is known."""
    detail: str
    """The same in words."""


class RegionDissent(TypedDict):
    """A component that this region sees otherwise than all regions together."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    state: State
    """What this region alone sees; no decision depends on it."""
    since: str
    """The tick since which this region sees it so."""
    fault: Union[Fault, None]
    """Fault of the newest measurement there; null if it was good, or slow."""


class RegionView(TypedDict):
    """The venue as one region alone sees it. While the region is impaired, it is unknown."""

    region: str
    """Region id."""
    name: str
    """Name."""
    state: State
    """What this region alone sees; no decision depends on it."""
    since: str
    """The tick since which this region sees it so."""
    unknownBecause: Union[UnseenBecause, None]
    """Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether
    the engine decides."""
    dissent: list[RegionDissent]
    """The components that it sees otherwise than all regions together."""


class VenueEntryUntil(TypedDict):

    date: str
    """The first day without it, in UTC."""
    what: str
    """What ends."""
    source: str
    """Where the venue says so."""
    components: Union[list[str], None]
    """The components that end; null: all."""


class VenueEntryLimitsItem(TypedDict):
    """One limit."""

    origin: str
    """Of these addresses."""
    requests: int
    """Number of requests."""
    periodMs: int
    """In this time."""
    per: Literal["address", "account"]
    """What is counted: requests from one address, or those of one account, of which a probe has none."""
    endpoints: Union[list[str], None]
    """Names of the endpoints that it is about; null: all of the origin."""
    source: str
    """Where the venue says so."""


class VenueEntryBlockedIn(TypedDict):

    countries: list[str]
    """ISO 3166-1 alpha-2 codes."""
    source: str
    """Where the venue says so."""


class VenueEntry(TypedDict):
    """What the registry says of its own entry for the venue; null where it says nothing."""

    sources: Union[list[str], None]
    """Addresses of the venue's documentation and changelog."""
    checkedAt: Union[str, None]
    """The day on which the entry was last compared with its sources."""
    until: Union[VenueEntryUntil, None]
    """What ends, and when. Its components are unknown from then on, and never down."""
    limits: Union[list[VenueEntryLimitsItem], None]
    """How many requests the venue accepts. All requests of the probes on one address stay below half of each
    limit by address; the cadences of endpoints and streams are the resolved ones."""
    blockedIn: Union[VenueEntryBlockedIn, None]
    """Countries that the venue does not serve."""
    edgeCacheMs: Union[int, None]
    """For so long an edge in front of the venue may repeat an answer: a shorter outage behind it is invisible."""


class LatencyPoint(TypedDict):
    """One bucket of the chart, computed exactly from raw samples."""

    at: str
    """Start of the bucket."""
    p50Ms: Union[int, None]
    """Median of the good REST samples; null if there were fewer than 3."""
    p95Ms: Union[int, None]
    """Their 95th percentile; null if there were fewer than 10."""
    samples: int
    """Number of good REST samples."""


class EndpointStatusLag(TypedDict):

    blocks: Union[int, None]
    """Blocks behind the freshest head. Null if there is no recent head, or if providers are more than 100,000
    blocks apart and none confirms this one."""
    head: Union[int, None]
    """The latest head named by this endpoint, if not older than three of its cadences or a minute, whichever is
    longer; else null."""
    freshestHead: Union[int, None]
    """The freshest head of the same chain known from this region when this endpoint was measured, from
    responses of the preceding minute; null if providers are more than 100,000 blocks apart and none confirms
    another."""
    at: Union[str, None]
    """Slot in which this head was named."""
    backwards: int
    """How often this endpoint named a head below its previous one in the last 24 hours, whatever the range."""


class EndpointStatus(TypedDict):
    """One REST endpoint, seen from the selected region."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    name: str
    """The part after the colon."""
    label: str
    """Its name for people."""
    target: Union[str, None]
    """The address that is measured; null for a chain, which is read at several."""
    cadenceMs: int
    """Its cadence in each region."""
    state: State
    """By quorum over all regions."""
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    fault: Union[Fault, None]
    """What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else
    the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is
    neither, and if there is no such fault."""
    unknownBecause: Union[UnknownBecause, None]
    """Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a
    decision."""
    regionState: State
    """As seen by the selected region."""
    samples: int
    """Samples of the selected region in the range."""
    goodPct: Union[float, None]
    """Share of them that were good."""
    answers: int
    """Good samples in the range, over which the percentiles are computed."""
    p50Ms: Union[int, None]
    """Their exact median; null if there were fewer than 3."""
    p95Ms: Union[int, None]
    """Exact 95th percentile; null if there were fewer than 10."""
    newestAt: Union[str, None]
    """Slot of the newest sample."""
    newestFault: Union[Fault, None]
    """Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402,
    or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself
    says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands
    still or is far behind."""
    certificateExpiresAt: Union[str, None]
    """Expiry of the newest certificate that the server presented within the last day; null if none was seen."""
    lag: Union[EndpointStatusLag, None]
    """Distance to the freshest head that our fleet saw from this region, not to the true head. Null if the
    responses in the range named no head."""


class StreamStatus(TypedDict):
    """One stream, or ws:conn, seen from the selected region."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    name: str
    """The part after the colon."""
    label: str
    """Its name for people."""
    target: str
    """The measured address if it is in the catalogue; of an operator's own only the origin."""
    cadenceMs: int
    """Its cadence in each region."""
    state: State
    """By quorum over all regions."""
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    fault: Union[Fault, None]
    """What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else
    the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is
    neither, and if there is no such fault."""
    unknownBecause: Union[UnknownBecause, None]
    """Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a
    decision."""
    regionState: State
    """As seen by the selected region."""
    samples: int
    """Samples of the selected region in the range."""
    goodPct: Union[float, None]
    """Share of them that were good."""
    messagesPerMinute: Union[float, None]
    """Data frames per minute, mean over the measured slots; null on ws:conn."""
    longestQuietMs: Union[int, None]
    """The longest silence in the range."""
    eventAgeMs: Union[int, None]
    """Age of the newest event by the venue's own clock, corrected by the known error of our clock; negative if
    the venue's clock is ahead."""
    sequenceGaps: Union[int, None]
    """Number of gaps in the venue's own frame numbers in the range; null if it gives none."""
    stallAfterMs: Union[int, None]
    """Silence beyond this is a stall."""
    newestAt: Union[str, None]
    """Slot of the newest sample."""
    newestFault: Union[Fault, None]
    """Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402,
    or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself
    says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands
    still or is far behind."""


class RegionComparison(TypedDict):
    """The venue as one region sees it, over exactly the range that ends at generatedAt."""

    region: str
    """Region id."""
    name: str
    """Name."""
    reporting: bool
    """Whether it reports this venue now."""
    impaired: bool
    """Whether the region is impaired and therefore has no vote; see /v1/regions."""
    state: State
    """What this region alone sees, also while it is impaired, when `view` is unknown; no decision rests on it
    alone."""
    samples: int
    """Samples of all components in the range."""
    goodPct: Union[float, None]
    """Share of them that were good."""
    answers: int
    """Good REST samples in the range, over which the percentiles are computed."""
    p50Ms: Union[int, None]
    """Exact median REST latency of all endpoints together; null if there were fewer than 3 responses."""
    p95Ms: Union[int, None]
    """Exact 95th percentile; null if there were fewer than 10."""
    newestAt: Union[str, None]
    """Slot of the newest sample."""
    view: RegionView


class IncidentPatternRecurringItem(TypedDict):
    """One such time."""

    every: Literal["week", "day"]
    """How often it recurs."""
    weekday: Union[Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"], None]
    """Null for any day."""
    hour: Union[int, None]
    """Hour of the day; null for any hour."""
    incidents: int
    """Incidents that started at that time."""
    days: int
    """Days on which they started."""
    ofDays: int
    """Days with any incident of this pattern."""


class IncidentPatternIncidentsItem(TypedDict):
    """A link."""

    slug: str
    """Permanent name of an incident, given at opening."""
    path: str
    """Its path: /v1/incidents/{slug}."""
    startedAt: str
    """When it started."""


class IncidentPattern(TypedDict):
    """Incidents of one component and severity, by hour of the day and day of the week. All in UTC."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    severity: Severity
    """The worst severity that they reached."""
    count: int
    """Number of incidents."""
    days: int
    """Days on which at least one of them started."""
    totalSeconds: int
    """Sum of their lengths, each from startedAt to endedAt, or to generatedAt while open."""
    newestAt: str
    """Start of the newest."""
    byHour: list[int]
    """Number started in each hour of the day."""
    byWeekday: list[int]
    """Number started on each day of the week, Monday first."""
    recurring: list[IncidentPatternRecurringItem]
    """Times at which it recurs, counted in days so that a bad afternoon counts once: an hour of a weekday, or
    an hour of any day, with at least three days and half of all days; or a weekday with at least four days and
    three quarters of all. Chance alone produces this in at most one of thirty patterns."""
    incidents: list[IncidentPatternIncidentsItem]
    """All of them, newest first."""


class ExchangeResponseExchange(TypedDict):
    """The venue."""

    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    category: Category
    symbol: Union[str, None]
    """Instrument probed, in the venue's own notation; null if the venue trades none."""
    quote: Union[str, None]
    """Currency in which the symbol is priced."""


class ExchangeResponseChain(TypedDict):

    venue: str
    """Its id as a venue."""
    name: str
    """Name."""
    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    providers: list[str]
    """Ids of the providers at which we read it."""
    standsSince: Union[str, None]
    """When its open incident began: since then it has stood still, or gone back to older blocks, at all
    providers."""
    incident: Union[str, None]
    """Permanent name of an incident, given at opening."""


class ExchangeResponseLatency(TypedDict):
    """REST latency seen from the selected region."""

    range: Literal["24h", "7d"]
    """The window."""
    bucketMs: int
    """Width of a bucket."""
    points: list[LatencyPoint]
    """Every bucket of the range, oldest first."""


class ExchangeResponseRegions(TypedDict):
    """Vantage points."""

    selected: str
    """The region that the request resolved to."""
    compare: list[RegionComparison]
    """Every region."""


class ExchangeResponseOfficial(TypedDict):
    """The venue's own status feed and notices."""

    source: Union[str, None]
    """Kind of the venue's status feed."""
    page: Union[str, None]
    """The venue's status page."""
    observed: bool
    """Whether its feed was read for at least part of the window of 90 days and after it."""
    feed: Feed
    incidents: list[OfficialIncident]
    """Its notices that began in the window of 90 days and after it, including maintenance; at most 50, newest
    first. If there are more, notices about what we measure and with plausible times take precedence."""


ExchangeResponseExcludedItem = TypedDict("ExchangeResponseExcludedItem", {
    "region": "str",
    "from": "str",
    "to": "Union[str, None]",
    "minutes": "int",
    "reason": "str",
    "venues": "list[str]",
})
"""Excluded minutes of one region."""


class ExchangeResponse(TypedDict):
    """One venue in detail."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    exchange: ExchangeResponseExchange
    """The venue."""
    entry: VenueEntry
    chain: Union[ExchangeResponseChain, None]
    """The chain that the venue reads, or is: a venue of its own. If it stands at all providers, that is its
    incident, and none of them is down for it. Null if the venue reads no chain, or one that fewer than two
    providers of category rpc read."""
    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    uptimePct90d: Union[float, None]
    """Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured."""
    measuredMinutes: int
    """Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do
    not count."""
    scheduledMinutes: int
    """Minutes of the window that should have been measured: since the venue or component has been watched,
    until four minutes before the newest tick, since newer minutes are not published yet."""
    coveragePct: Union[float, None]
    """Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was
    scheduled."""
    uptimePctLow: Union[float, None]
    """Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines
    it. Null if nothing was measured."""
    uptimePctHigh: Union[float, None]
    """Its upper bound."""
    typicalMs: Union[int, None]
    """As on the board."""
    typicalMinutes: int
    """Number of per-minute medians that it is computed from."""
    typicalAsOf: Union[str, None]
    """When it was computed, about every ten minutes, before generatedAt; null if it has not been yet."""
    days: list[UptimeDay]
    """The ninety days, oldest first."""
    latency: ExchangeResponseLatency
    """REST latency seen from the selected region."""
    endpoints: list[EndpointStatus]
    """REST, in the registry's order."""
    streams: list[StreamStatus]
    """The socket and its streams."""
    regions: ExchangeResponseRegions
    """Vantage points."""
    incidents: list[Incident]
    """The 50 most recent, however old; newest first."""
    incidentPatterns: list[IncidentPattern]
    """All incidents that started within ninety days by component and severity, each in exactly one pattern;
    most frequent first."""
    official: ExchangeResponseOfficial
    """The venue's own status feed and notices."""
    detection: Detection
    summary: ReliabilityVenue
    """The row of /v1/reliability for this venue, over ninety days."""
    excluded: list[ExchangeResponseExcludedItem]
    """What was excluded from the window: whole minutes in which a region was impaired and no other region saw
    the same (until `generatedAt` for an impairment in progress), so that its own trouble counts against no
    venue. Newest first."""


class ComponentVerdict(TypedDict):
    """One component, by quorum over all regions, or as `region` sees it."""

    component: str
    """rest:<name> or ws:<name>; ws:conn is the socket shared by the streams."""
    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    fault: Union[Fault, None]
    """What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else
    the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is
    neither, and if there is no such fault."""
    unknownBecause: Union[UnseenBecause, None]
    """Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether
    the engine decides."""
    agreeing: int
    """Number of the counted regions that see this state, or for `degraded` an outage."""
    counted: int
    """Number of regions whose votes count now: of those that report it, without impaired and refused ones and
    outliers."""
    reporting: int
    """Number of regions that report it now, whether or not their votes count."""
    incident: Union[str, None]
    """Slug of its open incident; null if it has none."""


class VenueStateResponseByQuorum(TypedDict):

    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""


class VenueStateResponse(TypedDict):
    """The state of one venue, by quorum over all regions, or as `region` sees it."""

    generatedAt: str
    """The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the
    published past. Nothing in it is newer. Bodies with the same instant are consistent."""
    stale: bool
    """Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a
    closed incident, which no longer changes."""
    ageSeconds: Union[int, None]
    """Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and
    before the first decision."""
    decidedAt: Union[str, None]
    """The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and
    this is null, as it is before the first decision."""
    id: str
    """Registry id of the venue."""
    name: str
    """Name."""
    category: Category
    state: State
    since: str
    """The tick that confirmed this state. While the engine is silent or catching up: since when the state has
    read unknown."""
    activeIncidents: int
    """Open incidents."""
    components: list[ComponentVerdict]
    """The components, in the registry's order."""
    byQuorum: Union[VenueStateResponseByQuorum, None]
    """The venue by quorum over all regions; null where `state` is that itself, because no region is given."""
    region: Union[RegionView, None]
    """The region whose view `state`, `since` and the components' are; null: they are by quorum."""
    regions: list[RegionView]
    """The regions that see the venue or one of its components otherwise than all together, or cannot tell.
    Empty if all agree."""
