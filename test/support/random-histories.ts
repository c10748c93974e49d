/**
 * Random histories of venues, minute by minute, and random patterns by which parts of them are measured: test data for
 * the bounds of uptime. The truth is known here.
 */
import { type Pool, sql } from "../../shared/database/pool.js";

const dayMinutes = 1_440;
const hourMinutes = 60;

/** The distribution of random venues. */
export interface Population {
  /** The largest share of minutes that a venue is down. */
  mostDownShare: number;
  /** A venue's share is the largest one times a random number to this power. */
  towardsFlawless: number;
  /** The median length of a venue's outages is between two minutes and this, evenly distributed by its logarithm. */
  longestMedianMinutes: number;
}

/** Venues from flawless to a fifth of the time down; half of them are down for more than 2.5 % of it. */
export const usualPopulation: Population = { mostDownShare: 0.2, towardsFlawless: 3, longestMedianMinutes: 45 };

/** The measured minutes of a window, 1 each. */
export type Pattern = (random: () => number, minutes: number) => Uint8Array<ArrayBuffer>;

export const patterns: Record<string, Pattern> = {
  "three minutes a day": (random, minutes) => {
    const measured = new Uint8Array(minutes);
    for (let day = 0; day < minutes; day += dayMinutes) {
      const first = day + Math.floor(random() * (dayMinutes - 3));
      measured.fill(1, first, first + 3);
    }
    return measured;
  },
  "a minute every eight hours": every(480),
  "a minute every quarter of an hour": every(15),
  "half of every hour": turns(30, 30),
  "one hour in four": turns(60, 180),
  "eight hours a day": turns(480, 960),
  "each minute by chance": (random, minutes) => {
    const share = 0.4 + 0.58 * random();
    return new Uint8Array(minutes).map(() => (random() < share ? 1 : 0));
  },
  "whole days missing": (random, minutes) => {
    const share = 0.1 + 0.6 * random();
    const measured = new Uint8Array(minutes);
    for (let day = 0; day < minutes; day += dayMinutes) if (random() >= share) measured.fill(1, day, day + dayMinutes);
    return measured;
  },
  "away for a week": (random, minutes) => {
    const away = Math.min(7 * dayMinutes, Math.round(0.3 * minutes));
    const from = Math.floor(random() * (minutes - away));
    return new Uint8Array(minutes).fill(1).fill(0, from, from + away);
  },
  "nearly complete": (random, minutes) => spells(random, minutes, 600, 5),
  "on and off": (random, minutes) => spells(random, minutes, 20 + 400 * random(), 20 + 400 * random()),
  "minutes, hours and days missing": (random, minutes) => {
    const share = 0.1 * random();
    const measured = new Uint8Array(minutes).map(() => (random() < share ? 0 : 1));
    for (const span of [hourMinutes, dayMinutes])
      for (let from = 0; from < minutes; from += span) if (random() < 0.1) measured.fill(0, from, from + span);
    return measured;
  },
};

function every(stepMinutes: number): Pattern {
  return (random, minutes) => {
    const measured = new Uint8Array(minutes);
    const first = Math.floor(random() * stepMinutes);
    for (let at = first; at < minutes; at += stepMinutes) measured[at] = 1;
    return measured;
  };
}

/** That many minutes measured, that many not, repeated. */
function turns(on: number, off: number): Pattern {
  return (random, minutes) => {
    const begun = Math.floor(random() * (on + off));
    return new Uint8Array(minutes).map((_, at) => ((at + begun) % (on + off) < on ? 1 : 0));
  };
}

/** Alternates measured and unmeasured spans of random lengths. */
function spells(random: () => number, minutes: number, meanOn: number, meanOff: number): Uint8Array<ArrayBuffer> {
  const measured = new Uint8Array(minutes);
  let at = -exponential(random, meanOn);
  while (at < minutes) {
    const on = Math.max(1, exponential(random, meanOn));
    measured.fill(1, Math.max(0, Math.round(at)), Math.max(0, at + on));
    at += on + Math.max(1, exponential(random, meanOff));
  }
  return measured;
}

/** A venue that is watched for whole days, some of whose minutes are measured. */
export interface History {
  down: Uint8Array;
  measured: Uint8Array;
}

export function randomHistory(random: () => number, pattern: Pattern, days: number, population: Population): History {
  const minutes = days * dayMinutes;
  return { down: downMinutes(random, minutes, population), measured: pattern(random, minutes) };
}

/**
 * Outages begin at random. Their lengths are log-normal, so a venue whose usual outage takes five minutes sometimes has
 * one of hours. Another one follows up to half of them within minutes.
 */
function downMinutes(random: () => number, minutes: number, population: Population): Uint8Array<ArrayBuffer> {
  const { mostDownShare, towardsFlawless, longestMedianMinutes } = population;
  const downShare = mostDownShare * random() ** towardsFlawless;
  const median = 2 * (longestMedianMinutes / 2) ** random();
  const spread = 0.5 + random();
  const relapses = 0.5 * random();
  const lengthOf = () => Math.min(Math.max(1, median * Math.exp(spread * normal(random))), dayMinutes);

  const meanLength = Array.from({ length: 500 }, lengthOf).reduce((a, b) => a + b) / 500;
  const meanGap = (meanLength * (1 - downShare)) / downShare;
  const relapseGap = Math.min(20, meanGap);
  const usualGap = (meanGap - relapses * relapseGap) / (1 - relapses);

  const down = new Uint8Array(minutes);
  // begins some days before the window, so that the window may begin amid an outage
  let at = -5 * dayMinutes + random() * exponential(random, usualGap);
  while (at < minutes) {
    const length = lengthOf();
    const [from, to] = [Math.round(at), Math.round(at + length)];
    down.fill(1, Math.max(0, from), Math.max(0, to));
    const gap = random() < relapses ? relapseGap : usualGap;
    at += length + exponential(random, gap);
  }
  return down;
}

function exponential(random: () => number, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Draws a normal number by the method of Box and Muller. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The input of the bounds: sums over days. */
export interface Sums {
  scheduled: number;
  measured: number;
  down: number;
  half_hour_squares: number;
  three_hour_squares: number;
  day_squares: number;
  day_products: number;
  scheduled_squares: number;
}

export function sumsOf({ down, measured }: History): Sums {
  const days = Array.from({ length: measured.length / dayMinutes }, (_, day) => {
    const [from, to] = [day * dayMinutes, (day + 1) * dayMinutes];
    return sumsOfDay(down.subarray(from, to), measured.subarray(from, to));
  });
  return days.reduce((one, other) => {
    const sum = { ...one };
    for (const name of Object.keys(sum) as (keyof Sums)[]) sum[name] += other[name];
    return sum;
  });
}

function sumsOfDay(down: Uint8Array, measured: Uint8Array): Sums {
  const halfHours = new Array<number>(48).fill(0);
  const threeHours = new Array<number>(8).fill(0);
  let all = 0;
  let downOfThem = 0;
  for (let at = 0; at < dayMinutes; at += 1) {
    if (measured[at] === 0) continue;
    all += 1;
    downOfThem += down[at]!;
    halfHours[Math.floor(at / 30)]! += 1;
    threeHours[Math.floor(at / 180)]! += 1;
  }
  const squares = (counts: number[]) => counts.reduce((sum, count) => sum + count * count, 0);
  return {
    ...{ scheduled: dayMinutes, measured: all, down: downOfThem },
    ...{ half_hour_squares: squares(halfHours), three_hour_squares: squares(threeHours) },
    ...{ day_squares: all ** 2, day_products: dayMinutes * all, scheduled_squares: dayMinutes ** 2 },
  };
}

export interface Bounds {
  /** Null where nothing was measured. */
  low: number | null;
  high: number | null;
  uptime: number | null;
}

/** Returns per cent, from the database's function, in the order of the sums. */
export async function boundsOf(pool: Pool, sums: readonly Sums[]): Promise<Bounds[]> {
  return pool.query<Bounds>(sql`
    select (b.bounds).low::float8, (b.bounds).high::float8, api.uptime_pct(b.measured, b.down)::float8 as uptime
    from (${withBounds(sums)}) b
    order by b.nth
  `);
}

/** Returns the bounds of all these venues together. */
export async function boundsOfFleet(pool: Pool, sums: readonly Sums[]): Promise<Bounds> {
  const [bounds] = await pool.query<Bounds>(sql`
    with venue as (
      select b.*, (b.bounds).low, (b.bounds).high, 100 * (1 - b.down / b.measured::float8) as u, b.measured < b.scheduled as partly
      from (${withBounds(sums)}) b
      where b.measured > 0
    ),
    fleet as (
      select
        api.uptime_pct(sum(measured)::bigint, sum(down)::bigint) as uptime,
        api.fleet_bounds(
          api.uptime_pct(sum(measured)::bigint, sum(down)::bigint),
          sum(scheduled)::bigint,
          sum(scheduled * u),
          coalesce(sum((scheduled * (u - low)) ^ 2) filter (where partly), 0),
          coalesce(sum((scheduled * (high - u)) ^ 2) filter (where partly), 0)
        ) as bounds
      from venue
    )
    select (bounds).low::float8, (bounds).high::float8, uptime::float8 from fleet
  `);
  return bounds!;
}

function withBounds(sums: readonly Sums[]) {
  return sql`
    select s.*, api.uptime_bounds(
      s.scheduled, s.measured, s.down, s.half_hour_squares, s.three_hour_squares, s.day_squares, s.day_products, s.scheduled_squares
    ) as bounds
    from rows from (
      jsonb_to_recordset(${JSON.stringify(sums)}::jsonb) as (
        scheduled bigint, measured bigint, down bigint, half_hour_squares bigint, three_hour_squares bigint, day_squares bigint,
        day_products bigint, scheduled_squares bigint
      )
    ) with ordinality as s (
      scheduled, measured, down, half_hour_squares, three_hour_squares, day_squares, day_products, scheduled_squares, nth
    )
  `;
}

/** A history, and whether its bounds contained the truth. */
export interface Judged {
  pattern: string;
  days: number;
  /** Per cent of all scheduled minutes. */
  truth: number;
  low: number;
  high: number;
  contained: boolean;
}

/** Makes that many histories of each pattern and window, without those measured in full or not at all. */
export async function judgedHistories(
  pool: Pool,
  random: () => number,
  ofEach: number,
  population = usualPopulation,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const [name, pattern] of Object.entries(patterns))
    for (const days of [1, 7, 30, 90]) {
      const histories = Array.from({ length: ofEach }, () => {
        const history = randomHistory(random, pattern, days, population);
        return { sums: sumsOf(history), truth: upShare([history]) };
      }).filter(({ sums: { measured, scheduled } }) => measured > 0 && measured < scheduled);
      const sums = histories.map(({ sums }) => sums);
      for (const [i, bounds] of (await boundsOf(pool, sums)).entries()) {
        const [low, high, { truth }] = [bounds.low!, bounds.high!, histories[i]!];
        judged.push({ pattern: name, days, truth, low, high, contained: truth >= low && truth <= high });
      }
    }
  return judged;
}

/** Returns per cent. */
export function upShare(histories: readonly History[]): number {
  let minutes = 0;
  let downOfThem = 0;
  for (const { down } of histories) {
    minutes += down.length;
    for (const one of down) downOfThem += one;
  }
  return (100 * (minutes - downOfThem)) / minutes;
}

/** Returns the per cent of bounds that contained the truth. */
export function containedPct(judged: readonly Judged[]): number {
  return (100 * judged.filter(({ contained }) => contained).length) / judged.length;
}
