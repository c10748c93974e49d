/** Chapter 3 of the rule book: what one region sees of one component. */
import type { Rules, Sample, Series, State } from "./world.js";

export interface RegionView {
  venue: string;
  component: string;
  region: string;
  state: State;
  reporting: boolean;
  /** Within the window; so are the next two. */
  samples: number;
  failed: number;
  slow: number;
  badRun: number;
}

const tenMinutesMs = 10 * 60_000;
const sixHoursMs = 6 * 3_600_000;
const sevenDaysMs = 7 * 24 * 3_600_000;

/**
 * What the region sees at one instant.
 *
 * @param knownAt what came to the database later than this is left out; so is what came after `at` without being late
 */
export function viewOf(
  series: Series,
  at: number,
  knownAt: number,
  rules: Rules,
): RegionView {
  const { cadenceMs } = series.component;
  const windowMs = Math.max(rules.window_ms, rules.window_cadences * cadenceMs);
  const maxAgeMs = Math.max(
    rules.vote_max_age_ms,
    rules.vote_max_age_cadences * cadenceMs,
  );
  const seen = knownWithin(series, at - windowMs, at, knownAt, rules);
  const typicalUs = typicalLatencyUs(series, at);

  const failed = seen.filter(fails).length;
  const good = seen.length - failed;
  const slow = seen.filter((one) =>
    isSlow(one, series, typicalUs, rules),
  ).length;
  const newest = seen.at(-1);
  const reporting = newest !== undefined && newest.ts > at - maxAgeMs;

  let state: State;
  if (!reporting || seen.length < rules.min_samples) state = "unknown";
  else if (failed / seen.length >= rules.outage_bad_share) state = "outage";
  else if (failed / seen.length >= rules.degraded_bad_share) state = "degraded";
  else if (slow >= 1 && slow >= good / 2) state = "degraded";
  else state = "operational";

  return {
    venue: series.venue,
    component: series.component.id,
    region: series.region,
    state,
    reporting,
    samples: seen.length,
    failed,
    slow,
    badRun: runAtTheEnd(seen, series, typicalUs, rules).length,
  };
}

/** When the bad run began that has lasted until this instant. Chapter 6 asks for it; its answer lies before the window, often. */
export function runBeganAt(series: Series, at: number, rules: Rules): number {
  const seen = knownWithin(series, at - sevenDaysMs, at, at, rules);
  const typicalUs = typicalLatencyUs(series, at);
  const [first] = runAtTheEnd(seen, series, typicalUs, rules);
  if (!first)
    throw new Error(
      `expected a bad run of ${series.venue} ${series.component.id} in ${series.region}, its newest sample is good`,
    );
  return first.ts;
}

/** What is typical of a boundary holds from ten minutes after it until that of the next boundary does. */
export function typicalLatencyUs(series: Series, at: number): number | null {
  const boundary = Math.floor((at - tenMinutesMs) / sixHoursMs) * sixHoursMs;
  const holds = series.typical.find((one) => one.boundary === boundary);
  return holds ? holds.latencyUs : null;
}

/** Later than the one instant and not later than the other; oldest first. */
function knownWithin(
  series: Series,
  after: number,
  until: number,
  knownAt: number,
  rules: Rules,
): Sample[] {
  const lateFromMs = Math.max(rules.late_sample_ms, series.component.cadenceMs);
  return series.samples.filter(({ ts, receivedAfterS }) => {
    if (ts <= after || ts > until) return false;
    const cameAfterMs = receivedAfterS * 1000;
    return ts + cameAfterMs <= (cameAfterMs > lateFromMs ? knownAt : until);
  });
}

function runAtTheEnd(
  seen: Sample[],
  series: Series,
  typicalUs: number | null,
  rules: Rules,
): Sample[] {
  const lastWell = seen.findLastIndex(
    (one) => !fails(one) && !isSlow(one, series, typicalUs, rules),
  );
  return seen.slice(lastWell + 1);
}

function fails(sample: Sample): boolean {
  return sample.fault !== null;
}

function isSlow(
  sample: Sample,
  series: Series,
  typicalUs: number | null,
  rules: Rules,
): boolean {
  return (
    series.component.kind === "rest" &&
    sample.fault === null &&
    sample.latencyUs !== null &&
    typicalUs !== null &&
    sample.latencyUs >= rules.slow_multiple * typicalUs &&
    sample.latencyUs >= typicalUs + rules.slow_floor_ms * 1000
  );
}
