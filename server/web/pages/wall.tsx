import type { RequestHandler } from "express";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import { choice, parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import { regionsResponse } from "../board/regions.js";
import { type Boards, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { type Board, headlineOf } from "./board-headline.js";
import {
  boardOf,
  boardParameters,
  type Filter,
  noIncidentText,
  ofOwnBoard,
  selectedVenues,
  selectionText,
  withoutEmpty,
} from "./board.js";
import { isolated, ageText } from "./format.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { AnnouncedNow, Elapsed, ExactInstant, Headline, healthOf, type Regions, Sign, StateWord } from "./parts.js";
import { commonFault, isTrouble, lookOf } from "./states.js";
import { boardWords } from "./words.js";

/** As the board's, but trouble comes first unless the address says otherwise. */
function wallParameters(registry: Registry) {
  const usual = boardParameters(registry);
  return { ...usual, sort: choice(usual.sort.description, ["category", "worst"], "worst") };
}

export function wallRoute(registry: Registry, boards: Boards, rendered: Rendered): RequestHandler {
  const read = parameterReader(wallParameters(registry));
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const body = rendered(`wall ${JSON.stringify(filter)}`, [status, regions], () =>
      wallPage({
        ...{ board: boardOf(dataOf(statusResponse, status!), filter), filter },
        regions: dataOf(regionsResponse, regions!),
      }),
    );
    await answerPage(response, body);
  };
}

// `/wall`: the board for a screen on a wall, to be read from across a room.

export interface WallPageProps {
  board: Board;
  regions: Regions;
  filter: Filter;
}

function wallPage({ board, regions, filter }: WallPageProps): PageProps {
  const age = ageText(board);
  const { state, answer, title } = headlineOf(board, filter.category);
  const venues = inOrder(board, filter);
  const { generatedAt } = board;
  const { activeIncidents } = board.summary;
  return {
    // the instant stands at the top, where no number of venues moves it out of sight
    ...{ title: `Wall: ${ofOwnBoard(board, filter, title)}`, icon: state, section: "wall", json: null },
    ...{ generatedAt: null, age, description: answer, path: `/wall${selectionText(filter)}` },
    ...{ refreshS: 15, bare: true, styles: ["wall.css"] },
    children: (
      <>
        <div class="line">
          <p class="as-of">
            As of <ExactInstant at={generatedAt} />
          </p>
          <WallRegions regions={regions} />
        </div>
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

/** Those that `wall.css` knows: a page has no style of its own, which could hold any number. */
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
        <b>{word}</b> for <Elapsed from={since} now={now} />
        {activeIncidents > 0 && `, ${activeIncidents} open ${activeIncidents === 1 ? "incident" : "incidents"}`}
        <AnnouncedNow maintenance={venue.maintenance} now={now} />
      </p>
    </li>
  );
}

/** A line has room for as many; the tiles show that there are more. */
const mostIncidents = 3;

/** The worst open incident of each venue in one line, outages first. */
function WallIncidents({ board, filter }: { board: Board; filter: Filter }) {
  const { incidents, venues, generatedAt } = board;
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  const open = incidents
    .filter(({ status }) => status === "open")
    .sort((a, b) => Number(b.severity === "outage") - Number(a.severity === "outage"));
  const shown = open
    .filter(({ venue }, at) => open.findIndex((other) => other.venue === venue) === at)
    .slice(0, mostIncidents);
  if (open.length === 0) return <p>{noIncidentText(filter)}</p>;
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

/** Where we measure from, in one line. */
function WallRegions({ regions: { regions } }: { regions: Regions }) {
  return (
    <ul class="line">
      {regions.map((region) => {
        const [state, word] = healthOf(region);
        return (
          <li key={region.id}>
            <Sign state={state} /> <bdi>{region.name}</bdi> {word}
          </li>
        );
      })}
    </ul>
  );
}
