/** `/wall`: the board for a screen on a wall, to be read from across a room. */
import { categories } from "../../../shared/registry/registry.js";
import { type Filter, selectedVenues } from "../board/filter.js";
import { type Board, headlineOf } from "../board/board-headline.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { Headline } from "../parts/headline.js";
import type { Regions } from "../parts/region-health.js";
import { boardWords } from "../words.js";
import { WallIncidents } from "./wall-incidents.js";
import { WallRegions } from "./wall-regions.js";
import { WallTile } from "./wall-tile.js";

export interface WallPageProps {
  board: Board;
  regions: Regions;
  filter: Filter;
}

export function wallPage({ board, regions, filter }: WallPageProps): PageProps {
  const age = ageText(board);
  const { state, answer, title } = headlineOf(board, filter.category);
  const venues = inOrder(board, filter);
  const { generatedAt } = board;
  const { activeIncidents } = board.summary;
  return {
    ...{ title: `Wall: ${title}`, icon: state, section: "wall", json: null, generatedAt, age },
    ...{ refreshS: 15, bare: true },
    children: (
      <>
        <Headline
          {...{ state, age }}
          answer={[
            answer,
            ...(activeIncidents > 0
              ? [`${activeIncidents} open ${activeIncidents === 1 ? "incident" : "incidents"}.`]
              : []),
          ].join(" ")}
        />
        <WallIncidents board={board} filter={filter} />
        {venues.length === 0 && board.venues.length > 0 && <p>{boardWords.nothingFound}</p>}
        <ul class="wall">
          {venues.map((venue) => (
            <WallTile key={venue.id} venue={venue} now={generatedAt} />
          ))}
        </ul>
        <WallRegions regions={regions} />
      </>
    ),
  };
}

function inOrder(board: Board, filter: Filter): Board["venues"] {
  const venues = selectedVenues(board, filter);
  if (filter.sort === "worst") return venues;
  return categories.flatMap((name) => venues.filter(({ category }) => category === name));
}
