import type { RequestHandler } from "express";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import type { TypeOf } from "../api/shapes.js";
import { detectionParameters, detectionResponse, type venueFeed } from "../board/detection.js";
import { type Windows, dataOf } from "../board/snapshot.js";
import { withoutEmpty } from "./board.js";
import { withForm } from "./form-reader.js";
import { durationText, isolated, ageText } from "./format.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Instant, WindowForm } from "./parts.js";
import { type Column, Table } from "./table.js";
import { windowWords } from "./words.js";

export function detectionPageRoute(windows: Windows, rendered: Rendered): RequestHandler {
  const read = withForm(parameterReader(detectionParameters), ({ days }) => (
    <WindowForm path="/detection" days={days} />
  ));
  return async (request, response) => {
    const { days } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.detection(days);
    const body = rendered(`detection ${days}`, [snapshot], () =>
      detectionPage({ data: dataOf(detectionResponse, snapshot) }),
    );
    await answerPage(response, body);
  };
}

// `/detection`: our incidents beside what the venues themselves said.

const detectionMeanings = [
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
  ["Only the venue's", "A notice without one of our incidents within six hours."],
  [
    "Who was first",
    "The time from our announcement of the incident to the publication of the notice, as the median of the pairs. When each says that it began plays no part, because that is written in hindsight.",
  ],
] as [term: string, meaning: string][];

export function detectionPage({ data }: { data: DetectionData }): PageProps {
  const age = ageText(data);
  const { days, venues, generatedAt } = data;
  const json = `/v1/detection?days=${days}`;
  const { lead, counts, coverage } = detectionSentences(data);
  return {
    ...{
      title: `Our incidents and the venues' own notices ${windowWords.during(days)}`,
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
            Nothing tests that a notice and an incident are about the same fault. They are compared by the times at
            which they began, and some pairs arise by chance.
          </strong>
        </p>
        {coverage.length > 0 && <p>{coverage.join(" ")}</p>}
        {venues.length > 0 && <DetectionTable data={data} />}
        <Terms />
        <p>
          <a href="/comparing">How this is compared, with SQL that recomputes every number</a>
        </p>
      </>
    ),
  };
}

function Terms() {
  return (
    <section aria-labelledby="terms">
      <h2 id="terms">What the columns mean</h2>
      <dl>
        {detectionMeanings.map(([term, meaning]) => (
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
  if (venues.length === 0) return { lead: "No venue is measured yet.", counts: [], coverage: [] };
  const during = windowWords.during(days);
  const { venuesCompared, oursCompared, maintenances, others } = fleet;
  const coverage = [comparedText(venuesCompared, venues.length)];
  if (maintenances !== null && others !== null)
    coverage.push(
      `${maintenances} ${maintenances === 1 ? "notice" : "notices"} of maintenance and ${others} about what we do not measure are not compared.`,
    );
  if (venuesCompared === 0)
    return {
      lead: `Nothing could be compared ${during}: we did not measure any venue while we could read what it says.`,
      counts: [],
      coverage,
    };
  return {
    lead:
      oursCompared! > 0
        ? ofOurs(fleet, during)
        : `None of our incidents ${during} can be compared with the notices of its venue.`,
    counts: countsOf(fleet),
    coverage,
  };
}

function countsOf(fleet: DetectionData["fleet"]): string[] {
  const counts = [fleet.theirsCompared! > 0 ? ofTheirs(fleet) : "No notice of the venues can be compared."];
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
  const many = within === 0 ? "any" : within === of ? "all" : within;
  const which = of === 1 ? "our only comparable incident" : `${many} of our ${of} comparable incidents`;
  return `${of === 1 ? "The venue" : "Venues"} posted ${within === 0 ? "no" : "a"} notice within six hours of ${which} ${during}.`;
}

function theirsText(of: number, within: number, only: number): string {
  return `${of} ${of === 1 ? "notice" : "notices"} of the venues can be compared: ${within} with one of our incidents within six hours, and ${only} without any.`;
}

function pairsText(pairs: number): string {
  return pairs === 1 ? "1 notice is paired with an incident." : `${pairs} notices are paired with one incident each.`;
}

function comparedText(compared: number, of: number): string {
  return `${compared} of ${of} venues ${compared === 1 ? "is" : "are"} compared. An incident counts only if we know what the venue's feed said from six hours before it to six hours after it. A notice without a pair counts only if it began more than six hours ago and we measured the venue then.`;
}

const detectionWords = {
  days: "Days compared",
  oursCompared: "Our incidents compared",
  paired: "Both: a pair",
  oursNear: "Ours near a notice",
  oursOnly: "Only ours",
  theirsCompared: "Notices compared",
  theirsNear: "Notices near ours",
  theirsOnly: "Only the venue's",
};

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
      caption={`Venues compared with what they say ${windowWords.during(days)}`}
      rows={venues}
      {...(fleet.venuesCompared > 0 && { foot: { detection: fleet } })}
      columns={[
        { head: "Venue", cell: (line) => <Name line={line} /> },
        {
          head: "The venue's feed",
          kind: "words",
          cell: (line) => "feed" in line && <FeedState feed={line.feed} now={generatedAt} />,
        },
        {
          head: detectionWords.days,
          kind: "figure",
          span: ({ detection }) => (detection.venuesCompared > 0 ? 1 : countColumns.length + 2),
          cell: ({ detection: counts }) =>
            counts.venuesCompared > 0
              ? `${counts.measuredDays} of ${counts.days}`
              : `Not comparable, because ${reasonOf(counts)}`,
        },
        ...countColumns.map((column): Column<Line> => ({
          head: detectionWords[column],
          kind: "figure",
          cell: ({ detection }) => countText(detection, column),
        })),
        {
          head: "Who was first",
          kind: "words",
          cell: (line) => ("feed" in line ? firstOf(line.detection) : "medians of venues do not add up"),
        },
      ]}
    />
  );
}

function Name({ line }: { line: Line }) {
  if (!("feed" in line)) return <>All venues</>;
  return (
    <a href={`/venues/${line.id}`}>
      <bdi>{line.name}</bdi>
    </a>
  );
}

/** With how many there are in all, where not all can be compared. */
function countText(counts: Counts, column: (typeof countColumns)[number]): string {
  const all = { oursCompared: counts.ours, theirsCompared: counts.theirs } as Partial<Record<string, number | null>>;
  return all[column] == null ? String(counts[column]) : `${counts[column]} of ${all[column]}`;
}

function reasonOf({ venuesWithoutFeed, venuesOnlyMaintenance }: Counts): string {
  if (venuesWithoutFeed > 0) return "the venue has no feed that a program can read.";
  return venuesOnlyMaintenance > 0
    ? "its feed only announces maintenance: its silence about an outage means nothing."
    : "there was no day on which we measured it and could read its feed.";
}

function firstOf({ aheadUncorrelated: ahead, leads, paired }: Counts): string {
  if (ahead === null) return paired === 0 ? "no pairs" : fewLeadsText(leads!);
  if (ahead === 0) return "both at once (median)";
  const duration = durationText(Math.abs(ahead) * 1000);
  return ahead > 0 ? `we were, by ${duration} (median)` : `the venue was, by ${duration} (median)`;
}

function fewLeadsText(leads: number): string {
  return `${leads} ${leads === 1 ? "pair" : "pairs"} with known times: a median needs five`;
}

/** Whether we can read what the venue says, in words. */
function FeedState({ feed: { state, problem, since, readAt }, now }: { feed: TypeOf<typeof venueFeed>; now: string }) {
  if (state === "none") return <>none</>;
  if (state === "readable" && readAt === null) return <>not read yet</>;
  if (state === "readable")
    return (
      <>
        readable, last read <Instant at={readAt!} now={now} />
      </>
    );
  return (
    <>
      not readable since {since !== null && <Instant at={since} now={now} />}
      {problem !== null && `: ${isolated(problem)}`}
    </>
  );
}
