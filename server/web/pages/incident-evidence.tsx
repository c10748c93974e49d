import type { TypeOf } from "../api/shapes.js";
import { incidentDetailResponse } from "../board/incident.js";
import { isolated, msText, secondsText } from "./format.js";
import { plural, t, texts } from "./language.js";
import { ExactInstant, InEnglish, StateWord, vantageText } from "./parts.js";
import { type Column, Table } from "./table.js";
import { faultMeanings, incidentPageWords } from "./words.js";

export type IncidentDetail = TypeOf<typeof incidentDetailResponse>;

export type DecisionVotes = IncidentDetail["evidence"]["opening"];

/** Names of regions by their ids. One that has left the registry has only its id. */
export type RegionNames = ReadonlyMap<string, string>;

interface Tally {
  bad: number;
  counted: number;
  quorum: number;
  confirming: number;
}

const decisionNames = texts({
  opening: () => t`Opening,`,
  escalation: () => t`Escalation to an outage,`,
  closing: () => t`Closing,`,
});

const votesOf = texts({
  opening: () => t`Votes at the opening`,
  escalation: () => t`Votes at the escalation`,
  closing: () => t`Votes at the closing`,
});

const tallyTexts = {
  opening: ({ bad, counted, quorum, confirming }: Tally) =>
    [
      plural(
        counted,
        "{1} of {0} region with a vote saw it degraded or down.",
        "{1} of {0} regions with a vote saw it degraded or down.",
        bad,
      ),
      plural(quorum, "{0} was needed.", "{0} were needed."),
      t`${confirming} had seen it for long enough to confirm it.`,
    ].join(" "),
  closing: ({ bad, counted, quorum }: Tally) =>
    plural(
      counted,
      "{1} of {0} region with a vote still saw it degraded or down; {2} would be needed.",
      "{1} of {0} regions with a vote still saw it degraded or down; {2} would be needed.",
      bad,
      quorum,
    ),
};

type Decision = "opening" | "escalation" | "closing";

/** The votes behind the opening, the escalation and the closing. */
export function Evidence({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { opening, escalation, closing } = detail.evidence;
  return (
    <>
      <p>{t`At each decision, every region votes with its newest samples. These are the votes as they were then.`}</p>
      <Votes decision="opening" votes={opening} regionNames={regionNames} />
      {escalation && <Votes decision="escalation" votes={escalation} regionNames={regionNames} />}
      {closing &&
        ("votes" in closing ? (
          <Votes decision="closing" votes={closing} regionNames={regionNames} />
        ) : (
          <p>{t`The incident was closed without votes: ${(<InEnglish>{closing.reason}</InEnglish>)}.`}</p>
        ))}
    </>
  );
}

interface VotesProps {
  decision: Decision;
  votes: DecisionVotes;
  regionNames: RegionNames;
}

function Votes({ decision, votes, regionNames }: VotesProps) {
  const { at, reporting, counted = reporting, quorum, confirming, published, vantages, notes } = votes;
  const bad = votes.votes.filter(({ vote }) => vote === "degraded" || vote === "outage").length;
  return (
    <>
      <h3>
        {decisionNames[decision]} <ExactInstant at={at} />
      </h3>
      <p>
        {tallyTexts[decision === "closing" ? "closing" : "opening"]({
          bad,
          counted,
          quorum,
          confirming,
        })}{" "}
        {published !== undefined &&
          vantages !== undefined &&
          t`We measure from ${plural(published, "{0} region", "{0} regions")}; those that voted measured from ${plural(vantages, "{0} place", "{0} different places")}.`}
      </p>
      {votes.votes.length === 0 ? (
        <p>{incidentPageWords.noVotes}</p>
      ) : (
        <VoteTable label={votesOf[decision]} votes={votes.votes} regionNames={regionNames} />
      )}
      <NotCounted regions={votes.notCounted} regionNames={regionNames} />
      {notes?.map((note) => (
        <p key={note} class="minor">
          <InEnglish>{note}</InEnglish>
        </p>
      ))}
    </>
  );
}

function NotCounted({ regions, regionNames }: { regions: DecisionVotes["notCounted"]; regionNames: RegionNames }) {
  if (regions.length === 0) return null;
  return (
    <>
      <p>{t`Regions without a vote:`}</p>
      <ul>
        {regions.map(({ region, reason, newestAt, vantage }) => (
          <li key={region}>
            {shownRegionName(regionNames, region)}: <InEnglish>{isolated(reason)}</InEnglish>.{" "}
            {newestAt === null
              ? t`We have no sample of it.`
              : t`Its newest sample was of ${(<ExactInstant at={newestAt} />)}.`}{" "}
            <span class="minor">{t`Measured from: ${vantageText(vantage, t`place not known`)}.`}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

type RegionVote = DecisionVotes["votes"][number];

interface VoteTableProps {
  label: string;
  votes: RegionVote[];
  regionNames: RegionNames;
}

/** What each region saw: a row a region. */
function VoteTable({ label, votes, regionNames }: VoteTableProps) {
  return (
    <Table
      caption={label}
      rows={votes}
      columns={[
        { head: t`Region`, cell: ({ region }) => shownRegionName(regionNames, region) },
        { head: t`State`, cell: ({ vote }) => <StateWord state={vote} /> },
        { head: t`Samples`, kind: "figure", cell: ({ samples }) => samples },
        { head: t`Failed`, kind: "figure", cell: ({ bad }) => bad },
        { head: t`Slow`, kind: "figure", cell: ({ slow }) => slow },
        { head: t`Bad in a row`, kind: "figure", cell: ({ badRun }) => badRun },
        { head: t`Faults`, kind: "words", cell: faultsOf },
        { head: t`Median (expected)`, kind: "figure", cell: latencyOf },
        { head: t`Age of newest`, kind: "figure", cell: ({ ageMs }) => secondsText(ageMs) },
        { head: t`Measured from`, kind: "words", cell: (vote) => <Origin vote={vote} /> },
      ]}
    />
  );
}

/** Most frequent first, with what else speaks for trouble. */
function faultsOf({ faults, unserved = 0, partial, refusal }: RegionVote): string {
  const counts = Object.entries(faults) as [keyof typeof faultMeanings, number][];
  const parts = counts
    .sort(([, one], [, other]) => other - one)
    .map(([fault, count]) => `${count} × ${faultMeanings[fault]}`);
  if (unserved > 0) parts.push(t`${unserved} could not be tried, because the venue prevented it`);
  if (partial) parts.push(t`failing in part: ${partial.bad} of ${partial.samples} over several minutes`);
  if (refusal) parts.push(t`the venue's words: “${isolated(refusal)}”`);
  return parts.length === 0 ? t`none` : parts.join("; ");
}

function latencyOf({ answers, p50Ms, typicalP50Ms }: RegionVote): string {
  // a stream never has answers
  if (answers === 0 && typicalP50Ms === null) return t`none`;
  return `${msOrUnknown(p50Ms)} (${msOrUnknown(typicalP50Ms)})`;
}

function Origin({ vote: { vantage, machine, probeVersion } }: { vote: RegionVote }) {
  return (
    <>
      {vantageText(vantage, t`place not known`)}
      <span class="minor">
        {machine && <>, {t`machine ${(<code>{machine.slice(0, 8)}</code>)}`}</>}
        {probeVersion !== null && `, ${t`probe ${probeVersion}`}`}
      </span>
    </>
  );
}

type Errors = IncidentDetail["errors"];

/** Failed samples during the incident: a row a region, a column a fault. */
export function ErrorTable({ errors, regionNames }: { errors: Errors; regionNames: RegionNames }) {
  const { samples, bad, faults, regions } = errors;
  if (samples === null || bad === null) return <p>{incidentPageWords.faultsForgotten}</p>;
  const all = Object.fromEntries(faults.map(({ fault, count }) => [fault, count]));
  const rows = [
    ...regions.map(({ region, ...row }) => ({ ...row, name: shownRegionName(regionNames, region) })),
    { name: t`All regions`, samples, bad, faults: all },
  ];
  return (
    <Table
      caption={t`Samples in the minutes of the incident, by region and fault`}
      rows={rows}
      columns={[
        { head: t`Region`, cell: ({ name }) => name },
        {
          head: t`Samples`,
          kind: "figure",
          span: ({ samples }) => (samples === 0 ? 2 + faults.length : 1),
          cell: ({ samples }) => (samples === 0 ? t`not measured` : samples),
        },
        { head: t`Failed`, kind: "figure", cell: ({ bad }) => bad },
        ...faults.map(({ fault }): Column<(typeof rows)[number]> => ({
          head: `${faultMeanings[fault]} (${fault})`,
          kind: "figure",
          cell: (row) => row.faults[fault] ?? 0,
        })),
      ]}
    />
  );
}

const latencySourceNotes = texts({
  component: () => t`This is the latency of the endpoint itself.`,
  "venue-rest": () => t`A stream has no latency of its own; this is that of the venue's endpoints.`,
});

const bucketNotes = texts({
  minute: () => t`It is kept by whole minutes, so a short incident includes some time before and after it.`,
  hour: () => t`It is kept by whole hours, since the incident lasted longer than a day.`,
});

interface LatencyTableProps {
  latency: IncidentDetail["latency"];
  regionNames: RegionNames;
}

/** Median latency in the day before and during the incident, with bars on one scale. */
export function LatencyTable({ latency, regionNames }: LatencyTableProps) {
  if (latency === null)
    return <p>{t`Not known: there was no good answer in the day before, nor during the incident.`}</p>;
  const { source, bucketMs, before, during, regions } = latency;
  const all = {
    name: t`All regions`,
    ...{ beforeP50Ms: before.p50Ms, beforeAnswers: before.answers },
    // a percentile of some regions would stand beside a median of all
    p95Ms: regions.every(({ p95Ms }) => p95Ms !== null) ? during.p95Ms : null,
    ...{ p50Ms: during.p50Ms, slowestMs: during.slowestMs, answers: during.answers },
  };
  const rows = [...regions.map((row) => ({ ...row, name: shownRegionName(regionNames, row.region) })), all];
  const most = Math.max(1, ...rows.flatMap((row) => [row.beforeP50Ms ?? 0, row.p50Ms ?? 0]));
  return (
    <>
      <p>
        {latencySourceNotes[source]} {bucketNotes[bucketMs < 3_600_000 ? "minute" : "hour"]}
      </p>
      <Table
        caption={t`Latency of good answers, by region`}
        rows={rows}
        columns={[
          { head: t`Region`, cell: ({ name }) => name },
          {
            head: t`Before (outline) and during (filled)`,
            cell: (row) => <BeforeAndDuring before={row.beforeP50Ms} during={row.p50Ms} most={most} />,
          },
          { head: t`Median in the day before`, kind: "figure", cell: ({ beforeP50Ms }) => msOrUnknown(beforeP50Ms) },
          { head: t`Median during`, kind: "figure", cell: ({ p50Ms }) => msOrUnknown(p50Ms) },
          { head: t`95th percentile during`, kind: "figure", cell: ({ p95Ms }) => msOrUnknown(p95Ms) },
          { head: t`Slowest median during`, kind: "figure", cell: ({ slowestMs }) => msOrUnknown(slowestMs) },
          { head: t`Answers before`, kind: "figure", cell: ({ beforeAnswers }) => beforeAnswers },
          { head: t`Answers during`, kind: "figure", cell: ({ answers }) => answers },
        ]}
      />
    </>
  );
}

function msOrUnknown(ms: number | null): string {
  return ms === null ? t`unknown` : msText(ms);
}

const drawingWidth = 120;

interface BeforeAndDuringProps {
  /** Milliseconds; null: not measured, and no bar. */
  before: number | null;
  during: number | null;
  /** What the whole width is. */
  most: number;
}

/** Two bars, an outline for before and a filled one for during. Its figures stand in the same row of the table. */
function BeforeAndDuring({ before, during, most }: BeforeAndDuringProps) {
  const textOf = (ms: number | null) => (ms === null ? t`not measured` : msText(ms));
  const label = t`Median before: ${textOf(before)}; during: ${textOf(during)}`;
  return (
    <svg class="bars" viewBox={`0 0 ${drawingWidth} 18`} role="img" aria-label={label}>
      {before !== null && <path class="before" d={`M1 1h${lengthOf(before, most)}v6h-${lengthOf(before, most)}z`} />}
      {during !== null && <path class="during" d={`M1 10h${lengthOf(during, most)}v7h-${lengthOf(during, most)}z`} />}
    </svg>
  );
}

function lengthOf(ms: number, most: number): number {
  return Math.max(1, Math.round((ms / most) * (drawingWidth - 2)));
}

/** How to check it oneself: its samples, statements for it, and the addresses of its data and of the rules. */
export function Recompute({ detail }: { detail: IncidentDetail }) {
  const { incident, evidence } = detail;
  const { slug, venue } = incident;
  const decisions = [
    "opening",
    ...(evidence.escalation ? ["escalation"] : []),
    ...(evidence.closing && "votes" in evidence.closing ? ["closing"] : []),
  ];
  const links = [
    [`/v1/incidents/${slug}`, t`This incident as JSON`],
    [`/v1/incidents.csv?venue=${venue}`, t`The venue's incidents as CSV`],
    [`/v1/incidents.xlsx?venue=${venue}`, t`The same as a workbook (XLSX)`],
    ["/v1/thresholds", t`All limits and their reasons`],
    ["/checking", t`How to check an incident step by step`],
    ["/rulebook", t`How a verdict is reached`],
    ["/methodology", t`How we measure`],
    ["/comparing", t`How we compare ourselves with the venues' notices`],
  ] as const;
  return (
    <>
      <RawSamples detail={detail} />
      <p>
        {t`Who has access to the database as an analyst can recompute the votes in one statement. This compares them with those above:`}
      </p>
      <Statement label={t`Statement that recomputes the votes`} text={evidenceStatement(slug, decisions)} />
      <p>{t`These are the samples of the five minutes before the opening:`}</p>
      <Statement label={t`Statement that lists the samples`} text={samplesStatement(slug)} />
      <ul>
        {links.map(([path, text]) => (
          <li key={path}>
            <a href={path}>{text}</a> <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

/** As long as upkeep keeps all of them. */
const samplesKeptMs = 8 * 86_400_000;

/** Where anybody can read the samples behind the votes, or that there are none any more. */
function RawSamples({ detail: { incident, generatedAt } }: { detail: IncidentDetail }) {
  const { slug, closedAt } = incident;
  const isKept = closedAt === null || Date.parse(generatedAt) - Date.parse(closedAt) < samplesKeptMs;
  const path = `/v1/incidents/${slug}/samples`;
  if (!isKept)
    return (
      <p>
        {t`Raw samples are kept for eight days. Those of this incident are gone, and the votes above are the only record.`}
      </p>
    );
  return (
    <p>
      {t`The raw samples of this component, from ten minutes before the incident began to five minutes after it closed, are public for eight days: ${(
        <a href={`${path}.csv?limit=5000`}>{t`as CSV`}</a>
      )}, ${(<a href={`${path}.xlsx?limit=5000`}>{t`as a workbook`}</a>)} or ${(<a href={path}>{t`as JSON`}</a>)}.`}{" "}
      {t`${(<a href="/checking#without-the-database">{t`A short script`}</a>)} recomputes the votes from them.`}
    </p>
  );
}

function Statement({ label, text }: { label: string; text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
  );
}

// The statements of docs/checking.md for one incident. A slug has neither quotes nor backslashes.

/** Whether the evidence of each decision equals what the samples give. */
export function evidenceStatement(slug: string, decisions: readonly string[]): string {
  return `select d.decision, i.evidence -> d.decision = analytics.evidence(i.slug, d.decision) as same
from analytics.incidents i
cross join (values ${decisions.map((decision) => `('${decision}')`).join(", ")}) as d (decision)
where i.slug = '${slug}';`;
}

/** The samples of the five minutes up to the opening, and whether each was known then. */
export function samplesStatement(slug: string): string {
  return `select
  s.region, s.ts as slot, s.good, s.fault, s.latency_ms as ms,
  s.ts + s.received_after_s * interval '1 s' <= i.opened_at as known
from analytics.incidents i
join analytics.samples s using (venue, component)
where i.slug = '${slug}'
  and s.ts > i.opened_at - interval '5 minutes' and s.ts <= i.opened_at
order by s.region, s.ts;`;
}

/** Its name, or its id when it is no longer in the registry. */
export function shownRegionName(names: RegionNames, id: string): string {
  return isolated(names.get(id) ?? id);
}
