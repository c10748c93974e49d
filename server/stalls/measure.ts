import type { Db } from "../../shared/database/pool.js";
import type { Registry, StallThreshold, Stream } from "../../shared/registry/registry.js";
import { type Distribution, distributionOf, leastPeriods, thresholdFrom } from "./proposal.js";
import { added, type Piece, piecesOf, readSilences, type Silence, totalOf } from "./silences.js";

export interface StreamReport {
  /** Registry id. */
  venue: string;
  stream: Stream;
  /** Over all regions; null if there was no quiet period. */
  distribution: Distribution | null;
  longestMs: number | null;
  /** How many quiet periods touch trouble; see silences.ts. */
  leftOut: number;
  /** The number of quiet periods in the region that heard most of them. */
  mostPeriods: number;
  /** Null if there were too few quiet periods. */
  proposal: StallThreshold | null;
  regions: RegionReport[];
}

export interface RegionReport {
  region: string;
  /** Time measured outside trouble. */
  measuredDays: number;
  /** Slots outside trouble that the present threshold would have judged stalled. */
  falseNow: number;
  /** The same for the proposed threshold, or for the present one if none is proposed. */
  falseThen: number;
}

export interface MeasuredWindow {
  /** How many days of 24 hours to measure, back from `now`. */
  days: number;
  now: Date;
}

/**
 * Measures every stream of the registry. It only reads, in many short statements, between which the database serves
 * others.
 */
export async function measureStalls(
  db: Db,
  registry: Registry,
  { days, now }: MeasuredWindow,
): Promise<StreamReport[]> {
  const pieces = piecesOf(days, now);
  const reports = [];
  for (const { id, socket } of registry.venues)
    for (const stream of socket?.streams ?? []) {
      const heard = [];
      for (const region of registry.regions) heard.push(await hear(db, id, stream, region.id, pieces));
      reports.push(reportOf(id, stream, heard));
    }
  return reports;
}

/** The silences of a stream in one region. */
interface Heard {
  region: string;
  silences: Silence[];
  /** The days on which quiet periods ended. */
  days: string[];
}

async function hear(
  db: Db,
  venue: string,
  { name, cadenceMs }: Stream,
  region: string,
  pieces: readonly Piece[],
): Promise<Heard> {
  const series = { venue, component: `ws:${name}`, region, cadenceMs };
  const parts = [];
  const days = [];
  for (const piece of pieces) {
    const silences = await readSilences(db, series, piece);
    parts.push(silences);
    if (totalOf(silences, "periods") > 0) days.push(piece.day);
  }
  return { region, silences: added(parts), days };
}

function reportOf(venue: string, stream: Stream, heard: readonly Heard[]): StreamReport {
  const silences = added(heard.map((one) => one.silences));
  const distribution = distributionOf(
    silences,
    heard.flatMap(({ days }) => days),
  );
  const mostPeriods = Math.max(...heard.map((one) => totalOf(one.silences, "periods")));
  const proposal = distribution !== null && mostPeriods >= leastPeriods ? thresholdFrom(distribution, stream) : null;
  const thresholds = {
    nowMs: stream.stall.afterMs,
    thenMs: proposal?.afterMs ?? stream.stall.afterMs,
  };
  return {
    venue,
    stream,
    distribution,
    longestMs: silences.findLast(({ periods }) => periods > 0)?.quietMs ?? null,
    leftOut: totalOf(silences, "leftOut"),
    mostPeriods,
    proposal,
    regions: heard.map((one) => regionReport(one, stream, thresholds)),
  };
}

function regionReport(
  { region, silences }: Heard,
  { cadenceMs }: Stream,
  { nowMs, thenMs }: { nowMs: number; thenMs: number },
): RegionReport {
  return {
    region,
    measuredDays: (totalOf(silences, "slots") * cadenceMs) / 86_400_000,
    falseNow: stalledSlots(silences, nowMs),
    falseThen: stalledSlots(silences, thenMs),
  };
}

/** As in the probe, a silence that is exactly as long as the threshold is not a stall. */
function stalledSlots(silences: readonly Silence[], afterMs: number): number {
  return totalOf(
    silences.filter(({ quietMs }) => quietMs > afterMs),
    "slots",
  );
}
