import type { RequestHandler } from "express";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import { choice, parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import { regionsResponse } from "../board/regions.js";
import { type Boards, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { answerOf } from "./answer.js";
import { type Board, headlineOf } from "./board-headline.js";
import {
  boardOf,
  boardParameters,
  type Filter,
  labelsOf,
  ofOwnBoard,
  quietText,
  selectedVenues,
  selectionText,
  withoutEmpty,
} from "./board.js";
import { editionFor } from "./edition.js";
import { ageText, maintenanceText } from "./format.js";
import { plural, t } from "./language.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Elapsed, ExactInstant, Headline, healthOf, type Regions, Sign } from "./parts.js";
import { commonFault, isTrouble, lookOf } from "./states.js";
import { recoveringWord, type TroubleCardsProps, troubledVenues } from "./trouble-cards.js";
import { boardWords } from "./words.js";

/** As the board's, but trouble comes first unless the address says otherwise. */
function wallParameters(registry: Registry) {
  const usual = boardParameters(registry);
  return { ...usual, sort: choice(usual.sort.description, ["category", "worst"], "worst") };
}

export function wallRoute(registry: Registry, boards: Boards, rendered: Rendered): RequestHandler {
  const read = parameterReader(wallParameters(registry));
  const labelOf = labelsOf(registry);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const page = () =>
      wallPage({
        ...{ board: boardOf(dataOf(statusResponse, status!), filter), filter, labelOf },
        regions: dataOf(regionsResponse, regions!),
      });
    const body = rendered(`wall ${JSON.stringify(filter)}`, [status, regions], page, editionFor(request));
    await answerPage(response, body);
  };
}

// `/wall`: the board for a screen on a wall, to be read from across a room.

export interface WallPageProps {
  board: Board;
  regions: Regions;
  filter: Filter;
  labelOf: TroubleCardsProps["labelOf"];
}

function wallPage({ board, regions, filter, labelOf }: WallPageProps): PageProps {
  const age = ageText(board);
  const { state, answer, title } = headlineOf(board, filter.category);
  const venues = inOrder(board, filter);
  const { generatedAt, decidedAt } = board;
  return {
    // the instant stands at the top, where no number of venues moves it out of sight
    ...{ title: t`Wall: ${ofOwnBoard(board, filter, title)}`, icon: state, section: "wall", json: null },
    ...{ generatedAt: null, decidedAt, age, description: answer, path: `/wall${selectionText(filter)}` },
    ...{ refreshS: 15, bare: true, styles: ["wall.css"] },
    children: (
      <>
        <div class="line">
          <p class="as-of">{t`As of ${(<ExactInstant at={decidedAt ?? generatedAt} />)}`}</p>
          <WallRegions regions={regions} />
        </div>
        <Headline {...{ state, age, answer }} />
        <WallTroubles {...{ board, filter, labelOf }} />
        {venues.length === 0 && board.venues.length > 0 && <p>{boardWords.nothingFound}</p>}
        <ul class={`wall columns-${columnsOf(venues)}`}>
          {venues.map((venue) => (
            <WallTile key={venue.id} venue={venue} now={generatedAt} />
          ))}
        </ul>
      </>
    ),
  };
}

function inOrder(board: Board, filter: Filter): Board["venues"] {
  const venues = selectedVenues(board, filter);
  if (filter.sort === "worst") return venues;
  return categories.flatMap((name) => venues.filter(({ category }) => category === name));
}

/** Those that `wall.css` knows: no element of a page may have a style of its own, which could hold any number. */
const columnCounts = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 26];

/** A screen is about twice as wide as high, and a tile four times: long names then have room on two lines. */
const columnsPerRow = 1 / 2;

/** How many columns fill a wide screen; a tile with trouble takes the room of four. */
function columnsOf(venues: Board["venues"]): number {
  const tiles = venues.reduce((sum, { state }) => sum + (isTrouble(state) ? 4 : 1), 0);
  const wanted = Math.sqrt(tiles * columnsPerRow);
  return columnCounts.find((count) => count >= wanted) ?? columnCounts.at(-1)!;
}

/** One venue, as large as fits. */
function WallTile({ venue, now }: { venue: Board["venues"][number]; now: string }) {
  const { id, name, since, activeIncidents } = venue;
  const { state, word } = lookOf(venue.state, commonFault(venue.components));
  return (
    <li class={`tile of-${state}`} data-key={`venue-${id}`}>
      <Sign state={state} />
      <h2>
        <a href={`/venues/${id}`}>
          <bdi>{name}</bdi>
        </a>
      </h2>
      <p>
        <b>{word}</b> {t`for ${(<Elapsed from={since} now={now} />)}`}
        {activeIncidents > 0 && `, ${plural(activeIncidents, "{0} open incident", "{0} open incidents")}`}
        {venue.maintenance !== null && <span class="minor">; {maintenanceText(venue.maintenance, now)}</span>}
      </p>
    </li>
  );
}

/** A line has room for as many; the tiles show that there are more. */
const mostTroubled = 3;

/** The venues in trouble in one line, the worst first, each by its own state: that of a component may be another. */
function WallTroubles({ board, filter, labelOf }: Omit<WallPageProps, "regions">) {
  const troubled = troubledVenues(board);
  if (troubled.length === 0) return <p>{quietText(board, filter)}</p>;
  return (
    <ul class="line">
      {troubled.slice(0, mostTroubled).map(({ venue }) => (
        <WallTrouble key={venue.id} {...{ venue, labelOf }} now={board.generatedAt} />
      ))}
      {troubled.length > mostTroubled && (
        <li>
          <a href="/">{t`and ${troubled.length - mostTroubled} more`}</a>
        </li>
      )}
    </ul>
  );
}

interface WallTroubleProps extends Pick<WallPageProps, "labelOf"> {
  venue: Board["venues"][number];
  now: string;
}

/** `OKX degraded: Ticker down, in 2 of 3 regions, for 2 min` */
function WallTrouble({ venue, labelOf, now }: WallTroubleProps) {
  const { id, name, since } = venue;
  const { state, word } = lookOf(venue.state, commonFault(venue.components));
  const { what, where } = answerOf(venue, { now, labelOf: (component) => labelOf(id, component) });
  const details = [what, where].filter((part) => part !== null);
  return (
    <li data-key={`trouble-${id}`}>
      <Sign state={state} />{" "}
      <a href={`/venues/${id}`}>
        <bdi>{name}</bdi>
      </a>{" "}
      <b>{uncapitalised(recoveringWord(venue) ?? word)}</b>
      {details.length > 0 && `: ${details.join(", ")}`}, {t`for ${(<Elapsed from={since} now={now} />)}`}
    </li>
  );
}

function uncapitalised(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Where we measure from, in one line. */
function WallRegions({ regions: { regions } }: { regions: Regions }) {
  return (
    <ul class="line">
      {regions.map((region) => {
        const [state, word] = healthOf(region);
        return (
          <li key={region.id}>
            <Sign state={state} ours /> <bdi>{region.name}</bdi> {word}
          </li>
        );
      })}
    </ul>
  );
}
