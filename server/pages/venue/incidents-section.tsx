import { isolated } from "../parts/isolated.js";
import { IncidentList } from "../parts/incident-list.js";

import { patternText } from "./pattern-text.js";
import type { VenueDetail } from "./venue-view.js";

/** As many incidents as fit beside the rest of the page; /incidents has all. */
const mostShown = 10;

export interface IncidentsSectionProps {
  detail: VenueDetail;
  /** Names of components by id, isolated. */
  labels: ReadonlyMap<string, string>;
  now: string;
}

export function IncidentsSection({ detail, labels, now }: IncidentsSectionProps) {
  const { exchange, incidents, incidentPatterns } = detail;
  const repeated = incidentPatterns.filter(({ count }) => count > 1);
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">Incidents</h2>
      {incidents.length === 0 ? (
        <p>No incident of this venue is on record.</p>
      ) : (
        <>
          <IncidentList
            {...{ names: new Map([[exchange.id, exchange.name]]), now }}
            incidents={incidents.slice(0, mostShown)}
          />
          <p>
            <a href={`/incidents?venue=${exchange.id}`}>All incidents of {isolated(exchange.name)}</a>
          </p>
        </>
      )}
      {repeated.length > 0 && (
        <>
          <h3>When incidents recur</h3>
          <ul class="incidents">
            {repeated.map((pattern) => (
              <li key={`${pattern.component} ${pattern.severity}`}>
                {patternText(pattern, labels.get(pattern.component) ?? pattern.component)}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
