import { isolated } from "../parts/isolated.js";
import { TableFrame } from "../parts/table-frame.js";
import { matrixWords } from "../words.js";
import { type UptimeBounds, boundsText, coverageText, minutesText, uptimeText } from "./uptime-text.js";
import type { VenueDetail } from "./venue-view.js";
import { UptimeHeads } from "./uptime-heads.js";

interface UptimeRow extends UptimeBounds {
  key: string;
  name: string;
  coveragePct: number | null;
  downMinutes: number | null;
  /** Absent where it is not published. */
  degradedMinutes?: number | null;
}

/** Ninety days of the venue, its two halves, and each component, never without how much of them was measured. */
export function UptimeSection({ detail: { summary } }: { detail: VenueDetail }) {
  const rows: UptimeRow[] = [
    { key: "venue", ...summary, name: "The venue" },
    ...[
      { key: "rest", name: "All REST endpoints", ...summary.rest },
      { key: "streams", name: "All streams", ...summary.streams },
    ].filter(({ scheduledMinutes }) => scheduledMinutes > 0),
    ...summary.components.map((part) => ({
      key: part.component,
      ...part,
      name: `${isolated(part.label)} (${matrixWords.kinds[part.component.startsWith("ws:") ? "ws" : "rest"]})`,
    })),
  ];
  return (
    <section aria-labelledby="uptime">
      <h2 id="uptime">Uptime over ninety days</h2>
      <p>
        Uptime is the share of measured minutes without an outage. The bounds give the uptime of all scheduled minutes
        as if every unmeasured minute had been down, and as if none had. <a href="/methodology">How it is computed</a>
      </p>
      <TableFrame caption="Uptime of the venue and its parts">
        <UptimeHeads first="What" />
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">{row.name}</th>
              <td class="figure">{uptimeText(row)}</td>
              <td class="figure">{boundsText(row)}</td>
              <td class="figure">{coverageText(row.coveragePct)}</td>
              <td class="figure">{minutesText(row.downMinutes)}</td>
              <td class="figure">
                {row.degradedMinutes === undefined ? "see below" : minutesText(row.degradedMinutes)}
              </td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </section>
  );
}
