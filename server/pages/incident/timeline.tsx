import { offsetText } from "../format.js";
import { ExactInstant } from "../parts/instant.js";
import { StateWord } from "../parts/sign.js";
import { incidentPageWords } from "../words.js";
import type { IncidentDetail } from "./incident-detail.js";

/** What happened, in its order, with the time since the start. */
export function Timeline({ detail: { incident, events } }: { detail: IncidentDetail }) {
  return (
    <ol>
      {events.map(({ kind, at, severity }) => (
        <li key={kind}>
          <ExactInstant at={at} /> <b>{incidentPageWords.events[kind]}</b>
          {severity !== null && (
            <>
              : <StateWord state={severity} />
            </>
          )}{" "}
          <span class="minor">
            {kind !== "started" && incidentPageWords.afterStart(offsetText(shownMs(at) - shownMs(incident.startedAt)))}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Whole seconds, as shown: readers subtract what they see. */
function shownMs(at: string): number {
  return Math.floor(Date.parse(at) / 1_000) * 1_000;
}
