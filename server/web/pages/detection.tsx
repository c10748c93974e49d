import type { RequestHandler } from "express";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import type { TypeOf } from "../api/shapes.js";
import { detectionParameters, detectionResponse, type venueFeed } from "../board/detection.js";
import { type Windows, dataOf } from "../board/snapshot.js";
import { withoutEmpty } from "./board.js";
import { editionFor } from "./edition.js";
import { withForm } from "./form-reader.js";
import { durationText, ageText } from "./format.js";
import { plural, t, texts } from "./language.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Instant, Reason, WindowForm } from "./parts.js";
import { type Column, Table } from "./table.js";
import { windowWords } from "./words.js";

export function detectionPageRoute(windows: Windows, rendered: Rendered): RequestHandler {
  const read = withForm(parameterReader(detectionParameters), ({ days }) => (
    <WindowForm path="/detection" days={days} />
  ));
  return async (request, response) => {
    const { days } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.detection(days);
    const page = () => detectionPage({ data: dataOf(detectionResponse, snapshot) });
    const body = rendered(`detection ${days}`, [snapshot], page, editionFor(request));
    await answerPage(response, body);
  };
}

// `/detection`: our incidents beside what the venues themselves said.

const detectionMeanings = (): [term: string, meaning: string][] => [
  [
    t`Both: a pair`,
    t`One incident and one notice of a venue that began within six hours of each other, and each is the nearest to the other.`,
  ],
  [
    t`Ours near a notice`,
    t`An incident with a notice within six hours, but the notice is nearer to another incident. One outage often makes several incidents and one notice.`,
  ],
  [t`Only ours`, t`An incident without any notice of the venue within six hours.`],
  [t`Notices near ours`, t`A notice with an incident within six hours, but the incident is nearer to another notice.`],
  [t`Only the venue's`, t`A notice without one of our incidents within six hours.`],
  [
    t`Who was first`,
    t`The time from our announcement of the incident to the publication of the notice, as the median of the pairs. When each says that it began plays no part, because that is written in hindsight.`,
  ],
];

export function detectionPage({ data }: { data: DetectionData }): PageProps {
  const age = ageText(data);
  const { days, venues, generatedAt } = data;
  const json = `/v1/detection?days=${days}`;
  const { lead, counts, coverage } = detectionSentences(data);
  return {
    ...{
      title: t`Our incidents and the venues' own notices ${windowWords.during(days)}`,
      icon: "unknown",
      section: "detection",
    },
    ...{ json, generatedAt, decidedAt: data.decidedAt, age, refreshS: 60, description: lead },
    path: days === detectionParameters.days.absent ? "/detection" : `/detection?days=${days}`,
    children: (
      <>
        <h1>{lead}</h1>
        <WindowForm path="/detection" days={days} />
        {counts.length > 0 && <p>{counts.join(" ")}</p>}
        <p>
          <strong>
            {t`Nothing tests that a notice and an incident are about the same fault. They are compared by the times at which they began, and some pairs arise by chance.`}
          </strong>
        </p>
        {coverage.length > 0 && <p>{coverage.join(" ")}</p>}
        {venues.length > 0 && <DetectionTable data={data} />}
        <Terms />
        <p>
          <a href="/comparing">{t`How this is compared, with SQL that recomputes every number`}</a>
        </p>
      </>
    ),
  };
}

function Terms() {
  return (
    <section aria-labelledby="terms">
      <h2 id="terms">{t`What the columns mean`}</h2>
      <dl>
        {detectionMeanings().map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

// The comparison of all venues in sentences, the answer first.

export type DetectionData = TypeOf<typeof detectionResponse>;

export interface DetectionSentences {
  lead: string;
  /** What the counts are. */
  counts: string[];
  /** What they cover. */
  coverage: string[];
}

function detectionSentences({ fleet, venues, days }: DetectionData): DetectionSentences {
  if (venues.length === 0) return { lead: t`No venue is measured yet.`, counts: [], coverage: [] };
  const during = windowWords.during(days);
  const { venuesCompared, oursCompared, maintenances, others } = fleet;
  const coverage = [comparedText(venuesCompared, venues.length)];
  if (maintenances !== null && others !== null)
    coverage.push(
      plural(
        maintenances,
        "{0} notice of maintenance and {1} about what we do not measure are not compared.",
        "{0} notices of maintenance and {1} about what we do not measure are not compared.",
        others,
      ),
    );
  if (venuesCompared === 0)
    return {
      lead: t`Nothing could be compared ${during}: we did not measure any venue while we could read what it says.`,
      counts: [],
      coverage,
    };
  return {
    lead:
      oursCompared! > 0
        ? ofOurs(fleet, during)
        : t`None of our incidents ${during} can be compared with the notices of its venue.`,
    counts: countsOf(fleet),
    coverage,
  };
}

function countsOf(fleet: DetectionData["fleet"]): string[] {
  const counts = [fleet.theirsCompared! > 0 ? ofTheirs(fleet) : t`No notice of the venues can be compared.`];
  if (fleet.paired! > 0) counts.push(pairsText(fleet.paired!));
  return counts;
}

function ofOurs({ oursCompared, paired, oursNear }: DetectionData["fleet"], during: string): string {
  return oursText(oursCompared!, during, paired! + oursNear!);
}

function ofTheirs({ theirsCompared, paired, theirsNear, theirsOnly }: DetectionData["fleet"]): string {
  return theirsText(theirsCompared!, paired! + theirsNear!, theirsOnly!);
}

function oursText(of: number, during: string, within: number): string {
  if (within === 0)
    return plural(
      of,
      "The venue posted no notice within six hours of our only comparable incident {1}.",
      "Venues posted no notice within six hours of any of our {0} comparable incidents {1}.",
      during,
    );
  if (within === of)
    return plural(
      of,
      "The venue posted a notice within six hours of our only comparable incident {1}.",
      "Venues posted a notice within six hours of all of our {0} comparable incidents {1}.",
      during,
    );
  return t`Venues posted a notice within six hours of ${within} of our ${of} comparable incidents ${during}.`;
}

function theirsText(of: number, within: number, only: number): string {
  return plural(
    of,
    "{0} notice of the venues can be compared: {1} with one of our incidents within six hours, and {2} without any.",
    "{0} notices of the venues can be compared: {1} with one of our incidents within six hours, and {2} without any.",
    ...[within, only],
  );
}

function pairsText(pairs: number): string {
  return plural(pairs, "{0} notice is paired with an incident.", "{0} notices are paired with one incident each.");
}

function comparedText(compared: number, of: number): string {
  const sum = plural(compared, "{0} of {1} venues is compared.", "{0} of {1} venues are compared.", of);
  return `${sum} ${t`An incident counts only if we know what the venue's feed said from six hours before it to six hours after it. A notice without a pair counts only if it began more than six hours ago and we measured the venue then.`}`;
}

const detectionWords = texts({
  days: () => t`Days compared`,
  oursCompared: () => t`Our incidents compared`,
  paired: () => t`Both: a pair`,
  oursNear: () => t`Ours near a notice`,
  oursOnly: () => t`Only ours`,
  theirsCompared: () => t`Notices compared`,
  theirsNear: () => t`Notices near ours`,
  theirsOnly: () => t`Only the venue's`,
});

type Counts = DetectionData["fleet"];

const countColumns = [
  ...["oursCompared", "paired", "oursNear", "oursOnly"],
  ...["theirsCompared", "theirsNear", "theirsOnly"],
] as const satisfies (keyof Counts & keyof typeof detectionWords)[];

type Line = DetectionData["venues"][number] | { detection: Counts };

/** The counts of each venue, or why it has none. */
function DetectionTable({ data }: { data: DetectionData }) {
  const { venues, fleet, days, generatedAt } = data;
  return (
    <Table<Line>
      caption={t`Venues compared with what they say ${windowWords.during(days)}`}
      rows={venues}
      {...(fleet.venuesCompared > 0 && { foot: { detection: fleet } })}
      columns={[
        { head: t`Venue`, cell: (line) => <Name line={line} /> },
        {
          head: t`The venue's feed`,
          kind: "words",
          cell: (line) => "feed" in line && <FeedState feed={line.feed} now={generatedAt} />,
        },
        {
          head: detectionWords.days,
          kind: "figure",
          span: ({ detection }) => (detection.venuesCompared > 0 ? 1 : countColumns.length + 2),
          cell: ({ detection: counts }) =>
            counts.venuesCompared > 0 ? t`${counts.measuredDays} of ${counts.days}` : reasonOf(counts),
        },
        ...countColumns.map((column): Column<Line> => ({
          head: detectionWords[column],
          kind: "figure",
          cell: ({ detection }) => countText(detection, column),
        })),
        {
          head: t`Who was first`,
          kind: "words",
          cell: (line) => ("feed" in line ? firstOf(line.detection) : t`medians of venues do not add up`),
        },
      ]}
    />
  );
}

function Name({ line }: { line: Line }) {
  if (!("feed" in line)) return <>{t`All venues`}</>;
  return (
    <a href={`/venues/${line.id}`}>
      <bdi>{line.name}</bdi>
    </a>
  );
}

/** With how many there are in all, where not all can be compared. */
function countText(counts: Counts, column: (typeof countColumns)[number]): string {
  const all = { oursCompared: counts.ours, theirsCompared: counts.theirs } as Partial<Record<string, number | null>>;
  return all[column] == null ? String(counts[column]) : t`${counts[column]!} of ${all[column]}`;
}

function reasonOf({ venuesWithoutFeed, venuesOnlyMaintenance }: Counts): string {
  if (venuesWithoutFeed > 0) return t`Not comparable, because the venue has no feed that a program can read.`;
  return venuesOnlyMaintenance > 0
    ? t`Not comparable, because its feed only announces maintenance: its silence about an outage means nothing.`
    : t`Not comparable, because there was no day on which we measured it and could read its feed.`;
}

function firstOf({ aheadUncorrelated: ahead, leads, paired }: Counts): string {
  if (ahead === null) return paired === 0 ? t`no pairs` : fewLeadsText(leads!);
  if (ahead === 0) return t`both at once (median)`;
  const duration = durationText(Math.abs(ahead) * 1000);
  return ahead > 0 ? t`we were, by ${duration} (median)` : t`the venue was, by ${duration} (median)`;
}

function fewLeadsText(leads: number): string {
  return plural(
    leads,
    "{0} pair with known times: a median needs five",
    "{0} pairs with known times: a median needs five",
  );
}

/** Whether we can read what the venue says, in words. */
function FeedState({ feed: { state, problem, since, readAt }, now }: { feed: TypeOf<typeof venueFeed>; now: string }) {
  if (state === "none") return <>{t`none`}</>;
  if (state === "readable" && readAt === null) return <>{t`not read yet`}</>;
  if (state === "readable") return <>{t`readable, last read ${(<Instant at={readAt!} now={now} />)}`}</>;
  return (
    <>
      {t`not readable since ${since !== null && <Instant at={since} now={now} />}`}
      {problem !== null && (
        <>
          : <Reason text={problem} />
        </>
      )}
    </>
  );
}
