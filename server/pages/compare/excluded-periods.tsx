import { counted } from "../format.js";
import { Instant } from "../parts/instant.js";
import { isolated } from "../parts/isolated.js";
import { nameList } from "../parts/name-list.js";
import { compareWords } from "../words.js";
import type { ReliabilityData } from "./rank-groups.js";

export interface ExcludedPeriodsProps {
  data: ReliabilityData;
  /** By id. */
  regionNames: ReadonlyMap<string, string>;
}

/** A page lists as many; the JSON has all. */
const mostPeriods = 20;

/** What was left out of the window, and why. */
export function ExcludedPeriods({ data, regionNames }: ExcludedPeriodsProps) {
  const { excluded, venues, generatedAt } = data;
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  const minutes = excluded.reduce((sum, { minutes }) => sum + minutes, 0);
  return (
    <section aria-labelledby="excluded">
      <h2 id="excluded">{compareWords.excluded}</h2>
      <p>
        {excluded.length === 0
          ? compareWords.nothingExcluded
          : compareWords.excludedSum(excluded.length, counted(minutes, "minute"))}
      </p>
      <ul>
        {excluded.slice(0, mostPeriods).map(({ region, from, to, minutes, reason, venues: ids }) => (
          <li key={`${region} ${from}`}>
            <a href={`/regions#${region}`}>{isolated(regionNames.get(region) ?? region)}</a>{" "}
            {compareWords.excludedFor(counted(minutes, "minute"))}, {compareWords.from}{" "}
            <Instant at={from} now={generatedAt} /> {compareWords.until}{" "}
            {to === null ? compareWords.now : <Instant at={to} now={generatedAt} />}.{" "}
            {compareWords.reasons[reason] ?? reason}.{" "}
            {compareWords.recognisedBy(nameList(ids.map((id) => names.get(id) ?? id)))}
          </li>
        ))}
      </ul>
      {excluded.length > mostPeriods && <p>{compareWords.olderExcluded(excluded.length - mostPeriods)}</p>}
    </section>
  );
}
