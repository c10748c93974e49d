import type { RequestHandler, Response } from "express";
import type { ComponentChildren } from "preact";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { dataCache, longCache } from "../api/answer.js";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import { noSuchVenue, spelledVenueFinder, venueFinder } from "../api/venue-ids.js";
import { dataOf } from "../board/snapshot.js";
import { transfersResponse, venueTransfers } from "../board/transfers.js";
import { exchangeResponse, venueParameters } from "../board/venue.js";
import { type AnswerContext, answerHead, answerOf } from "./answer.js";
import { withoutEmpty } from "./board.js";
import { editionFor } from "./edition.js";
import {
  ageText,
  dayText,
  durationText,
  exactText,
  isolated,
  maintenanceText,
  msText,
  nameList,
  sinceMs,
  whereText,
} from "./format.js";
import { plural, t, texts } from "./language.js";
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  Elapsed,
  feedLinks,
  Headline,
  IncidentList,
  Instant,
  MaintenanceList,
  type PublishedIncident,
  Reason,
  transferFeedLinks,
  WebLink,
} from "./parts.js";
import { Table } from "./table.js";
import { ChainSection } from "./venue-chain.js";
import { CheckSection, originsToCheck } from "./venue-check.js";
import { EndNote, endOf, EntrySection } from "./venue-entry.js";
import { DaysSection, LatencySection, UptimeSection } from "./venue-history.js";
import {
  EndpointSection,
  jsonPathOf,
  MatrixSection,
  pathOf,
  RegionSection,
  StreamSection,
  ThresholdsSection,
  type VenueDetail,
  venueMatrix,
  type VenueMatrix,
  type VenueView,
} from "./venue-measurements.js";
import { type Transfers, TransfersSection } from "./venue-transfers.js";
import { commonFault, isTrouble, isUnjudged, lookOf } from "./states.js";
import { categoryWords, matrixWords, noticeWords, type State, viewWords } from "./words.js";

type VenueRoute = RequestHandler<{ venue: string }>;

/** `/venues/{venue}`. The page of a former id, or of another spelling, has moved to that of the present one. */
export function venuePageRoute(options: PagesOptions, rendered: Rendered): VenueRoute {
  const { registry, boards, transfers, baseUrl } = options;
  const { range, region } = venueParameters(registry);
  const read = parameterReader({ range, region });
  const venueOf = typedVenueFinder(registry);
  const configs = new Map(watchedVenues(registry).map((venue) => [venue.id, venue]));

  return async (request, response) => {
    const asked = request.params.venue;
    const venue = venueOf(asked);
    const query = withoutEmpty(queryOf(request));
    if (venue !== asked) {
      response.setHeader("Cache-Control", longCache);
      return response.redirect(301, [`/venues/${venue}`, query.toString()].filter((part) => part !== "").join("?"));
    }
    const view = { venue, ...read(query) };
    const [detail, matrix, moves] = await Promise.all([
      boards.venue(venue, view.range, view.region),
      boards.matrix(venue),
      venueTransfers(venue, transfers),
    ]);
    if (!detail || !matrix || !moves) throw noSuchVenue(venue);
    const config = configs.get(venue)!;
    const hasChosen = query.size > 0;
    const page = () =>
      venuePage({
        ...{ view, hasChosen, config, baseUrl },
        detail: dataOf(exchangeResponse, detail),
        matrix: dataOf(venueMatrix, matrix),
        transfers: dataOf(transfersResponse, moves),
      });
    const shown = [detail, matrix, moves];
    const body = rendered(`venue ${JSON.stringify({ view, hasChosen })}`, shown, page, editionFor(request));
    await answerPage(response, body, dataCache, originsToCheck(config));
  };
}

/** `/is-{venue}-down`, which people type and search for. */
export function downRedirect(registry: Registry): VenueRoute {
  const venueOf = typedVenueFinder(registry);
  return (request, response) => redirectTo(response, venueOf(request.params.venue));
}

/** `/OKX`: leads to the venue. Any other path is left to who follows. */
export function shortRedirect(registry: Registry): RequestHandler {
  const spelled = spelledVenueFinder(registry);
  return (request, response, next) => {
    const [, typed] = /^\/([\w .-]{1,100})$/.exec(request.path.replaceAll("%20", " ")) ?? [];
    const venue = typed === undefined ? undefined : spelled(typed);
    if (venue === undefined) return next();
    redirectTo(response, venue);
  };
}

function redirectTo(response: Response, venue: string): void {
  response.setHeader("Cache-Control", longCache);
  response.redirect(301, `/venues/${venue}`);
}

/** @throws (the finder) Problem 404, which names the venue that may be meant */
function typedVenueFinder(registry: Registry): (typed: string) => string {
  const venueOf = venueFinder(registry);
  const spelled = spelledVenueFinder(registry);
  return (typed) => spelled(typed) ?? venueOf(typed);
}

// `/venues/{venue}`: what is wrong with it, where it is seen, since when, and by which evidence.

export interface VenuePageProps {
  view: VenueView;
  /** Whether the reader has chosen a part of the view, and so wants to see its figures. */
  hasChosen: boolean;
  detail: VenueDetail;
  matrix: VenueMatrix;
  transfers: Transfers;
  /** Its entry in the registry. */
  config: Venue;
  baseUrl: string;
}

function venuePage({ view, hasChosen, detail, matrix, transfers, config, baseUrl }: VenuePageProps): PageProps {
  const age = ageText(detail);
  const { generatedAt: now } = matrix;
  const end = endOf(detail.entry, now);
  const headline =
    end === null
      ? venueHeadline(detail.exchange.name, matrix, detail.incidents)
      : t`${isolated(detail.exchange.name)} ended on ${dayText(end.date, now)}.`;
  const regionNames = new Map(matrix.regions.map(({ id, name }) => [id, name]));
  const region = (view.region !== null && regionNames.get(view.region)) || t`unknown`;
  const labels = new Map(
    matrix.components.map(({ component, kind, label }) => [
      component,
      `${isolated(label)} (${matrixWords.kinds[kind]})`,
    ]),
  );
  return {
    ...{ title: headline.replace(/\.$/, ""), icon: matrix.state, section: null, json: jsonPathOf(view) },
    ...{ generatedAt: now, decidedAt: detail.decidedAt, age, refreshS: 15 },
    ...{ description: headline, path: `/venues/${view.venue}`, chosenPath: pathOf(view) },
    scripts: ["zoom.js", "copy.js", "check.js"],
    updatesOf: detail.exchange,
    feeds: [
      ...feedLinks(detail.exchange),
      ...(transfers.sources.some(({ state }) => state !== "unsaid") ? transferFeedLinks(detail.exchange) : []),
    ],
    children: (
      <>
        <Headline state={matrix.state} age={age} more={headline}>
          {end === null && <Since detail={detail} matrix={matrix} />}
        </Headline>
        {end !== null && <EndNote end={end} now={now} />}
        <About detail={detail} now={now} />
        <ChainSection {...{ detail, region, now }} />
        <MatrixSection matrix={matrix} />
        {end === null && <CheckSection {...{ config, detail, baseUrl }} />}
        <IncidentsSection {...{ detail, labels, now }} />
        <ViewPicker view={view} regions={matrix.regions} />
        <LatencySection {...{ view, region, now }} latency={detail.latency} />
        <EndpointSection {...{ detail, region, now }} open={hasChosen} />
        <StreamSection {...{ detail, region, now }} open={hasChosen} />
        <RegionSection {...{ detail, matrix }} open={hasChosen} />
        <DaysSection {...{ detail, regionNames, now }} />
        <UptimeSection detail={detail} />
        <NoticesSection detail={detail} now={now} />
        <TransfersSection transfers={transfers} now={now} />
        <EntrySection {...{ detail, config, now }} />
        <ThresholdsSection />
      </>
    ),
  };
}

function Since({ detail: { exchange, maintenance }, matrix }: { detail: VenueDetail; matrix: VenueMatrix }) {
  const now = matrix.generatedAt;
  const { rest } = answerOf({ ...matrix, name: exchange.name, activeIncidents: 0 }, contextOf(matrix));
  return (
    <p>
      <span aria-live="polite">
        <b>{lookOf(matrix.state, commonFault(matrix.components)).word}</b>
      </span>{" "}
      {t`since ${(<Instant at={matrix.since} now={now} />)} (${(<Elapsed from={matrix.since} now={now} />)})`}
      {rest !== null && `; ${rest}`}.{" "}
      {maintenance !== null &&
        t`In ${maintenanceText(maintenance, now)}: ${(
          <WebLink address={maintenance.url}>{isolated(maintenance.title)}</WebLink>
        )}.`}
    </p>
  );
}

/** Figures of a week may be half a minute older than the states. */
const worthSayingMs = 10_000;

function About({ detail: { exchange, typicalMs, generatedAt }, now }: { detail: VenueDetail; now: string }) {
  return (
    <p class="minor">
      {exchange.symbol !== null && t`Measured with ${isolated(exchange.symbol)}.`}{" "}
      {typicalMs !== null && t`An answer typically takes ${msText(typicalMs)}.`}{" "}
      {sinceMs(generatedAt, now) >= worthSayingMs &&
        t`The figures below the matrix are of ${(
          <time dateTime={generatedAt} data-exact>
            {exactText(generatedAt)}
          </time>
        )}.`}{" "}
      {t`See also: ${(<a href={`/?category=${exchange.category}`}>{categoryWords[exchange.category]}</a>)}.`}
    </p>
  );
}

// The answer of a venue's page in one sentence.

const venueUnknownBecause = {
  never: (name: string) => t`We do not know whether ${name} works: we have never seen it good from here.`,
  ended: (name: string, detail: string) => t`We do not know whether ${name} works. Its service ${detail}.`,
  blocked: (name: string) => t`We do not know whether ${name} works: it refuses the place that we measure from.`,
};

/** `OKX is degraded: Ticker down, in 2 of 3 regions.` */
function venueHeadline(venue: string, matrix: VenueMatrix, incidents: readonly PublishedIncident[]): string {
  const name = isolated(venue);
  const open = incidents.filter(({ status }) => status === "open");
  if (matrix.state === "unknown") return unknownOf(name, matrix);
  if (matrix.state === "operational") {
    const [first] = open;
    if (first)
      return t`${name} is healthy again. The incident of ${isolated(first.label)} closes once this has lasted.`;
    return healthyText(name, matrix);
  }
  return `${answerHead({ ...matrix, name: venue, activeIncidents: open.length }, contextOf(matrix))}.`;
}

function contextOf({ components, generatedAt }: VenueMatrix): AnswerContext {
  const labels = new Map(components.map(({ component, label }) => [component, isolated(label)]));
  return { now: generatedAt, labelOf: (component) => labels.get(component) ?? component };
}

function unknownOf(name: string, { components }: VenueMatrix): string {
  const isSilent = components.some(({ cells }) => cells.some(({ notCounted }) => notCounted === "engine"));
  if (isSilent) return t`We do not know whether ${name} works: our own engine decides nothing at present.`;
  const because = components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause;
  return because
    ? venueUnknownBecause[because.reason](name, isolated(because.detail))
    : t`We do not know whether ${name} works: fewer than half of its components are known.`;
}

/** What a region sees of components from whose samples something is concluded, as far as its votes count. */
function countedVotes({ components }: VenueMatrix, region: string): State[] {
  return components
    .filter(({ unknownBecause }) => !isUnjudged(unknownBecause))
    .flatMap(({ cells }) => cells.filter((cell) => cell.region === region && cell.notCounted === null))
    .map(({ state }) => state);
}

/** Whether a region sees some component well and none badly. */
function isHealth(votes: readonly State[]): boolean {
  return votes.includes("operational") && !votes.some(isTrouble);
}

/**
 * `OKX is healthy in both regions; US East does not count.` Without a place where one that counts sees trouble: a venue
 * is healthy by quorum even if each region sees some, of another component.
 */
function healthyText(name: string, matrix: VenueMatrix): string {
  const regions = matrix.regions.map((region) => ({ name: region.name, votes: countedVotes(matrix, region.id) }));
  const counted = regions.filter(({ votes }) => votes.length > 0);
  const others = regions.filter(({ votes }) => votes.length === 0).map((region) => region.name);
  const isEverywhere = counted.length > 0 && counted.every(({ votes }) => isHealth(votes));
  const answer = isEverywhere
    ? t`${name} is healthy ${whereText({ saw: counted.length, of: counted.length })}`
    : t`${name} is healthy`;
  if (others.length === 0) return `${answer}.`;
  return plural(others.length, "{1}; {2} does not count.", "{1}; {2} do not count.", answer, nameList(others));
}

export interface ViewPickerProps {
  view: VenueView;
  regions: readonly { id: string; name: string }[];
}

/** Links to the same page over another range, or as another region sees it. */
function ViewPicker({ view, regions }: ViewPickerProps) {
  return (
    <nav aria-label={t`Choose region and range`} id="view" class="view">
      <Choice name={t`Seen from`}>
        {regions.map(({ id, name }) => (
          <Option key={id} path={pathOf({ ...view, region: id })} chosen={id === view.region}>
            {isolated(name)}
          </Option>
        ))}
      </Choice>
      <Choice name={t`Over the last`}>
        {(["24h", "7d"] as const).map((range) => (
          <Option key={range} path={pathOf({ ...view, range })} chosen={range === view.range}>
            {viewWords.ranges[range]}
          </Option>
        ))}
      </Choice>
    </nav>
  );
}

function Choice({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      {name} <ul>{children}</ul>
    </div>
  );
}

function Option({ path, chosen, children }: { path: string; chosen: boolean; children: ComponentChildren }) {
  return (
    <li>
      <a href={`${path}#view`} aria-current={chosen ? "true" : undefined}>
        {children}
      </a>
    </li>
  );
}

/** As many incidents as fit beside the rest of the page; /incidents has all. */
const incidentsShown = 5;

export interface IncidentsSectionProps {
  detail: VenueDetail;
  /** Names of components by id, isolated. */
  labels: ReadonlyMap<string, string>;
  now: string;
}

function IncidentsSection({ detail, labels, now }: IncidentsSectionProps) {
  const { exchange, incidents, incidentPatterns } = detail;
  const repeated = incidentPatterns.filter(({ count, recurring }) => count > 1 && recurring.length > 0);
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">{t`Incidents`}</h2>
      {incidents.length === 0 ? (
        <p>{t`No incident of this venue is on record.`}</p>
      ) : (
        <>
          <IncidentList
            {...{ names: new Map([[exchange.id, exchange.name]]), now }}
            incidents={incidents.slice(0, incidentsShown)}
          />
          <p>
            <a href={`/incidents?venue=${exchange.id}`}>{t`All incidents of ${isolated(exchange.name)}`}</a>
          </p>
        </>
      )}
      {repeated.length > 0 && (
        <>
          <h3>{t`When incidents recur`}</h3>
          <ul class="incidents">
            {repeated.map((pattern) => (
              <li key={`${pattern.component} ${pattern.severity}`}>
                {patternText(pattern, labels.get(pattern.component) ?? pattern.component)}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

// When a component's incidents recur, in a sentence. All hours are in UTC.

const weekdayNames = texts({
  monday: () => t`on Mondays`,
  tuesday: () => t`on Tuesdays`,
  wednesday: () => t`on Wednesdays`,
  thursday: () => t`on Thursdays`,
  friday: () => t`on Fridays`,
  saturday: () => t`on Saturdays`,
  sunday: () => t`on Sundays`,
});

type Pattern = VenueDetail["incidentPatterns"][number];

/** @param label of the component, isolated */
function patternText({ severity, count, totalSeconds, recurring }: Pattern, label: string): string {
  const times = recurring.map((time) => recursText(time.incidents, count, whenText(time), time.days)).join("; ");
  const sum = plural(
    count,
    "In ninety days {0} incident lasted {1} together.",
    "In ninety days {0} incidents lasted {1} together.",
    durationText(totalSeconds * 1_000),
  );
  return `${severity === "outage" ? t`${label} down: ${times}.` : t`${label} degraded: ${times}.`} ${sum}`;
}

/** `on Saturdays between 11:00 and 12:00 UTC` */
function whenText({ weekday, hour }: Pattern["recurring"][number]): string {
  const day = weekday && weekdayNames[weekday];
  if (hour === null) return t`${day ?? ""} (UTC)`;
  const [from, to] = [clockText(hour), clockText((hour + 1) % 24)];
  return day === null ? t`between ${from} and ${to} UTC` : t`${day} between ${from} and ${to} UTC`;
}

function clockText(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}

function recursText(incidents: number, count: number, when: string, days: number): string {
  return plural(
    days,
    "{1} of {2} incidents began {3}, on {0} day",
    "{1} of {2} incidents began {3}, on {0} days",
    ...[incidents, count, when],
  );
}

// The venue's own notices beside our incidents. Every text in them is the venue's.

type Official = VenueDetail["official"];
type Notice = Official["incidents"][number];

/** Enough for some weeks of most venues. */
const noticesShown = 12;

function NoticesSection({ detail, now }: { detail: VenueDetail; now: string }) {
  const { exchange, official, detection } = detail;
  return (
    <section aria-labelledby="notices">
      <h2 id="notices">{t`What ${isolated(exchange.name)} itself says`}</h2>
      <p>
        <FeedState official={official} now={now} />{" "}
        <WebLink address={official.page}>{official.page !== null && t`Its status page`}</WebLink>
      </p>
      {detail.maintenanceAhead.length > 0 && (
        <>
          <h3>{t`Maintenance in the next 48 hours`}</h3>
          <MaintenanceList maintenance={detail.maintenanceAhead} now={now} named={false} />
        </>
      )}
      <p>
        {comparedSentences(detection).join(" ")} <a href="/detection">{t`All venues compared`}</a>
      </p>
      {official.incidents.length > 0 && (
        <details>
          <summary>{t`Its newest notices (${Math.min(official.incidents.length, noticesShown)})`}</summary>
          <Notices {...{ detail, now }} />
        </details>
      )}
    </section>
  );
}

function Notices({ detail: { official, incidents }, now }: { detail: VenueDetail; now: string }) {
  const oursOf = new Map(incidents.flatMap(({ official, slug }) => (official ? [[official.id, slug] as const] : [])));
  return (
    <Table
      caption={t`Its notices, newest first`}
      rows={official.incidents.slice(0, noticesShown)}
      columns={[
        {
          head: t`Notice`,
          cell: ({ title, url }) => (
            <WebLink address={url}>
              <bdi>{title}</bdi>
            </WebLink>
          ),
        },
        { head: t`Kind and status`, kind: "words", cell: (notice) => <NoticeKind notice={notice} /> },
        { head: t`Began`, cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
        {
          head: t`Published`,
          cell: ({ postedAt }) => (postedAt === null ? t`unknown` : <Instant at={postedAt} now={now} />),
        },
        {
          head: t`Over`,
          cell: ({ resolvedAt }) => (resolvedAt === null ? t`not yet` : <Instant at={resolvedAt} now={now} />),
        },
        { head: t`Ours beside it`, cell: (notice) => <Ours notice={notice} slug={oursOf.get(notice.id)} /> },
      ]}
    />
  );
}

/** Whether silence of the venue would mean anything. */
function FeedState({ official: { feed }, now }: { official: Official; now: string }) {
  return (
    <>
      {feedText(feed)}
      {feed.state !== "none" && feed.readAt !== null && (
        <> {t`Last read: ${(<Instant at={feed.readAt} now={now} />)}.`}</>
      )}
    </>
  );
}

function feedText({ state, problem, tellsIncidents }: Official["feed"]): ComponentChildren {
  if (state === "none") return t`It has no status feed that a program can read, so its silence means nothing.`;
  if (state === "unreadable") {
    const why = problem === null ? t`we do not know why` : <Reason text={problem} />;
    return t`Its status feed cannot be read: ${why}. Its silence means nothing now.`;
  }
  return tellsIncidents
    ? t`Its status feed can be read.`
    : t`Its status feed can be read, but announces only maintenance. Its silence about outages means nothing.`;
}

function NoticeKind({ notice: { kind, status, vanished, timesDoubtful } }: { notice: Notice }) {
  return (
    <>
      {noticeWords.kinds[kind]}, <bdi>{status}</bdi>
      {vanished && <div class="minor">{t`the venue has removed it`}</div>}
      {timesDoubtful && <div class="minor">{t`its times are not plausible`}</div>}
    </>
  );
}

/** @param slug of our incident, if there is one */
function Ours({ notice: { kind }, slug }: { notice: Notice; slug: string | undefined }) {
  if (slug !== undefined) return <a href={`/incidents/${slug}`}>{t`our incident`}</a>;
  return <>{noticeWords[kind === "incident" ? "noneOfOurs" : "notCompared"]}</>;
}

// How our incidents compare with the venue's notices, in sentences.

type Compared = VenueDetail["detection"];

function comparedSentences(detection: Compared): string[] {
  const { paired, oursCompared, oursNear, oursOnly, theirsCompared, theirsNear, theirsOnly } = detection;
  if (detection.venuesCompared === 0) return [whyNot(detection)];
  const sentences = [
    t`Compared on ${detection.measuredDays} of ${detection.days} days.`,
    oursText(oursCompared!, paired!, oursNear!, oursOnly!),
    theirsText(theirsCompared!, paired!, theirsNear!, theirsOnly!),
  ];
  const lead = detection.aheadUncorrelated;
  if (lead !== null)
    sentences.push(
      lead >= 0
        ? t`We were first by ${durationText(lead * 1_000)} (median).`
        : t`The venue was first by ${durationText(-lead * 1_000)} (median).`,
    );
  if (paired! > 0) sentences.push(t`Only their times are compared: nothing tests that they are about the same fault.`);
  return sentences;
}

function whyNot({ venuesWithoutFeed, venuesOnlyMaintenance }: Compared): string {
  if (venuesWithoutFeed > 0) return t`We cannot compare our incidents with its notices, since it has no feed.`;
  return venuesOnlyMaintenance > 0
    ? t`We do not compare maintenance with our incidents.`
    : t`Our incidents are not compared with its notices yet: a comparison needs six hours before and after, measured and read.`;
}

function oursText(all: number, paired: number, near: number, only: number): string {
  return comparedText(
    plural(all, "our {0} incident", "our {0} incidents"),
    plural(paired, "{0} has a notice", "{0} have a notice each"),
    near,
    only,
  );
}

function theirsText(all: number, paired: number, near: number, only: number): string {
  return comparedText(
    plural(all, "{0} notice of the venue", "{0} notices of the venue"),
    plural(paired, "{0} has an incident", "{0} have an incident each"),
    near,
    only,
  );
}

/** Three numbers in one sentence, each with its own plural. */
function comparedText(all: string, paired: string, near: number, only: number): string {
  const shared = plural(near, "{0} shares one with another", "{0} share one with another");
  const alone = plural(only, "{0} has none", "{0} have none");
  return t`Of ${all}, ${paired}, ${shared}, and ${alone}.`;
}
