import type { ComponentChildren, VNode } from "preact";
import type { Fault } from "../../../shared/measurement/sample.js";
import { categories, type Category } from "../../../shared/registry/registry.js";
import type { TypeOf } from "../api/shapes.js";
import type { incident } from "../board/incidents.js";
import type { Maintenance } from "../board/maintenance.js";
import type { regionsResponse } from "../board/regions.js";
import {
  counted,
  datedText,
  durationText,
  exactText,
  instantText,
  isolated,
  maintenanceText,
  msText,
  sinceMs,
  firstSeenText,
} from "./format.js";
import { language, sourceLanguage, t } from "./language.js";
import { lookOf, stateRank } from "./states.js";
import { categoryWords, siteWords, type State, troubleWords } from "./words.js";

export type PublishedIncident = TypeOf<typeof incident>;

/** Selects one category of venues, or any. */
export function CategoryField({ selected }: { selected: Category | null }) {
  const named = categories.map((name) => [name, categoryWords[name]] as const);
  return (
    <SelectField
      label={t`Category`}
      name="category"
      choices={[["", t`All categories`], ...named]}
      selected={selected}
    />
  );
}

/** A feed that a page advertises: its media type, title and address. */
export interface FeedLink {
  type: string;
  title: string;
  href: string;
}

/** The feeds of a venue, or of all: first that of incidents which most readers prefer, last the calendar. */
export function feedLinks(venue: { id: string; name: string } | null): FeedLink[] {
  const folder = venue === null ? "/feeds" : `/feeds/${venue.id}`;
  const name = venue && isolated(venue.name);
  return [
    { type: "application/atom+xml", title: incidentsText(name, "Atom"), href: `${folder}/incidents.atom` },
    { type: "application/rss+xml", title: incidentsText(name, "RSS"), href: `${folder}/incidents.rss` },
    {
      type: "text/calendar",
      title: name === null ? t`Announced maintenance (calendar)` : t`Announced maintenance of ${name} (calendar)`,
      href: `${folder}/maintenance.ics`,
    },
  ];
}

/** The feeds of paused transfers of a venue, or of all. */
export function transferFeedLinks(venue: { id: string; name: string } | null): FeedLink[] {
  const folder = venue === null ? "/feeds" : `/feeds/${venue.id}`;
  const title = (format: string) =>
    venue === null ? t`Paused transfers (${format})` : t`Paused transfers of ${isolated(venue.name)} (${format})`;
  return [
    { type: "application/atom+xml", title: title("Atom"), href: `${folder}/transfers.atom` },
    { type: "application/rss+xml", title: title("RSS"), href: `${folder}/transfers.rss` },
  ];
}

function incidentsText(venue: string | null, format: string): string {
  return venue === null ? t`Incidents (${format})` : t`Incidents of ${venue} (${format})`;
}

export interface HeadlineProps {
  state: State;
  /** Set when the data is old: how old. */
  age: string | null;
  /** Announced to screen readers when it changes; so without durations, which change every minute. */
  answer?: string;
  more?: string;
  children?: ComponentChildren;
}

/**
 * The answer of a page as its heading, with what belongs to it below. What is old is said of before, and without the
 * sign of a present state.
 */
export function Headline({ state, age, answer = "", more = "", children }: HeadlineProps) {
  const shown = age === null ? state : "unknown";
  return (
    <div class={`headline of-${shown}`}>
      <Sign state={shown} />
      <div>
        <h1>
          {age !== null && state !== "unknown" && `${siteWords.beforeThat} `}
          {answer !== "" && <span aria-live="polite">{answer}</span>} {more}
        </h1>
        {children}
      </div>
    </div>
  );
}

export interface IncidentListProps {
  incidents: readonly PublishedIncident[];
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
  now: string;
}

/** Incidents with what, where, since when, and what the venue says; those of one outage together. */
export function IncidentList({ incidents, names, now }: IncidentListProps) {
  return (
    <ul class="incidents">
      {outagesOf(incidents).map(([incident, ...others]) => (
        <li key={incident.slug} data-key={incident.slug}>
          <StateWord state={incident.severity} fault={incident.fault} />{" "}
          <a href={`/incidents/${incident.slug}`}>
            {isolated(names.get(incident.venue) ?? incident.venue)}: {isolated(incident.label)}
          </a>{" "}
          <span class="minor">
            <WhereAndWhen {...{ incident, now }} /> {venueSays(incident, now)} <Others incidents={others} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function WhereAndWhen({ incident, now }: { incident: PublishedIncident; now: string }) {
  const { startedAt, durationSeconds, regions, counted } = incident;
  const began = <Instant at={startedAt} now={now} />;
  const when =
    durationSeconds === null
      ? t`began ${began}, open for ${(<Elapsed from={startedAt} now={now} />)}.`
      : t`began ${began}, lasted ${durationText(durationSeconds * 1000)}.`;
  return <>{regions.length > 0 ? t`${firstSeenText({ saw: regions.length, of: counted })}, ${when}` : when}</>;
}

type Outage = [worst: PublishedIncident, ...others: PublishedIncident[]];

/**
 * One outage often makes several incidents of a venue, one for each component. Those of a venue that overlap are one
 * outage, also where only a third connects them, with the worst first.
 */
export function outagesOf(incidents: readonly PublishedIncident[]): Outage[] {
  let outages: Outage[] = [];
  for (const incident of incidents) {
    const touched = outages.filter((outage) =>
      outage.some((one) => one.venue === incident.venue && overlap(one, incident)),
    );
    const [first, ...others] = touched;
    if (!first) {
      outages.push([incident]);
      continue;
    }
    // it may bridge outages that were apart so far
    first.push(...others.flat(), incident);
    outages = outages.filter((outage) => !others.includes(outage));
  }
  return outages.map((outage) => outage.sort((a, b) => stateRank(a.peakSeverity) - stateRank(b.peakSeverity)));
}

function overlap(one: PublishedIncident, other: PublishedIncident): boolean {
  const isOver = (ended: PublishedIncident, at: string) => ended.endedAt !== null && ended.endedAt < at;
  return !isOver(one, other.startedAt) && !isOver(other, one.startedAt);
}

function Others({ incidents }: { incidents: readonly PublishedIncident[] }) {
  if (incidents.length === 0) return null;
  const links = incidents.map(({ slug, label }, at) => (
    <>
      {at > 0 && ", "}
      <a href={`/incidents/${slug}`}>{isolated(label)}</a>
    </>
  ));
  return <>{t`Also: ${links}.`}</>;
}

/** Whether the venue has said anything; silence means something only where we could have heard it. */
function venueSays(incident: PublishedIncident, now: string): string {
  const { maintenance, officialObserved } = incident;
  const official = noticeAbout(incident);
  const announced =
    maintenance === null ? "" : t`In ${maintenanceText(maintenance, now)}: ${isolated(maintenance.title)}.`;
  if (official !== null)
    return `${announced} ${t`The venue's notice nearest in time: ${isolated(official.title)}.`}`.trim();
  if (maintenance !== null) return announced;
  if (officialObserved === null) return t`The venue has no status feed that we can read.`;
  return officialObserved ? t`Nothing on the venue's page about that time.` : t`We could not read what the venue says.`;
}

/** The notice beside an incident, unless it was over before that began. */
export function noticeAbout({ official, startedAt }: PublishedIncident): PublishedIncident["official"] {
  if (official === null) return null;
  return official.resolvedAt !== null && official.resolvedAt < startedAt ? null : official;
}

/** The maintenance that a venue announced and that is under way or overran, after its state; nothing without one. */
export interface MaintenanceListProps {
  maintenance: readonly Maintenance[];
  now: string;
  /** Whether each is named with its venue. */
  named: boolean;
}

/** Maintenance in the venues' own feeds, by their words and times. */
export function MaintenanceList({ maintenance, now, named }: MaintenanceListProps) {
  return (
    <ul class="notices">
      {maintenance.map(({ id, venue, venueName, title, url, from, until, state, counts }) => (
        <li key={id} data-key={id}>
          {named && (
            <>
              <a href={`/venues/${venue}`}>
                <bdi>{venueName}</bdi>
              </a>
              :{" "}
            </>
          )}
          {maintenanceTimes(
            <WebLink address={url}>{isolated(title)}</WebLink>,
            <Instant at={from} now={now} />,
            until && <Instant at={until} now={now} />,
            state === "underway",
          )}
          {state === "underway" && !counts && (
            <span class="minor"> {t`(not read before it began, longer than 24 hours, or about something else)`}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function maintenanceTimes(title: VNode, from: VNode, until: VNode | null | "", isUnderway: boolean): ComponentChildren {
  if (isUnderway)
    return until ? t`${title}, since ${from} until ${until}` : t`${title}, since ${from} with no stated end`;
  return until ? t`${title}, from ${from} until ${until}` : t`${title}, from ${from} with no stated end`;
}

/** An instant in UTC. With JavaScript, readers may switch to their own time. */
export function Instant({ at, now }: { at: string; now: string }) {
  return <time dateTime={at}>{instantText(at, now)}</time>;
}

/** With day and seconds. */
export function ExactInstant({ at }: { at: string }) {
  return (
    <time dateTime={at} data-exact>
      {exactText(at)}
    </time>
  );
}

/** With the day, also where it is that of the page. */
export function DatedInstant({ at, now }: { at: string; now: string }) {
  return <time dateTime={at}>{datedText(at, now)}</time>;
}

/** The time from an instant until that of the page. */
export function Elapsed({ from, now }: { from: string; now: string }) {
  return <time dateTime={from}>{durationText(sinceMs(from, now))}</time>;
}

export type Regions = TypeOf<typeof regionsResponse>;
export type RegionSummary = Regions["regions"][number];

/** Whether a region can be relied on, as a sign and in words. */
export function healthOf(region: RegionSummary): [state: State, word: string] {
  if (region.impaired !== null) return ["outage", t`impaired: its votes are not counted`];
  const [trouble] = region.troubles;
  if (!region.reporting)
    return [
      "unknown",
      trouble
        ? t`${troubleWords[trouble.kind]}: its votes are not counted`
        : t`sends nothing: its votes are not counted`,
    ];
  if (trouble) return ["degraded", troubleWords[trouble.kind]];
  return ["operational", t`reports`];
}

export interface SelectFieldProps {
  label: string;
  /** The parameter of the address. */
  name: string;
  /** Value and text of each choice, the first without a selection. */
  choices: readonly (readonly [value: string, text: string])[];
  selected: string | null;
}

/** A drop-down list of a form, with its label. */
export function SelectField({ label, name, choices, selected }: SelectFieldProps) {
  return (
    <label>
      {label}{" "}
      <select name={name}>
        {choices.map(([value, text]) => (
          <option key={value} value={value} selected={value === selected}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Outlines on a square of 16: a circle, a triangle, a square and a hollow diamond, told apart without colour. */
export const signOutlines: Record<State, string> = {
  operational: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
  degraded: "M8 1l7.5 13.5h-15z",
  outage: "M1.5 1.5h13v13h-13z",
  unknown: "M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5z",
};

/** The shape of a state, without its word. What is our own trouble has another colour than that of the venues. */
export function Sign({ state, ours = false }: { state: State; ours?: boolean }) {
  return (
    <svg class={`sign ${state}${ours ? " ours" : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={signOutlines[state]} />
    </svg>
  );
}

/** A state as shape and word. */
export function StateWord({ state, fault = null }: { state: State; fault?: Fault | null }) {
  const look = lookOf(state, fault);
  return (
    <span class="state">
      <Sign state={look.state} />
      {look.word}
    </span>
  );
}

/** A table that scrolls by itself where it is wider than the page. */
export function TableFrame({ caption, children }: { caption: string; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        {children}
      </table>
    </div>
  );
}

/** What stays English on every page, such as the details of an error, with its language. */
export function InEnglish({ children }: { children: ComponentChildren }) {
  return language() === sourceLanguage ? <>{children}</> : <span lang={sourceLanguage}>{children}</span>;
}

/** Why a list or a feed of a venue is not known. What a venue answered stays as the program that read it wrote it. */
export function Reason({ text }: { text: string }) {
  if (text === "not read yet") return <>{t`not read yet`}</>;
  const [, since] = /^not read since (\S+)$/.exec(text) ?? [];
  return since === undefined ? <InEnglish>{isolated(text)}</InEnglish> : <>{t`not read since ${since}`}</>;
}

/** As the operator named it; null: not given. */
export interface NamedVantage {
  name: string | null;
  place: string | null;
  network: string | null;
}

/** `Frankfurt, Hetzner AS24940 (fra1)`, as far as it is known. */
export function vantageText({ name, place, network }: NamedVantage, unknown: string): string {
  const known = [place, network].filter((text) => text !== null).map(isolated);
  const where = known.length > 0 ? known.join(", ") : unknown;
  return name === null ? where : `${where} (${isolated(name)})`;
}

/** A link to an address that others wrote: only the text where it is not one of the web. */
export function WebLink({ address, children }: { address: string | null; children: ComponentChildren }) {
  if (address === null || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    return <>{children}</>;
  return (
    <a href={address} rel="noreferrer nofollow">
      {children}
    </a>
  );
}

/**
 * Only for readers with JavaScript (browser/copy.ts). The style sheet shows its name, so that the text of the page is
 * the same for all.
 *
 * @param path an address below that of the page, which is copied whole; otherwise `text` is copied
 */
export function CopyButton({ label, text, path }: { label: string; text?: string; path?: string }) {
  return (
    <button
      type="button"
      class="scripted"
      aria-label={label}
      data-copy={text ?? path}
      data-copy-path={String(path !== undefined)}
      data-done={t`Copied`}
      data-failed={t`Your browser does not allow this page to copy`}
    />
  );
}

const usualDays = [1, 7, 30, 90];

export interface WindowFormProps {
  path: "/compare" | "/detection";
  days: number;
  /** Absent: the page has no categories. */
  category?: Category | null;
}

/** The window of days as links, and as a form for any other; the selection is the address. */
export function WindowForm({ path, days, category }: WindowFormProps) {
  const more = category ? `&category=${category}` : "";
  return (
    <>
      <nav aria-label={t`Length of the window`}>
        <ul>
          {usualDays.map((count) => (
            <li key={count}>
              <a href={`${path}?days=${count}${more}`} aria-current={count === days ? "page" : undefined}>
                {count === 1 ? t`Today` : counted(count, "day")}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="filter" action={path} method="get">
        <label>
          {t`Days`} <input type="number" name="days" min={1} max={90} value={days} />
        </label>
        {category !== undefined && <CategoryField selected={category} />}
        <button type="submit">{t`Show`}</button>
      </form>
    </>
  );
}

/** The drawing area of a chart in its own units; it is stretched to the width of the page. */
export interface ChartArea {
  width: number;
  height: number;
}

/** The least of 1, 2 and 5 times a power of ten that is not below a value: the top of an axis. */
export function axisTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= value)!;
}

/** A line through evenly spaced values, with gaps where there is none. Relative and whole steps keep it short. */
export function lineThrough(values: readonly (number | null)[], top: number, area: ChartArea): string {
  let path = "";
  let last: { x: number; y: number } | null = null;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      last = null;
      continue;
    }
    const x = xOf(at, values.length, area);
    const y = Math.round(area.height * (1 - value / top));
    if (last) path += `l${x - last.x} ${y - last.y}`;
    // a line needs two points; a lone one is drawn as a dot
    else path += `M${x} ${y}${(values[at + 1] ?? null) === null ? "h1" : ""}`;
    last = { x, y };
  }
  return path;
}

/** Boxes of full height over the values that are missing, each as wide as the step from one value to the next. */
export function gapsBetween(isMissing: readonly boolean[], area: ChartArea): string {
  let path = "";
  let from: number | null = null;
  for (let at = 0; at <= isMissing.length; at += 1) {
    if (isMissing[at] === true) from ??= at;
    else if (from !== null) {
      const x = xOf(Math.max(0, from - 0.5), isMissing.length, area);
      const end = xOf(Math.min(at - 0.5, isMissing.length - 1), isMissing.length, area);
      path += `M${x} 0H${end}V${area.height}H${x}z`;
      from = null;
    }
  }
  return path;
}

function xOf(at: number, count: number, { width }: ChartArea): number {
  return Math.round((at * width) / Math.max(1, count - 1));
}

const sparklineArea = { width: 96, height: 22 };

/** A line of latencies from zero, with gaps where nothing was measured. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <span class="none">{t`no data`}</span>;
  const most = Math.max(...known);
  const label = t`Median latency by hour, from ${msText(Math.min(...known))} to ${msText(most)}`;
  return (
    <svg
      class="sparkline"
      viewBox={`0 -1 ${sparklineArea.width} ${sparklineArea.height + 2}`}
      role="img"
      aria-label={label}
    >
      <path d={lineThrough(values, Math.max(1, most), sparklineArea)} />
    </svg>
  );
}
