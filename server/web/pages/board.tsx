import type { RequestHandler } from "express";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import { componentsOf } from "../../../shared/registry/components.js";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import { choice, type Parameter, parameterReader, type Values } from "../api/parameters.js";
import { shortened } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import { namedVenues, nearVenue, spelledVenueFinder } from "../api/venue-ids.js";
import { regionsResponse } from "../board/regions.js";
import { dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { type Board, headlineOf } from "./board-headline.js";
import { type Chains, chainsOf, VenueGroups } from "./board-venues.js";
import { editionFor } from "./edition.js";
import { withForm } from "./form-reader.js";
import { ageText, isolated, nameList, sinceMs } from "./format.js";
import { plural, t } from "./language.js";
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import {
  CategoryField,
  Elapsed,
  feedLinks,
  Headline,
  healthOf,
  IncidentList,
  Instant,
  MaintenanceList,
  type Regions,
  SelectField,
  Sign,
} from "./parts.js";
import { isTrouble, stateRank } from "./states.js";
import { TroubleCards, type TroubleCardsProps, troubledVenues } from "./trouble-cards.js";
import { boardWords, type State, stateMeanings, stateWords, troubleWords } from "./words.js";

export function boardRoute({ registry, boards }: PagesOptions, rendered: Rendered): RequestHandler {
  const read = withForm(parameterReader(boardParameters(registry)), (filter) => <BoardFilter filter={filter} />);
  const chains = chainsOf(registry);
  const labelOf = labelsOf(registry);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const page = () =>
      boardPage({
        ...{ board: boardOf(dataOf(statusResponse, status!), filter), filter, chains, labelOf },
        regions: dataOf(regionsResponse, regions!),
      });
    const body = rendered(`board ${JSON.stringify(filter)}`, [status, regions], page, editionFor(request));
    await answerPage(response, body);
  };
}

/** Names of components for people; one that the registry lacks is named by its id. */
export function labelsOf(registry: Registry): (venue: string, component: string) => string {
  const labels = new Map(
    watchedVenues(registry).flatMap((venue) =>
      componentsOf(venue).map(({ id, label }) => [`${venue.id} ${id}`, isolated(label)] as const),
    ),
  );
  return (venue, component) => labels.get(`${venue} ${component}`) ?? component;
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
  labelOf: TroubleCardsProps["labelOf"];
}

function boardPage({ board, regions, filter, chains, labelOf }: BoardPageProps): PageProps {
  const age = ageText(board);
  const { state, answer, more, title } = headlineOf(board, filter.category);
  const { generatedAt, summary } = board;
  return {
    ...{ title: ofOwnBoard(board, filter, title), icon: state, section: "board", json: jsonOf(filter) },
    ...{ generatedAt, age, refreshS: 15 },
    ...{ decidedAt: board.decidedAt, description: `${answer} ${more}`.trim() },
    ...{ path: `/${selectionText(filter)}`, chosenPath: `/${filterText(filter)}` },
    ...{ feeds: feedLinks(null), updatesOf: null, scripts: ["copy.js"] },
    children: (
      <>
        <Headline {...{ state, age, answer }}>{more !== "" && <p>{more}</p>}</Headline>
        {filter.venues !== null && <OwnBoard board={board} />}
        <OwnTrouble regions={regions} now={generatedAt} />
        <OpenIncidents {...{ board, filter, labelOf }} />
        <Venues {...{ board, filter, chains }} />
        <Recent board={board} />
        <MaintenanceAhead board={board} />
        <RegionStrip regions={regions} now={generatedAt} />
        <Legend />
        <p class="minor">
          {t`We measure public market data over REST and WebSocket, and nothing that needs an account: no orders, deposits or withdrawals. What the venues declare about those is on a ${(
            <a href="/transfers">{t`page of its own`}</a>
          )}.`}
          {summary.vantages === 1 &&
            summary.regions > 1 &&
            ` ${t`All regions that report measure from one machine: trouble of its network may look like trouble of the venues.`}`}
        </p>
      </>
    ),
  };
}

/** The API has no selection of venues. */
function jsonOf({ category, venues }: Filter): string | null {
  if (venues !== null) return null;
  return category === null ? "/v1/status" : `/v1/status?category=${category}`;
}

/** Says that the page is about some venues only, and which. */
function OwnBoard({ board }: { board: Board }) {
  return (
    <p>
      {t`This is a board of your own: ${nameList(board.venues.map(({ name }) => name))}. Its address keeps the selection.`}{" "}
      <a href="/">{t`All venues`}</a>
    </p>
  );
}

/** That no region can measure, and why: it says nothing about the venues. */
function OwnTrouble({ regions: { regions }, now }: { regions: Regions; now: string }) {
  const troubles = regions.map(({ troubles }) =>
    troubles.find(({ kind }) => kind === "network" || kind === "resolver"),
  );
  const [first] = troubles;
  if (first === undefined || troubles.includes(undefined)) return null;
  // only since the last of them began can none measure
  const since = troubles
    .map((trouble) => trouble!.since)
    .sort()
    .at(-1)!;
  const isOneKind = troubles.every((trouble) => trouble!.kind === first.kind);
  const trouble = isOneKind ? troubleWords[first.kind] : t`cannot measure`;
  const at = <Instant at={since} now={now} />;
  return (
    <p class="warning">
      {regions.length === 1
        ? t`Our only region ${trouble} since ${at}. This says nothing about the venues.`
        : t`Each of our ${regions.length} regions ${trouble} since ${at}. This says nothing about the venues.`}
    </p>
  );
}

function OpenIncidents({ board, filter, labelOf }: Pick<BoardPageProps, "board" | "filter" | "labelOf">) {
  const shown = troubledVenues(board);
  if (shown.length > 0)
    return (
      <section aria-labelledby="open">
        <h2 id="open">{shown.some(({ venue }) => isTrouble(venue.state)) ? t`In trouble now` : t`Not over yet`}</h2>
        <TroubleCards {...{ board, labelOf }} />
      </section>
    );
  return <p>{quietText(board, filter)}</p>;
}

/** Where no venue is in trouble: that no incident is open, if that can be told. */
export function quietText({ venues }: Board, filter: Filter): string {
  const isUnknown = venues.length > 0 && venues.every(({ state }) => state === "unknown");
  return isUnknown ? boardWords.openUnknown : noIncidentText(filter);
}

const dayMs = 86_400_000;

/** What was over within the last 24 hours: a board that is well now does not say so of the last hour. */
function Recent({ board: { incidents, venues, generatedAt: now } }: { board: Board }) {
  const recent = incidents.filter(({ endedAt }) => endedAt !== null && sinceMs(endedAt, now) < dayMs);
  if (recent.length === 0) return null;
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">{t`Over within the last 24 hours`}</h2>
      <IncidentList incidents={recent} names={new Map(venues.map(({ id, name }) => [id, name]))} now={now} />
    </section>
  );
}

/** What venues plan for the next 48 hours, and what is under way. Nothing where there is nothing. */
function MaintenanceAhead({ board: { maintenanceAhead: maintenance, generatedAt: now } }: { board: Board }) {
  if (maintenance.length === 0) return null;
  return (
    <section aria-labelledby="maintenance">
      <h2 id="maintenance">{t`Maintenance in the next 48 hours`}</h2>
      <MaintenanceList {...{ maintenance, now }} named />
      <p class="minor">
        {t`By the venues' own announcements, which change no state.`}{" "}
        <a href="/feeds/maintenance.ics">{t`As a calendar`}</a>
      </p>
    </section>
  );
}

/** So few venues are found faster without a search. */
const foldedUpTo = 20;

function Venues({ board, filter, chains }: Pick<BoardPageProps, "board" | "filter" | "chains">) {
  const venues = selectedVenues(board, filter);
  return (
    <section aria-labelledby="venues">
      <h2 id="venues">{t`Venues`}</h2>
      {venues.length < board.venues.length || board.venues.length > foldedUpTo || filter.sort === "worst" ? (
        <BoardFilter filter={filter} />
      ) : (
        <details>
          <summary>{t`Search and filter`}</summary>
          <BoardFilter filter={filter} />
        </details>
      )}
      {venues.length === 0 && board.venues.length > 0 && (
        <p>
          {boardWords.nothingFound} <a href="/">{t`Show all venues`}</a>
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
      <h2 id="regions">{t`Regions`}</h2>
      <ul class="regions">
        {regions.map((region) => {
          const [state, word] = healthOf(region);
          return (
            <li key={region.id}>
              <Sign state={state} ours />{" "}
              <a href={`/regions#${region.id}`}>
                <bdi>{region.name}</bdi>
              </a>{" "}
              {word}
              {region.impaired !== null && <>, {t`for ${(<Elapsed from={region.impaired.since} now={now} />)}`}</>}
            </li>
          );
        })}
      </ul>
      <p>{quorumText(voting, quorum)}</p>
    </section>
  );
}

function quorumText(voting: number, quorum: number): string {
  if (voting === 0)
    return plural(
      quorum,
      "No region can vote now ({0} is needed), so we cannot tell.",
      "No region can vote now ({0} are needed), so we cannot tell.",
    );
  if (voting < quorum)
    return plural(
      voting,
      "Only one region can vote now ({1} are needed), so we cannot tell.",
      "Only {0} regions can vote now ({1} are needed), so we cannot tell.",
      quorum,
    );
  if (quorum < voting)
    return t`${quorum} of the ${voting} voting regions must agree before we call a venue degraded or down.`;
  if (voting === 1) return t`The only voting region decides before we call a venue degraded or down.`;
  return voting === 2
    ? t`Both voting regions must agree before we call a venue degraded or down.`
    : t`All ${voting} voting regions must agree before we call a venue degraded or down.`;
}

function Legend() {
  return (
    <details class="legend">
      <summary>{t`What the signs mean`}</summary>
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

// What the address of the board may select: `/?category=rpc&state=trouble&q=alch&sort=worst`, `/?venues=okx,kraken`.

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

export function boardParameters(registry: Registry) {
  return {
    category: choice("Only this category.", categories, null),
    state: choice("Only venues in this state.", filterStates, null),
    q: searchParameter,
    venues: venuesParameter(registry),
    sort: choice("Order of the venues.", ["category", "worst"], "category"),
  };
}

export type Filter = Values<ReturnType<typeof boardParameters>>;

/** Venues by ids or names in any spelling. They are sorted, so that each selection is rendered once. */
function venuesParameter(registry: Registry): Parameter<string[] | null> {
  const venues = watchedVenues(registry);
  const spelled = spelledVenueFinder(registry);
  return {
    schema: { type: "array", items: { type: "string" }, minItems: 1, examples: [["okx", "kraken"]] },
    description: "Only these venues: a board of one's own. Their ids or names, separated by commas.",
    read(text) {
      const found = wordsOf(text).map(spelled);
      return found.includes(undefined) ? undefined : venues.map(({ id }) => id).filter((id) => found.includes(id));
    },
    expected: "the ids of venues, separated by commas",
    wrong: (text) =>
      wordsOf(text)
        .filter((word) => spelled(word) === undefined)
        .slice(0, mostNamed)
        .map((word) => unknownText(word, registry))
        .join(", ") || JSON.stringify(shortened(text)),
    absent: null,
  };
}

/** An error names no more unknown venues than a reader corrects at once. */
const mostNamed = 5;

function wordsOf(text: string): string[] {
  return text.split(",").flatMap((word) => word.trim() || []);
}

function unknownText(word: string, registry: Registry): string {
  const near = nearVenue(shortened(word), namedVenues(registry));
  return `${JSON.stringify(shortened(word))}, which no venue is called${near === null ? "" : ` (did you mean ${near.id}?)`}`;
}

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

/** Which venues the page is about, in its address: empty, or beginning with `?`. No order and no search. */
export function selectionText({ category, venues }: Filter): string {
  const parts = [
    ...(category === null ? [] : [`category=${category}`]),
    ...(venues === null ? [] : [`venues=${venues.join(",")}`]),
  ];
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** The whole selection in an address, as its form sends it. */
function filterText({ category, state, q, venues, sort }: Filter): string {
  const chosen = { category, state, q: q || null, venues: venues?.join(",") ?? null };
  const given = Object.entries({ ...chosen, sort: sort === "worst" ? sort : null }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

function noIncidentText({ category, venues }: Filter): string {
  if (venues !== null) return t`No incident of these venues is open.`;
  return category === null ? boardWords.noOpenIncidents : boardWords.noneOpenHere;
}

/** In the browser's tab, a board of one's own begins with its venues. */
export function ofOwnBoard({ venues }: Board, filter: Filter, title: string): string {
  return filter.venues === null
    ? title
    : `${nameList(
        venues.map(({ name }) => name),
        3,
      )}: ${title}`;
}

/** The part of the board that is about the chosen venues, with sums of its own. */
export function boardOf(board: Board, { venues: chosen }: Filter): Board {
  if (chosen === null) return board;
  const isChosen = (id: string) => chosen.includes(id);
  const venues = board.venues.filter(({ id }) => isChosen(id));
  const { commonTrouble } = board.summary;
  return {
    ...board,
    venues,
    incidents: board.incidents.filter(({ venue }) => isChosen(venue)),
    maintenanceAhead: board.maintenanceAhead.filter(({ venue }) => isChosen(venue)),
    summary: {
      ...board.summary,
      ...{ venues: venues.length, state: stateTogether(venues.map(({ state }) => state)) },
      activeIncidents: venues.reduce((sum, { activeIncidents }) => sum + activeIncidents, 0),
      commonTrouble: commonTrouble?.venues.some(isChosen) ? commonTrouble : null,
    },
  };
}

/** As `api.worst` has it of all venues. */
function stateTogether(states: readonly State[]): State {
  const count = (wanted: State) => states.filter((state) => state === wanted).length;
  const known = states.length - count("unknown");
  if (known === 0 || known * 2 < states.length) return "unknown";
  if (count("outage") * 2 >= states.length) return "outage";
  return states.some(isTrouble) ? "degraded" : "operational";
}

function stateChoices() {
  return filterStates.map((name) => [name, name === "trouble" ? t`Degraded or down` : stateWords[name]] as const);
}

/** A plain form, whose selection is the address: it can be linked and works without JavaScript. */
function BoardFilter({ filter }: { filter: Filter }) {
  return (
    <form class="filter" action="/" method="get" role="search">
      <label>
        {t`Search`} <input type="search" name="q" maxLength={100} value={filter.q ?? ""} />
      </label>
      <label>
        {t`Only`} <input type="text" name="venues" value={filter.venues?.join(", ") ?? ""} placeholder="okx, kraken" />
      </label>
      <CategoryField selected={filter.category} />
      <SelectField
        label={t`State`}
        name="state"
        choices={[["", t`All states`], ...stateChoices()]}
        selected={filter.state}
      />
      <SelectField
        label={t`Order`}
        name="sort"
        choices={[
          ["category", t`By category`],
          ["worst", t`Worst first`],
        ]}
        selected={filter.sort}
      />
      <button type="submit">{t`Apply`}</button>
    </form>
  );
}
