/** `/incidents/{slug}`: the page that an alert opens. What happened first, then how we know. */
import type { Registry } from "../../../shared/registry/registry.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { isolated } from "../parts/isolated.js";
import { Sign } from "../parts/sign.js";

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
        <h2 id="timeline">What happened when</h2>
        <Timeline detail={detail} />
        <h2 id="evidence">Why we decided so</h2>
        <Evidence detail={detail} regionNames={regionNames} />
        <h2 id="errors">Failed samples during the incident</h2>
        <ErrorTable errors={detail.errors} regionNames={regionNames} />
        <h2 id="latency">Latency before and during the incident</h2>
        <LatencyTable latency={detail.latency} regionNames={regionNames} />
        <h2 id="official">What the venue says</h2>
        <OfficialWords detail={detail} />
        <h2 id="related">Related incidents</h2>
        <RelatedIncidents detail={detail} registry={registry} />
        <h2 id="checking">How to check this yourself</h2>
        <Recompute detail={detail} />
      </>
    ),
  };
}
