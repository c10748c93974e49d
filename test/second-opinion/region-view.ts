/** Chapter 3 of the rule book: what one region sees of one component. */
import { type RegionView } from "./view.js";
import { type Impairment, hadOwnTrouble, isOfOwnTrouble } from "./impairment.js";
import { type Component, isBad, isStream, type Rules, type Sample, type Series, type State } from "./world.js";

/** The fields of an incident that a region's view needs. */
interface PastIncident {
  venue: string;
  component: string;
  lastBadAt: number;
  closedAt: number | null;
  retractedAt: number | null;
}

/** A region's own network can cause them. */
const networkFaults = ["dns", "connect", "tls", "timeout", "handshake", "closed"];

/** They show that it works. A stalled stream shows neither. */
const answers = ["http", "blocked", "limited", "halted", "body", "stale"];

const tenMinutesMs = 10 * 60_000;
const sixHoursMs = 6 * 3_600_000;
const sevenDaysMs = 7 * 24 * 3_600_000;

/**
 * The region's view at one instant.
 *
 * @param impairments those recorded by now
 * @param knownAt samples that reached the database later than this are left out, as are samples that arrived after `at`
 * without being late
 */
export function viewOf(
  series: Series,
  at: number,
  knownAt: number,
  rules: Rules,
  impairments: Impairment[],
  pastIncidents: PastIncident[],
): RegionView {
  const judged = new Judged(series, at, knownAt, rules, impairments);
  const inWindow = sinceTheLastGap(judged.within(at - windowMs(series.component, rules)), series.component, rules);
  const standing = inWindow.length < rules.min_samples ? refusalsAtTheEnd(judged, rules) : [];
  const stands = standing.length >= rules.min_samples;
  const seen = stands ? standing : inWindow;
  const isSlow = slowness(series, at, rules);
  const failed = seen.filter(fails).length;
  const limited = seen.filter(({ fault }) => fault === "limited").length;
  const blocked = seen.filter(({ fault }) => fault === "blocked").length;
  const size =
    seen.length + (stands || seen.every((one) => fails(one) || isSlow(one)) ? 0 : missedBy(seen, series.component, at));
  const slow = seen.filter(isSlow).length;
  const causedByNetworks = (one: Sample) => networkFaults.includes(one.fault!) || isSlow(one);
  const bad = seen.filter((one) => fails(one) || isSlow(one));
  const mayBeOurs = bad.length > 0 && bad.filter(causedByNetworks).length >= bad.length / 2;
  const isUnanswered = bad.filter(({ fault }) => networkFaults.includes(fault!)).length >= bad.length / 2;
  const newest = seen.at(-1);
  const pauseMs = stands ? rules.refusal_pause_ms : 0;
  const reporting = newest !== undefined && newest.ts > at - maxAgeMs(series.component, rules) - pauseMs;
  const partFrom = at - rules.partial_windows * windowMs(series.component, rules);
  const failsInPart =
    reporting &&
    !pastIncidents.some(
      (one) =>
        one.venue === series.venue &&
        one.component === series.component.id &&
        one.retractedAt === null &&
        one.closedAt !== null &&
        one.closedAt < at &&
        one.lastBadAt > partFrom,
    ) &&
    !(mayBeOurs && hadOwnTrouble(impairments, series.region, { after: partFrom, until: at, now: knownAt }, rules)) &&
    everyWindowFails(judged, rules);

  // of few samples, scattered failures would often be half
  const halfOfAll = windowMs(series.component, rules) / series.component.cadenceMs / 2;
  const isClear = failed === seen.length || failed - limited >= halfOfAll * rules.outage_bad_share;

  let state: State;
  if (!reporting || seen.length < rules.min_samples) state = "unknown";
  else if ((failed - limited) / size >= rules.outage_bad_share && isClear) state = "outage";
  else if (failed / size >= rules.degraded_bad_share && failed >= rules.degraded_min_failed) state = "degraded";
  else if (slow >= 1 && slow >= (size - failed) / 2) state = "degraded";
  else if (failsInPart) state = "degraded";
  else state = "operational";

  const run = runAtTheEnd(served(series, seen), isSlow);
  const badRun = run.length;
  const newestBad = seen.findLast((one) => fails(one) || isSlow(one));
  return {
    venue: series.venue,
    component: series.component.id,
    region: series.region,
    state,
    reporting,
    samples: seen.length,
    failed,
    slow,
    isRefused: failed > 0 && blocked >= failed / 2,
    mayBeOurs,
    isUnanswered,
    answersBadly: !stands && newest !== undefined && answers.includes(newest.fault!),
    badRun,
    runFrom: run[0]?.ts ?? null,
    failsInPart,
    confirms: isBad(state) && (badRun >= rules.opening_bad_run || failsInPart),
    newestBadAt: newestBad?.ts ?? null,
    newestAt: newest?.ts ?? null,
    newestMayBeOurs: newest !== undefined && causedByNetworks(newest),
    newestFault: newest?.fault ?? null,
  };
}

/** When the trouble that the region confirms at this instant began. Chapter 6 needs it. */
export function troubleBeganAt(
  series: Series,
  { badRun }: RegionView,
  at: number,
  rules: Rules,
  impairments: Impairment[],
): number {
  const judged = new Judged(series, at, at, rules, impairments);
  const since = (ms: number) => served(series, judged.within(at - ms));
  if (badRun >= rules.opening_bad_run) {
    const run = runAtTheEnd(since(sevenDaysMs), slowness(series, at, rules));
    return afterTheLastSilence(run, maxAgeMs(series.component, rules), rules.refusal_pause_ms).ts;
  }
  const windows = rules.partial_windows * windowMs(series.component, rules);
  return since(windows).find(fails)!.ts;
}

/** The typical latency of a boundary applies from ten minutes after it, until that of the next boundary applies. */
export function typicalLatencyUs(series: Series, at: number): number | null {
  const boundary = Math.floor((at - tenMinutesMs) / sixHoursMs) * sixHoursMs;
  const holds = series.typical.find((one) => one.boundary === boundary);
  return holds ? holds.latencyUs : null;
}

function windowMs({ cadenceMs }: Component, rules: Rules): number {
  return Math.max(rules.window_ms, rules.window_cadences * cadenceMs);
}

/** A region whose newest sample is this old or older has no vote. */
function maxAgeMs({ cadenceMs }: Component, rules: Rules): number {
  return Math.max(rules.vote_max_age_ms, rules.vote_max_age_cadences * cadenceMs);
}

/**
 * The samples by which a component is judged at one instant: the known ones, without bad ones that the region's own
 * trouble caused.
 */
class Judged {
  readonly series: Series;
  readonly at: number;
  readonly #samples: Sample[];

  constructor(series: Series, at: number, knownAt: number, rules: Rules, impairments: Impairment[]) {
    this.series = series;
    this.at = at;
    const lateFromMs = Math.max(rules.late_sample_ms, series.component.cadenceMs);
    const isSlow = slowness(series, at, rules);
    this.#samples = series.samples.filter((sample) => {
      const { ts, receivedAfterS } = sample;
      const cameAfterMs = receivedAfterS * 1000;
      const until = cameAfterMs > lateFromMs ? knownAt : at;
      if (ts > at || ts + cameAfterMs > until) return false;
      const isBad = fails(sample) || isSlow(sample);
      return !isBad || !isOfOwnTrouble(impairments, series.region, ts);
    });
  }

  /** The samples later than this instant, oldest first. */
  within(after: number): Sample[] {
    return this.#samples.filter(({ ts }) => ts > after);
  }
}

/** The window begins anew after a gap that leaves room for too few samples in it. */
function sinceTheLastGap(seen: Sample[], component: Component, rules: Rules): Sample[] {
  const lengthMs = windowMs(component, rules);
  const longestGapMs = Math.max(lengthMs / 2, lengthMs - rules.gap_room_samples * component.cadenceMs);
  const place = seen.findLastIndex(({ ts }, i) => {
    const before = seen[i - 1];
    return before !== undefined && ts - before.ts > longestGapMs + (isRefusal(before) ? rules.refusal_pause_ms : 0);
  });
  return seen.slice(Math.max(place, 0));
}

/** The cadences since the oldest of these samples that have none; none are missed while a refused probe pauses. */
function missedBy(seen: Sample[], { cadenceMs }: Component, at: number): number {
  if (seen.length === 0 || seen.some(isRefusal)) return 0;
  return Math.max(Math.floor((at - seen[0]!.ts) / cadenceMs) - seen.length, 0);
}

/** Leaves out a stream's slots while its socket was down: these count for the socket. */
function served({ component }: Series, samples: Sample[]): Sample[] {
  return isStream(component) ? samples.filter(({ unserved }) => !unserved) : samples;
}

/**
 * Whether a component fails in part: enough samples of the last windows together, more than a run needs, and at least
 * half of that share in each window.
 */
function everyWindowFails(judged: Judged, rules: Rules): boolean {
  const { series, at } = judged;
  const lengthMs = windowMs(series.component, rules);
  const windows = Array.from({ length: rules.partial_windows }, (_, i) => {
    const until = at - i * lengthMs;
    return { after: until - lengthMs, until };
  });
  const seen = served(series, judged.within(windows.at(-1)!.after));
  return (
    failedShare(seen) >= rules.degraded_bad_share &&
    seen.filter(fails).length > rules.opening_bad_run &&
    windows.every(({ after, until }) => {
      const within = seen.filter(({ ts }) => ts > after && ts <= until);
      return within.length >= rules.min_samples && failedShare(within) >= rules.degraded_bad_share / 2;
    })
  );
}

/** The refusals since the last other answer: they stand while a probe pauses. */
function refusalsAtTheEnd(judged: Judged, rules: Rules): Sample[] {
  const { cadenceMs } = judged.series.component;
  const longestMs = rules.min_samples * (maxAgeMs(judged.series.component, rules) + rules.refusal_pause_ms);
  const seen = judged.within(judged.at - longestMs);
  const lastOther = seen.findLastIndex((one) => !isRefusal(one));
  const lateFromMs = Math.max(rules.late_sample_ms, cadenceMs);
  return seen.slice(lastOther + 1).filter(({ receivedAfterS }) => receivedAfterS * 1000 <= lateFromMs);
}

function failedShare(samples: Sample[]): number {
  return samples.filter(fails).length / samples.length;
}

function runAtTheEnd(seen: Sample[], isSlow: (sample: Sample) => boolean): Sample[] {
  const lastWell = seen.findLastIndex((one) => !fails(one) && !isSlow(one));
  return seen.slice(lastWell + 1);
}

/** The first sample of a run; if gaps in the run are long enough to be silences, the first one after the last gap. */
function afterTheLastSilence(run: Sample[], longestGapMs: number, pauseMs: number): Sample {
  const place = run.findLastIndex(({ ts }, i) => {
    const before = run[i - 1];
    return before !== undefined && ts - before.ts > longestGapMs + (isRefusal(before) ? pauseMs : 0);
  });
  return run[Math.max(place, 0)]!;
}

function isRefusal({ fault }: Sample): boolean {
  return fault === "limited" || fault === "blocked";
}

function fails(sample: Sample): boolean {
  return sample.fault !== null;
}

/** Returns whether a sample is slow by the typical latency at this instant. */
function slowness(series: Series, at: number, rules: Rules): (sample: Sample) => boolean {
  const typicalUs = typicalLatencyUs(series, at);
  const slowFromUs =
    typicalUs === null
      ? rules.slow_untypical_ms * 1000
      : Math.max(rules.slow_multiple * typicalUs, typicalUs + rules.slow_floor_ms * 1000);
  return (sample) =>
    series.component.kind === "rest" && !fails(sample) && sample.latencyUs !== null && sample.latencyUs >= slowFromUs;
}
