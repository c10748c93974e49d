/** Stores what a probe would have stored of a stream, given its longest silences. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Fault } from "../../shared/measurement/sample.js";

export const slotMs = 10_000;

export interface HeardSlot {
  /** Null: not measured. */
  quietMs: number | null;
  fault?: Fault;
}

export interface HeardSeries {
  venue: string;
  component: string;
  region: string;
  /** The end of the first slot; the others end ten seconds apart. */
  from: Date;
  slots: HeardSlot[];
}

/** Stores a series without replacing samples. */
export async function storeHeard(db: Db, { venue, component, region, from, slots }: HeardSeries): Promise<void> {
  const quietMs = slots.map((slot) => slot.quietMs);
  const faults = slots.map((slot) => slot.fault ?? null);
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, messages, quiet_ms)
    select
      ${from}::timestamptz + (s.nth - 1) * ${slotMs}::int * interval '1 ms', c.component_id, g.region_id, s.fault is null, s.fault, 1, s.quiet_ms
    from unnest(${quietMs}::int[], ${faults}::fault[]) with ordinality as s (quiet_ms, fault, nth)
    join venue v on v.venue = ${venue}
    join component c on c.venue_id = v.venue_id and c.component = ${component}
    join region g on g.region = ${region}
    where s.quiet_ms is not null
  `);
}

/**
 * Parses a line such as `1 8 18 . 2 x30`: longest silences in seconds. `.` was not measured, and with `x` the venue
 * refused the subscription.
 */
export function slotsOf(line: string): HeardSlot[] {
  return line.split(" ").map((word) => {
    if (word === ".") return { quietMs: null };
    if (word.startsWith("x")) return { quietMs: Number(word.slice(1)) * 1000, fault: "handshake" };
    return { quietMs: Number(word) * 1000 };
  });
}
