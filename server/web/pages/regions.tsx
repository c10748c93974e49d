import type { RequestHandler } from "express";
import { type TroubleKind, type UnmeasuredReason, unmeasuredReasons } from "../../../shared/measurement/sample.js";
import { regionsResponse } from "../board/regions.js";
import { type Boards, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { durationText, isolated, msText, nameList, percentText, sinceMs, ageText } from "./format.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Elapsed, healthOf, Instant, type Regions, type RegionSummary, Sign, vantageText } from "./parts.js";
import { Table } from "./table.js";
import { faultMeanings, regionsWords, type State } from "./words.js";

export function regionsPageRoute(boards: Boards, rendered: Rendered): RequestHandler {
  return async (_request, response) => {
    // the board knows the names of venues
    const [snapshot, board] = await Promise.all([boards.regions(), boards.status(null)]);
    const body = rendered("regions", [snapshot, board], () => {
      const { venues } = dataOf(statusResponse, board!);
      const names = new Map(venues.map(({ id, name }) => [id, name]));
      return regionsPage({ regions: dataOf(regionsResponse, snapshot!), names });
    });
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
  const title = `Regions: ${headlineOf(regions)}`.replace(/\.$/, "");
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
  if (impaired.length > 0) sentences.push(`Impaired: ${namesOf(impaired)}.`);
  if (silent.length > 0 && reporting.length > 0) sentences.push(`Silent: ${namesOf(silent)}.`);
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
      <p>
        {votes >= quorum
          ? `${quorum} of the ${votes} regions that have a vote now must agree before we call a venue degraded or down.`
          : noQuorumText(quorum, votes)}
      </p>
      {reporting > 0 && (
        <p>
          {vantages < reporting
            ? oneVantageText(vantages, reporting)
            : "Each region that reports now runs on a machine of its own, as far as its probes have named it."}
        </p>
      )}
    </>
  );
}

function Method() {
  return (
    <section aria-labelledby="method">
      <h2 id="method">When a region has no vote</h2>
      <p>
        A region that sent nothing in the last minute has no vote. A region is impaired when most venues turn bad there
        at once and in no other region whose own network works. It keeps measuring, but neither its votes nor what it
        saw are counted.
      </p>
      <p>
        <a href="/rulebook">How a verdict is reached</a>
      </p>
    </section>
  );
}

function headlineText(reporting: number, of: number): string {
  return of === 0
    ? "There are no regions."
    : `${reporting === 0 ? "None" : reporting} of ${of} ${of === 1 ? "region" : "regions"} ${reporting === 1 ? "reports" : "report"}.`;
}

function oneVantageText(vantages: number, reporting: number): string {
  return `Regions whose probes all run on one machine are one vantage. The ${reporting} regions that report now are ${vantages} ${vantages === 1 ? "vantage: trouble of its network may look like trouble of venues" : "vantages"}.`;
}

function noQuorumText(quorum: number, votes: number): string {
  return `${votes === 0 ? "No region has" : `Only ${votes} ${votes === 1 ? "region has" : "regions have"}`} a vote now, and ${quorum} must agree. So the state of every venue is unknown.`;
}

const troubleNames = {
  network: "No route",
  resolver: "No name resolution",
  sockets: "No free socket",
  clock: "Wrong clock",
  starved: "Process or machine stalls",
  spool: "Samples cannot be stored",
} satisfies Record<TroubleKind, string>;

const regionsNever = {
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
};

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
          Impaired since <Instant at={impaired.since} now={now} />: {isolated(impaired.reason)}.{" "}
          {regionsWords.recognisedBy}: {venueNames(impaired.venues, names)}.
        </p>
      )}
      <Facts region={region} all={all} />
      <Troubles region={region} now={now} />
      <NeverSeenGood region={region} names={names} now={now} />
      {probes.length === 0 ? <p>No probe of this region is known.</p> : <ProbeTable region={region} now={now} />}
      <ImpairmentTable region={region} names={names} now={now} />
    </section>
  );
}

function Facts({ region, all }: Pick<RegionSectionProps, "region" | "all">) {
  const { reporting, newestAt, samplesLastHour, goodPctLastHour, unmeasuredSlots } = region;
  const now = all.generatedAt;
  return (
    <dl class="facts">
      <dt>Newest sample</dt>
      <dd>
        {newestAt === null ? "none known" : <Instant at={newestAt} now={now} />}
        {newestAt !== null && !reporting && (
          <>
            , nothing for <Elapsed from={newestAt} now={now} />
          </>
        )}
      </dd>
      <dt>Last hour</dt>
      <dd>
        {goodPctLastHour === null
          ? "no samples"
          : `${samplesLastHour} ${samplesLastHour === 1 ? "sample" : "samples"}, ${percentText(goodPctLastHour)} of them good`}
      </dd>
      <dt>Not measured</dt>
      <dd>
        {unmeasuredSlots === null
          ? "not known"
          : `${unmeasuredSlots} ${unmeasuredSlots === 1 ? "slot" : "slots"} since its probes started, for our own reasons`}
      </dd>
      <dt>Measures from</dt>
      <dd>{vantageText(region.vantage, regionsWords.placeUnknown)}</dd>
      <dt>Machine</dt>
      <dd>{machineText(region, all)}</dd>
    </dl>
  );
}

/** What may be wrong with entries, or with this place, rather than with venues. */
function NeverSeenGood({ region, names, now }: Pick<RegionSectionProps, "region" | "names"> & { now: string }) {
  const { name, neverSeenGood: listed, neverSeenGoodTotal: total } = region;
  if (listed.length === 0) return null;
  const { venue, component, newestFault, since, advice } = regionsNever;
  return (
    <>
      <h3>{regionsNever.heading(total)}</h3>
      <Table
        caption={regionsNever.caption(isolated(name))}
        rows={listed}
        columns={[
          {
            head: venue,
            cell: (one) => <a href={`/venues/${one.venue}`}>{isolated(names.get(one.venue) ?? one.venue)}</a>,
          },
          { head: component, cell: (one) => <code>{one.component}</code> },
          { head: newestFault, kind: "words", cell: ({ fault }) => faultMeanings[fault] },
          { head: since, cell: (one) => <Instant at={one.since} now={now} /> },
          { head: advice, kind: "words", cell: (one) => isolated(one.advice) },
        ]}
      />
      <p class="minor">
        {total > listed.length && `${regionsNever.more(total - listed.length)} `}
        {regionsNever.means}
      </p>
    </>
  );
}

function machineText({ vantage, sameMachineAs }: RegionSummary, { regions }: Regions): string {
  if (vantage.machine === null) return "not known: its probes name none, or several";
  if (sameMachineAs.length === 0) return "shared with no other region";
  const others = regions.filter(({ id }) => sameMachineAs.includes(id));
  return `shared with ${nameList(others.map(({ name }) => name))}: together they are one vantage, and a fault of its network affects all of them`;
}

function Troubles({ region: { troubles }, now }: { region: RegionSummary; now: string }) {
  if (troubles.length === 0) return null;
  return (
    <>
      <h3>Trouble of its own</h3>
      <ul>
        {troubles.map(({ probe, kind, since, detail }) => (
          <li key={`${probe} ${kind}`}>
            <strong>{troubleNames[kind]}</strong> since <Instant at={since} now={now} />: {isolated(detail)}.
          </li>
        ))}
      </ul>
      <p class="minor">It keeps probes from measuring, or from measuring correctly. It never counts against a venue.</p>
    </>
  );
}

const reasonMeanings = {
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
} satisfies Record<UnmeasuredReason, string>;

type Probe = RegionSummary["probes"][number];

/** The probes of a region, and what each did not measure. */
function ProbeTable({ region: { name, probes }, now }: { region: RegionSummary; now: string }) {
  return (
    <Table
      caption={`Probes of ${isolated(name)}`}
      rows={probes}
      columns={[
        { head: "Probe", cell: ({ id }) => <code>{id.slice(0, 8)}</code> },
        { head: "Version", cell: (probe) => isolated(probe.version) },
        { head: "Started", cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
        { head: "Last seen", cell: ({ seenAt }) => <Instant at={seenAt} now={now} /> },
        { head: "Venues", kind: "figure", cell: ({ venues }) => venues },
        { head: "Slots not measured", kind: "words", cell: (probe) => <Unmeasured probe={probe} /> },
        { head: "Clock", kind: "words", cell: clockText },
        { head: "Vantage", cell: ({ vantage }) => vantageText(vantage, regionsWords.placeUnknown) },
      ]}
    />
  );
}

/** The most frequent reason first. */
function Unmeasured({ probe: { unmeasuredSlots, unmeasuredByReason: by } }: { probe: Probe }) {
  if (unmeasuredSlots === 0) return <>none</>;
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
  if (clockErrorMs === null || clockErrorWithinMs === null) return "not known: fewer than three venues agree";
  const [by, within] = [msText(Math.abs(clockErrorMs)), msText(clockErrorWithinMs)];
  if (Math.abs(clockErrorMs) <= clockErrorWithinMs) return `right, as far as we can measure it (${by} off, ±${within})`;
  return clockErrorMs < 0 ? `${by} slow (±${within})` : `${by} fast (±${within})`;
}

export interface ImpairmentTableProps {
  region: RegionSummary;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
  now: string;
}

/** When the region's votes were not counted. */
function ImpairmentTable({ region: { name, impairments }, names, now }: ImpairmentTableProps) {
  if (impairments.length === 0) return <p>No impairment in the last seven days.</p>;
  return (
    <>
      <h3>Impairments of the last seven days</h3>
      <Table
        caption={`Impairments of ${isolated(name)}, newest first`}
        rows={impairments}
        columns={[
          { head: "Began", cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
          { head: "Recognised", cell: ({ recognisedAt }) => <Instant at={recognisedAt} now={now} /> },
          {
            head: "Ended",
            cell: ({ endedAt }) => (endedAt === null ? "it still lasts" : <Instant at={endedAt} now={now} />),
          },
          { head: "Lasted", cell: ({ startedAt, endedAt }) => durationText(sinceMs(startedAt, endedAt ?? now)) },
          {
            head: regionsWords.recognisedBy,
            kind: "words",
            cell: ({ venues, measured }) => `${venues.length} of ${measured} measured: ${venueNames(venues, names)}`,
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
