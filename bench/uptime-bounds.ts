/**
 * Measures how often the bounds of an uptime contain the truth, over random histories that were measured in part: by
 * kind of measurement, by window, for other kinds of venues than those that the method was tuned on, and for fleets.
 * Also measures how long a board's bounds take.
 */
import { sql } from "../shared/database/pool.js";
import {
  boundsOfFleet,
  containedPct,
  type Judged,
  judgedHistories,
  patterns,
  randomHistory,
  sumsOf,
  upShare,
  usualPopulation,
} from "../test/support/random-histories.js";
import { randomFrom } from "../test/support/random-samples.js";
import { type Figure, spreadOf, timesMs } from "./figure.js";
import { openStage, type Stage } from "./stage.js";

const ofEach = 400;

export async function benchUptimeBounds(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    return [...(await usual(stage)), ...(await otherVenues(stage)), ...(await fleets(stage)), await ofBoard(stage)];
  } finally {
    await stage.close();
  }
}

async function usual({ pool }: Stage): Promise<Figure[]> {
  const judged = await judgedHistories(pool, randomFrom(1), ofEach);
  const of = (what: string, some: (one: Judged) => boolean) => contained(what, judged.filter(some));
  return [
    contained("all histories", judged, {
      value: 95,
      what: "wanted, 93 to 97",
    }),
    of("those in which something was down", ({ truth }) => truth < 100),
    ...[1, 7, 30, 90].map((window) => of(`windows of ${window} days`, ({ days }) => days === window)),
    ...Object.keys(patterns).map((name) => of(name, ({ pattern }) => pattern === name)),
    {
      what: "truth below the low bound",
      value: sharePct(judged, ({ truth, low }) => truth < low),
      unit: "%",
    },
    {
      what: "truth above the high bound",
      value: sharePct(judged, ({ truth, high }) => truth > high),
      unit: "%",
    },
  ];
}

async function otherVenues({ pool }: Stage): Promise<Figure[]> {
  const others = {
    "venues ten times as good": { mostDownShare: 0.02 },
    "venues of which most are nearly flawless": { towardsFlawless: 6 },
    "venues three times as bad": { mostDownShare: 0.6, towardsFlawless: 2 },
    "outages four times as long": { longestMedianMinutes: 180 },
    "short outages": { longestMedianMinutes: 8 },
  };
  const figures: Figure[] = [];
  for (const [what, differs] of Object.entries(others)) {
    const population = { ...usualPopulation, ...differs };
    figures.push(contained(what, await judgedHistories(pool, randomFrom(2), ofEach / 4, population)));
  }
  return figures;
}

/**
 * Fifteen venues over a week: all measured in the same way, as by probes that fail together, or each in a different
 * way.
 */
async function fleets({ pool }: Stage): Promise<Figure[]> {
  const random = randomFrom(3);
  const ways = Object.values(patterns);
  const someWay = () => ways[Math.floor(random() * ways.length)]!;
  const figures: Figure[] = [];
  for (const alike of [true, false]) {
    let right = 0;
    for (let i = 0; i < ofEach; i += 1) {
      const way = someWay();
      const histories = Array.from({ length: 15 }, () =>
        randomHistory(random, alike ? way : someWay(), 7, usualPopulation),
      );
      const truth = upShare(histories);
      const { low, high } = await boundsOfFleet(
        pool,
        histories.map((one) => sumsOf(one)),
      );
      if (truth >= low! && truth <= high!) right += 1;
    }
    figures.push({
      what: `fleets of fifteen venues ${alike ? "measured alike" : "each measured otherwise"}, a week (${ofEach})`,
      value: (100 * right) / ofEach,
      unit: "%",
    });
  }
  return figures;
}

/** As many histories as a board has days and venues, all different. */
async function ofBoard({ pool }: Stage): Promise<Figure> {
  const took = await timesMs(20, () =>
    pool.query(sql`
      select count((b.bounds).low)
      from (
        select api.uptime_bounds(1440, 1000 + n % 400, n % 7, 25000 + n, 170000 + n, 1000000 + n, 1440000, 2073600) as bounds
        from generate_series(1, 1365) n
      ) b
    `),
  );
  return {
    what: "bounds of 15 venues and 1,350 different days, p50",
    value: spreadOf(took).p50,
    unit: "ms",
  };
}

function contained(what: string, judged: readonly Judged[], floor?: Figure["floor"]): Figure {
  const figure = {
    what: `${what} (${judged.length})`,
    value: containedPct(judged),
    unit: "%",
  };
  return floor ? { ...figure, floor } : figure;
}

function sharePct(judged: readonly Judged[], some: (one: Judged) => boolean): number {
  return (100 * judged.filter(some).length) / judged.length;
}
