/** Chapter 6 of the rule book: trouble that may come from a vantage's own network that starts to fail. */
import type { DatedView } from "./impairment.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type World } from "./world.js";

interface Confirmed {
  venue: string;
  component: string;
  /** The counted regions that confirm trouble of the component. */
  confirming: string[];
}

/** @param views the views of all regions on all components */
export function isSuspect(
  { venue, component, confirming }: Confirmed,
  quorum: number,
  views: DatedView[],
  world: World,
  at: number,
): boolean {
  if (confirming.length < quorum || world.regions.length < 2) return false;
  const known = views.filter(({ state }) => state !== "unknown");
  const isLongBad = ({ badSince }: DatedView) => badSince !== null && badSince <= at - world.rules.impaired_within_ms;
  const fresh = known.filter((view) => !isLongBad(view));

  const suspects = vantagesAt(world, at)
    .filter((vantage) => beginsToFail(vantage, fresh, world))
    .flat();
  const longBadIn = known
    .filter((view) => view.venue === venue && view.component === component)
    .filter(isLongBad)
    .map(({ region }) => region);
  const answeredBadlyIn = known
    .filter((view) => view.venue === venue && view.component === component && !view.mayBeOurs)
    .map(({ region }) => region);
  const certain = [...longBadIn, ...answeredBadlyIn];
  const left = confirming.filter((region) => certain.includes(region) || !suspects.includes(region));
  return left.length < quorum;
}

/** Whether the network of this vantage seems to start failing. */
function beginsToFail(vantage: string[], fresh: DatedView[], { rules }: World): boolean {
  const here = fresh.filter(({ region }) => vantage.includes(region));
  const runs = here.flatMap(({ state, badRun, runFrom, newestMayBeOurs }) =>
    isBad(state) && badRun >= rules.opening_bad_run && runFrom !== null && newestMayBeOurs ? [runFrom] : [],
  );
  if (runs.length === 0) return false;
  const troubleAt = Math.max(...runs);

  const measured = here.filter(({ newestAt }) => newestAt !== null && newestAt >= troubleAt);
  const cutOff = new Set(measured.map(nameOf));
  for (const view of measured) if (!isCutOff(view)) cutOff.delete(nameOf(view));
  const answering = new Set(measured.filter((view) => fails(view) && view.answersBadly).map(nameOf));
  const speaking = new Set([...measured.filter(isCutOff).map(nameOf), ...answering]);
  const shown = measured.filter((view) => !view.component.startsWith("ws:") || speaking.has(nameOf(view)));
  const failingElsewhere = new Set(fresh.filter((view) => !vantage.includes(view.region) && fails(view)).map(nameOf));

  const venues = [...new Set(shown.map(({ venue }) => venue))];
  const alone = venues.filter((venue) => {
    const names = [...new Set(shown.filter((view) => view.venue === venue).map(nameOf))];
    const ofVenue = names.filter((name) => cutOff.has(name));
    const shared = ofVenue.filter((name) => failingElsewhere.has(name));
    const answers = names.filter((name) => answering.has(name));
    return ofVenue.length > 0 && shared.length < ofVenue.length / 2 && answers.length <= ofVenue.length;
  });
  return venues.length >= rules.impaired_min_venues && alone.length / venues.length > rules.impaired_venue_share;
}

function nameOf({ venue, component }: DatedView): string {
  return `${venue} ${component}`;
}

function fails({ badRun }: DatedView): boolean {
  return badRun >= 1;
}

function isCutOff(view: DatedView): boolean {
  return fails(view) && !view.answersBadly && view.newestMayBeOurs;
}
