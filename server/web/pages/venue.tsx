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
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  type PublishedIncident,
  Elapsed,
  feedLinks,
  Headline,
  IncidentList,
  Instant,
  MaintenanceList,
  StateWord,
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
  type MatrixRow,
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
import { commonFault, isTrouble, stateRank } from "./states.js";
import { categoryWords, matrixWords, noticeWords, stateWords, viewWords } from "./words.js";

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
    const body = rendered(`venue ${JSON.stringify(view)}`, [detail, matrix, moves], () =>
      venuePage({
        ...{ view, config, baseUrl },
        detail: dataOf(exchangeResponse, detail),
        matrix: dataOf(venueMatrix, matrix),
        transfers: dataOf(transfersResponse, moves),
      }),
    );
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
  detail: VenueDetail;
  matrix: VenueMatrix;
  transfers: Transfers;
  /** Its entry in the registry. */
  config: Venue;
  baseUrl: string;
}

function venuePage({ view, detail, matrix, transfers, config, baseUrl }: VenuePageProps): PageProps {
  const age = ageText(detail);
  const { generatedAt: now } = matrix;
  const end = endOf(detail.entry, now);
  const headline =
    end === null
      ? venueHeadline(detail.exchange.name, matrix, detail.incidents)
      : `${isolated(detail.exchange.name)} ended on ${dayText(end.date, now)}.`;
  const regionNames = new Map(matrix.regions.map(({ id, name }) => [id, name]));
  const region = (view.region !== null && regionNames.get(view.region)) || "unknown";
  const labels = new Map(
    matrix.components.map(({ component, kind, label }) => [
      component,
      `${isolated(label)} (${matrixWords.kinds[kind]})`,
    ]),
  );
  return {
    ...{ title: headline.replace(/\.$/, ""), icon: matrix.state, section: null, json: jsonPathOf(view) },
    ...{
      generatedAt: now,
      decidedAt: detail.decidedAt,
      age,
      refreshS: 15,
      scripts: ["zoom.js", "copy.js", "check.js"],
    },
    ...{ description: headline, path: `/venues/${view.venue}` },
    updatesOf: detail.exchange,
    feeds: [
      ...feedLinks(detail.exchange),
      ...(transfers.sources.some(({ state }) => state !== "unsaid") ? transferFeedLinks(detail.exchange) : []),
    ],
    children: (
      <>
        <Headline state={matrix.state} age={age} more={headline} />
        {end !== null && <EndNote end={end} now={now} />}
        <Facts detail={detail} matrix={matrix} />
        <ChainSection {...{ detail, region, now }} />
        <MatrixSection matrix={matrix} />
        {end === null && <CheckSection {...{ config, detail, baseUrl }} />}
        <IncidentsSection {...{ detail, labels, now }} />
        <ViewPicker view={view} regions={matrix.regions} />
        <LatencySection {...{ view, region, now }} latency={detail.latency} />
        <EndpointSection {...{ detail, region, now }} />
        <StreamSection {...{ detail, region, now }} />
        <RegionSection {...{ detail, matrix }} />
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

/** Figures of a week may be half a minute older than the states. */
const worthSayingMs = 10_000;

function Facts({
  detail: { exchange, maintenance, typicalMs, generatedAt },
  matrix,
}: {
  detail: VenueDetail;
  matrix: VenueMatrix;
}) {
  const now = matrix.generatedAt;
  const { rest } = answerOf({ ...matrix, name: exchange.name, activeIncidents: 0 }, contextOf(matrix));
  return (
    <p>
      <span aria-live="polite">
        <StateWord state={matrix.state} fault={commonFault(matrix.components)} />
      </span>{" "}
      since <Instant at={matrix.since} now={now} /> (<Elapsed from={matrix.since} now={now} />)
      {rest !== null && `; ${rest}`}.{" "}
      {maintenance !== null && (
        <>
          In {maintenanceText(maintenance, now)}:{" "}
          <WebLink address={maintenance.url}>{isolated(maintenance.title)}</WebLink>.{" "}
        </>
      )}
      <a href={`/?category=${exchange.category}`}>{categoryWords[exchange.category]}</a>.{" "}
      {exchange.symbol !== null && `Measured with ${isolated(exchange.symbol)}.`}{" "}
      {typicalMs !== null && `An answer typically takes ${msText(typicalMs)}.`}{" "}
      {sinceMs(generatedAt, now) >= worthSayingMs && (
        <>
          The figures below the matrix are of{" "}
          <time dateTime={generatedAt} data-exact>
            {exactText(generatedAt)}
          </time>
          .
        </>
      )}
    </p>
  );
}

// The answer of a venue's page in one sentence.

const venueUnknownBecause = {
  never: (name: string) => `We do not know whether ${name} works: we have never seen it good from here.`,
  ended: (name: string, detail: string) => `We do not know whether ${name} works. Its service ${detail}.`,
  blocked: (name: string) => `We do not know whether ${name} works: it refuses the place that we measure from.`,
};

/** `OKX is degraded: Ticker down, in 2 of 3 regions.` */
function venueHeadline(venue: string, matrix: VenueMatrix, incidents: readonly PublishedIncident[]): string {
  const name = isolated(venue);
  const open = incidents.filter(({ status }) => status === "open");
  if (matrix.state === "unknown") return unknownOf(name, matrix);
  if (matrix.state === "operational") {
    const [first] = open;
    if (first) return `${name} is healthy again. The incident of ${isolated(first.label)} closes once this has lasted.`;
    return healthyText(name, matrix);
  }
  return `${answerHead({ ...matrix, name: venue, activeIncidents: open.length }, contextOf(matrix))}.`;
}

function contextOf({ components, generatedAt }: VenueMatrix): AnswerContext {
  const labels = new Map(components.map(({ component, label }) => [component, isolated(label)]));
  const [worst] = components
    .filter(({ state }) => isTrouble(state))
    .sort((a, b) => stateRank(a.state) - stateRank(b.state));
  return {
    now: generatedAt,
    labelOf: (component) => labels.get(component) ?? component,
    witnesses: worst === undefined ? null : witnessesOf(worst),
  };
}

function unknownOf(name: string, { components }: VenueMatrix): string {
  const isSilent = components.some(({ cells }) => cells.some(({ notCounted }) => notCounted === "engine"));
  if (isSilent) return `We do not know whether ${name} works: our own engine decides nothing at present.`;
  const because = components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause;
  return because
    ? venueUnknownBecause[because.reason](name, isolated(because.detail))
    : `We do not know whether ${name} works: fewer than half of its components are known.`;
}

function countsRegion({ components }: VenueMatrix, region: string): boolean {
  return components.some(({ cells }) => cells.some((cell) => cell.region === region && cell.notCounted === null));
}

/** Whether a region sees some component well and none badly. */
function seesHealth({ components }: VenueMatrix, region: string): boolean {
  const states = components.flatMap(({ cells }) => cells.filter((cell) => cell.region === region));
  return states.some(({ state }) => state === "operational") && !states.some(({ state }) => isTrouble(state));
}

/** How many of the regions that count see trouble. */
function witnessesOf({ cells }: MatrixRow): { saw: number; of: number } {
  const counted = cells.filter(({ notCounted }) => notCounted === null);
  return { saw: counted.filter(({ state }) => isTrouble(state)).length, of: counted.length };
}

/** `OKX is healthy, as both voting regions see it; US East is left out.` */
function healthyText(name: string, matrix: VenueMatrix): string {
  const counted = matrix.regions.filter(({ id }) => countsRegion(matrix, id));
  const others = matrix.regions.filter(({ id }) => !countsRegion(matrix, id)).map((region) => region.name);
  const see = counted.filter(({ id }) => seesHealth(matrix, id)).length;
  const leftOut = others.length === 0 ? "" : `; ${nameList(others)} ${others.length === 1 ? "does" : "do"} not count`;
  return `${name} is healthy ${whereText({ saw: see, of: counted.length })}${leftOut}.`;
}

export interface ViewPickerProps {
  view: VenueView;
  regions: readonly { id: string; name: string }[];
}

/** Links to the same page over another range, or as another region sees it. */
function ViewPicker({ view, regions }: ViewPickerProps) {
  return (
    <nav aria-label="Choose region and range" id="view" class="view">
      <Choice name="Seen from">
        {regions.map(({ id, name }) => (
          <Option key={id} path={pathOf({ ...view, region: id })} chosen={id === view.region}>
            {isolated(name)}
          </Option>
        ))}
      </Choice>
      <Choice name="Over">
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
const incidentsShown = 10;

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
      <h2 id="incidents">Incidents</h2>
      {incidents.length === 0 ? (
        <p>No incident of this venue is on record.</p>
      ) : (
        <>
          <IncidentList
            {...{ names: new Map([[exchange.id, exchange.name]]), now }}
            incidents={incidents.slice(0, incidentsShown)}
          />
          <p>
            <a href={`/incidents?venue=${exchange.id}`}>All incidents of {isolated(exchange.name)}</a>
          </p>
        </>
      )}
      {repeated.length > 0 && (
        <>
          <h3>When incidents recur</h3>
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

const weekdayNames = {
  monday: "Mondays",
  tuesday: "Tuesdays",
  wednesday: "Wednesdays",
  thursday: "Thursdays",
  friday: "Fridays",
  saturday: "Saturdays",
  sunday: "Sundays",
};

type Pattern = VenueDetail["incidentPatterns"][number];

/** @param label of the component, isolated */
function patternText({ severity, count, totalSeconds, recurring }: Pattern, label: string): string {
  const head = `${label} ${stateWords[severity].toLowerCase()}`;
  const times = recurring.map((time) => recursText(time.incidents, count, whenText(time), time.days));
  const sum = `In ninety days ${count} ${count === 1 ? "incident" : "incidents"} lasted ${durationText(totalSeconds * 1_000)} together.`;
  return `${head}: ${times.join("; ")}. ${sum}`;
}

/** `on Saturdays between 11:00 and 12:00 UTC` */
function whenText({ weekday, hour }: Pattern["recurring"][number]): string {
  const parts: string[] = [];
  if (weekday !== null) parts.push(`on ${weekdayNames[weekday]}`);
  if (hour !== null) parts.push(`between ${clockText(hour)} and ${clockText((hour + 1) % 24)}`);
  return parts.join(" ");
}

function clockText(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}

function recursText(incidents: number, count: number, when: string, days: number): string {
  return `${incidents} of ${count} incidents began ${when}${when.endsWith("0") ? " UTC" : " (UTC)"}, on ${days} ${days === 1 ? "day" : "days"}`;
}

// The venue's own notices beside our incidents. Every text in them is the venue's.

type Official = VenueDetail["official"];
type Notice = Official["incidents"][number];

/** Enough for some weeks of most venues. */
const noticesShown = 12;

function NoticesSection({ detail, now }: { detail: VenueDetail; now: string }) {
  const { exchange, official, incidents, detection } = detail;
  const oursOf = new Map(incidents.flatMap(({ official, slug }) => (official ? [[official.id, slug] as const] : [])));
  return (
    <section aria-labelledby="notices">
      <h2 id="notices">What {isolated(exchange.name)} itself says</h2>
      <p>
        <FeedState official={official} now={now} />{" "}
        <WebLink address={official.page}>{official.page !== null && "Its status page"}</WebLink>
      </p>
      {detail.maintenanceAhead.length > 0 && (
        <>
          <h3>Maintenance in the next 48 hours</h3>
          <MaintenanceList maintenance={detail.maintenanceAhead} now={now} named={false} />
        </>
      )}
      <p>
        {comparedSentences(detection).join(" ")} <a href="/detection">All venues compared</a>
      </p>
      {official.incidents.length > 0 && (
        <Table
          caption="Its notices, newest first"
          rows={official.incidents.slice(0, noticesShown)}
          columns={[
            {
              head: "Notice",
              cell: ({ title, url }) => (
                <WebLink address={url}>
                  <bdi>{title}</bdi>
                </WebLink>
              ),
            },
            { head: "Kind and status", kind: "words", cell: (notice) => <NoticeKind notice={notice} /> },
            { head: "Began", cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
            {
              head: "Published",
              cell: ({ postedAt }) => (postedAt === null ? "unknown" : <Instant at={postedAt} now={now} />),
            },
            {
              head: "Over",
              cell: ({ resolvedAt }) => (resolvedAt === null ? "not yet" : <Instant at={resolvedAt} now={now} />),
            },
            { head: "Ours beside it", cell: (notice) => <Ours notice={notice} slug={oursOf.get(notice.id)} /> },
          ]}
        />
      )}
    </section>
  );
}

/** Whether silence of the venue would mean anything. */
function FeedState({ official: { feed }, now }: { official: Official; now: string }) {
  if (feed.state === "none") return <>It has no status feed that a program can read, so its silence means nothing.</>;
  if (feed.state === "unreadable")
    return (
      <>
        {`Its status feed cannot be read: ${isolated(feed.problem ?? "we do not know why")}. Its silence means nothing now.`}
        {feed.readAt !== null && (
          <>
            {" "}
            Last read: <Instant at={feed.readAt} now={now} />.
          </>
        )}
      </>
    );
  return (
    <>
      {feed.tellsIncidents
        ? "Its status feed can be read."
        : "Its status feed can be read, but announces only maintenance. Its silence about outages means nothing."}
      {feed.readAt !== null && (
        <>
          {" "}
          Last read: <Instant at={feed.readAt} now={now} />.
        </>
      )}
    </>
  );
}

function NoticeKind({ notice: { kind, status, vanished, timesDoubtful } }: { notice: Notice }) {
  return (
    <>
      {noticeWords.kinds[kind]}, <bdi>{status}</bdi>
      {vanished && <div class="minor">the venue has removed it</div>}
      {timesDoubtful && <div class="minor">its times are not plausible</div>}
    </>
  );
}

/** @param slug of our incident, if there is one */
function Ours({ notice: { kind }, slug }: { notice: Notice; slug: string | undefined }) {
  if (slug !== undefined) return <a href={`/incidents/${slug}`}>our incident</a>;
  return <>{noticeWords[kind === "incident" ? "noneOfOurs" : "notCompared"]}</>;
}

// How our incidents compare with the venue's notices, in sentences.

type Compared = VenueDetail["detection"];

function comparedSentences(detection: Compared): string[] {
  const { paired, oursCompared, oursNear, oursOnly, theirsCompared, theirsNear, theirsOnly } = detection;
  if (detection.venuesCompared === 0) return [whyNot(detection)];
  const sentences = [
    `Compared on ${detection.measuredDays} of ${detection.days} days.`,
    oursText(oursCompared!, paired!, oursNear!, oursOnly!),
    theirsText(theirsCompared!, paired!, theirsNear!, theirsOnly!),
  ];
  const lead = detection.aheadUncorrelated;
  if (lead !== null)
    sentences.push(
      `${lead >= 0 ? "We were" : "The venue was"} first by ${durationText(Math.abs(lead) * 1_000)} (median).`,
    );
  if (paired! > 0) sentences.push("Only their times are compared: nothing tests that they are about the same fault.");
  return sentences;
}

function whyNot({ venuesWithoutFeed, venuesOnlyMaintenance }: Compared): string {
  if (venuesWithoutFeed > 0) return "We cannot compare our incidents with its notices, since it has no feed.";
  return venuesOnlyMaintenance > 0
    ? "We do not compare maintenance with our incidents."
    : "Our incidents are not compared with its notices yet: a comparison needs six hours before and after, measured and read.";
}

function oursText(all: number, paired: number, near: number, only: number): string {
  return `Of our ${all} ${all === 1 ? "incident" : "incidents"}, ${paired} ${paired === 1 ? "has a notice" : "have a notice each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`;
}

function theirsText(all: number, paired: number, near: number, only: number): string {
  return `Of ${all} ${all === 1 ? "notice" : "notices"} of the venue, ${paired} ${paired === 1 ? "has an incident" : "have an incident each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`;
}
