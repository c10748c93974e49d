import type { Pool } from "../../shared/database/pool.js";
import { rulesRow } from "../engine/rules.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { categories, type Category, type Registry } from "../../shared/registry/registry.js";
import type { DatabaseClock } from "./clock.js";
import { type Aged, makeSnapshots, type Snapshot, type WhileBusy } from "./snapshot.js";

/** The most requested pages, which change with each tick: each is made once a tick. */
export interface Boards {
  /** @param category null: all venues */
  status(category: Category | null): Promise<Snapshot | null>;
  /** @returns null if the database does not have the venue */
  venue(id: string, range: "24h" | "7d", region: string | null): Promise<Snapshot | null>;
  /**
   * The state of a venue and of its components, in few bytes; null as above.
   *
   * @param region as it alone sees them; null: by quorum
   */
  state(id: string, region: string | null): Promise<Snapshot | null>;
  /** How each region sees each component of a venue; null as above. */
  matrix(id: string): Promise<Snapshot | null>;
  /** The default region of a page; null if there are no regions. */
  usualRegion: string | null;
  regions(): Promise<Snapshot | null>;
  notify(): Promise<Snapshot | null>;
}

export function makeBoards(
  pool: Pick<Pool, "file">,
  registry: Registry,
  clock: DatabaseClock,
  whileBusy: WhileBusy,
  aged: Aged,
): Boards {
  const bodies = keptBodies(registry);
  const snapshots = makeSnapshots(pool, bodies, clock, whileBusy, aged);
  return {
    usualRegion: registry.regions[0]?.id ?? null,
    status: (category) => snapshots("status", [category], [category, categories, registry.probeIntervalMs]),
    venue: (id, range, region) =>
      snapshots("venue", [id, range, region], [id, range, region], range === "7d" ? weekHeldMs : 0),
    state: (id, region) => snapshots("venue_state", [id, region], [id, region]),
    matrix: (id) => snapshots("venue_matrix", [id], [id]),
    regions: () => snapshots("regions", [], [rulesRow.quorum_min_regions]),
    notify: () => snapshots("notify", [], []),
  };
}

/** Buckets of an hour change slowly: one open page must not load the embedded database at every tick. */
const weekHeldMs = 30_000;

const MiB = 2 ** 20;

/**
 * A board for each category and for all, every venue in both ranges from every region, its matrix, its state by quorum
 * and as each region sees it, the regions, and the alerts: 100 kB each.
 */
function keptBodies(registry: Registry) {
  const { regions } = registry;
  const bodies = categories.length + 1 + watchedVenues(registry).length * (regions.length * 3 + 2) + 2;
  return { bodies, bytes: 64 * MiB };
}
