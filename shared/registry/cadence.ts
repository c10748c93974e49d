/** Cadences that respect the limits of venues, for all probes that share an address. */

import { addressIn } from "./addresses.js";
import type { Limit, Region, Registry, RestEndpoint, Venue } from "./registry.js";

/**
 * Half of each limit is left to others on the same address: to people who use the venue from there, to `doctor` and
 * `check`, and to retries.
 */
export const usableShare = 0.5;

/** At a longer cadence, the six samples by which a component is judged would span more than six hours. */
const longestCadenceMs = 60 * 60_000;

/** The shortest unit that is lengthened by whole seconds: a second would be more than a fifth of a shorter one. */
const shortestUnitMs = 5000;
const longestStepMs = 5000;

/** The requests to an origin by the probes of one address. */
export interface LimitUse {
  /** Id of the venue whose entry has the limit. */
  venue: string;
  limit: Limit;
  /** Requests a minute of one probe, of the region that asks most. */
  perMinute: number;
  /** The same for all probes that share the address. */
  allPerMinute: number;
  /** The limit, in requests a minute. */
  limitPerMinute: number;
  /** The part of the limit that the requests must stay below. */
  usablePerMinute: number;
}

/**
 * The use of each limit for requests of one address, by all venues of the registry: several may ask the same origin.
 *
 * @param probes the number of probes that share an address
 */
export function limitUses({ venues, regions }: Registry, probes: number): LimitUse[] {
  return venues.flatMap(({ id, limits = [] }) =>
    limits
      .filter(({ per }) => per === "address")
      .map((limit) => {
        const perMinute = Math.max(...regions.map((region) => requestsPerMinute(venues, id, limit, region)));
        const limitPerMinute = (limit.requests * 60_000) / limit.periodMs;
        const usablePerMinute = usableShare * limitPerMinute;
        return { venue: id, limit, perMinute, allPerMinute: perMinute * probes, limitPerMinute, usablePerMinute };
      }),
  );
}

/** Each origin that the endpoints ask, and the requests a minute of one probe, in the region that asks it most. */
export function askedOrigins({ venues, regions }: Registry): { origin: string; perMinute: number }[] {
  const addresses = venues.flatMap(({ rest }) => rest.flatMap(({ url, alternatives = [] }) => [url, ...alternatives]));
  const all = regions.flatMap((region) => addresses.map((address) => new URL(addressIn(region, address)).origin));
  return [...new Set(all)].map((origin) => {
    const perMinute = Math.max(...regions.map((region) => requestsPerMinute(venues, "", { origin }, region)));
    return { origin, perMinute };
  });
}

/**
 * Lengthens the cadences of endpoints whose origin would be asked more often than its limit allows, by the same factor
 * for all endpoints that a limit counts.
 *
 * @param probes the number of probes that share an address
 * @returns the registry, and a sentence for each endpoint that cannot be measured within the limits
 */
export function withinLimits(registry: Registry, probes: number): { registry: Registry; problems: string[] } {
  const tight = limitUses(registry, probes)
    .filter((use) => excessOf(use) >= 1)
    .map((use) => ({ ...use, together: unitOf(registry, use) }));
  if (tight.length === 0) return { registry, problems: [] };
  const problems: string[] = [];
  const venues = registry.venues.map((venue) => ({
    ...venue,
    rest: venue.rest.map((endpoint) => {
      const [use] = tight
        .filter((one) => isCounted(registry, venue.id, endpoint, one))
        .sort((a, b) => excessOf(b) - excessOf(a));
      if (use === undefined) return endpoint;
      const { unitMs, stepMs } = use.together ?? { unitMs: endpoint.cadenceMs, stepMs: 1000 };
      // the next step, so that less than the usable part is used
      const longerMs = (Math.floor((unitMs * excessOf(use)) / stepMs + 1e-6) + 1) * stepMs;
      const cadenceMs = (endpoint.cadenceMs / unitMs) * longerMs;
      if (cadenceMs > longestCadenceMs)
        problems.push(tooSlow(`${venue.id} rest:${endpoint.name}`, cadenceMs, use, probes));
      return { ...endpoint, cadenceMs };
    }),
  }));
  return { registry: { ...registry, venues }, problems };
}

/**
 * The factor by which a limit's usable part is exceeded; 1: all of it is used. The last digits of sums of fractions are
 * rounding errors.
 */
function excessOf({ allPerMinute, usablePerMinute }: LimitUse): number {
  return Math.round((allPerMinute / usablePerMinute) * 1e9) / 1e9;
}

/**
 * The unit of which all cadences under a limit are multiples, and the steps by which it becomes longer. This way the
 * cadences of an origin keep a common divisor, and their slots never pass each other (probe/schedule/schedule.ts): all
 * are multiples of a longer unit or, where the origin has endpoints that the limit does not count, of a part of the
 * unit of all its endpoints.
 *
 * Null: the unit is so short that a step would be too large a part of it, and each cadence becomes longer by itself.
 */
function unitOf(registry: Registry, use: LimitUse): { unitMs: number; stepMs: number } | null {
  const ofLimit = cadencesOf(registry, use);
  const ofOrigin = cadencesOf(registry, { ...use, limit: { ...use.limit, endpoints: undefined } });
  const [unitMs, ofAllMs] = [ofLimit, ofOrigin].map((cadences) => cadences.reduce(greatestCommonDivisor));
  const stepMs = ofLimit.length < ofOrigin.length ? greatestCommonDivisor(ofAllMs!, longestStepMs) : 1000;
  return unitMs! < shortestUnitMs || stepMs < 1000 ? null : { unitMs: unitMs!, stepMs };
}

function cadencesOf(registry: Registry, use: Pick<LimitUse, "venue"> & { limit: Counted }): number[] {
  return registry.venues.flatMap(({ id, rest }) =>
    rest.filter((one) => isCounted(registry, id, one, use)).map(({ cadenceMs }) => cadenceMs),
  );
}

export function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function isCounted(
  { regions }: Registry,
  venue: string,
  endpoint: RestEndpoint,
  { venue: of, limit }: Pick<LimitUse, "venue"> & { limit: Counted },
): boolean {
  return regions.some((region) => countedRequests(venue, endpoint, of, limit, region) > 0);
}

function tooSlow(
  component: string,
  cadenceMs: number,
  { limit, perMinute, usablePerMinute }: LimitUse,
  probes: number,
) {
  return (
    `${component}: expected less than ${shownRate(usablePerMinute)} requests a minute, half of the limit of ${limit.origin} ` +
    `(${limit.requests} in ${limit.periodMs / 1000} s for one address: ${limit.source}), found ${shownRate(perMinute)} of ` +
    `each of ${probes} probes on one address; within the limit its cadence would be ${cadenceMs / 1000} s, and the ` +
    `longest is ${longestCadenceMs / 1000} s: remove endpoints of this origin, or run fewer probes on one address`
  );
}

export function shownRate(perMinute: number): string {
  return new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: false }).format(perMinute);
}

/** What a limit counts. */
interface Counted {
  origin: Limit["origin"];
  endpoints?: Limit["endpoints"] | undefined;
}

function requestsPerMinute(venues: Venue[], of: string, limit: Counted, region: Region): number {
  return venues
    .flatMap(({ id, rest }) =>
      rest.map((one) => (countedRequests(id, one, of, limit, region) * 60_000) / one.cadenceMs),
    )
    .reduce((sum, requests) => sum + requests, 0);
}

/**
 * How many requests of a slot a limit counts. An alternative is asked as often as the first address whenever that
 * fails. Names of endpoints are those of the venue whose entry has the limit.
 */
function countedRequests(venue: string, endpoint: RestEndpoint, of: string, limit: Counted, region: Region): number {
  const { name, url, alternatives = [] } = endpoint;
  if (limit.endpoints && !(venue === of && limit.endpoints.includes(name))) return 0;
  const { origin } = new URL(limit.origin);
  return [url, ...alternatives].filter((address) => new URL(addressIn(region, address)).origin === origin).length;
}
