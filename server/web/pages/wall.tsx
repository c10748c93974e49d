import type { RequestHandler } from "express";
import { categories } from "../../../shared/registry/registry.js";
import { choice, parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import { regionsResponse } from "../board/regions.js";
import { type Boards, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { type Board, headlineOf } from "./board-headline.js";
import { boardParameters, type Filter, selectedVenues, withoutEmpty } from "./board.js";
import { isolated, ageText } from "./format.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  AnnouncedNow,
  commonFault,
  Elapsed,
  Headline,
  healthOf,
  lookOf,
  type Regions,
  Sign,
  StateWord,
} from "./parts.js";
import { boardWords } from "./words.js";

/** As the board's, but trouble comes first unless the address says otherwise. */
const wallParameters = {
  ...boardParameters,
  sort: choice(boardParameters.sort.description, ["category", "worst"], "worst"),
};

export function wallRoute(boards: Boards, rendered: Rendered): RequestHandler {
  const read = parameterReader(wallParameters);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const body = rendered(`wall ${JSON.stringify(filter)}`, [status, regions], () =>
      wallPage({ board: dataOf(statusResponse, status!), regions: dataOf(regionsResponse, regions!), filter }),
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
