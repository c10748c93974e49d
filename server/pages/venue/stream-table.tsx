import { isolated } from "../parts/isolated.js";
import { spanText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";

import { GoodShare, type MeasuredSectionProps, SeenHere } from "./endpoint-table.js";
import type { VenueDetail } from "./venue-view.js";

type StreamRow = VenueDetail["streams"][number];

/** The socket and its streams as the selected region heard them over the range. */
export function StreamSection({ detail: { streams }, region }: MeasuredSectionProps) {
  if (streams.length === 0) return null;
  return (
    <section aria-labelledby="streams">
      <h2 id="streams">Streams</h2>
      <TableFrame caption={`Streams as heard from ${isolated(region)}`}>
        <thead>
          <tr>
            <th scope="col">Stream</th>
            <th scope="col">Seen from here</th>
            <th scope="col" class="figure">
              Good samples
            </th>
            <th scope="col" class="figure">
              Messages per minute
            </th>
            <th scope="col">Longest silence</th>
            <th scope="col">Age of newest event</th>
            <th scope="col">Gaps in numbering</th>
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
                  The connection that the streams share. It carries no messages of its own.
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
      <td class="figure">{messagesPerMinute ?? "not measured"}</td>
      <td>{quietText(stream)}</td>
      <td>{eventAgeMs === null ? "unknown" : ageText(eventAgeMs)}</td>
      <td>{sequenceGaps ?? "not numbered"}</td>
    </>
  );
}

function quietText({ longestQuietMs, stallAfterMs }: StreamRow): string {
  const longest = longestQuietMs === null ? "not measured" : spanText(longestQuietMs);
  return stallAfterMs === null ? longest : `${longest}; a stall after ${spanText(stallAfterMs)}`;
}

/** An event from the future means that the venue's clock is ahead. */
function ageText(ms: number): string {
  return ms < 0 ? `its clock is ${spanText(-ms)} ahead` : spanText(ms);
}
