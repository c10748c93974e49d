import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { IncidentList } from "../parts/incident-list.js";

import type { IncidentDetail } from "./incident-detail.js";

/** Other incidents of the venue at that time, of the same component, and of other venues at that time. */
export function RelatedIncidents({ detail, registry }: { detail: IncidentDetail; registry: Registry }) {
  const { incident, related, generatedAt: now } = detail;
  const names = new Map(watchedVenues(registry).map(({ id, name }) => [id, name]));
  const ofComponent = related.filter(
    ({ venue, component }) => venue === incident.venue && component === incident.component,
  );
  const ofVenue = related.filter((other) => other.venue === incident.venue && !ofComponent.includes(other));
  const elsewhere = related.filter(({ venue }) => venue !== incident.venue);
  const groups = [
    ["The same venue, around that time", ofVenue],
    ["The same component, within ninety days", ofComponent],
    ["Other venues, at the same time", elsewhere],
  ] as const;
  return (
    <>
      {related.length === 0 && (
        <p>None: the venue had no other incident within six hours, nor any other venue within ten minutes.</p>
      )}
      {groups.map(
        ([heading, incidents]) =>
          incidents.length > 0 && (
            <section key={heading}>
              <h3>{heading}</h3>
              <IncidentList incidents={incidents} names={names} now={now} />
            </section>
          ),
      )}
      <p>
        <a href={`/incidents?venue=${incident.venue}`}>All incidents of this venue</a>
      </p>
    </>
  );
}
