/** The answer of a venue's page in one sentence. */
import type { PublishedIncident } from "../board/board-headline.js";
import { isolated } from "../parts/isolated.js";
import { commonFault, isOnlyLimiting, isTrouble, lookOf, rank } from "../parts/state-rank.js";
import { durationText, sinceMs } from "../format.js";
import { boardWords } from "../words.js";
import type { MatrixRow, VenueMatrix } from "./matrix.js";

const venueUnknownBecause = {
  never: (name: string) => `We do not know whether ${name} works: we have never seen it good from here.`,
  ended: (name: string, detail: string) => `We do not know whether ${name} works. Its service ${detail}.`,
  blocked: (name: string) => `We do not know whether ${name} works: it refuses the place that we measure from.`,
};

/** `OKX is degraded: Ticker failing in 2 of 3 regions for 4 minutes.` */
export function venueHeadline(venue: string, matrix: VenueMatrix, incidents: readonly PublishedIncident[]): string {
  const name = isolated(venue);
  const open = incidents.filter(({ status }) => status === "open");
  if (matrix.state === "unknown") return unknownOf(name, matrix);
  if (matrix.state === "operational") {
    const [first] = open;
    if (first) return `${name} is healthy again. The incident of ${isolated(first.label)} closes once this has lasted.`;
    const counted = matrix.regions.filter(({ id }) => counts(matrix, id));
    const see = counted.filter(({ id }) => seesHealth(matrix, id)).length;
    return healthyText(name, see, counted.length, matrix.regions.length - counted.length);
  }
  const bad = matrix.components.filter(({ state }) => isTrouble(state));
  const [worst] = bad.sort((a, b) => rank(a.state) - rank(b.state));
  const lasting = (from: string) => boardWords.lasting(durationText(sinceMs(from, matrix.generatedAt)));
  const fault = commonFault(matrix.components);
  const word = lookOf(matrix.state, fault).word.toLowerCase();
  const isLimited = isOnlyLimiting(matrix.state, fault);
  const state = isLimited ? `${name} ${word}` : `${name} is ${word}`;
  if (!worst) return `${state} ${lasting(matrix.since)}.`;
  const incident = open.find(({ component }) => component === worst.component);
  const { saw, of } = witnessesOf(worst);
  const where = `in ${saw} of ${of} regions ${lasting(incident?.startedAt ?? worst.since)}`;
  const label = isolated(worst.label);
  const what = isLimited
    ? `${label} ${where}`
    : boardWords.failing(label, worst.state === "outage", worst.fault, where);
  const others = bad.length - 1;
  return `${state}: ${what}${others > 0 ? `, and ${others} more ${others === 1 ? "component" : "components"}` : ""}.`;
}

function unknownOf(name: string, { components }: VenueMatrix): string {
  const isSilent = components.some(({ cells }) => cells.some(({ notCounted }) => notCounted === "engine"));
  if (isSilent) return `We do not know whether ${name} works: our own engine decides nothing at present.`;
  const because = components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause;
  return because
    ? venueUnknownBecause[because.reason](name, isolated(because.detail))
    : `We do not know whether ${name} works: fewer than half of its components are known.`;
}

function counts({ components }: VenueMatrix, region: string): boolean {
  return components.some(({ cells }) => cells.some((cell) => cell.region === region && cell.notCounted === null));
}

/** Whether a region sees some component well and none badly. */
function seesHealth({ components }: VenueMatrix, region: string): boolean {
  const states = components.flatMap(({ cells }) => cells.filter((cell) => cell.region === region));
  return states.some(({ state }) => state === "operational") && !states.some(({ state }) => isTrouble(state));
}

/** How many of the regions that count see trouble. */
function witnessesOf({ cells }: MatrixRow): { saw: number; of: number } {
  const counted = cells.filter(({ notCounted }) => notCounted === null);
  return { saw: counted.filter(({ state }) => isTrouble(state)).length, of: counted.length };
}

function healthyText(name: string, see: number, counted: number, others: number): string {
  return (
    `${name} is healthy, as ${see} of ${counted} ${counted === 1 ? "region sees" : "regions see"} it.` +
    `${others === 0 ? "" : ` ${others} more ${others === 1 ? "region does" : "regions do"} not count.`}`
  );
}
