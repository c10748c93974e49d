import type { Db } from "../../shared/database/pool.js";

/**
 * One length of silence, and how often it occurred. Trouble is time in which silence is known not to be normal:
 * incidents of the stream or its socket, and impairments of the region.
 */
export interface Silence {
  quietMs: number;
  /** Slots outside trouble whose longest silence had this length. */
  slots: number;
  /** Quiet periods of this length outside trouble; each counts once, however many slots it touched. */
  periods: number;
  /** Quiet periods of this length that touch trouble. */
  leftOut: number;
}

/** One stream in one region. */
export interface Series {
  venue: string;
  component: string;
  region: string;
  cadenceMs: number;
}

/** Part of a UTC day. */
export interface Piece {
  /** `2026-10-31` */
  day: string;
  from: Date;
  /** Exclusive. */
  to: Date;
}

const dayMs = 24 * 3_600_000;

/**
 * The last `days` times 24 hours, split at midnight. For one day, a statement takes the embedded database about 40 ms;
 * for eight days at once, all others would wait for half a second.
 */
export function piecesOf(days: number, now: Date): Piece[] {
  const begin = +now - days * dayMs;
  const midnights = [];
  for (let at = Math.ceil(begin / dayMs) * dayMs; at < +now; at += dayMs) midnights.push(at);
  const edges = [...new Set([begin, ...midnights, +now])];
  return edges.slice(1).map((to, index) => {
    const from = new Date(edges[index]!);
    return { day: from.toISOString().slice(0, 10), from, to: new Date(to) };
  });
}

/**
 * Shortest first. `added` sums up the results of consecutive pieces: a silence belongs to the piece in which it ended.
 */
export async function readSilences(
  db: Db,
  { venue, component, region, cadenceMs }: Series,
  { from, to }: Piece,
): Promise<Silence[]> {
  return db.file("quiet_periods", [venue, component, region, from, to, cadenceMs]);
}

/** The sums per length, shortest first. */
export function added(parts: readonly Silence[][]): Silence[] {
  const sums = new Map<number, Silence>();
  for (const silence of parts.flat()) {
    const sum = sums.get(silence.quietMs);
    if (sum === undefined) {
      sums.set(silence.quietMs, { ...silence });
      continue;
    }
    sum.slots += silence.slots;
    sum.periods += silence.periods;
    sum.leftOut += silence.leftOut;
  }
  return [...sums.values()].sort((a, b) => a.quietMs - b.quietMs);
}

export function totalOf(silences: readonly Silence[], what: "slots" | "periods" | "leftOut"): number {
  return silences.reduce((sum, silence) => sum + silence[what], 0);
}
