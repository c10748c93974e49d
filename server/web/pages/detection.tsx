import type { RequestHandler } from "express";
import type { ComponentChildren } from "preact";
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
import { Instant, TableFrame, WindowForm } from "./parts.js";
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
  ["Only the venue's", "A notice without any incident of ours within six hours."],
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
    ...{ json, generatedAt, age, refreshS: 60, description: lead },
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
        : `No incident of ours ${during} can be compared with the notices of its venue.`,
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
  const has = within === 1 || of === 1 ? "has" : "have";
  const which = of === 1 ? "The only incident" : `Of ${of} incidents`;
  const many = of === 1 ? "" : `, ${within === of ? "all" : within === 0 ? "none" : within}`;
  const notice = of === 1 && within === 0 ? "no notice" : "a notice";
  return `${which} of ours ${during} that can be compared${many} ${has} ${notice} of the venue within six hours.`;
}

function theirsText(of: number, within: number, only: number): string {
  return `${of} ${of === 1 ? "notice" : "notices"} of the venues can be compared: ${within} with an incident of ours within six hours, and ${only} without any.`;
}

function pairsText(pairs: number): string {
  return `${pairs === 1 ? "There is 1 pair" : `There are ${pairs} pairs`} of an incident and a notice that are the nearest to each other.`;
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

/** The counts of each venue, or why it has none. */
function DetectionTable({ data }: { data: DetectionData }) {
  const { venues, fleet, days, generatedAt } = data;
  return (
    <TableFrame caption={`Venues compared with what they say ${windowWords.during(days)}`}>
      <thead>
        <Heads />
      </thead>
      <tbody>
        {venues.map(({ id, name, feed, detection }) => (
          <tr key={id}>
            <th scope="row">
              <a href={`/venues/${id}`}>
                <bdi>{name}</bdi>
              </a>
            </th>
            <td class="words">
              <FeedState feed={feed} now={generatedAt} />
            </td>
            {detection.venuesCompared > 0 ? (
              <Row counts={detection}>{firstOf(detection)}</Row>
            ) : (
              <td colSpan={countColumns.length + 2}>Not comparable, because {reasonOf(detection)}</td>
            )}
          </tr>
        ))}
      </tbody>
      {fleet.venuesCompared > 0 && (
        <tfoot>
          <tr>
            <th scope="row">All venues</th>
            <td />
            <Row counts={fleet}>medians of venues do not add up</Row>
          </tr>
        </tfoot>
      )}
    </TableFrame>
  );
}

function Heads() {
  return (
    <tr>
      <th scope="col">Venue</th>
      <th scope="col">The venue's feed</th>
      {(["days", ...countColumns] as const).map((column) => (
        <th key={column} scope="col" class="figure">
          {detectionWords[column]}
        </th>
      ))}
      <th scope="col">Who was first</th>
    </tr>
  );
}

/** @param children who was first */
function Row({ counts, children }: { counts: Counts; children: ComponentChildren }) {
  const { measuredDays, days, ours, theirs } = counts;
  const all: Partial<Record<(typeof countColumns)[number], number | null>> = {
    oursCompared: ours,
    theirsCompared: theirs,
  };
  return (
    <>
      <td class="figure">
        {measuredDays} of {days}
      </td>
      {countColumns.map((column) => {
        const of = all[column];
        return (
          <td key={column} class="figure">
            {of == null ? counts[column] : `${counts[column]!} of ${of}`}
          </td>
        );
      })}
      <td class="words">{children}</td>
    </>
  );
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
