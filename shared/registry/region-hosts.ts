/** Regions with hosts of their own, for venues that serve public data elsewhere to countries that they block. */

import type { Region, Registry, RestEndpoint, SocketConfig } from "./registry.js";

/**
 * The registry with the addresses at which a region measures. Only code that asks a venue uses it: components keep the
 * address of the entry in the database and on pages.
 */
export function measuredIn(registry: Registry, regionId: string | null): Registry {
  const region = registry.regions.find(({ id }) => id === regionId);
  if (!region?.hosts) return registry;
  const venues = registry.venues.map((venue) => ({
    ...venue,
    rest: venue.rest.map((endpoint) => relocated(endpoint, region)),
    socket: venue.socket && socketIn(venue.socket, region),
  }));
  return { ...registry, venues };
}

/** The address at which a region's probes measure, by the region's own hosts. */
export function addressIn({ hosts = {} }: Region, address: string): string {
  const { host } = new URL(address);
  // the address may write its host in capitals, or name the usual port
  return Object.hasOwn(hosts, host) ? address.replace(/^(\w+:\/\/)[^/?]+/, `$1${hosts[host]}`) : address;
}

function relocated<Asked extends Pick<RestEndpoint | SocketConfig, "url" | "alternatives">>(
  asked: Asked,
  region: Region,
): Asked {
  const { url, alternatives } = asked;
  return {
    ...asked,
    url: addressIn(region, url),
    ...(alternatives && { alternatives: alternatives.map((one) => addressIn(region, one)) }),
  };
}

function socketIn(socket: SocketConfig, region: Region): SocketConfig {
  const streams = socket.streams.map((stream) =>
    stream.url === undefined ? stream : { ...stream, url: addressIn(region, stream.url) },
  );
  return { ...relocated(socket, region), streams };
}
