import type { PublishedIncident } from "../board/board-headline.js";
import { isolated } from "./isolated.js";
import { durationText } from "../format.js";
import { boardWords } from "../words.js";
import { Elapsed, Instant } from "./instant.js";
import { StateWord } from "./sign.js";

export interface IncidentListProps {
  incidents: readonly PublishedIncident[];
  /** Of an incident's venue, by its slug; they are only named. */
  others?: ReadonlyMap<string, readonly PublishedIncident[]>;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
  now: string;
}

/** Incidents with what, where, since when, and what the venue says. */
export function IncidentList({ incidents, others, names, now }: IncidentListProps) {
  return (
    <ul class="incidents">
      {incidents.map((incident) => (
        <li key={incident.slug} data-key={incident.slug}>
          <StateWord state={incident.severity} fault={incident.fault} />{" "}
          <a href={`/incidents/${incident.slug}`}>
            {isolated(names.get(incident.venue) ?? incident.venue)}: {isolated(incident.label)}
          </a>{" "}
          <span class="minor">
            {incident.regions.length > 0 && `${boardWords.seenBy(incident.regions.length, incident.counted)}, `}
            began <Instant at={incident.startedAt} now={now} />,{" "}
            {incident.durationSeconds === null ? (
              <>
                open for <Elapsed from={incident.startedAt} now={now} />
              </>
            ) : (
              `lasted ${durationText(incident.durationSeconds * 1000)}`
            )}
            . {venueSays(incident)} <Others incidents={others?.get(incident.slug) ?? []} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Others({ incidents }: { incidents: readonly PublishedIncident[] }) {
  if (incidents.length === 0) return null;
  return (
    <>
      Also:{" "}
      {incidents.map(({ slug, label }, at) => (
        <>
          {at > 0 && ", "}
          <a href={`/incidents/${slug}`}>{isolated(label)}</a>
        </>
      ))}
      .
    </>
  );
}

/** Whether the venue has said anything; silence means something only where we could have heard it. */
function venueSays({ official, officialObserved }: PublishedIncident): string {
  if (official !== null) return `The venue's notice nearest in time: ${isolated(official.title)}.`;
  if (officialObserved === null) return "The venue has no status feed that we can read.";
  return officialObserved ? "The venue's feed has no notice of it." : "We could not read what the venue says.";
}
