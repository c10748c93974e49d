import { type Db, sql } from "../../shared/database/pool.js";
import type { Sample } from "../../shared/measurement/sample.js";

/**
 * The result of a batch. A duplicate was stored before; a refused sample is too old, or too far ahead of the database's
 * clock.
 */
export interface Recorded {
  stored: number;
  duplicates: number;
  refused: number;
  /** Timeline of the database. A failover begins a new one, and may have lost acknowledged samples. */
  timeline: string;
  /** Samples that were not stored, because the registry of the last migration lacks their venues or components. */
  unknown: readonly Sample[];
}

/**
 * Inserts a batch in one statement, idempotently: the same batch may be sent again after a lost answer.
 *
 * @param region id of the region that measured them
 * @throws Error if the database does not know the region
 */
export async function recordSamples(db: Db, region: string, samples: readonly Sample[]): Promise<Recorded> {
  const [row] = await db.query<{
    timeline: string;
    knows_region: boolean;
    unknown: number[];
    accepted: number;
    stored: number;
  }>(sql`
    select timeline, knows_region, unknown, accepted, stored
    from upkeep.record_samples(${region}, ${JSON.stringify(samples.map(columnsOf))})
  `);
  const { timeline, knows_region, unknown, accepted, stored } = row!;
  if (!knows_region)
    throw new Error(
      `expected a database that knows the region ${region}, this one does not: run \`venuewatch migrate\` with this probe's registry`,
    );
  return {
    timeline,
    stored,
    duplicates: accepted - stored,
    refused: samples.length - unknown.length - accepted,
    unknown: unknown.map((place) => samples[place - 1]!),
  };
}

/** The sample's values by the names of their columns, without nulls. */
function columnsOf(sample: Sample): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(sample) as [keyof Sample, Sample[keyof Sample]][]) {
    // JSON has neither NaN nor infinity and would turn them into null. The database refuses them as text.
    const isNoJson = typeof value === "number" && !Number.isFinite(value);
    if (value !== null) row[columnOf(key)] = isNoJson ? String(value) : value;
  }
  return row;
}

const columnNames = new Map<string, string>();

/** `latencyUs` is stored as `latency_us`. Names are converted once: a batch of a thousand has twelve thousand keys. */
function columnOf(key: string): string {
  let column = columnNames.get(key);
  if (column === undefined) {
    column = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columnNames.set(key, column);
  }
  return column;
}
