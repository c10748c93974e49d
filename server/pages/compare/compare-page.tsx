/** `/compare`: how reliable the venues were, ranked no further than the measurements separate them. */
import type { Category } from "../../../shared/registry/registry.js";
import { isolated } from "../parts/isolated.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { WindowForm } from "../parts/window-form.js";
import { compareWords, windowWords } from "../words.js";
import { ExcludedPeriods } from "./excluded-periods.js";
import { Leaderboard } from "./leaderboard.js";
import { type RankGroup, rankGroups, type ReliabilityData } from "./rank-groups.js";

export interface ComparePageProps {
  reliability: ReliabilityData;
  /** By id. */
  regionNames: ReadonlyMap<string, string>;
  category: Category | null;
}

export function comparePage({ reliability, regionNames, category }: ComparePageProps): PageProps {
  const age = ageText(reliability);
  const { days, venues, generatedAt } = reliability;
  const groups = rankGroups(reliability);
  const selection = `?days=${days}${category === null ? "" : `&category=${category}`}`;
  const json = `/v1/reliability${selection}`;
  return {
    ...{ title: compareWords.title(days), icon: "unknown", section: "compare", json, generatedAt, age, refreshS: 60 },
    children: (
      <>
        <h1>{leadOf(groups, venues.length, windowWords.during(days))}</h1>
        <WindowForm path="/compare" days={days} category={category} />
        <p>
          {compareWords.intro} {compareWords.days}
        </p>
        {venues.length > 0 && <Leaderboard data={reliability} groups={groups} />}
        <ExcludedPeriods data={reliability} regionNames={regionNames} />
        <More selection={selection} />
      </>
    ),
  };
}

function leadOf([first]: readonly RankGroup[], venues: number, during: string): string {
  if (!first) return compareWords.noVenues;
  const { rank, rows } = first;
  if (rank === null) return compareWords.noneRanked(during);
  return rows.length === 1
    ? compareWords.alone(isolated(rows[0]!.name), rank, during)
    : compareWords.shared(rows.length, venues, rank, during);
}

function More({ selection }: { selection: string }) {
  const links = [
    [`/v1/reliability${selection}`, compareWords.json],
    [`/v1/reliability.csv${selection}`, compareWords.csv],
    [`/v1/reliability.xlsx${selection}`, compareWords.xlsx],
    ["/methodology", compareWords.methodology],
  ] as const;
  return (
    <section aria-labelledby="more">
      <h2 id="more">{compareWords.more}</h2>
      <ul>
        {links.map(([path, text]) => (
          <li key={path}>
            <a href={path}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
