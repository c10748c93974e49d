import type { RequestHandler } from "express";
import { type TroubleKind, type UnmeasuredReason, unmeasuredReasons } from "../../../shared/measurement/sample.js";
import { regionsResponse } from "../board/regions.js";
import { type Boards, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { editionFor } from "./edition.js";
import { durationText, isolated, msText, nameList, percentText, sinceMs, ageText } from "./format.js";
import { plural, t, texts } from "./language.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Elapsed, healthOf, InEnglish, Instant, type Regions, type RegionSummary, Sign, vantageText } from "./parts.js";
import { Table } from "./table.js";
import { faultMeanings, regionsWords, type State } from "./words.js";

export function regionsPageRoute(boards: Boards, rendered: Rendered): RequestHandler {
  return async (request, response) => {
    // the board knows the names of venues
    const [snapshot, board] = await Promise.all([boards.regions(), boards.status(null)]);
    const page = () => {
      const { venues } = dataOf(statusResponse, board!);
      const names = new Map(venues.map(({ id, name }) => [id, name]));
      return regionsPage({ regions: dataOf(regionsResponse, snapshot!), names });
    };
    const body = rendered("regions", [snapshot, board], page, editionFor(request));
    await answerPage(response, body);
  };
}

// `/regions`: where we measure from, and whether each place can be relied on.

export interface RegionsPageProps {
  regions: Regions;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
}

function regionsPage({ regions, names }: RegionsPageProps): PageProps {
  const age = ageText(regions);
  const { generatedAt } = regions;
  const title = t`Regions: ${headlineOf(regions)}`.replace(/\.$/, "");
  return {
    ...{ title, icon: healthOfAll(regions), section: "regions", json: "/v1/regions", generatedAt, age, refreshS: 15 },
    ...{ description: headlineOf(regions), path: "/regions", decidedAt: regions.decidedAt },
    children: (
      <>
        <h1>{headlineOf(regions)}</h1>
        <Together regions={regions} />
        {regions.regions.map((region) => (
          <RegionSection key={region.id} region={region} all={regions} names={names} />
        ))}
        <Method />
      </>
    ),
  };
}

function headlineOf({ regions }: Regions): string {
  const reporting = regions.filter(({ reporting }) => reporting);
  const silent = regions.filter(({ reporting }) => !reporting);
  const impaired = regions.filter(({ impaired }) => impaired !== null);
  const sentences = [headlineText(reporting.length, regions.length)];
  if (impaired.length > 0) sentences.push(t`Impaired: ${namesOf(impaired)}.`);
  if (silent.length > 0 && reporting.length > 0) sentences.push(t`Silent: ${namesOf(silent)}.`);
  return sentences.join(" ");
}

function namesOf(regions: readonly RegionSummary[]): string {
  return nameList(regions.map(({ name }) => name));
}

function healthOfAll({ regions }: Regions): State {
  if (!regions.some(({ reporting }) => reporting)) return "unknown";
  return regions.every((region) => healthOf(region)[0] === "operational") ? "operational" : "degraded";
}

/** How many must agree, and whether they are independent. */
function Together({ regions: { regions, quorum, vantages } }: { regions: Regions }) {
  const reporting = regions.filter(({ reporting }) => reporting).length;
  const votes = regions.filter(({ reporting, impaired }) => reporting && impaired === null).length;
  return (
    <>
      <p>{votes >= quorum ? quorumText(quorum, votes) : noQuorumText(quorum, votes)}</p>
      {reporting > 0 && (
        <p>
          {vantages < reporting
            ? oneVantageText(vantages, reporting)
            : t`Each region that reports now runs on a machine of its own, as far as its probes have named it.`}
        </p>
      )}
    </>
  );
}

function Method() {
  return (
    <section aria-labelledby="method">
      <h2 id="method">{t`When a region has no vote`}</h2>
      <p>
        {t`A region that sent nothing in the last minute has no vote. A region is impaired when most venues turn bad there at once and in no other region whose own network works. It keeps measuring, but neither its votes nor what it saw are counted.`}
      </p>
      <p>
        <a href="/rulebook">{t`How a verdict is reached`}</a>
      </p>
    </section>
  );
}

function headlineText(reporting: number, of: number): string {
  if (of === 0) return t`There are no regions.`;
  if (reporting === 0) return plural(of, "The only region does not report.", "None of {0} regions report.");
  if (of === 1) return t`The only region reports.`;
  return plural(reporting, "{0} of {1} regions reports.", "{0} of {1} regions report.", of);
}

function oneVantageText(vantages: number, reporting: number): string {
  return plural(
    vantages,
    "Regions whose probes all run on one machine are one vantage. The {1} regions that report now are {0} vantage: trouble of its network may look like trouble of venues.",
    "Regions whose probes all run on one machine are one vantage. The {1} regions that report now are {0} vantages.",
    reporting,
  );
}

function quorumText(quorum: number, votes: number): string {
  return votes === 1
    ? t`The only region that has a vote now decides whether we call a venue degraded or down.`
    : t`${quorum} of the ${votes} regions that have a vote now must agree before we call a venue degraded or down.`;
}

function noQuorumText(quorum: number, votes: number): string {
  if (votes === 0)
    return t`No region has a vote now, and ${quorum} must agree. So the state of every venue is unknown.`;
  return plural(
    votes,
    "Only {0} region has a vote now, and {1} must agree. So the state of every venue is unknown.",
    "Only {0} regions have a vote now, and {1} must agree. So the state of every venue is unknown.",
    quorum,
  );
}

const troubleNames: Record<TroubleKind, string> = texts({
  network: () => t`No route`,
  resolver: () => t`No name resolution`,
  sockets: () => t`No free socket`,
  clock: () => t`Wrong clock`,
  starved: () => t`Process or machine stalls`,
  spool: () => t`Samples cannot be stored`,
});

export interface RegionSectionProps {
  region: RegionSummary;
  all: Regions;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
}

/** One region; others link to it by its id. */
function RegionSection({ region, all, names }: RegionSectionProps) {
  const [state, word] = healthOf(region);
  const now = all.generatedAt;
  const { impaired, probes } = region;
  return (
    <section aria-labelledby={region.id}>
      <h2 id={region.id}>
        <Sign state={state} ours /> <bdi>{region.name}</bdi>: {word}
      </h2>
      {impaired !== null && (
        <p class="warning">
          {t`Impaired since ${(<Instant at={impaired.since} now={now} />)}`}:{" "}
          <InEnglish>{isolated(impaired.reason)}</InEnglish>. {regionsWords.recognisedBy}:{" "}
          {venueNames(impaired.venues, names)}.
        </p>
      )}
      <Facts region={region} all={all} />
      <Troubles region={region} now={now} />
      <NeverSeenGood region={region} names={names} now={now} />
      {probes.length === 0 ? <p>{t`No probe of this region is known.`}</p> : <ProbeTable region={region} now={now} />}
      <ImpairmentTable region={region} names={names} now={now} />
    </section>
  );
}

function Facts({ region, all }: Pick<RegionSectionProps, "region" | "all">) {
  const { reporting, newestAt, samplesLastHour, goodPctLastHour, unmeasuredSlots } = region;
  const now = all.generatedAt;
  return (
    <dl class="facts">
      <dt>{t`Newest sample`}</dt>
      <dd>
        {newestAt === null ? t`none known` : <Instant at={newestAt} now={now} />}
        {newestAt !== null && !reporting && <>, {t`nothing for ${(<Elapsed from={newestAt} now={now} />)}`}</>}
      </dd>
      <dt>{t`Last hour`}</dt>
      <dd>
        {goodPctLastHour === null
          ? t`no samples`
          : plural(
              samplesLastHour,
              "{0} sample, {1} of them good",
              "{0} samples, {1} of them good",
              percentText(goodPctLastHour),
            )}
      </dd>
      <dt>{t`Not measured`}</dt>
      <dd>
        {unmeasuredSlots === null
          ? t`not known`
          : plural(
              unmeasuredSlots,
              "{0} slot since its probes started, for our own reasons",
              "{0} slots since its probes started, for our own reasons",
            )}
      </dd>
      <dt>{t`Measures from`}</dt>
      <dd>{vantageText(region.vantage, regionsWords.placeUnknown)}</dd>
      <dt>{t`Machine`}</dt>
      <dd>{machineText(region, all)}</dd>
    </dl>
  );
}

/** What may be wrong with entries, or with this place, rather than with venues. */
function NeverSeenGood({ region, names, now }: Pick<RegionSectionProps, "region" | "names"> & { now: string }) {
  const { name, neverSeenGood: listed, neverSeenGoodTotal: total } = region;
  if (listed.length === 0) return null;
  return (
    <>
      <h3>{plural(total, "Never seen good: {0} component", "Never seen good: {0} components")}</h3>
      <Table
        caption={t`Components that no region has seen good, as ${isolated(name)} sees them`}
        rows={listed}
        columns={[
          {
            head: t`Venue`,
            cell: (one) => <a href={`/venues/${one.venue}`}>{isolated(names.get(one.venue) ?? one.venue)}</a>,
          },
          { head: t`Component`, cell: (one) => <code>{one.component}</code> },
          { head: t`What it saw last`, kind: "words", cell: ({ fault }) => faultMeanings[fault] },
          { head: t`Since`, cell: (one) => <Instant at={one.since} now={now} /> },
          { head: t`What to do`, kind: "words", cell: (one) => <InEnglish>{isolated(one.advice)}</InEnglish> },
        ]}
      />
      <p class="minor">
        {total > listed.length &&
          `${plural(total - listed.length, "{0} more is not listed.", "{0} more are not listed.")} `}
        {t`The entry of the registry, the network, or the country of this place may be the cause. Until a region has seen them good once, these components are unknown, open no incident, and count in no uptime.`}
      </p>
    </>
  );
}

function machineText({ vantage, sameMachineAs }: RegionSummary, { regions }: Regions): string {
  if (vantage.machine === null) return t`not known: its probes name none, or several`;
  if (sameMachineAs.length === 0) return t`shared with no other region`;
  const others = regions.filter(({ id }) => sameMachineAs.includes(id));
  return t`shared with ${nameList(others.map(({ name }) => name))}: together they are one vantage, and a fault of its network affects all of them`;
}

function Troubles({ region: { troubles }, now }: { region: RegionSummary; now: string }) {
  if (troubles.length === 0) return null;
  return (
    <>
      <h3>{t`Trouble of its own`}</h3>
      <ul>
        {troubles.map(({ probe, kind, since, detail }) => (
          <li key={`${probe} ${kind}`}>
            {t`${(<strong>{troubleNames[kind]}</strong>)} since ${(<Instant at={since} now={now} />)}`}:{" "}
            <InEnglish>{isolated(detail)}</InEnglish>.
          </li>
        ))}
      </ul>
      <p class="minor">
        {t`It keeps probes from measuring, or from measuring correctly. It never counts against a venue.`}
      </p>
    </>
  );
}

const reasonMeanings: Record<UnmeasuredReason, string> = texts({
  overlap: () => t`the measurement before was still running`,
  late: () => t`started too late: the process was busy, or the machine slept`,
  starved: () => t`the process got no time to run while it measured`,
  resolver: () => t`no name could be resolved`,
  network: () => t`no way out of the machine, or no venue at all answered`,
  sockets: () => t`no free socket, port or memory`,
  paused: () => t`a pause of ours, because the venue limits or blocks our requests`,
  provider: () => t`the third party's node by which the venue is read failed`,
  clock: () => t`the clock was wrong by seconds`,
  stale: () => t`a kept connection was closed just as it was used again`,
  starting: () => t`the socket was not open yet`,
  subscribing: () => t`the stream was not subscribed for the whole slot`,
  broken: () => t`a bug of the probe`,
});

type Probe = RegionSummary["probes"][number];

/** The probes of a region, and what each did not measure. */
function ProbeTable({ region: { name, probes }, now }: { region: RegionSummary; now: string }) {
  return (
    <Table
      caption={t`Probes of ${isolated(name)}`}
      rows={probes}
      columns={[
        { head: t`Probe`, cell: ({ id }) => <code>{id.slice(0, 8)}</code> },
        { head: t`Version`, cell: (probe) => isolated(probe.version) },
        { head: t`Started`, cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
        { head: t`Last seen`, cell: ({ seenAt }) => <Instant at={seenAt} now={now} /> },
        { head: t`Venues`, kind: "figure", cell: ({ venues }) => venues },
        { head: t`Slots not measured`, kind: "words", cell: (probe) => <Unmeasured probe={probe} /> },
        { head: t`Clock`, kind: "words", cell: clockText },
        { head: t`Vantage`, cell: ({ vantage }) => vantageText(vantage, regionsWords.placeUnknown) },
      ]}
    />
  );
}

/** The most frequent reason first. */
function Unmeasured({ probe: { unmeasuredSlots, unmeasuredByReason: by } }: { probe: Probe }) {
  if (unmeasuredSlots === 0) return <>{t`none`}</>;
  const reasons = unmeasuredReasons.filter((reason) => by[reason]).sort((a, b) => by[b]! - by[a]!);
  return (
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>
          {by[reason]}: {reasonMeanings[reason]}
        </li>
      ))}
    </ul>
  );
}

/** How wrong a probe's clock is, and how well that is known. */
function clockText({ clockErrorMs, clockErrorWithinMs }: RegionSummary["probes"][number]): string {
  if (clockErrorMs === null || clockErrorWithinMs === null) return t`not known: fewer than three venues agree`;
  const [by, within] = [msText(Math.abs(clockErrorMs)), msText(clockErrorWithinMs)];
  if (Math.abs(clockErrorMs) <= clockErrorWithinMs)
    return t`right, as far as we can measure it (${by} off, ±${within})`;
  return clockErrorMs < 0 ? t`${by} slow (±${within})` : t`${by} fast (±${within})`;
}

export interface ImpairmentTableProps {
  region: RegionSummary;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
  now: string;
}

/** When the region's votes were not counted. */
function ImpairmentTable({ region: { name, impairments }, names, now }: ImpairmentTableProps) {
  if (impairments.length === 0) return <p>{t`No impairment in the last seven days.`}</p>;
  return (
    <>
      <h3>{t`Impairments of the last seven days`}</h3>
      <Table
        caption={t`Impairments of ${isolated(name)}, newest first`}
        rows={impairments}
        columns={[
          { head: t`Began`, cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
          { head: t`Recognised`, cell: ({ recognisedAt }) => <Instant at={recognisedAt} now={now} /> },
          {
            head: t`Ended`,
            cell: ({ endedAt }) => (endedAt === null ? t`it still lasts` : <Instant at={endedAt} now={now} />),
          },
          { head: t`Lasted`, cell: ({ startedAt, endedAt }) => durationText(sinceMs(startedAt, endedAt ?? now)) },
          {
            head: regionsWords.recognisedBy,
            kind: "words",
            cell: ({ venues, measured }) => t`${venues.length} of ${measured} measured: ${venueNames(venues, names)}`,
          },
        ]}
      />
    </>
  );
}

/**
 * Some of the venues by name.
 *
 * @param names by id
 */
function venueNames(ids: readonly string[], names: ReadonlyMap<string, string>): string {
  return nameList(ids.map((id) => names.get(id) ?? id));
}
