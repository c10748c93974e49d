/** `/`: the answer, open incidents, and every venue with its ninety days. */
import { categories } from "../../../shared/registry/registry.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { Elapsed } from "../parts/instant.js";
import { feedLinks } from "../parts/feed-links.js";
import { Headline } from "../parts/headline.js";
import { IncidentList } from "../parts/incident-list.js";
import { healthOf, type Regions } from "../parts/region-health.js";
import { Sign } from "../parts/sign.js";
import { boardWords, categoryWords, type State, stateMeanings, stateWords } from "../words.js";
import { BoardFilter } from "./board-filter.js";
import { BoardRow } from "./board-row.js";
import { type Filter, selectedVenues } from "./filter.js";
import { type Board, headlineOf, type PublishedIncident } from "./board-headline.js";

export interface BoardPageProps {
  board: Board;
  regions: Regions;
  filter: Filter;
}

export function boardPage({ board, regions, filter }: BoardPageProps): PageProps {
  const age = ageText(board);
  const { state, answer, troubles, title } = headlineOf(board, filter.category);
  const json = filter.category === null ? "/v1/status" : `/v1/status?category=${filter.category}`;
  const { generatedAt, summary } = board;
  return {
    ...{ title, icon: state, section: "board", json, generatedAt, age, refreshS: 15 },
    feeds: feedLinks(null),
    children: (
      <>
        <Headline {...{ state, age, answer }} more={troubles.join(" ")} />
        <p class="minor">
          We measure public market data over REST and WebSocket, and nothing that needs an account: no orders, deposits
          or withdrawals.
          {summary.vantages === 1 &&
            summary.regions > 1 &&
            ` All regions that report measure from one machine: trouble of its network may look like trouble of the venues.`}
        </p>
        <OpenIncidents board={board} filter={filter} />
        <Venues board={board} filter={filter} />
        <RegionStrip regions={regions} now={generatedAt} />
        <Legend />
      </>
    ),
  };
}

function OpenIncidents({ board, filter }: { board: Board; filter: Filter }) {
  const { incidents, venues, generatedAt } = board;
  const open = incidents.filter(({ status }) => status === "open");
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  const { worst, others } = byVenue(open);
  return (
    <section aria-labelledby="open">
      <h2 id="open">Open incidents</h2>
      {open.length === 0 ? (
        <p>{filter.category === null ? boardWords.noOpenIncidents : boardWords.noneOpenHere}</p>
      ) : (
        <IncidentList {...{ names, now: generatedAt, others }} incidents={worst} />
      )}
    </section>
  );
}

/** One outage often makes several incidents of a venue: the worst of them stands for all. */
function byVenue(open: readonly PublishedIncident[]) {
  const venues = new Map<string, PublishedIncident[]>();
  for (const incident of open) venues.set(incident.venue, [...(venues.get(incident.venue) ?? []), incident]);
  const groups = [...venues.values()].map((ofVenue) => {
    const first = ofVenue.find(({ severity }) => severity === "outage") ?? ofVenue[0]!;
    return { first, others: ofVenue.filter((one) => one !== first) };
  });
  return {
    worst: groups.map(({ first }) => first),
    others: new Map(groups.map(({ first, others }) => [first.slug, others])),
  };
}

function Venues({ board, filter }: { board: Board; filter: Filter }) {
  const venues = selectedVenues(board, filter);
  const now = board.generatedAt;
  const groups =
    filter.sort === "worst"
      ? [{ name: "Worst first", venues }]
      : categories
          .map((name) => ({
            name: categoryWords[name],
            venues: venues.filter(({ category }) => category === name),
          }))
          .filter(({ venues }) => venues.length > 0);
  return (
    <section aria-labelledby="venues">
      <h2 id="venues">Venues</h2>
      <BoardFilter filter={filter} />
      {venues.length === 0 && board.venues.length > 0 && (
        <p>
          {boardWords.nothingFound} <a href="/">Show all venues</a>
        </p>
      )}
      {groups.map((group) => (
        <div key={group.name}>
          <h3>{group.name}</h3>
          <ul class="board">
            {group.venues.map((venue) => (
              <BoardRow key={venue.id} venue={venue} now={now} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function RegionStrip({ regions: { regions, quorum }, now }: { regions: Regions; now: string }) {
  const voting = regions.filter(({ reporting, impaired }) => reporting && impaired === null).length;
  return (
    <section aria-labelledby="regions">
      <h2 id="regions">Regions</h2>
      <ul class="regions">
        {regions.map((region) => {
          const [state, word] = healthOf(region);
          return (
            <li key={region.id}>
              <Sign state={state} />{" "}
              <a href={`/regions#${region.id}`}>
                <bdi>{region.name}</bdi>
              </a>{" "}
              {word}
              {region.impaired !== null && (
                <>
                  , since <Elapsed from={region.impaired.since} now={now} />
                </>
              )}
            </li>
          );
        })}
      </ul>
      <p>
        {voting < quorum
          ? `Only ${voting} ${voting === 1 ? "region counts" : "regions count"} now, and ${quorum} must agree: no verdict is possible.`
          : `${quorum} of the ${voting} regions that count now must agree before we call a venue degraded or down.`}
      </p>
    </section>
  );
}

function Legend() {
  return (
    <details class="legend">
      <summary>What the signs mean</summary>
      <dl>
        {(Object.keys(stateWords) as State[]).map((state) => (
          <div key={state}>
            <dt>
              <Sign state={state} /> {stateWords[state]}
            </dt>
            <dd>{stateMeanings[state]}</dd>
          </div>
        ))}
      </dl>
      <p>{boardWords.legendDays}</p>
    </details>
  );
}
