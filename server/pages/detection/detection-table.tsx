import type { ComponentChildren } from "preact";
import { durationText } from "../format.js";
import { windowWords } from "../words.js";
import type { DetectionData } from "./detection-sentences.js";
import { FeedState } from "./feed-state.js";
import { TableFrame } from "../parts/table-frame.js";

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

const columns = [
  ...["oursCompared", "paired", "oursNear", "oursOnly"],
  ...["theirsCompared", "theirsNear", "theirsOnly"],
] as const satisfies (keyof Counts & keyof typeof detectionWords)[];

/** The counts of each venue, or why it has none. */
export function DetectionTable({ data }: { data: DetectionData }) {
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
              <td colSpan={columns.length + 2}>Not comparable, because {reasonOf(detection)}</td>
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
      {(["days", ...columns] as const).map((column) => (
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
  const all: Partial<Record<(typeof columns)[number], number | null>> = { oursCompared: ours, theirsCompared: theirs };
  return (
    <>
      <td class="figure">
        {measuredDays} of {days}
      </td>
      {columns.map((column) => {
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
