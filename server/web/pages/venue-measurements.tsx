/** What the address of a venue's page selects. */
import type { Rule } from "../../../shared/rules/probe-rules.js";
import {
  generatedAt,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  regionId,
  regionName,
  since,
  state,
  type TypeOf,
  unknownBecause,
} from "../api/shapes.js";
import {
  agreeing,
  component,
  componentLabel,
  counted as countedRegions,
  fault,
  presentFault,
} from "../board/component.js";
import { publishedRules } from "../board/thresholds.js";
import type { exchangeResponse } from "../board/venue.js";
import { counted, dayText, durationText, isolated, msText, percentText, sinceMs, spanText } from "./format.js";
import { numberText, plural, t, texts } from "./language.js";
import { InEnglish, Sign, StateWord } from "./parts.js";
import { isTrouble, isUnjudged, lookOf, seenState, stateRank } from "./states.js";
import { type Column, Folded, Table } from "./table.js";
import { faultMeanings, matrixWords, measuredWords, type State, viewWords } from "./words.js";

export type VenueDetail = TypeOf<typeof exchangeResponse>;

export interface VenueView {
  venue: string;
  range: "24h" | "7d";
  /** Of the latency chart, the endpoints and the streams; null if there are no regions. */
  region: string | null;
}

export function pathOf(view: VenueView): string {
  return `/venues/${view.venue}?${queryOfView(view)}`;
}

/** The same as JSON. */
export function jsonPathOf(view: VenueView): string {
  return `/v1/targets/${view.venue}?${queryOfView(view)}`;
}

function queryOfView({ range, region }: VenueView): string {
  return new URLSearchParams({ range, ...(region !== null && { region }) }).toString();
}

const notCountedBecause = texts({
  engine: () => t`not decided: our engine is silent`,
  impaired: () => t`not counted: region impaired`,
  outlier: () => t`not counted: it fails only here, and has for long (blocked?)`,
  refused: () => t`not counted: the venue refuses this place, which is no outage unless a second place confirms it`,
  never: () => t`not counted: it sends nothing`,
});

/** Of more components than this, those without any trouble are folded away, and of the others all but the worst. */
const fewComponents = 3;

/** Components by regions, with a word in each cell. */
export function MatrixSection({ matrix }: { matrix: VenueMatrix }) {
  const { components } = matrix;
  const isLong = components.length > fewComponents;
  const unfolded = components
    .filter((row) => !isLong || !isPlain(row))
    .sort((a, b) => stateRank(a.state) - stateRank(b.state));
  const [shown, more] = [unfolded.slice(0, fewComponents), unfolded.slice(fewComponents)];
  const folded = isLong ? components.filter(isPlain) : [];
  return (
    <section aria-labelledby="matrix">
      <h2 id="matrix">{t`What each region sees now`}</h2>
      {components.length === 0 && <p>{t`No component of this venue is measured.`}</p>}
      {shown.length > 0 && <MatrixTable matrix={matrix} rows={shown} caption={t`Components by region`} />}
      {more.length > 0 && (
        <details data-key="matrix-more">
          <summary>
            {plural(
              more.length,
              "{0} more component is not healthy in some region",
              "{0} more components are not healthy in some region",
            )}
          </summary>
          <MatrixTable matrix={matrix} rows={more} caption={t`More components that are not healthy in some region`} />
        </details>
      )}
      {folded.length > 0 && (
        <details data-key="matrix-healthy">
          <summary>
            {shown.length === 0
              ? t`All ${folded.length} components are healthy in every region`
              : plural(
                  folded.length,
                  "{0} more component is healthy in every region",
                  "{0} more components are healthy in every region",
                )}
          </summary>
          <MatrixTable matrix={matrix} rows={folded} caption={t`Components that are healthy in every region`} />
        </details>
      )}
      <p class="minor">
        {t`Regions vote. A component is degraded or down once a quorum of those that count agrees. A region is impaired while most venues fail there at once and nowhere else.`}{" "}
        <a href="/rulebook">{t`How a verdict is reached`}</a>
      </p>
    </section>
  );
}

function isPlain({ state, cells }: MatrixRow): boolean {
  return state === "operational" && cells.every((cell) => cell.state === "operational" && cell.notCounted === null);
}

function MatrixTable({ matrix, rows, caption }: { matrix: VenueMatrix; rows: MatrixRow[]; caption: string }) {
  return (
    <Table
      {...{ caption, rows }}
      columns={[
        {
          head: t`Component`,
          cell: ({ label, kind }) => (
            <>
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </>
          ),
        },
        {
          head: t`All regions together`,
          cell: ({ state, fault, unknownBecause }) => (
            <>
              <StateWord state={state} fault={fault} />
              {unknownBecause !== null && (
                <div class="minor">
                  <InEnglish>{isolated(unknownBecause.detail)}</InEnglish>
                </div>
              )}
            </>
          ),
        },
        ...matrix.regions.map(({ name }, at): Column<MatrixRow> => ({
          head: isolated(name),
          kind: "chip",
          cell: ({ cells, unknownBecause }) => (
            <SeenThere cell={cells[at]!} unknownBecause={unknownBecause} now={matrix.generatedAt} />
          ),
        })),
      ]}
    />
  );
}

interface SeenThereProps extends Pick<MatrixRow, "unknownBecause"> {
  cell: MatrixCell;
  now: string;
}

/** On a chip, the sign and the name of a region say enough where it sees health: the word is an element of its own. */
function SeenThere({ cell, unknownBecause, now }: SeenThereProps) {
  const { state, word } = lookOf(seenState(cell.state, unknownBecause), cell.newestFault);
  return (
    <>
      <span class="state">
        <Sign state={state} />
        <span class="word">{word}</span>
      </span>
      {notesOf(cell, now).map((note) => (
        <div key={note} class="minor">
          {note}
        </div>
      ))}
    </>
  );
}

/** What was measured, the newest fault, and why the region is not counted. */
function notesOf({ state, samples, bad, slow, newestAt, newestFault, notCounted }: MatrixCell, now: string): string[] {
  const measured: string[] = [];
  if (samples !== null && bad! > 0) measured.push(t`${bad!} of ${samples} failed`);
  if (samples !== null && slow! > 0) measured.push(t`${slow!} of ${samples} slow`);
  if (samples !== null && newestFault !== null) measured.push(t`last error: ${faultMeanings[newestFault]}`);
  const notes = measured.length > 0 ? [measured.join(", ")] : [];
  if (state === "unknown" && notCounted === null) notes.push(t`too few samples to say`);
  if (notCounted === "late")
    notes.push(t`not counted: its newest sample is ${durationText(sinceMs(newestAt!, now))} old`);
  else if (notCounted !== null) notes.push(notCountedBecause[notCounted]);
  return notes;
}

// How each region sees each component of a venue: the body of `sql/board/venue_matrix.sql`.

const componentKinds = ["rest", "ws"] as const;
const notCountedReasons = ["engine", "impaired", "outlier", "refused", "never", "late"] as const;

const matrixCell = object("One component in one region.", {
  region: regionId,
  state: { ...state, description: "As this region alone sees it." },
  notCounted: orNull(oneOf(notCountedReasons, "Why its vote is not counted; null if it is.")),
  samples: orNull(integer("Samples by which it is judged; null if the region does not report it.", 12)),
  bad: orNull(integer("Samples among them that failed.", 7)),
  slow: orNull(integer("Good samples among them that were slow.", 0)),
  newestAt: orNull(instant("Slot of the newest sample.")),
  newestFault: orNull(fault),
});

const matrixRow = object("One component.", {
  component,
  kind: oneOf(componentKinds, "Kind of the component."),
  label: componentLabel,
  state,
  since,
  fault: presentFault,
  unknownBecause,
  quorum: orNull(integer("Number of regions that must agree; null if nothing was decided yet.", 2)),
  agreeing,
  counted: countedRegions,
  cells: list("Every region, in the order of `regions`.", matrixCell),
});

export const venueMatrix = object("The components of a venue by region.", {
  generatedAt,
  state,
  since,
  regions: list("In the registry's order.", object("One region.", { id: regionId, name: regionName })),
  components: list("In the registry's order.", matrixRow),
});

export type VenueMatrix = TypeOf<typeof venueMatrix>;
type MatrixRow = VenueMatrix["components"][number];
type MatrixCell = MatrixRow["cells"][number];

type Endpoint = VenueDetail["endpoints"][number];

interface MeasuredSectionProps {
  detail: VenueDetail;
  /** Name of the selected region. */
  region: string;
  /** Whether a reader has chosen a region or a range. */
  open: boolean;
  now: string;
}

/** REST endpoints as the selected region measured them over the range. */
export function EndpointSection({ detail: { endpoints }, region, open, now }: MeasuredSectionProps) {
  if (endpoints.length === 0) return null;
  const hasLag = endpoints.some(({ lag }) => lag !== null);
  const hasCertificate = endpoints.some(({ certificateExpiresAt }) => certificateExpiresAt !== null);
  return (
    <Folded id="endpoints" title={t`REST endpoints`} gist={endpointsText(endpoints, isolated(region))} open={open}>
      <Table
        caption={t`Endpoints as seen from ${isolated(region)}`}
        rows={endpoints}
        columns={[
          { head: t`Endpoint`, cell: ({ label }) => isolated(label) },
          { head: t`Seen from here`, cell: (endpoint) => <SeenHere part={endpoint} /> },
          { head: t`Good samples`, kind: "figure", cell: (endpoint) => <GoodShare part={endpoint} /> },
          { head: t`Median`, kind: "figure", cell: ({ p50Ms }) => msOrNot(p50Ms) },
          { head: t`95th percentile`, kind: "figure", cell: ({ p95Ms }) => msOrNot(p95Ms) },
          hasCertificate && {
            head: t`Certificate`,
            cell: ({ certificateExpiresAt }) => <Certificate expiresAt={certificateExpiresAt} now={now} />,
          },
          hasLag && { head: t`Chain head`, cell: ({ lag }) => lagText(lag) },
        ]}
      />
    </Folded>
  );
}

/** `5 from Central Europe, medians of 38 to 120 ms` */
function endpointsText(endpoints: readonly Endpoint[], region: string): string {
  const medians = endpoints.flatMap(({ p50Ms }) => p50Ms ?? []);
  if (medians.length === 0) return t`${endpoints.length} from ${region}, not measured`;
  const [least, most] = [msText(Math.min(...medians)), msText(Math.max(...medians))];
  return least === most
    ? t`${endpoints.length} from ${region}, median ${least}`
    : t`${endpoints.length} from ${region}, medians of ${least} to ${most}`;
}

type Part = Endpoint | VenueDetail["streams"][number];

function SeenHere({ part: { regionState, newestFault, unknownBecause } }: { part: Part }) {
  return (
    <>
      <StateWord state={seenState(regionState, unknownBecause)} fault={newestFault} />
      {newestFault !== null && <div class="minor">{t`last error: ${faultMeanings[newestFault]}`}</div>}
    </>
  );
}

function GoodShare({ part: { goodPct, samples } }: { part: { goodPct: number | null; samples: number } }) {
  if (goodPct === null) return <>{t`not measured`}</>;
  return (
    <>
      {percentText(goodPct)}
      <div class="minor">{measuredWords.ofSamples(samples)}</div>
    </>
  );
}

/** A time of answers; null: none was measured. */
export function msOrNot(ms: number | null): string {
  return ms === null ? t`not measured` : msText(ms);
}

/** Renewal is usually automatic and a month ahead: with less than this left, somebody has forgotten it. */
const soonDays = 14;

function Certificate({ expiresAt, now }: { expiresAt: string | null; now: string }) {
  if (expiresAt === null) return <>{t`none seen in a day`}</>;
  const day = <time dateTime={expiresAt}>{dayText(expiresAt, now)}</time>;
  if (expiresAt <= now)
    return (
      <>
        <Sign state="outage" /> {t`expired ${day}`}
      </>
    );
  const days = Math.floor(sinceMs(now, expiresAt) / 86_400_000);
  return (
    <>
      {days < soonDays && <Sign state="degraded" />} {t`expires ${day}, in ${counted(days, "day")}`}
    </>
  );
}

/** How far an endpoint's chain head is behind the freshest one that this region has seen. */
export function lagText(lag: Endpoint["lag"]): string {
  if (lag === null) return t`names no head`;
  const behind =
    lag.blocks === null
      ? t`distance unknown`
      : lag.blocks === 0
        ? t`at the freshest head`
        : plural(lag.blocks, "{0} block behind", "{0} blocks behind");
  return lag.backwards === 0
    ? behind
    : plural(
        lag.backwards,
        "{1}, went backwards {0} time in 24 hours",
        "{1}, went backwards {0} times in 24 hours",
        behind,
      );
}

type StreamRow = VenueDetail["streams"][number];

/** The socket and its streams as the selected region heard them over the range. */
export function StreamSection({ detail: { streams }, region, open }: MeasuredSectionProps) {
  if (streams.length === 0) return null;
  return (
    <Folded id="streams" title={t`Streams`} gist={t`${streams.length} from ${isolated(region)}`} open={open}>
      <Table
        caption={t`Streams as heard from ${isolated(region)}`}
        rows={streams}
        columns={[
          { head: t`Stream`, cell: ({ label }) => isolated(label) },
          { head: t`Seen from here`, cell: (stream) => <SeenHere part={stream} /> },
          { head: t`Good samples`, kind: "figure", cell: (stream) => <GoodShare part={stream} /> },
          {
            head: t`Messages per minute`,
            kind: "figure",
            span: (stream) => (isConnection(stream) ? 4 : 1),
            cell: (stream) =>
              isConnection(stream) ? (
                <span class="minor">{t`The connection that the streams share. It carries no messages of its own.`}</span>
              ) : (
                (stream.messagesPerMinute ?? t`not measured`)
              ),
          },
          { head: t`Longest silence`, cell: quietText },
          { head: t`Age of newest event`, cell: ({ eventAgeMs: ms }) => (ms === null ? t`unknown` : eventAgeText(ms)) },
          { head: t`Gaps in numbering`, cell: ({ sequenceGaps }) => sequenceGaps ?? t`not numbered` },
        ]}
      />
    </Folded>
  );
}

function isConnection({ component }: StreamRow): boolean {
  return component === "ws:conn";
}

function quietText({ longestQuietMs, stallAfterMs }: StreamRow): string {
  const longest = longestQuietMs === null ? t`not measured` : spanText(longestQuietMs);
  return stallAfterMs === null ? longest : t`${longest}; a stall after ${spanText(stallAfterMs)}`;
}

/** An event from the future means that the venue's clock is ahead. */
function eventAgeText(ms: number): string {
  return ms < 0 ? t`its clock is ${spanText(-ms)} ahead` : spanText(ms);
}

type Compared = VenueDetail["regions"]["compare"][number];

/** The venue as each region alone sees it, over the range. */
export function RegionSection({ detail, matrix, open }: { detail: VenueDetail; matrix: VenueMatrix; open: boolean }) {
  const { generatedAt, latency } = detail;
  const gist = t`over ${viewWords.ranges[latency.range]}`;
  return (
    <Folded id="regions" title={t`Regions compared`} gist={gist} open={open}>
      <p>{t`This is what each region alone sees. No decision rests on one region while several are published.`}</p>
      <Table
        caption={t`The venue from each region, over ${viewWords.ranges[latency.range]}`}
        rows={detail.regions.compare}
        columns={[
          {
            head: t`Region`,
            cell: ({ region, name }) => <a href={`/regions#${region}`}>{isolated(name)}</a>,
          },
          { head: t`Sees now`, cell: (compared) => <StateWord state={seenBy(compared, matrix)} /> },
          { head: t`Does it count?`, cell: (compared) => countsText(compared, generatedAt) },
          { head: t`Good samples`, kind: "figure", cell: (compared) => <GoodShare part={compared} /> },
          { head: t`Median`, kind: "figure", cell: ({ p50Ms }) => msOrNot(p50Ms) },
          { head: t`95th percentile`, kind: "figure", cell: ({ p95Ms }) => msOrNot(p95Ms) },
        ]}
      />
    </Folded>
  );
}

/** Without the components of which nothing is concluded. */
function seenBy({ region, state }: Compared, { components }: VenueMatrix): State {
  const judged = components.filter(({ unknownBecause }) => !isUnjudged(unknownBecause));
  if (judged.length === components.length) return state;
  const seen = judged.flatMap(({ cells }) => cells.filter((cell) => cell.region === region));
  const [worst] = seen.map((cell) => cell.state).sort((a, b) => stateRank(a) - stateRank(b));
  if (worst !== undefined && isTrouble(worst)) return worst;
  return seen.some((cell) => cell.state === "operational") ? "operational" : "unknown";
}

function countsText({ reporting, impaired, newestAt }: Compared, now: string): string {
  if (impaired) return t`no: it is impaired`;
  if (reporting) return t`yes, it reports`;
  return newestAt === null
    ? t`no: it sends nothing`
    : t`no: its newest sample is ${durationText(sinceMs(newestAt, now))} old`;
}

// The thresholds by which a verdict is reached, from the rules of this build.

const ruleNames = texts({
  window_ms: () => t`Time by which a component is judged`,
  min_samples: () => t`Fewest samples for a verdict`,
  degraded_bad_share: () => t`Share of failed samples that makes it degraded`,
  outage_bad_share: () => t`Share of failed samples that makes it down`,
  slow_multiple: () => t`An answer is slow at this multiple of its typical latency`,
  slow_floor_ms: () => t`And at least this much above it`,
  opening_bad_run: () => t`Bad samples in a row that confirm trouble`,
  vote_max_age_ms: () => t`Greatest age of the newest sample of a region that votes`,
  quorum_min_regions: () => t`Fewest regions that must agree`,
  outlier_after_ms: () => t`When a region that alone sees trouble loses its vote`,
  recovery_hold_ms: () => t`Healthy time after which an incident closes`,
  stale_event_ms: () => t`Age from which events of a stream are too old`,
});

export function ThresholdsSection() {
  return (
    <Folded id="thresholds" title={t`The thresholds that apply`} gist={t`the rules in short`} open={false}>
      <p class="minor">
        {t`A slow component has longer windows. All rules and their reasons: ${(
          <a href="/rulebook">{t`the rule book`}</a>
        )}, ${(<a href="/v1/thresholds">{t`every threshold as JSON`}</a>)}`}
      </p>
      <RulesTable />
    </Folded>
  );
}

function RulesTable() {
  return (
    <Table
      caption={t`How samples become a verdict`}
      rows={publishedRules.filter(({ name }) => name in ruleNames)}
      columns={[
        { head: t`Rule`, cell: ({ name }) => ruleNames[name as keyof typeof ruleNames] },
        { head: t`Value`, cell: ({ value, unit }) => quantityText(value, unit) },
        { head: t`Why`, kind: "words", cell: ({ reason }) => <InEnglish>{reason}</InEnglish> },
      ]}
    />
  );
}

/** Of the rules that are shown here; the API has the others, too. */
function quantityText(value: number, unit: Rule["unit"]): string {
  if (unit === "ms") return spanText(value);
  if (unit === "share") return percentText(Math.round(value * 1000) / 10);
  if (unit === "samples") return plural(value, "{0} sample", "{0} samples");
  if (unit === "regions") return plural(value, "{0} region", "{0} regions");
  return unit === "times" ? plural(value, "{0} time", "{0} times") : `${numberText(value)} ${unit}`;
}
