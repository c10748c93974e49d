/** Cadences that respect the limits of venues, for all probes that share an address. */

import { addressIn } from "./region-hosts.js";
import type { Limit, Region, Registry, RestEndpoint } from "./registry.js";

/**
 * Half of each limit is left to others on the same address: to people who use the venue from there, to `doctor` and
 * `check`, and to retries.
 */
export const usableShare = 0.5;

/** At a longer cadence, the six samples by which a component is judged would be of more than six hours. */
const longestCadenceMs = 60 * 60_000;

/** What the probes of one address ask of an origin. */
export interface OriginUse {
  limit: Limit;
  /** Requests a minute of one probe, at the cadences of the registry. */
  perMinute: number;
  /** The same of all probes that share the address. */
  allPerMinute: number;
  /** What may be used of the limit, requests a minute. */
  usablePerMinute: number;
}

/**
 * The use of each limit for requests of one address.
 *
 * @param probes the number of probes that share an address
 */
export function useOfLimits(registry: Registry, probes: number): OriginUse[] {
  return limitsOf(registry).map((limit) => {
    const perMinute = Math.max(...registry.regions.map((region) => requestsPerMinute(registry, limit, region)));
    const usablePerMinute = (usableShare * limit.requests * 60_000) / limit.periodMs;
    return { limit, perMinute, allPerMinute: perMinute * probes, usablePerMinute };
  });
}

/**
 * Lengthens the cadences of endpoints whose origin would be asked more often than its limit allows, all of an origin by
 * the same factor.
 *
 * @returns the registry, and a sentence for each endpoint that cannot be measured within the limits
 */
export function withinLimits(registry: Registry, probes: number): { registry: Registry; problems: string[] } {
  const tight = useOfLimits(registry, probes).filter(({ allPerMinute, usablePerMinute }) => allPerMinute > usablePerMinute);
  if (tight.length === 0) return { registry, problems: [] };
  const problems: string[] = [];
  const venues = registry.venues.map((venue) => ({
    ...venue,
    rest: venue.rest.map((endpoint) => {
      const uses = tight.filter(({ limit }) => registry.regions.some((region) => isAbout(limit, endpoint, region)));
      const factor = Math.max(1, ...uses.map(({ allPerMinute, usablePerMinute }) => allPerMinute / usablePerMinute));
      if (factor === 1) return endpoint;
      const cadenceMs = Math.ceil((endpoint.cadenceMs * factor) / 1000) * 1000;
      if (cadenceMs > longestCadenceMs)
        problems.push(tooSlow(venue.id, endpoint.name, cadenceMs, uses.find(({ allPerMinute, usablePerMinute }) => allPerMinute / usablePerMinute === factor)!, probes));
      return { ...endpoint, cadenceMs };
    }),
  }));
  return { registry: { ...registry, venues }, problems };
}

function tooSlow(venue: string, name: string, cadenceMs: number, { limit, perMinute }: OriginUse, probes: number): string {
  const wanted = `${rounded(perMinute)} requests a minute from each of ${probes} probes`;
  return (
    `${venue} rest:${name}: expected ${wanted} below half of the limit of ${limit.origin}, ` +
    `${limit.requests} in ${limit.periodMs / 1000} s (${limit.source}); that needs a cadence of ${cadenceMs / 1000} s, ` +
    `more than the longest, ${longestCadenceMs / 1000} s: remove endpoints, or run fewer probes on one address`
  );
}

function limitsOf({ venues }: Registry): Limit[] {
  return venues.flatMap(({ limits = [] }) => limits).filter(({ per }) => per === "address");
}

function requestsPerMinute({ venues }: Registry, limit: Limit, region: Region): number {
  const endpoints = venues.flatMap(({ rest }) => rest).filter((endpoint) => isAbout(limit, endpoint, region));
  return endpoints.reduce((sum, { cadenceMs }) => sum + 60_000 / cadenceMs, 0);
}

/** An alternative is asked as often as the first address whenever that fails. */
function isAbout({ origin, endpoints }: Limit, { name, url, alternatives = [] }: RestEndpoint, region: Region): boolean {
  if (endpoints && !endpoints.includes(name)) return false;
  return [url, ...alternatives].some((address) => new URL(addressIn(region, address)).origin === origin);
}

function rounded(number: number): number {
  return Math.round(number * 100) / 100;
}
