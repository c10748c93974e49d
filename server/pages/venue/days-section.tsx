import { isolated } from "../parts/isolated.js";
import { counted, dayText } from "../format.js";
import { DayBars } from "../parts/day-bars.js";
import { Instant } from "../parts/instant.js";
import { TableFrame } from "../parts/table-frame.js";
import { boardWords, compareWords } from "../words.js";
import { boundsText, coverageText, minutesText, uptimeText } from "./uptime-text.js";
import type { VenueDetail } from "./venue-view.js";
import { UptimeHeads } from "./uptime-heads.js";

export interface DaysSectionProps {
  detail: VenueDetail;
  regionNames: ReadonlyMap<string, string>;
  now: string;
}

/** Ninety days as bars, and as a table. */
export function DaysSection({ detail: { days, excluded }, regionNames, now }: DaysSectionProps) {
  return (
    <section aria-labelledby="days" class="ninety">
      <h2 id="days">Ninety days</h2>
      <DayBars days={days} />
      <p class="minor">{boardWords.legendDays}</p>
      <details>
        <summary>The ninety days as a table</summary>
        <DayTable days={days} now={now} />
      </details>
      {excluded.length > 0 && (
        <details>
          <summary>{`${excluded.length} ${excluded.length === 1 ? "period is" : "periods are"} left out of every uptime`}</summary>
          <p>In these minutes a region had trouble of its own. They count against no venue.</p>
          <ul>
            {excluded.map(({ region, from, minutes, reason }) => (
              <li key={`${region} ${from}`}>
                {isolated(regionNames.get(region) ?? region)}: {counted(minutes, "minute")} from{" "}
                <Instant at={from} now={now} /> ({compareWords.reasons[reason] ?? reason})
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function DayTable({ days, now }: { days: VenueDetail["days"]; now: string }) {
  return (
    <TableFrame caption="Uptime by day (UTC), newest first">
      <UptimeHeads first="Day" />
      <tbody>
        {[...days].reverse().map((day) => (
          <tr key={day.date}>
            <th scope="row">{dayText(day.date, now)}</th>
            <td class="figure">{uptimeText(day)}</td>
            <td class="figure">{boundsText(day)}</td>
            <td class="figure">{coverageText(day.coveragePct)}</td>
            <td class="figure">{minutesText(day.downMinutes)}</td>
            <td class="figure">{minutesText(day.degradedMinutes)}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
