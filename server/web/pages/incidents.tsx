import type { RequestHandler } from "express";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { queryOf } from "../api/request.js";
import type { TypeOf } from "../api/shapes.js";
import {
  incidentsOf,
  incidentsParameters,
  type IncidentsQuery,
  incidentsReader,
  incidentsResponse,
} from "../board/incidents.js";
import { dataOf } from "../board/snapshot.js";
import { withoutEmpty } from "./board.js";
import { editionFor } from "./edition.js";
import { withForm } from "./form-reader.js";
import { ageText, dayText, instantText, weekdayText } from "./format.js";
import { plural, t, texts } from "./language.js";
import { answerPage, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { type PublishedIncident, CategoryField, feedLinks, IncidentList, SelectField } from "./parts.js";

type Needs = Pick<PagesOptions, "registry" | "incidents">;

/** `/incidents`: the history by pages, with the parameters of `/v1/incidents`. */
export function incidentsPageRoute({ registry, incidents }: Needs, rendered: Rendered): RequestHandler {
  const read = withForm(incidentsReader(registry), (query) => <IncidentsFilter query={query} registry={registry} />);
  return async (request, response) => {
    const query = read(withoutEmpty(queryOf(request)));
    const snapshot = await incidentsOf(query, incidents);
    const page = () => incidentsPage({ history: dataOf(incidentsResponse, snapshot), query, registry });
    const body = rendered(`incidents ${JSON.stringify(query)}`, [snapshot], page, editionFor(request));
    await answerPage(response, body);
  };
}

// `/incidents`: what happened, newest first, by UTC day.

type IncidentHistory = TypeOf<typeof incidentsResponse>;

export interface IncidentsPageProps {
  history: IncidentHistory;
  query: IncidentsQuery;
  registry: Registry;
}

function incidentsPage({ history, query, registry }: IncidentsPageProps): PageProps {
  const age = ageText(history);
  const { incidents, generatedAt } = history;
  const selection = queryText(query, registry);
  const json = `/v1/incidents${selection}`;
  const names = new Map(watchedVenues(registry).map(({ id, name }) => [id, name]));
  const isNewest = query.before === null;
  const pages = { before: null, beforeId: null, limit: incidentsParameters(registry).limit.absent };
  const isChosen = queryText({ ...query, ...pages }, registry) !== "";
  const chosen = query.venue === null ? null : { id: query.venue, name: names.get(query.venue) ?? query.venue };
  return {
    ...{ title: t`Incidents`, icon: worstOf(incidents), section: "incidents", json, generatedAt, age },
    ...{ description: foundOf(history, query), path: `/incidents${selection}` },
    ...{ decidedAt: history.decidedAt, feeds: feedLinks(chosen) },
    // older pages hardly change
    refreshS: isNewest ? 15 : null,
    children: (
      <>
        <h1>{t`Incidents`}</h1>
        <details class="folded" open={isChosen}>
          <summary>{t`Filter`}</summary>
          <IncidentsFilter query={query} registry={registry} />
        </details>
        <p>{foundOf(history, query)}</p>
        {incidents.length === 0 && (
          <p>
            {t`We can only find an incident where we measured.`} <a href="/incidents">{t`Show all incidents`}</a>
          </p>
        )}
        {byDay(incidents).map(([day, ofDay]) => (
          <section key={day} aria-labelledby={`day-${day}`} data-day={day}>
            <h2 id={`day-${day}`}>{t`${weekdayText(day, generatedAt)} (UTC)`}</h2>
            <IncidentList incidents={ofDay} names={names} now={generatedAt} />
          </section>
        ))}
        <OtherPages {...{ history, query, registry }} />
        <nav aria-label={t`Other formats`}>
          <ul>
            <li>
              <a href={json}>{t`This selection as JSON`}</a>
            </li>
            <li>
              <a href={`/v1/incidents.csv${selection}`}>{t`This selection as CSV`}</a>
            </li>
            <li>
              <a href={`/v1/incidents.xlsx${selection}`}>{t`This selection as a workbook (XLSX)`}</a>
            </li>
          </ul>
        </nav>
      </>
    ),
  };
}

/** The worst that is open now; a history says nothing about everything else. */
function worstOf(incidents: readonly PublishedIncident[]) {
  const open = incidents.filter(({ status }) => status === "open");
  return (open.find(({ severity }) => severity === "outage") ?? open[0])?.severity ?? "unknown";
}

/** How much there is, how far back this looks, and how much of it is open. */
function foundOf({ incidents, generatedAt }: IncidentHistory, { days, limit, before }: IncidentsQuery): string {
  const first = new Date(Date.parse(generatedAt.slice(0, 10)) - (days - 1) * 86_400_000).toISOString();
  const since = sinceText(dayText(first, generatedAt), days);
  const when = before === null ? since : t`${since} and before ${instantText(before, generatedAt)}`;
  const isFull = incidents.length === limit;
  const open = incidents.filter(({ status }) => status === "open").length;
  return [countText(incidents.length, isFull, when), ...(open > 0 ? [openText(open, incidents.length)] : [])].join(" ");
}

/** They are sorted already. */
function byDay(incidents: readonly PublishedIncident[]): [day: string, incidents: PublishedIncident[]][] {
  const days = new Map<string, PublishedIncident[]>();
  for (const incident of incidents) {
    const day = incident.startedAt.slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), incident]);
  }
  return [...days];
}

function OtherPages({ history, query, registry }: IncidentsPageProps) {
  const last = history.incidents.at(-1);
  const hasOlder = last !== undefined && history.incidents.length === query.limit;
  const newest = { ...query, before: null, beforeId: null };
  if (!hasOlder && query.before === null) return null;
  return (
    <nav aria-label={t`Pages of the history`}>
      <ul>
        {query.before !== null && (
          <li>
            <a href={`/incidents${queryText(newest, registry)}`}>{t`Newest incidents`}</a>
          </li>
        )}
        {hasOlder && (
          <li>
            <a rel="next" href={`/incidents${queryText({ ...query, ...cursorAfter(last) }, registry)}`}>
              {t`Older incidents`}
            </a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function cursorAfter({ startedAt, id }: PublishedIncident) {
  return { before: startedAt, beforeId: id };
}

function countText(count: number, isFull: boolean, when: string): string {
  if (count === 0) return t`No incident of this selection began ${when}.`;
  if (isFull)
    return plural(
      count,
      "This is the newest incident that began {1}.",
      "These are the newest {0} incidents that began {1}.",
      when,
    );
  return plural(count, "One incident began {1}.", "{0} incidents began {1}.", when);
}

function sinceText(day: string, days: number): string {
  return days === 1 ? t`today (${day}, UTC)` : t`since ${day} (${days} UTC days, today included)`;
}

function openText(count: number, of: number): string {
  if (of === 1) return t`It is open.`;
  return plural(count, "One of them is open.", "{0} of them are open.");
}

/** The first is what the API answers without the parameter. */
const historyStatuses = texts({
  all: () => t`Open and closed`,
  open: () => t`Only open`,
  closed: () => t`Only closed`,
});

/** A plain form, whose selection is the address. It starts from the newest incident again. */
function IncidentsFilter({ query, registry }: { query: IncidentsQuery; registry: Registry }) {
  const { days, limit } = incidentsParameters(registry);
  const venues = watchedVenues(registry).map(({ id, name }) => [id, name] as const);
  const statuses = Object.entries(historyStatuses);
  return (
    <form class="filter" action="/incidents" method="get" role="search">
      <SelectField label={t`Venue`} name="venue" choices={[["", t`All venues`], ...venues]} selected={query.venue} />
      <CategoryField selected={query.category} />
      <SelectField label={t`Status`} name="status" choices={statuses} selected={query.status} />
      <label>
        {t`Days`}{" "}
        <input type="number" name="days" min={days.schema.minimum} max={days.schema.maximum} value={query.days} />
      </label>
      {query.limit !== limit.absent && <input type="hidden" name="limit" value={query.limit} />}
      <button type="submit">{t`Apply`}</button>
    </form>
  );
}

/** The query of an address which selects this: empty, or beginning with `?`. Default values are left out. */
function queryText(query: IncidentsQuery, registry: Registry): string {
  const usual = incidentsParameters(registry);
  const chosen = Object.entries(query).filter(
    ([name, value]) => value !== null && value !== usual[name as keyof IncidentsQuery].absent,
  );
  const text = new URLSearchParams(chosen.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
