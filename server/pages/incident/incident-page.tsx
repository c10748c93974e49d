/** `/incidents/{slug}`: the page that an alert opens. What happened first, then how we know. */
import type { Registry } from "../../../shared/registry/registry.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { isolated } from "../parts/isolated.js";
import { Sign } from "../parts/sign.js";
import { incidentPageWords } from "../words.js";
import { ErrorTable } from "./error-table.js";
import { Evidence } from "./evidence.js";
import type { IncidentDetail } from "./incident-detail.js";
import { IncidentFacts } from "./incident-facts.js";
import { IncidentSentence, titleOf } from "./incident-sentence.js";
import { LatencyTable } from "./latency-table.js";
import { OfficialWords } from "./official-words.js";
import { Recompute } from "./recompute.js";
import { RelatedIncidents } from "./related-incidents.js";
import { Timeline } from "./timeline.js";

export interface IncidentPageProps {
  detail: IncidentDetail;
  registry: Registry;
}

export function incidentPage({ detail, registry }: IncidentPageProps): PageProps {
  const age = ageText(detail);
  const { incident, generatedAt } = detail;
  const { slug, severity, status } = incident;
  const state = age === null ? severity : "unknown";
  const json = `/v1/incidents/${slug}`;
  const regionNames = new Map(registry.regions.map(({ id, name }) => [id, name]));
  return {
    ...{ title: titleOf(detail), icon: state, section: "incidents", json, generatedAt, age },
    refreshS: status === "open" ? 15 : null,
    children: (
      <>
        <h1 class="headline">
          <Sign state={state} />
          <span>
            <IncidentSentence detail={detail} />
          </span>
        </h1>
        {detail.note !== null && <p>{isolated(detail.note)}</p>}
        <IncidentFacts detail={detail} regionNames={regionNames} />
        <h2 id="timeline">{incidentPageWords.timeline}</h2>
        <Timeline detail={detail} />
        <h2 id="evidence">{incidentPageWords.evidence}</h2>
        <Evidence detail={detail} regionNames={regionNames} />
        <h2 id="errors">{incidentPageWords.errors}</h2>
        <ErrorTable errors={detail.errors} regionNames={regionNames} />
        <h2 id="latency">{incidentPageWords.latency}</h2>
        <LatencyTable latency={detail.latency} regionNames={regionNames} />
        <h2 id="official">{incidentPageWords.official}</h2>
        <OfficialWords detail={detail} />
        <h2 id="related">{incidentPageWords.related}</h2>
        <RelatedIncidents detail={detail} registry={registry} />
        <h2 id="checking">{incidentPageWords.checking}</h2>
        <Recompute detail={detail} />
      </>
    ),
  };
}
