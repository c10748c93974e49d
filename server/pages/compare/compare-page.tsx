/** `/compare`: how reliable the venues were, ranked no further than the measurements separate them. */
import type { Category } from "../../../shared/registry/registry.js";
import { isolated } from "../parts/isolated.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { WindowForm } from "../parts/window-form.js";
import { windowWords } from "../words.js";
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
    ...{
      title: `Venues compared ${windowWords.during(days)}`,
      icon: "unknown",
      section: "compare",
      json,
      generatedAt,
      age,
      refreshS: 60,
    },
    children: (
      <>
        <h1>{leadOf(groups, venues.length, windowWords.during(days))}</h1>
        <WindowForm path="/compare" days={days} category={category} />
        <p>
          Uptime is the share of the measured minutes in which a venue was not down. Nobody knows what happened in the
          other minutes. So the bounds give the uptime of all scheduled minutes as if every unmeasured minute had been
          down, and as if none had. A venue ranks below those whose lower bound is above its upper bound: they were more
          available, whatever happened in the unmeasured minutes. All days are UTC days, and the present day counts
          until a few minutes ago.
        </p>
        {venues.length > 0 && <Leaderboard data={reliability} groups={groups} />}
        <ExcludedPeriods data={reliability} regionNames={regionNames} />
        <More selection={selection} />
      </>
    ),
  };
}

function leadOf([first]: readonly RankGroup[], venues: number, during: string): string {
  if (!first) return "No venue of this selection is measured yet.";
  const { rank, rows } = first;
  if (rank === null) return `No venue was measured enough ${during} to be ranked.`;
  return rows.length === 1
    ? `${isolated(rows[0]!.name)} alone has rank ${rank} ${during}.`
    : `${rows.length === venues ? "All" : `${rows.length} of`} ${venues} venues share rank ${rank} ${during}: the measurements do not separate them.`;
}

function More({ selection }: { selection: string }) {
  const links = [
    [`/v1/reliability${selection}`, "As JSON"],
    [`/v1/reliability.csv${selection}`, "As CSV"],
    [`/v1/reliability.xlsx${selection}`, "As a workbook for spreadsheets (XLSX)"],
    ["/methodology", "How this is measured"],
  ] as const;
  return (
    <section aria-labelledby="more">
      <h2 id="more">The same figures, and how they are made</h2>
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
