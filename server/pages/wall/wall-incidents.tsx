import type { Board } from "../board/board-headline.js";
import { isolated } from "../parts/isolated.js";
import type { Filter } from "../board/filter.js";
import { Elapsed } from "../parts/instant.js";
import { StateWord } from "../parts/sign.js";
import { boardWords } from "../words.js";

/** A line has room for as many; the tiles show that there are more. */
const mostIncidents = 3;

/** The worst open incident of each venue in one line, outages first. */
export function WallIncidents({ board, filter }: { board: Board; filter: Filter }) {
  const { incidents, venues, generatedAt } = board;
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  const open = incidents
    .filter(({ status }) => status === "open")
    .sort((a, b) => Number(b.severity === "outage") - Number(a.severity === "outage"));
  const shown = open
    .filter(({ venue }, at) => open.findIndex((other) => other.venue === venue) === at)
    .slice(0, mostIncidents);
  if (open.length === 0)
    return <p>{filter.category === null ? boardWords.noOpenIncidents : boardWords.noneOpenHere}</p>;
  return (
    <ul class="line">
      {shown.map(({ slug, venue, label, severity, fault, startedAt }) => (
        <li key={slug} data-key={slug}>
          <StateWord state={severity} fault={fault} />{" "}
          <a href={`/incidents/${slug}`}>
            {isolated(names.get(venue) ?? venue)}: {isolated(label)}
          </a>{" "}
          for <Elapsed from={startedAt} now={generatedAt} />
        </li>
      ))}
      {open.length > shown.length && (
        <li>
          <a href="/incidents?status=open">and {open.length - shown.length} more</a>
        </li>
      )}
    </ul>
  );
}
