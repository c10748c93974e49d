import { msText, percentText } from "../format.js";
import { DayBars } from "../parts/day-bars.js";
import { Elapsed } from "../parts/instant.js";
import { Sparkline } from "../parts/sparkline.js";
import { StateWord } from "../parts/sign.js";
import { commonFault } from "../parts/state-rank.js";

import type { Board } from "./board-headline.js";

/** One venue on the board. */
export function BoardRow({ venue, now }: { venue: Board["venues"][number]; now: string }) {
  const path = `/venues/${venue.id}`;
  return (
    <li class="venue" data-key={`venue-${venue.id}`}>
      <h4>
        <a href={path}>
          <bdi>{venue.name}</bdi>
        </a>
      </h4>
      <p class="now">
        <StateWord state={venue.state} fault={commonFault(venue.components)} />{" "}
        <span class="minor">
          for <Elapsed from={venue.since} now={now} />
        </span>
      </p>
      <p class="chart of-days">
        <a href={`${path}#days`}>
          <DayBars days={venue.days} />
        </a>
      </p>
      <Uptime venue={venue} />
      <p class="chart">
        <Sparkline values={venue.sparkline.map(({ p50Ms }) => p50Ms)} />
      </p>
      <p>{venue.typicalMs !== null && `typically ${msText(venue.typicalMs)}`}</p>
    </li>
  );
}

/** Uptime never without how much of the time it is known for. */
function Uptime({ venue }: { venue: Board["venues"][number] }) {
  const { uptimePct90d, uptimePctLow, uptimePctHigh, coveragePct } = venue;
  // rounding alone sets the bounds of a complete measurement apart
  const isComplete = coveragePct === 100;
  return (
    <p>
      {uptimePct90d === null ? "Uptime unknown" : <b>{percentText(uptimePct90d)}</b>}{" "}
      {uptimePctLow !== null && !isComplete && (
        <span class="minor">{`${uptimePctLow}–${percentText(uptimePctHigh!)}`}</span>
      )}{" "}
      <span class="minor">{coveragePct === null ? "not measured" : `${percentText(coveragePct)} measured`}</span>
    </p>
  );
}
