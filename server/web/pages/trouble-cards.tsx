/** The venues in trouble as cards: what fails, where, since when, and what the venue itself says. */
import { answerOf } from "./answer.js";
import type { Board } from "./board-headline.js";
import { durationText, isolated, maintenanceText } from "./format.js";
import { t, plural } from "./language.js";
import { Elapsed, Instant, noticeAbout, type PublishedIncident, Sign } from "./parts.js";
import { isTrouble, lookOf, stateRank, commonFault } from "./states.js";
import { faultMeanings, verbOf } from "./words.js";

type Row = Board["venues"][number];

export interface TroubleCardsProps {
  board: Board;
  /** Names of a venue's components for people. */
  labelOf: (venue: string, component: string) => string;
}

/** Nothing where no venue is in trouble and no incident is open. */
export function TroubleCards({ board, labelOf }: TroubleCardsProps) {
  const troubled = troubledVenues(board);
  if (troubled.length === 0) return null;
  return (
    <ul class="cards">
      {troubled.map(({ venue, incidents }) => (
        <TroubleCard
          key={venue.id}
          {...{ venue, incidents }}
          now={board.generatedAt}
          labelOf={(component) => labelOf(venue.id, component)}
        />
      ))}
    </ul>
  );
}

export interface TroubledVenue {
  venue: Row;
  /** Open ones, the worst first. */
  incidents: PublishedIncident[];
}

/** The venues in trouble and those with an open incident, the worst first. */
export function troubledVenues({ venues, incidents }: Board): TroubledVenue[] {
  return venues
    .filter(isShown)
    .sort((a, b) => stateRank(a.state) - stateRank(b.state))
    .map((venue) => ({
      venue,
      incidents: worstFirst(incidents.filter((one) => one.venue === venue.id && one.status === "open")),
    }));
}

/** Also what is unknown while an incident of it is open, and what is healthy again for too short a time. */
function isShown({ state, activeIncidents }: Row): boolean {
  return isTrouble(state) || activeIncidents > 0;
}

function worstFirst(incidents: readonly PublishedIncident[]): PublishedIncident[] {
  return [...incidents].sort(
    (a, b) => stateRank(a.severity) - stateRank(b.severity) || a.startedAt.localeCompare(b.startedAt),
  );
}

interface TroubleCardProps extends TroubledVenue {
  labelOf: (component: string) => string;
  now: string;
}

function TroubleCard({ venue, incidents, labelOf, now }: TroubleCardProps) {
  const { state, word } = lookOf(venue.state, commonFault(venue.components));
  const [worst] = incidents;
  const { what, where, rest } = answerOf(venue, { now, labelOf });
  return (
    <li class={`card of-${state}`} data-key={`trouble-${venue.id}`}>
      <h3>
        <Sign state={state} />{" "}
        <a href={`/venues/${venue.id}`}>
          <bdi>{venue.name}</bdi>
        </a>{" "}
        <span class="verdict">{recoveringWord(venue) ?? word}</span>
      </h3>
      <p>
        {what === null
          ? beforeText(venue, worst)
          : [[what, where].filter((part) => part).join(", "), rest].filter((part) => part).join("; ")}
      </p>
      <p>
        {t`since ${(<Instant at={venue.since} now={now} />)} (${(<Elapsed from={venue.since} now={now} />)})`}
        {isTrouble(venue.state) && because(worst)}
        {venue.maintenance !== null && `; ${maintenanceText(venue.maintenance, now)}`}
      </p>
      {incidents.length > 0 && <Incidents incidents={incidents} />}
      <Notice incidents={incidents} />
    </li>
  );
}

/** Instead of its state, of a venue that is healthy again for too short a time; null of any other. */
export function recoveringWord({ state, activeIncidents }: Row): string | null {
  return state === "operational" && activeIncidents > 0 ? t`Recovering` : null;
}

/** Of a venue that is not in trouble now: what its open incident was. */
function beforeText({ state }: Row, worst: PublishedIncident | undefined): string {
  if (worst === undefined) return t`No component of it has an open incident.`;
  const did = didText(worst);
  return state === "unknown" ? t`${did} when we last measured it` : t`${did}; the incident closes once this has lasted`;
}

function didText({ label, fault, severity }: PublishedIncident): string {
  const name = isolated(label);
  if (fault === "limited") return t`${name} limited our requests`;
  if (fault === "halted") return t`${name} said that it did not trade`;
  if (fault === "blocked") return t`${name} refused our region`;
  return severity === "outage" ? t`${name} was failing` : t`${name} was degraded`;
}

/** The fault of the worst incident, in a few words. */
function because(worst: PublishedIncident | undefined): string {
  if (worst === undefined || worst.fault === null || verbOf(worst.fault)) return "";
  return `: ${faultMeanings[worst.fault]}`;
}

/** A card has room for so many links; the venue's page has all. */
const mostLinks = 2;

function Incidents({ incidents }: { incidents: readonly PublishedIncident[] }) {
  const more = incidents.length - mostLinks;
  return (
    <p class="minor">
      {plural(incidents.length, "Incident:", "Incidents:")}{" "}
      {incidents.slice(0, mostLinks).map(({ slug, label }, at) => (
        <>
          {at > 0 && ", "}
          <a href={`/incidents/${slug}`}>{isolated(label)}</a>
        </>
      ))}
      {more > 0 && ` ${t`and ${more} more`}`}
    </p>
  );
}

/** A notice that was over before our incident began says nothing about it. */
function Notice({ incidents }: { incidents: readonly PublishedIncident[] }) {
  const said = incidents.find((one) => noticeAbout(one) !== null);
  if (said !== undefined)
    return (
      <p class="minor">
        {t`The venue's page: “${isolated(said.official!.title)}”`}, {offsetText(said)}
      </p>
    );
  const isReadable = incidents.some(({ officialObserved }) => officialObserved === true);
  return isReadable ? <p class="minor">{t`When it began, the venue's page said nothing about it`}</p> : null;
}

function offsetText({ official, openedAt }: PublishedIncident): string {
  const { postedAt, startedAt } = official!;
  const offsetMs = Date.parse(postedAt ?? startedAt) - Date.parse(openedAt);
  const duration = durationText(Math.abs(offsetMs));
  if (postedAt === null)
    return offsetMs < 0 ? t`began ${duration} before our incident` : t`began ${duration} after our incident`;
  return offsetMs < 0 ? t`posted ${duration} before our incident` : t`posted ${duration} after our incident`;
}
