/**
 * Normal jitter opens no incident; a component that fails a quarter of its requests in all regions has an incident
 * within minutes. By a model, which is compared with the second opinion; random worlds compare that with the engine.
 */
import t from "tap";
import {
  firstOpeningS,
  jitter,
  knownAfterS,
  randomSlots,
  regions,
  type Slots,
  typicalMs,
} from "../../../support/jitter.js";
import { rulesOfTheBook } from "../../../support/random-runs.js";
import { randomFrom } from "../../../support/random-samples.js";
import { secondOpinion } from "../../../support/second-opinion.js";
import type { Sample, World } from "../../../second-opinion/world.js";

const slotMs = 5_000;
/** An instant of the engine from which typical latencies apply. */
const noonMs = Date.UTC(2026, 0, 15, 12);
const firstSlotMs = noonMs + 20 * 60_000;

void t.test("normal jitter opens no incident", (t) => {
  const random = randomFrom(1);
  const days = 50;
  for (let day = 0; day < days; day += 1) {
    const seen = regions.map(() => randomSlots(random, 17_280, jitter));
    t.equal(firstOpeningS(seen, day % 2, rulesOfTheBook), null);
  }
  t.end();
});

void t.test("partial failures open an incident within minutes", (t) => {
  const random = randomFrom(2);
  for (const [errorShare, withinS] of [
    [0.22, 900],
    [0.25, 600],
    [0.4, 240],
  ] as const)
    for (let i = 0; i < 100; i += 1) {
      const seen = regions.map(() => randomSlots(random, 300, { errorShare, timeoutShare: 0 }, 60));
      const openedS = firstOpeningS(seen, i % 2, rulesOfTheBook);
      const isSoon = openedS !== null && openedS - 300 <= withinS;
      t.ok(isSoon, `with a share of ${errorShare} failed, an incident opens after ${openedS ?? "no"} s`);
    }
  t.end();
});

void t.test("the model of jitter decides as the rule book says", (t) => {
  const random = randomFrom(3);
  let opened = 0;
  for (let i = 0; i < 12; i += 1) {
    const trouble = { errorShare: 0.1 + 0.2 * random(), timeoutShare: 0.05 };
    const phaseS = i % 5;
    const seen = regions.map(() => randomSlots(random, 160, trouble, 50));
    const openedS = firstOpeningS(seen, phaseS, rulesOfTheBook);
    const expected = openedS === null ? null : firstSlotMs + (phaseS + openedS) * 1000;
    const [incident] = secondOpinion(worldOf(seen, phaseS)).incidents;
    t.equal(incident?.openedAt ?? null, expected, `world ${i}`);
    if (incident) opened += 1;
  }
  t.ok(opened > 2 && opened < 12, `${opened} worlds have an incident`);
  t.end();
});

/** One component with the measurements of these slots, and nothing else. */
function worldOf(seen: readonly Slots[], phaseS: number): World {
  const of = { venue: "jittery", component: "rest:ticker" };
  const slots = seen[0]!.failed.length;
  const { step_ms, partial_windows, window_ms } = rulesOfTheBook;
  const samples = seen.flatMap(({ failed, latencyMs }, nth) =>
    Array.from({ length: slots }, (_, slot): Sample => ({
      ...of,
      region: regions[nth]!,
      ts: firstSlotMs + phaseS * 1000 + slot * slotMs,
      fault: failed[slot] ? "http" : null,
      unserved: false,
      latencyUs: latencyMs[slot]! * 1000,
      receivedAfterS: knownAfterS(latencyMs[slot]!),
    })),
  );
  const firstMs = firstSlotMs + partial_windows * window_ms + phaseS * 1000;
  const endMs = firstSlotMs + phaseS * 1000 + slots * slotMs;
  const instants: number[] = [];
  for (let at = Math.ceil(firstMs / step_ms) * step_ms; at < endMs; at += step_ms) instants.push(at);
  return {
    rules: rulesOfTheBook,
    regions,
    venues: [{ id: of.venue, components: [{ id: of.component, kind: "rest", cadenceMs: slotMs }] }],
    samples,
    typical: regions.map((region) => ({ ...of, region, boundary: noonMs, latencyUs: typicalMs * 1000 })),
    vantages: [],
    retractions: [],
    instants,
  };
}
