import type { RequestHandler } from "express";
import { categories } from "../../../shared/registry/registry.js";
import { choice, type Parameter, parameterReader, type Values } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import { regionsResponse } from "../board/regions.js";
import { dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { type Board, headlineOf } from "./board-headline.js";
import { type Chains, chainsOf, VenueGroups } from "./board-venues.js";
import { ageText } from "./format.js";
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  CategoryField,
  Elapsed,
  feedLinks,
  Headline,
  healthOf,
  IncidentList,
  isTrouble,
  MaintenanceList,
  stateRank,
  type Regions,
  SelectField,
  Sign,
  type PublishedIncident,
} from "./parts.js";
import { boardWords, type State, stateMeanings, stateWords } from "./words.js";

export function boardRoute({ registry, boards }: PagesOptions, rendered: Rendered): RequestHandler {
  const read = parameterReader(boardParameters);
  const chains = chainsOf(registry);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const body = rendered(`board ${JSON.stringify(filter)}`, [status, regions], () =>
      boardPage({ board: dataOf(statusResponse, status!), regions: dataOf(regionsResponse, regions!), filter, chains }),
    );
    await answerPage(response, body);
  };
}

/** A form sends its empty fields too. */
export function withoutEmpty(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([, value]) => value !== ""));
}

// `/`: the answer, open incidents, and every venue with its ninety days.

export interface BoardPageProps {
  board: Board;
  regions: Regions;
  filter: Filter;
  chains: Chains;
}

function boardPage({ board, regions, filter, chains }: BoardPageProps): PageProps {
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
          or withdrawals. What the venues declare about those is on a <a href="/transfers">page of its own</a>.
          {summary.vantages === 1 &&
            summary.regions > 1 &&
            ` All regions that report measure from one machine: trouble of its network may look like trouble of the venues.`}
        </p>
        <OpenIncidents board={board} filter={filter} />
        <Venues {...{ board, filter, chains }} />
        <MaintenanceAhead board={board} />
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

/** What venues plan for the next 48 hours, and what is under way. Nothing where there is nothing. */
function MaintenanceAhead({ board: { maintenanceAhead: maintenance, generatedAt: now } }: { board: Board }) {
  if (maintenance.length === 0) return null;
  return (
    <section aria-labelledby="maintenance">
      <h2 id="maintenance">Maintenance in the next 48 hours</h2>
      <MaintenanceList {...{ maintenance, now }} named />
      <p class="minor">
        By the venues&apos; own announcements, which change no state. <a href="/feeds/maintenance.ics">As a calendar</a>
      </p>
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

function Venues({ board, filter, chains }: Omit<BoardPageProps, "regions">) {
  const venues = selectedVenues(board, filter);
  return (
    <section aria-labelledby="venues">
      <h2 id="venues">Venues</h2>
      <BoardFilter filter={filter} />
      {venues.length === 0 && board.venues.length > 0 && (
        <p>
          {boardWords.nothingFound} <a href="/">Show all venues</a>
        </p>
      )}
      {venues.length > 0 && (
        <VenueGroups {...{ venues, chains }} now={board.generatedAt} isSorted={filter.sort === "worst"} />
      )}
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

// What the address of the board may select: `/?category=rpc&state=trouble&q=alch&sort=worst`.

/** Any text that a reader may type. */
const searchParameter: Parameter<string | null> = {
  schema: { type: "string", maxLength: 100 },
  description: "Part of a venue's name or id.",
  read: (text) => text.trim(),
  expected: "at most 100 characters",
  absent: null,
};

/** `trouble`: degraded or down. */
const filterStates = ["operational", "degraded", "outage", "unknown", "trouble"] as const;

export const boardParameters = {
  category: choice("Only this category.", categories, null),
  state: choice("Only venues in this state.", filterStates, null),
  q: searchParameter,
  sort: choice("Order of the venues.", ["category", "worst"], "category"),
};

export type Filter = Values<typeof boardParameters>;

/** The venues that the filter leaves, in its order. The category is selected by the statement already. */
export function selectedVenues({ venues }: Board, { state, q, sort }: Filter): Board["venues"] {
  const found = venues.filter(
    (venue) =>
      (state === null || (state === "trouble" ? isTrouble(venue.state) : venue.state === state)) &&
      (q === null || `${venue.name} ${venue.id} ${venue.symbol}`.toLowerCase().includes(q.toLowerCase())),
  );
  if (sort !== "worst") return found;
  return found.sort((a, b) => stateRank(a.state) - stateRank(b.state) || b.activeIncidents - a.activeIncidents);
}

const stateChoices = filterStates.map(
  (name) => [name, name === "trouble" ? "Degraded or down" : stateWords[name]] as const,
);

/** A plain form, whose selection is the address: it can be linked and works without JavaScript. */
function BoardFilter({ filter }: { filter: Filter }) {
  return (
    <form class="filter" action="/" method="get" role="search">
      <label>
        Search <input type="search" name="q" maxLength={100} value={filter.q ?? ""} />
      </label>
      <CategoryField selected={filter.category} />
      <SelectField label="State" name="state" choices={[["", "All states"], ...stateChoices]} selected={filter.state} />
      <SelectField
        label="Order"
        name="sort"
        choices={[
          ["category", "By category"],
          ["worst", "Worst first"],
        ]}
        selected={filter.sort}
      />
      <button type="submit">Apply</button>
    </form>
  );
}
