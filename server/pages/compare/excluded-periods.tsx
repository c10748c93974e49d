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
      <h2 id="excluded">What does not count</h2>
      <p>
        {excluded.length === 0
          ? "Every measured minute of every region counts: no region was impaired."
          : excludedSumText(excluded.length, counted(minutes, "minute"))}
      </p>
      <ul>
        {excluded.slice(0, mostPeriods).map(({ region, from, to, minutes, reason, venues: ids }) => (
          <li key={`${region} ${from}`}>
            <a href={`/regions#${region}`}>{isolated(regionNames.get(region) ?? region)}</a> was left out for{" "}
            {counted(minutes, "minute")}, from <Instant at={from} now={generatedAt} /> until{" "}
            {to === null ? "now, and it still lasts" : <Instant at={to} now={generatedAt} />}.{" "}
            {compareWords.reasons[reason] ?? reason}.{" "}
            {`Recognised by ${nameList(ids.map((id) => names.get(id) ?? id))}.`}
          </li>
        ))}
      </ul>
      {excluded.length > mostPeriods && <p>{olderExcludedText(excluded.length - mostPeriods)}</p>}
    </section>
  );
}

function excludedSumText(count: number, minutes: string): string {
  return `${count === 1 ? "One period is" : `${count} periods are`} left out of all figures above, ${minutes} in all. In them a region had trouble of its own, so what it saw counts against no venue.`;
}

function olderExcludedText(count: number): string {
  return `${count} older ${count === 1 ? "period is" : "periods are"} listed in the JSON of this page.`;
}
