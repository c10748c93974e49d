/**
 * Measures whether normal jitter opens incidents, over a thousand random component-days, and how soon a component has
 * an incident that fails a share of its requests in all regions. It takes minutes of simulated time and needs no
 * database.
 */
import { firstOpeningS, jitter, randomSlots, regions, type Trouble } from "../test/support/jitter.js";
import { rulesOfTheBook } from "../test/support/random-runs.js";
import { randomFrom } from "../test/support/random-samples.js";
import { type Figure, spreadOf } from "./figure.js";

const days = 1_000;
const slotsADay = 17_280;
const troubled = 2_000;
/** Ten healthy minutes, then two hours of trouble. */
const healthySlots = 120;
const troubledSlots = 1_440;

export function benchJitter(): Promise<Figure[]> {
  return Promise.resolve([
    openings("normal jitter", jitter),
    openings("three times as much", { errorShare: 0.03, timeoutShare: 0.015 }),
    ...[0.1, 0.2, 0.22, 0.25, 0.4, 1].flatMap(delays),
  ]);
}

function openings(what: string, trouble: Trouble): Figure {
  const random = randomFrom(1);
  let opened = 0;
  for (let day = 0; day < days; day += 1) {
    const seen = regions.map(() => randomSlots(random, slotsADay, trouble));
    if (firstOpeningS(seen, day % 2, rulesOfTheBook) !== null) opened += 1;
  }
  return {
    what: `component-days with an incident, ${what} (${days})`,
    value: opened,
    unit: "days",
  };
}

function delays(errorShare: number): Figure[] {
  const random = randomFrom(2);
  const trouble = { errorShare, timeoutShare: 0 };
  const delaysS: number[] = [];
  for (let i = 0; i < troubled; i += 1) {
    const seen = regions.map(() => randomSlots(random, healthySlots + troubledSlots, trouble, healthySlots));
    const openedS = firstOpeningS(seen, i % 2, rulesOfTheBook);
    if (openedS !== null) delaysS.push(openedS - healthySlots * 5);
  }
  const what = `${100 * errorShare} % of requests fail`;
  const found = {
    what: `${what}, found within two hours (${troubled})`,
    value: (100 * delaysS.length) / troubled,
    unit: "%",
  };
  if (delaysS.length === 0) return [found];
  const { p50, p95 } = spreadOf(delaysS);
  return [
    found,
    { what: `${what}, of these found after, p50`, value: p50, unit: "s" },
    { what: `${what}, of these found after, p95`, value: p95, unit: "s" },
  ];
}
