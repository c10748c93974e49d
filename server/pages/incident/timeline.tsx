import { offsetText } from "../format.js";
import { ExactInstant } from "../parts/instant.js";
import { StateWord } from "../parts/sign.js";

import type { IncidentDetail } from "./incident-detail.js";

const eventNames = {
  started: "Trouble began",
  opened: "We opened the incident",
  escalated: "It became an outage",
  "last-bad": "Enough regions saw the trouble for the last time",
  closed: "We closed the incident",
};

/** What happened, in its order, with the time since the start. */
export function Timeline({ detail: { incident, events } }: { detail: IncidentDetail }) {
  return (
    <ol>
      {events.map(({ kind, at, severity }) => (
        <li key={kind}>
          <ExactInstant at={at} /> <b>{eventNames[kind]}</b>
          {severity !== null && (
            <>
              : <StateWord state={severity} />
            </>
          )}{" "}
          <span class="minor">
            {kind !== "started" && `${offsetText(shownMs(at) - shownMs(incident.startedAt))} after the beginning`}
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
