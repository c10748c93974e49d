/** How large a simulated service is, and the registry of its venues. */
import type { Registry } from "../shared/registry/registry.js";
import { officialEntry } from "./status-page.js";
import { chains, venueEntry } from "./venue.js";

export interface ClusterShape {
  regions: number;
  probesPerRegion: number;
  venues: number;
  /** How many of the venues have a status page. */
  statusPages: number;
  cores: number;
  webs: number;
  channels: number;
  cadenceMs: number;
}

/**
 * `small` takes a minute. To see that its own network is at fault, a probe needs four venues when it has just started,
 * and several answers of each in ten seconds (probe/network/own-network.ts). `pairs` has a second probe in each region,
 * which can take over. Each of them has the three venues that it needs to measure its clock.
 */
export const shapes: Record<string, ClusterShape> = {
  usual: {
    regions: 3,
    probesPerRegion: 2,
    venues: 8,
    statusPages: 4,
    cores: 2,
    webs: 2,
    channels: 3,
    cadenceMs: 5_000,
  },
  small: {
    regions: 2,
    probesPerRegion: 1,
    venues: 4,
    statusPages: 2,
    cores: 2,
    webs: 1,
    channels: 2,
    cadenceMs: 5_000,
  },
  pairs: {
    regions: 2,
    probesPerRegion: 2,
    venues: 6,
    statusPages: 1,
    cores: 2,
    webs: 1,
    channels: 1,
    cadenceMs: 5_000,
  },
};

export function registryOf({ regions, venues, statusPages, cadenceMs }: ClusterShape): Registry {
  return {
    probeIntervalMs: cadenceMs,
    chains,
    regions: Array.from({ length: regions }, (_, place) => ({
      id: `region-${place + 1}`,
      name: `Region ${place + 1}`,
    })),
    venues: Array.from({ length: venues }, (_, place) => {
      const id = `venue-${place + 1}`;
      return venueEntry(id, cadenceMs, place < statusPages ? officialEntry(id) : null);
    }),
  };
}
