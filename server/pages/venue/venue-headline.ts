/** The answer of a venue's page in one sentence. */
import type { PublishedIncident } from "../board/board-headline.js";
import { isolated } from "../parts/isolated.js";
import { commonFault, isOnlyLimiting, isTrouble, lookOf, rank } from "../parts/state-rank.js";
import { durationText, sinceMs } from "../format.js";
import { boardWords, venueWords } from "../words.js";
import type { MatrixRow, VenueMatrix } from "./matrix.js";

/** `OKX is degraded: Ticker failing in 2 of 3 regions for 4 minutes.` */
export function venueHeadline(venue: string, matrix: VenueMatrix, incidents: readonly PublishedIncident[]): string {
  const name = isolated(venue);
  const open = incidents.filter(({ status }) => status === "open");
  if (matrix.state === "unknown") return unknownOf(name, matrix);
  if (matrix.state === "operational") {
    const [first] = open;
    if (first) return venueWords.healthyAgain(name, isolated(first.label));
    const counted = matrix.regions.filter(({ id }) => counts(matrix, id));
    const see = counted.filter(({ id }) => seesHealth(matrix, id)).length;
    return venueWords.healthy(name, see, counted.length, matrix.regions.length - counted.length);
  }
  const bad = matrix.components.filter(({ state }) => isTrouble(state));
  const [worst] = bad.sort((a, b) => rank(a.state) - rank(b.state));
  const lasting = (from: string) => boardWords.lasting(durationText(sinceMs(from, matrix.generatedAt)));
  const fault = commonFault(matrix.components);
  const word = lookOf(matrix.state, fault).word.toLowerCase();
  const isLimited = isOnlyLimiting(matrix.state, fault);
  const state = isLimited ? `${name} ${word}` : venueWords.is(name, word);
  if (!worst) return `${state} ${lasting(matrix.since)}.`;
  const incident = open.find(({ component }) => component === worst.component);
  const { saw, of } = witnessesOf(worst);
  const where = `${boardWords.inRegions(saw, of)} ${lasting(incident?.startedAt ?? worst.since)}`;
  const label = isolated(worst.label);
  const what = isLimited
    ? `${label} ${where}`
    : boardWords.failing(label, worst.state === "outage", worst.fault, where);
  const others = bad.length - 1;
  return `${state}: ${what}${others > 0 ? venueWords.moreComponents(others) : ""}.`;
}

function unknownOf(name: string, { components }: VenueMatrix): string {
  const isSilent = components.some(({ cells }) => cells.some(({ notCounted }) => notCounted === "engine"));
  if (isSilent) return venueWords.engineSilent(name);
  const because = components.find(({ unknownBecause }) => unknownBecause !== null)?.unknownBecause;
  return because ? venueWords.unknownBecause[because.reason](name, isolated(because.detail)) : venueWords.unknown(name);
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
