/** `/regions`: where we measure from, and whether each place can be relied on. */
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { nameList } from "../parts/name-list.js";
import { healthOf, type Regions, type RegionSummary } from "../parts/region-health.js";
import { regionsWords, type State } from "../words.js";
import { RegionSection } from "./region-section.js";

export interface RegionsPageProps {
  regions: Regions;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
}

export function regionsPage({ regions, names }: RegionsPageProps): PageProps {
  const age = ageText(regions);
  const { generatedAt } = regions;
  const title = `${regionsWords.title}: ${headlineOf(regions)}`.replace(/\.$/, "");
  return {
    ...{ title, icon: healthOfAll(regions), section: "regions", json: "/v1/regions", generatedAt, age, refreshS: 15 },
    children: (
      <>
        <h1>{headlineOf(regions)}</h1>
        <Together regions={regions} />
        {regions.regions.map((region) => (
          <RegionSection key={region.id} region={region} all={regions} names={names} />
        ))}
        <Method />
      </>
    ),
  };
}

function headlineOf({ regions }: Regions): string {
  const reporting = regions.filter(({ reporting }) => reporting);
  const silent = regions.filter(({ reporting }) => !reporting);
  const impaired = regions.filter(({ impaired }) => impaired !== null);
  const sentences = [regionsWords.headline(reporting.length, regions.length)];
  if (impaired.length > 0) sentences.push(regionsWords.impaired(namesOf(impaired)));
  if (silent.length > 0 && reporting.length > 0) sentences.push(regionsWords.silent(namesOf(silent)));
  return sentences.join(" ");
}

function namesOf(regions: readonly RegionSummary[]): string {
  return nameList(regions.map(({ name }) => name));
}

function healthOfAll({ regions }: Regions): State {
  if (!regions.some(({ reporting }) => reporting)) return "unknown";
  return regions.every((region) => healthOf(region)[0] === "operational") ? "operational" : "degraded";
}

/** How many must agree, and whether they are independent. */
function Together({ regions: { regions, quorum, vantages } }: { regions: Regions }) {
  const reporting = regions.filter(({ reporting }) => reporting).length;
  const votes = regions.filter(({ reporting, impaired }) => reporting && impaired === null).length;
  return (
    <>
      <p>{votes >= quorum ? regionsWords.quorum(quorum, votes) : regionsWords.noQuorum(quorum, votes)}</p>
      {reporting > 0 && (
        <p>{vantages < reporting ? regionsWords.oneVantage(vantages, reporting) : regionsWords.allApart}</p>
      )}
    </>
  );
}

function Method() {
  return (
    <section aria-labelledby="method">
      <h2 id="method">{regionsWords.method}</h2>
      <p>
        {regionsWords.silence} {regionsWords.impairment}
      </p>
      <p>
        <a href="/rulebook">{regionsWords.rulebook}</a>
      </p>
    </section>
  );
}
