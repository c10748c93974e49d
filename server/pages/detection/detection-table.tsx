import type { ComponentChildren } from "preact";
import { durationText } from "../format.js";
import { detectionWords, windowWords } from "../words.js";
import type { DetectionData } from "./detection-sentences.js";
import { FeedState } from "./feed-state.js";
import { TableFrame } from "../parts/table-frame.js";

type Counts = DetectionData["fleet"];

const columns = [
  ...["oursCompared", "paired", "oursNear", "oursOnly"],
  ...["theirsCompared", "theirsNear", "theirsOnly"],
] as const satisfies (keyof Counts & keyof typeof detectionWords)[];

/** The counts of each venue, or why it has none. */
export function DetectionTable({ data }: { data: DetectionData }) {
  const { venues, fleet, days, generatedAt } = data;
  return (
    <TableFrame caption={detectionWords.caption(windowWords.during(days))}>
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
              <td colSpan={columns.length + 2}>
                {detectionWords.notComparable} {reasonOf(detection)}
              </td>
            )}
          </tr>
        ))}
      </tbody>
      {fleet.venuesCompared > 0 && (
        <tfoot>
          <tr>
            <th scope="row">{detectionWords.fleet}</th>
            <td />
            <Row counts={fleet}>{detectionWords.noMedian}</Row>
          </tr>
        </tfoot>
      )}
    </TableFrame>
  );
}

function Heads() {
  return (
    <tr>
      <th scope="col">{detectionWords.venue}</th>
      <th scope="col">{detectionWords.feed}</th>
      {(["days", ...columns] as const).map((column) => (
        <th key={column} scope="col" class="figure">
          {detectionWords[column]}
        </th>
      ))}
      <th scope="col">{detectionWords.first}</th>
    </tr>
  );
}

/** @param children who was first */
function Row({ counts, children }: { counts: Counts; children: ComponentChildren }) {
  const { measuredDays, days, ours, theirs } = counts;
  const all: Partial<Record<(typeof columns)[number], number | null>> = { oursCompared: ours, theirsCompared: theirs };
  return (
    <>
      <td class="figure">{detectionWords.ofDays(measuredDays, days)}</td>
      {columns.map((column) => {
        const of = all[column];
        return (
          <td key={column} class="figure">
            {of == null ? counts[column] : detectionWords.of(counts[column]!, of)}
          </td>
        );
      })}
      <td class="words">{children}</td>
    </>
  );
}

function reasonOf({ venuesWithoutFeed, venuesOnlyMaintenance }: Counts): string {
  if (venuesWithoutFeed > 0) return detectionWords.withoutFeed;
  return venuesOnlyMaintenance > 0 ? detectionWords.onlyMaintenance : detectionWords.unseen;
}

function firstOf({ aheadUncorrelated: ahead, leads, paired }: Counts): string {
  if (ahead === null) return paired === 0 ? detectionWords.noPairs : detectionWords.fewLeads(leads!);
  if (ahead === 0) return detectionWords.together;
  const duration = durationText(Math.abs(ahead) * 1000);
  return ahead > 0 ? detectionWords.weWere(duration) : detectionWords.theyWere(duration);
}
