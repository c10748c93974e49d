import { isolated } from "../parts/isolated.js";
import { spanText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { measuredWords, streamWords, unknownWords } from "../words.js";
import { GoodShare, type MeasuredSectionProps, SeenHere } from "./endpoint-table.js";
import type { VenueDetail } from "./venue-view.js";

type StreamRow = VenueDetail["streams"][number];

/** The socket and its streams as the selected region heard them over the range. */
export function StreamSection({ detail: { streams }, region }: MeasuredSectionProps) {
  if (streams.length === 0) return null;
  return (
    <section aria-labelledby="streams">
      <h2 id="streams">{streamWords.heading}</h2>
      <TableFrame caption={streamWords.caption(isolated(region))}>
        <thead>
          <tr>
            <th scope="col">{streamWords.stream}</th>
            <th scope="col">{measuredWords.seenHere}</th>
            <th scope="col" class="figure">
              {measuredWords.good}
            </th>
            <th scope="col" class="figure">
              {streamWords.messages}
            </th>
            <th scope="col">{streamWords.quiet}</th>
            <th scope="col">{streamWords.age}</th>
            <th scope="col">{streamWords.gaps}</th>
          </tr>
        </thead>
        <tbody>
          {streams.map((stream) => (
            <tr key={stream.component}>
              <th scope="row">{isolated(stream.label)}</th>
              <td>
                <SeenHere part={stream} />
              </td>
              <td class="figure">
                <GoodShare part={stream} />
              </td>
              {stream.component === "ws:conn" ? (
                <td colSpan={4} class="minor">
                  {streamWords.socket}
                </td>
              ) : (
                <HeardCells stream={stream} />
              )}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </section>
  );
}

function HeardCells({ stream }: { stream: StreamRow }) {
  const { messagesPerMinute, eventAgeMs, sequenceGaps } = stream;
  return (
    <>
      <td class="figure">{messagesPerMinute ?? unknownWords.notMeasured}</td>
      <td>{quietText(stream)}</td>
      <td>{eventAgeMs === null ? streamWords.noAge : ageText(eventAgeMs)}</td>
      <td>{sequenceGaps ?? streamWords.notNumbered}</td>
    </>
  );
}

function quietText({ longestQuietMs, stallAfterMs }: StreamRow): string {
  const longest = longestQuietMs === null ? unknownWords.notMeasured : spanText(longestQuietMs);
  return stallAfterMs === null ? longest : streamWords.against(longest, spanText(stallAfterMs));
}

/** An event from the future means that the venue's clock is ahead. */
function ageText(ms: number): string {
  return ms < 0 ? streamWords.ahead(spanText(-ms)) : spanText(ms);
}
