/** `/regions`: where we measure from, and whether each place can be relied on. */
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { nameList } from "../parts/name-list.js";
import { healthOf, type Regions, type RegionSummary } from "../parts/region-health.js";
import { type State } from "../words.js";
import { RegionSection } from "./region-section.js";

export interface RegionsPageProps {
  regions: Regions;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
}

export function regionsPage({ regions, names }: RegionsPageProps): PageProps {
  const age = ageText(regions);
  const { generatedAt } = regions;
  const title = `Regions: ${headlineOf(regions)}`.replace(/\.$/, "");
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
  const sentences = [headlineText(reporting.length, regions.length)];
  if (impaired.length > 0) sentences.push(`Impaired: ${namesOf(impaired)}.`);
  if (silent.length > 0 && reporting.length > 0) sentences.push(`Silent: ${namesOf(silent)}.`);
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
      <p>
        {votes >= quorum
          ? `${quorum} of the ${votes} regions that have a vote now must agree before we call a venue degraded or down.`
          : noQuorumText(quorum, votes)}
      </p>
      {reporting > 0 && (
        <p>
          {vantages < reporting
            ? oneVantageText(vantages, reporting)
            : "Each region that reports now runs on a machine of its own, as far as its probes have named it."}
        </p>
      )}
    </>
  );
}

function Method() {
  return (
    <section aria-labelledby="method">
      <h2 id="method">When a region has no vote</h2>
      <p>
        A region that sent nothing in the last minute has no vote. A region is impaired when most venues turn bad there
        at once and in no other region whose own network works. It keeps measuring, but its votes are not counted, and
        what it saw counts against no venue.
      </p>
      <p>
        <a href="/rulebook">How a verdict is reached</a>
      </p>
    </section>
  );
}

function headlineText(reporting: number, of: number): string {
  return of === 0
    ? "There are no regions."
    : `${reporting === 0 ? "None" : reporting} of ${of} ${of === 1 ? "region" : "regions"} ${reporting === 1 ? "reports" : "report"}.`;
}

function oneVantageText(vantages: number, reporting: number): string {
  return `Regions whose probes all run on one machine are one vantage. The ${reporting} regions that report now are ${vantages} ${vantages === 1 ? "vantage: trouble of its network may look like trouble of venues" : "vantages"}.`;
}

function noQuorumText(quorum: number, votes: number): string {
  return `${votes === 0 ? "No region has" : `Only ${votes} ${votes === 1 ? "region has" : "regions have"}`} a vote now, and ${quorum} must agree. So the state of every venue is unknown.`;
}
