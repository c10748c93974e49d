/**
 * Some hours of samples with every combination of gaps and trouble. Nobody measures for minutes or hours, or one region
 * does not. Venues fail before, after and across a gap, have few failures all along, or send rate limits. Old samples
 * reach the database much later. Endpoints are slow. Two regions move to one machine. Typical latencies change within
 * the time. The samples are the same at each run.
 */
import { sql, type Db } from "../../shared/database/pool.js";
import { rulesRow } from "../../server/engine/rules.js";
import { accepted, decideUpTo, tick } from "../../server/engine/tick.js";
import { insertSamples } from "./engine-on-worlds.js";
import { randomFrom } from "./random-samples.js";
import type { Sample } from "../second-opinion/world.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export interface GappedWorld {
  seed: number;
  startMs: number;
  endMs: number;
  rules: Record<string, number>;
  cadences: { venue: string; cadenceMs: number }[];
  samples: Sample[];
  vantages: { region: string; holdsFrom: Date; machine: string | null }[];
}

interface Span {
  fromMs: number;
  toMs: number;
}

const regions = ["ap-southeast", "eu-central", "us-east"];
const venues = ["binance", "coinbase", "gate", "kraken", "okx"];

export function makeGappedWorld(seed: number, hours: number): GappedWorld {
  const random = randomFrom(seed);
  const pick = <One>(from: readonly One[]) => from[Math.floor(random() * from.length)]!;
  // six o'clock, at which typical latencies are recomputed, lies within the span
  const startMs = +new Date("2026-01-15T05:30:00Z");
  const endMs = startMs + hours * hourMs;
  const spans = (times: number, longestMs: number): Span[] =>
    Array.from({ length: times }, () => {
      const fromMs = startMs + random() * (endMs - startMs);
      return { fromMs, toMs: fromMs + random() * random() * longestMs };
    });
  const within = (ms: number, all: Span[]) => all.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);

  const gaps = spans(2, (endMs - startMs) * 1.5);
  const edges = gaps.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  /** Trouble that begins near the edges of gaps, where it matters. */
  const troubles = (times: number): Span[] =>
    Array.from({ length: times }, () => {
      const fromMs = pick([...edges, startMs + 30 * minuteMs]);
      const beginMs = fromMs + (random() - 0.6) * 20 * minuteMs;
      return { fromMs: beginMs, toMs: beginMs + random() * 12 * minuteMs };
    });

  const cadences = venues.map((venue) => ({
    venue,
    // a slow cadence keeps every gap within the window for half an hour
    cadenceMs: pick([10_000, 20_000, 60_000, seed % 3 ? 20_000 : 300_000]),
  }));
  const ofRegion = new Map(
    regions.map((region) => [region, { silent: spans(2, 40 * minuteMs), bad: troubles(1), heldBack: troubles(3) }]),
  );
  const samples = cadences.flatMap(({ venue, cadenceMs }) => {
    const bad = troubles(6);
    const slow = troubles(3);
    const paused = troubles(2);
    const badInPart = troubles(2).map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + 10 * minuteMs }));
    return regions.flatMap((region) => {
      const own = ofRegion.get(region)!;
      const aloneBad = troubles(2);
      const made: Sample[] = [];
      // healthy for hours before, so that there is a typical latency
      for (let ms = startMs - 3 * hourMs; ms < endMs; ms += cadenceMs) {
        if (within(ms, gaps) ?? within(ms, own.silent)) continue;
        const fails =
          (within(ms, bad) ?? within(ms, own.bad) ?? within(ms, aloneBad))
            ? random() < 0.9
            : random() < (within(ms, badInPart) ? 0.3 : 0.02);
        const unserved = within(ms, paused) !== undefined;
        const heldBack = within(ms, own.heldBack);
        const delivered = heldBack && heldBack.toMs + (seed % 3) * 10 * minuteMs;
        made.push({
          ...{ venue, component: "rest:ticker", region, ts: ms },
          fault: unserved ? "limited" : fails ? "timeout" : null,
          unserved,
          latencyUs: unserved || fails ? null : within(ms, slow) ? 2_500_000 : 80_000,
          receivedAfterS: delivered ? Math.ceil((delivered - ms) / 1000) : Math.floor(random() * 4),
        });
      }
      return made;
    });
  });
  const rules = { ...rulesRow, step_ms: pick([5_000, 10_000, 20_000]), typical_min_hours: 2 };
  const together = regions.slice(0, 2);
  const movesAt = new Date(pick(edges) - 5 * minuteMs);
  const vantages = regions.flatMap((region) => [
    { region, holdsFrom: new Date(0), machine: region },
    { region, holdsFrom: movesAt, machine: together.includes(region) ? "one" : null },
  ]);
  return { seed, startMs, endMs, rules, cadences, samples, vantages };
}

export async function insertGappedWorld(
  db: Db,
  { cadences, samples, vantages, startMs, endMs }: GappedWorld,
): Promise<void> {
  await db.script("truncate sample, region_vantage");
  await db.query(sql`
    insert into region_vantage (region_id, holds_from, machine)
    select g.region_id, v."holdsFrom", v.machine
    from jsonb_to_recordset(${JSON.stringify(vantages)}::jsonb) as v (region text, "holdsFrom" timestamptz, machine text)
    join region g using (region)
  `);
  await db.query(sql`update venue set published = venue = any (${cadences.map(({ venue }) => venue)})`);
  await db.query(sql`update component set published = component = 'rest:ticker'`);
  await db.query(sql`
    update component c set cadence_ms = n."cadenceMs"
    from jsonb_to_recordset(${JSON.stringify(cadences)}::jsonb) as n (venue text, "cadenceMs" int)
    join venue v using (venue)
    where c.venue_id = v.venue_id
  `);
  await insertSamples(db, samples);
  await db.query(sql`
    call upkeep.refresh('sample_hour', ${new Date(startMs - 4 * hourMs)}, ${new Date(endMs + hourMs)})
  `);
}

/** Decides every instant in turn. Resolves with their number. */
export async function decideAllAlong(
  db: Db,
  { startMs, endMs, rules }: Pick<GappedWorld, "startMs" | "endMs" | "rules">,
): Promise<number> {
  let instants = 0;
  for (let ms = startMs; ms <= endMs; ms += rules.step_ms!) {
    accepted(await tick(db, new Date(ms), { rules }));
    instants += 1;
  }
  return instants;
}

/** Decides like a core that is sometimes away for minutes or hours. Resolves with the number of decided instants. */
export async function decideWithPauses(db: Db, { seed, startMs, endMs, rules }: GappedWorld): Promise<number> {
  const random = randomFrom(seed + 1);
  let instants = 0;
  let ms = startMs;
  for (;;) {
    for await (const one of decideUpTo(db, new Date(ms), { rules })) {
      accepted(one);
      instants += 1;
    }
    if (ms === endMs) return instants;
    const awayMs = random() * random() * 5 * hourMs;
    ms = Math.min(endMs, Math.ceil(ms + awayMs));
  }
}
