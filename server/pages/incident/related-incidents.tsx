import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { IncidentList } from "../parts/incident-list.js";
import { incidentPageWords } from "../words.js";
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
    [incidentPageWords.ofVenue, ofVenue],
    [incidentPageWords.ofComponent, ofComponent],
    [incidentPageWords.elsewhere, elsewhere],
  ] as const;
  return (
    <>
      {related.length === 0 && <p>{incidentPageWords.noRelated}</p>}
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
        <a href={`/incidents?venue=${incident.venue}`}>{incidentPageWords.allOfVenue}</a>
      </p>
    </>
  );
}
