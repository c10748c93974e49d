import type { RequestHandler } from "express";
import type { ComponentChildren } from "preact";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import type { TypeOf } from "../api/shapes.js";
import { incidentDetailResponse, incidentNamed } from "../board/incident.js";
import { dataOf } from "../board/snapshot.js";
import { venueStateResponse } from "../board/venue-state.js";
import { editionFor } from "./edition.js";
import { ageText, datedText, durationText, firstSeenText, isolated, msText, sinceMs, whereText } from "./format.js";
import {
  ErrorTable,
  Evidence,
  LatencyTable,
  Recompute,
  shownRegionName,
  type IncidentDetail,
  type RegionNames,
} from "./incident-evidence.js";
import { plural, t, texts } from "./language.js";
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  CopyButton,
  DatedInstant,
  Elapsed,
  ExactInstant,
  feedLinks,
  IncidentList,
  InEnglish,
  Instant,
  Reason,
  Sign,
  StateWord,
  WebLink,
} from "./parts.js";
import { commonFault, isOnlyLimiting, isTrouble } from "./states.js";
import { faultMeanings, incidentPageWords, noticeWords, siteWords } from "./words.js";

type Needs = Pick<PagesOptions, "pool" | "registry" | "incidents" | "boards">;

/** `/incidents/{slug}`: the page to which alerts link. */
export function incidentPageRoute(
  { pool, registry, incidents, boards }: Needs,
  rendered: Rendered,
): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const { slug } = request.params;
    const snapshot = await incidentNamed(pool, incidents, slug);
    const detail = dataOf(incidentDetailResponse, snapshot);
    const state = await boards.state(detail.venue.id, null);
    const page = () => incidentPage({ detail, venueNow: state && dataOf(venueStateResponse, state), registry });
    const body = rendered(`incident ${slug}`, [snapshot, state], page, editionFor(request));
    // unlike the incident, the state of the venue may change
    await answerPage(response, body);
  };
}

// `/incidents/{slug}`: the page that an alert opens. What happened first, then how we know.

export interface IncidentPageProps {
  detail: IncidentDetail;
  /** Null: the database does not have the venue. */
  venueNow: VenueState | null;
  registry: Registry;
}

type VenueState = TypeOf<typeof venueStateResponse>;

function incidentPage({ detail, venueNow, registry }: IncidentPageProps): PageProps {
  const age = ageText(detail);
  const { incident, generatedAt } = detail;
  const { slug, severity, status } = incident;
  const state = age === null ? severity : "unknown";
  const json = `/v1/incidents/${slug}`;
  const regionNames = new Map(registry.regions.map(({ id, name }) => [id, name]));
  return {
    ...{ title: titleOf(detail), icon: state, section: "incidents", json, generatedAt, age },
    ...{ description: descriptionOf(detail, venueNow), path: `/incidents/${slug}`, scripts: ["copy.js"] },
    ...{ feeds: feedLinks(detail.venue), updatesOf: detail.venue },
    decidedAt: detail.decidedAt,
    // a closed one no longer changes; the state of its venue may
    refreshS: status === "open" ? 15 : 60,
    children: (
      <>
        <h1 class="headline">
          <Sign state={state} />
          <span>
            {age !== null && `${siteWords.beforeThat} `}
            <IncidentSentence {...{ detail, venueNow }} />
          </span>
        </h1>
        <VenueNow venue={detail.venue} now={venueNow} />
        <p>
          <CopyButton label={t`Copy the link to this incident`} path={`/incidents/${slug}`} />
        </p>
        <MaintenanceFact detail={detail} />
        {detail.note !== null && (
          <p>
            <InEnglish>{isolated(detail.note)}</InEnglish>
          </p>
        )}
        <IncidentFacts detail={detail} regionNames={regionNames} />
        <h2 id="timeline">{t`What happened when`}</h2>
        <Timeline detail={detail} />
        <h2 id="evidence">{t`Why we decided so`}</h2>
        <Evidence detail={detail} regionNames={regionNames} />
        <h2 id="errors">{t`Failed samples during the incident`}</h2>
        <ErrorTable errors={detail.errors} regionNames={regionNames} />
        <h2 id="latency">{t`Latency before and during the incident`}</h2>
        <LatencyTable latency={detail.latency} regionNames={regionNames} />
        <h2 id="official">{t`What the venue says`}</h2>
        <OfficialWords detail={detail} />
        <h2 id="related">{t`Related incidents`}</h2>
        <RelatedIncidents detail={detail} registry={registry} />
        <h2 id="checking">{t`How to check this yourself`}</h2>
        <Recompute detail={detail} />
      </>
    ),
  };
}

/** The way to the venue, with its present state in words, for readers who come by an old link. */
function VenueNow({ venue: { id, name }, now }: { venue: IncidentDetail["venue"]; now: VenueState | null }) {
  return (
    <p>
      <a href={`/venues/${id}`}>{t`${(<bdi>{name}</bdi>)} now`}</a>:{" "}
      {now === null || now.stale ? (
        t`we cannot tell at the moment.`
      ) : (
        <>
          <StateWord state={now.state} fault={commonFault(now.components)} />,{" "}
          {t`since ${(<Instant at={now.since} now={now.generatedAt} />)}`}.
        </>
      )}
    </p>
  );
}

/** That the venue had announced it, and when. Nothing where it had not. */
function MaintenanceFact({ detail: { incident, generatedAt: now } }: { detail: IncidentDetail }) {
  const { maintenance } = incident;
  if (maintenance === null) return null;
  const { title, url, from, until, announcedAt, overran } = maintenance;
  const begins = <Instant at={from} now={now} />;
  const what = <WebLink address={url}>{isolated(title)}</WebLink>;
  return (
    <p>
      {until === null
        ? t`The venue had announced maintenance from ${begins} with no stated end: ${what}.`
        : t`The venue had announced maintenance from ${begins} until ${(<Instant at={until} now={now} />)}: ${what}.`}{" "}
      {t`We read the announcement at ${(<ExactInstant at={announcedAt} />)}.`}
      {overran && ` ${t`The incident lasted longer than the maintenance.`}`}{" "}
      {t`What a venue announces changes no measurement.`}
    </p>
  );
}

/**
 * `OKX: Ticker was down for 18 min on 28 Nov, 01:13 UTC.`, or `OKX: Ticker has been failing since 28 Nov, 22:42 UTC
 * (4 min), …`
 */
function IncidentSentence({ detail, venueNow }: Pick<IncidentPageProps, "detail" | "venueNow">) {
  const { incident, generatedAt: now } = detail;
  const { startedAt, lastBadAt, durationSeconds } = incident;
  const at = <DatedInstant at={startedAt} now={now} />;
  if (durationSeconds !== null) return <>{t`${pastText(detail, durationText(durationSeconds * 1000), at)}.`}</>;
  if (isQuiet(detail)) {
    const quiet = <Elapsed from={lastBadAt} now={now} />;
    return (
      <>
        {beganText(detail, at)}{" "}
        {t`Too few regions have seen trouble for the last ${quiet}; the incident is still open.`}
      </>
    );
  }
  const since = sinceText(detail, at, <Elapsed from={startedAt} now={now} />);
  const where = whereSeen(detail, venueNow);
  return <>{where === null ? t`${since}.` : t`${since}, ${where}.`}</>;
}

/** Where an open one is seen now, if that is known; otherwise where it was first seen. Null: no votes are on record. */
function whereSeen({ incident }: IncidentDetail, now: VenueState | null): string | null {
  const { status, component, regions, counted } = incident;
  const present = now?.components.find((one) => one.component === component);
  if (status === "open" && now?.stale === false && present !== undefined && isTrouble(present.state))
    return whereText({ saw: present.agreeing, of: present.counted });
  return regions.length > 0 ? firstSeenText({ saw: regions.length, of: counted }) : null;
}

/** What a component did, or how it was. What was an outage for a part of its time only was failing. */
type Doing = "limited" | "halted" | "blocked" | "down" | "failing" | "degraded";

/** @param otherwise where the fault says that it fails, and not what the venue does */
function doingOf({ incident: { fault } }: IncidentDetail, otherwise: Doing): Doing {
  return fault === "limited" || fault === "halted" || fault === "blocked" ? fault : otherwise;
}

type Shown = ComponentChildren;

/** @param at a text, or an element that shows the instant */
function pastText(detail: IncidentDetail, duration: string, at: string): string;
function pastText(detail: IncidentDetail, duration: string, at: Shown): Shown;
function pastText(detail: IncidentDetail, duration: string, at: Shown): Shown {
  const subject = subjectOf(detail);
  switch (doingOf(detail, pastKindOf(detail))) {
    case "limited":
      return t`${subject} limited our requests for ${duration} on ${at}`;
    case "halted":
      return t`${subject} said that it did not trade for ${duration} on ${at}`;
    case "blocked":
      return t`${subject} refused our region for ${duration} on ${at}`;
    case "down":
      return t`${subject} was down for ${duration} on ${at}`;
    case "failing":
      return t`${subject} was failing for ${duration} on ${at}`;
    case "degraded":
      return t`${subject} was degraded for ${duration} on ${at}`;
  }
}

function beganText(detail: IncidentDetail, at: Shown): Shown {
  const subject = subjectOf(detail);
  switch (doingOf(detail, kindOf(detail))) {
    case "limited":
      return t`${subject} began to limit our requests at ${at}.`;
    case "halted":
      return t`${subject} began to say that it does not trade at ${at}.`;
    case "blocked":
      return t`${subject} began to refuse our region at ${at}.`;
    case "degraded":
      return t`${subject} became degraded at ${at}.`;
    default:
      return t`${subject} began to fail at ${at}.`;
  }
}

function sinceText(detail: IncidentDetail, at: Shown, elapsed: Shown): Shown {
  const subject = subjectOf(detail);
  switch (doingOf(detail, kindOf(detail))) {
    case "limited":
      return t`${subject} has limited our requests since ${at} (${elapsed})`;
    case "halted":
      return t`${subject} has said that it does not trade since ${at} (${elapsed})`;
    case "blocked":
      return t`${subject} has refused our region since ${at} (${elapsed})`;
    case "degraded":
      return t`${subject} has been degraded since ${at} (${elapsed})`;
    default:
      return t`${subject} has been failing since ${at} (${elapsed})`;
  }
}

/** The same for the browser's tab. */
function titleOf(detail: IncidentDetail): string {
  const { generatedAt: now } = detail;
  const { startedAt, lastBadAt, durationSeconds } = detail.incident;
  const began = datedText(startedAt, now);
  if (durationSeconds !== null) return pastText(detail, durationText(durationSeconds * 1000), began);
  if (isQuiet(detail))
    return t`${subjectOf(detail)} no trouble seen for ${durationText(sinceMs(lastBadAt, now))}, still open; began on ${began}`;
  return openTitle(detail, durationText(sinceMs(startedAt, now)), began);
}

function openTitle(detail: IncidentDetail, duration: string, began: string): string {
  const subject = subjectOf(detail);
  switch (doingOf(detail, kindOf(detail))) {
    case "limited":
      return t`${subject} has limited our requests for ${duration}, since ${began}`;
    case "halted":
      return t`${subject} has said that it does not trade for ${duration}, since ${began}`;
    case "blocked":
      return t`${subject} has refused our region for ${duration}, since ${began}`;
    case "degraded":
      return t`${subject} degraded for ${duration}, since ${began}`;
    default:
      return t`${subject} failing for ${duration}, since ${began}`;
  }
}

/** The same with who saw it. */
function descriptionOf(detail: IncidentDetail, now: VenueState | null): string {
  const title = titleOf(detail);
  const where = whereSeen(detail, now);
  return where === null ? t`${title}.` : t`${title}, ${where}.`;
}

/** Longer than the pause between two bad samples of the slowest cadence. */
const quietAfterMs = 120_000;

/** Open only since its hold is not over, or because nobody sees how it ended. */
function isQuiet({ incident, generatedAt }: IncidentDetail): boolean {
  return incident.status === "open" && sinceMs(incident.lastBadAt, generatedAt) >= quietAfterMs;
}

function subjectOf({ venue, incident }: IncidentDetail): string {
  return `${isolated(venue.name)}: ${isolated(incident.label)}`;
}

function kindOf({ incident: { peakSeverity } }: IncidentDetail): "failing" | "degraded" {
  return peakSeverity === "degraded" ? "degraded" : "failing";
}

/** What was an outage for a part of its time only was failing, and not down for all of it. */
function pastKindOf(detail: IncidentDetail): "down" | "failing" | "degraded" {
  return detail.incident.escalatedAt === null && kindOf(detail) === "failing" ? "down" : kindOf(detail);
}

// What it is, in plain words.

/** The engine's own words are in the JSON. */
const closingReasons: Record<string, string> = texts({
  "a region that saw it sees it well, and a quorum has for the whole hold": () =>
    t`once enough regions, including one that had seen the trouble, had seen it healthy for long enough`,
  "no quorum has seen it bad, or well for the whole hold, for so long that its end is unknown": () =>
    t`since for a long time too few regions had seen it fail or seen it healthy: its end is unknown`,
});

const severityMeanings = texts({
  degraded: () => t`enough regions saw it fail in part, or answer far slower than usual.`,
  outage: () => t`enough regions saw at least half of their requests or messages fail.`,
});

const targetKinds = texts({
  endpoint: () => t`An endpoint`,
  stream: () => t`A stream of messages`,
  socket: () => t`The WebSocket that all streams of the venue share`,
});

const stallBasisNotes = texts({
  measured: () => t`from measured silences`,
  documented: () => t`from the rate that the venue documents`,
  probed: () => t`from a rate that we counted`,
  estimate: () => t`an estimate`,
});

function IncidentFacts({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { incident, errors } = detail;
  const { severity, peakSeverity, flapping } = incident;
  return (
    <dl class="facts">
      <Fact name={t`Status`}>
        <Status detail={detail} />
      </Fact>
      <Fact name={t`Severity`}>
        <StateWord state={severity} fault={incident.fault} />:{" "}
        {isOnlyLimiting(severity, incident.fault)
          ? t`enough regions had their requests limited. The venue answers, and we may simply ask too often from one address.`
          : severityMeanings[severity]}
        {peakSeverity !== severity && ` ${t`At its worst it was an outage.`}`}
      </Fact>
      <Fact name={t`Most frequent fault`}>{faultOf(errors)}</Fact>
      <Fact name={t`What we measure`}>
        <Target detail={detail} />
      </Fact>
      <Fact name={t`Agreement`}>{agreementOf(detail, regionNames)}</Fact>
      {flapping && (
        <Fact name={t`Flapping`}>
          {t`It is at least the third incident of the same component within an hour. It closes only after a longer hold.`}
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Status({ detail: { incident, evidence, generatedAt: now } }: { detail: IncidentDetail }) {
  const { lastBadAt, endedAt, closedAt } = incident;
  if (endedAt === null || closedAt === null)
    return (
      <>
        {t`Open. A quorum last saw the trouble at ${(
          <ExactInstant at={lastBadAt} />
        )}. It closes once enough regions have seen it healthy for long enough.`}
      </>
    );
  const { closedBecause } = evidence;
  return (
    <>
      {t`Closed. A quorum last saw the trouble at ${(<Instant at={endedAt} now={now} />)}. We closed the incident at ${(
        <Instant at={closedAt} now={now} />
      )}`}
      {closedBecause !== undefined && <>, {closingReasons[closedBecause] ?? <InEnglish>{closedBecause}</InEnglish>}</>}.
    </>
  );
}

/** The most frequent fault; slowness has none. */
function faultOf({ samples, bad, faults }: IncidentDetail["errors"]): string {
  const [most] = faults;
  if (samples === null || bad === null) return incidentPageWords.faultsForgotten;
  if (most === undefined)
    return samples === 0
      ? t`Unknown: no sample was taken.`
      : t`None: none of ${samples} samples failed. The answers were too slow.`;
  return t`${capitalised(faultMeanings[most.fault])} (${most.fault}): ${most.count} of ${bad} failed samples.`;
}

function Target({ detail: { component, stallThreshold } }: { detail: IncidentDetail }) {
  const { id, kind, target } = component;
  const what = id === "ws:conn" ? "socket" : kind === "ws" ? "stream" : "endpoint";
  return (
    <>
      {targetKinds[what]} (<code>{id}</code>){" "}
      {target === null ? t`whose address is not on record` : <code>{target}</code>}
      {stallThreshold !== null &&
        `. ${t`We call the stream silent after ${msText(stallThreshold.afterMs)} (present limit, ${stallBasisNotes[stallThreshold.basis]})`}`}
    </>
  );
}

function agreementOf({ incident }: IncidentDetail, regionNames: RegionNames): string {
  const { quorum, counted, regions } = incident;
  const needed =
    counted === 1
      ? t`The only region with a vote had to see the trouble before we opened the incident.`
      : t`${quorum} of the ${counted} regions with a vote had to see the trouble before we opened the incident.`;
  if (regions.length === 0) return `${needed} ${incidentPageWords.noVotes}`;
  const names = regions.map((id) => shownRegionName(regionNames, id)).join(", ");
  return `${needed} ${plural(regions.length, "This one did: {1}.", "These did: {1}.", names)}`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What the venue itself says, beside an incident. */
const officialWords = {
  after: (duration: string) => t`The venue posted a notice ${duration} after we opened this incident:`,
  before: (duration: string) => t`The venue posted a notice ${duration} before we opened this incident:`,
};

type OfficialNoticeRow = IncidentDetail["official"]["incidents"][number];

/** What the venue itself said around the beginning, or why we do not know. */
function OfficialWords({ detail }: { detail: IncidentDetail }) {
  const { official } = detail;
  const { feed, page, incidents } = official;
  return (
    <>
      <p>{saidOf(detail)}</p>
      {feed.state === "unreadable" && feed.problem !== null && (
        <p>{t`Its feed cannot be read at the moment: ${(<Reason text={feed.problem} />)}.`}</p>
      )}
      {feed.readAt !== null && detail.incident.status === "open" && (
        <p class="minor">{t`We last read its feed at ${(<ExactInstant at={feed.readAt} />)}.`}</p>
      )}
      {incidents.length > 0 && (
        <>
          <p>
            {t`All of its notices that began within six hours of the beginning of this incident. The words are the venue's; so are the times where it gives any, otherwise they are those of our readings:`}
          </p>
          <ul class="notices">
            {incidents.map((notice) => (
              <Notice key={notice.id} notice={notice} />
            ))}
          </ul>
        </>
      )}
      {page !== null && (
        <p>
          <WebLink address={page}>{t`The venue's own status page`}</WebLink>
        </p>
      )}
    </>
  );
}

/** A notice that begins later than this is not compared with the incident. */
const comparedWithinMs = 6 * 3_600_000;

/** The nearest notice with its lead, or what its absence means. Silence means something only where we could hear. */
function saidOf({ incident, official: { feed }, generatedAt }: IncidentDetail): string {
  const { official, officialObserved, startedAt } = incident;
  if (official !== null)
    return t`${leadOf(official.aheadUncorrelated)} “${isolated(official.title)}”. Nothing tests that it is about the same fault.`;
  if (officialObserved === null) return t`It has no feed that we can read, so we do not know whether it said anything.`;
  if (!feed.tellsIncidents)
    return t`Its feed announces maintenance only. It cannot say that something is down, so its silence means nothing.`;
  if (!officialObserved) return t`We could not read its feed then, so we do not know whether it said anything.`;
  return sinceMs(startedAt, generatedAt) < comparedWithinMs
    ? t`It has said nothing about an incident so far. We could read its feed when this one began; venues often write hours later.`
    : t`It has said nothing about an incident. We could read its feed when this one began, and found no notice within six hours of that.`;
}

function leadOf(seconds: number | null): string {
  if (seconds === null)
    return t`The venue posted a notice; whether it was before or after we opened this incident is not known:`;
  if (seconds === 0) return t`The venue posted a notice at the moment at which we opened this incident:`;
  return officialWords[seconds > 0 ? "after" : "before"](durationText(Math.abs(seconds) * 1000));
}

/** A notice, by the venue's own words and times. */
function Notice({ notice }: { notice: OfficialNoticeRow }) {
  const { title, url, kind, status, impact, startedAt, postedAt, resolvedAt, vanished, timesDoubtful } = notice;
  return (
    <li>
      <WebLink address={url}>{isolated(title)}</WebLink>{" "}
      <span class="minor">
        ({noticeWords.kinds[kind]}; {isolated([status, ...(impact === null ? [] : [impact])].join(", "))})
      </span>
      <br />
      {t`Began ${(<ExactInstant at={startedAt} />)}`},{" "}
      {postedAt === null ? t`posted at an unknown time` : t`posted ${(<ExactInstant at={postedAt} />)}`},{" "}
      {resolvedAt === null ? t`not resolved according to the venue` : t`resolved ${(<ExactInstant at={resolvedAt} />)}`}
      .{vanished && ` ${t`The venue has removed it since.`}`}
      {timesDoubtful && ` ${t`Its times are not plausible.`}`}
    </li>
  );
}

const eventNames = texts({
  started: () => t`Trouble began`,
  opened: () => t`We opened the incident`,
  escalated: () => t`It became an outage`,
  "last-bad": () => t`A quorum last saw the trouble`,
  closed: () => t`We closed the incident`,
});

/** What happened, in its order, with the time since the start. */
function Timeline({ detail: { incident, events } }: { detail: IncidentDetail }) {
  return (
    <ol>
      {events.map(({ kind, at, severity }) => (
        <li key={kind}>
          <ExactInstant at={at} /> <b>{eventNames[kind]}</b>
          {severity !== null && (
            <>
              : <StateWord state={severity} />
            </>
          )}{" "}
          <span class="minor">
            {kind !== "started" && t`${durationText(shownMs(at) - shownMs(incident.startedAt))} after the beginning`}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Whole seconds, as shown: readers subtract what they see. */
function shownMs(at: string): number {
  return Math.floor(Date.parse(at) / 1_000) * 1_000;
}

/** Other incidents of the venue at that time, of the same component, and of other venues at that time. */
function RelatedIncidents({ detail, registry }: { detail: IncidentDetail; registry: Registry }) {
  const { incident, related, generatedAt: now } = detail;
  const names = new Map(watchedVenues(registry).map(({ id, name }) => [id, name]));
  const ofComponent = related.filter(
    ({ venue, component }) => venue === incident.venue && component === incident.component,
  );
  const ofVenue = related.filter((other) => other.venue === incident.venue && !ofComponent.includes(other));
  const elsewhere = related.filter(({ venue }) => venue !== incident.venue);
  const groups = [
    [t`The same venue, around that time`, ofVenue],
    [t`The same component, within ninety days`, ofComponent],
    [t`Other venues, at the same time`, elsewhere],
  ] as const;
  return (
    <>
      {related.length === 0 && (
        <p>{t`None: the venue had no other incident within six hours, nor any other venue within ten minutes.`}</p>
      )}
      {groups.map(
        ([heading, incidents]) =>
          incidents.length > 0 && (
            <section key={heading}>
              <h3>{heading}</h3>
              <IncidentList incidents={incidents} names={names} now={now} />
            </section>
          ),
      )}
      <p>
        <a href={`/incidents?venue=${incident.venue}`}>{t`All incidents of this venue`}</a>
      </p>
    </>
  );
}
