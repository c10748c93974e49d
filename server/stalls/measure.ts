import type { Db } from "../../shared/database/pool.js";
import type { Registry, StallThreshold, Stream } from "../../shared/registry/registry.js";
import { type Distribution, distributionOf, leastPeriods, thresholdFrom } from "./proposal.js";
import { added, type Piece, piecesOf, readSilences, type Silence, totalOf } from "./silences.js";

export interface StreamReport {
  /** Registry id. */
  venue: string;
  stream: Stream;
  /** Of all regions together; null where no quiet period was heard. */
  distribution: Distribution | null;
  longestMs: number | null;
  /** Quiet periods that touch trouble, see silences.ts. */
  leftOut: number;
  /** Quiet periods in the region that heard most. */
  mostPeriods: number;
  /** Null: too few periods. */
  proposal: StallThreshold | null;
  regions: RegionReport[];
}

export interface RegionReport {
  region: string;
  /** Time measured outside trouble. */
  measuredDays: number;
  /** Slots outside trouble that the present threshold would have judged stalled. */
  falseNow: number;
  /** The same, of the proposed one; where none is proposed, the present one stays. */
  falseThen: number;
}

export interface MeasuredWindow {
  /** Back from `now`, each of 24 hours. */
  days: number;
  now: Date;
}

/**
 * Measures every stream of the registry. Only reads, in many short statements: the database serves others meanwhile.
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

/** What one region heard of a stream. */
interface Heard {
  region: string;
  silences: Silence[];
  /** On which quiet periods ended. */
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

/** As a probe judges: longer than the threshold, not as long. */
function stalledSlots(silences: readonly Silence[], afterMs: number): number {
  return totalOf(
    silences.filter(({ quietMs }) => quietMs > afterMs),
    "slots",
  );
}
