import { createHash } from "node:crypto";
import type { Log } from "../../shared/log/log.js";
import { type Sample, type UnmeasuredReason, unmeasuredReasons } from "../../shared/measurement/sample.js";
import type { Clock } from "../../shared/process/clock.js";
import { addressIn } from "../../shared/registry/addresses.js";
import { greatestCommonDivisor } from "../../shared/registry/cadence.js";
import type { Registry } from "../../shared/registry/registry.js";
import { fittedMeasurement, isUnmeasured, type MeasurementOutcome } from "../measure/measurement.js";

/** One component and how it is measured. `measure` does not reject; the outcome holds the venue's faults. */
export interface Task {
  venue: string;
  component: string;
  cadenceMs: number;
  measure(slotAt: Date, signal: AbortSignal): Promise<MeasurementOutcome> | MeasurementOutcome;
}

export interface ScheduleOptions {
  phaseOf: PhaseOf;
  clock: Clock;
  log: Log;
  onSample: (sample: Sample) => void;
  onUnmeasured: (reason: UnmeasuredReason, slots: number, venue: string) => void;
  /** Called when a slot is run, with the delay after its scheduled instant. */
  onTurn?: (lateMs: number) => void;
}

/** The sample of a slot that starts later than this records the delay. */
const onTimeMs = 50;

/** A slot that would start later than this is not measured. */
const lateAfterMs = 1000;

export interface Schedule {
  /**
   * Starts tasks, each at its next slot.
   *
   * @returns a function that stops them; running measurements are still recorded
   */
  begin(tasks: readonly Task[]): () => Promise<void>;
  /** Stops all tasks and aborts running measurements. */
  close(): Promise<void>;
}

/**
 * Runs every task on its own fixed grid: slot k is at k × cadence + phase.
 *
 * Slots do not drift, because each is computed from the grid and not from the slot before. A component never has two
 * measurements at a time.
 */
export function makeSchedule(options: ScheduleOptions): Schedule {
  const stopping = new AbortController();
  const running = new Set<{ stop(): Promise<void> }>();

  async function end(runs: readonly { stop(): Promise<void> }[]) {
    await Promise.all(runs.map((run) => run.stop()));
    for (const run of runs) running.delete(run);
  }

  return {
    begin(tasks) {
      const runs = tasks.map((task) => runTask(task, options, stopping));
      for (const run of runs) running.add(run);
      return () => end(runs);
    },
    async close() {
      stopping.abort();
      await end([...running]);
    },
  };
}

function runTask(
  task: Task,
  { phaseOf, clock, log, onSample, onUnmeasured, onTurn }: ScheduleOptions,
  stopping: AbortController,
) {
  const { venue, component, cadenceMs } = task;
  const phaseMs = phaseOf(task);
  let nextMs = latestSlot(clock.now()) + cadenceMs;
  let running: Promise<void> | null = null;
  let cancelTimer = arm();

  function latestSlot(atMs: number): number {
    return Math.floor((atMs - phaseMs) / cadenceMs) * cadenceMs + phaseMs;
  }

  function arm() {
    return clock.after(Math.max(0, nextMs - clock.now()), wake);
  }

  function wake() {
    const nowMs = clock.now();
    const slotMs = latestSlot(nowMs);
    if (slotMs >= nextMs) {
      const missed = Math.round((slotMs - nextMs) / cadenceMs);
      if (missed > 0) onUnmeasured("late", missed, venue);
      takeSlot(slotMs, nowMs);
    }
    // Computed from the grid, because a timer may fire slightly early and the clock may have been set back.
    nextMs = slotMs + cadenceMs;
    cancelTimer = arm();
  }

  function takeSlot(slotMs: number, nowMs: number) {
    onTurn?.(nowMs - slotMs);
    if (nowMs - slotMs > lateAfterMs) return onUnmeasured("late", 1, venue);
    if (running) return onUnmeasured("overlap", 1, venue);
    running = measure(new Date(slotMs), lateMsOf(nowMs - slotMs)).finally(() => (running = null));
  }

  async function measure(slotAt: Date, lateMs: number | null) {
    const outcome = await measured(slotAt);
    if (stopping.signal.aborted) return;
    if (isUnmeasured(outcome)) onUnmeasured(outcome.unmeasured, 1, venue);
    else onSample({ venue, component, slotAt, lateMs, ...fittedMeasurement(outcome) });
  }

  async function measured(slotAt: Date): Promise<MeasurementOutcome> {
    try {
      return await task.measure(slotAt, stopping.signal);
    } catch (error) {
      log.error("a measurement failed; this is a bug of the probe", {
        venue,
        component,
        error,
      });
      return { unmeasured: "broken" };
    }
  }

  return {
    async stop() {
      cancelTimer();
      await running;
    },
  };
}

function lateMsOf(lateMs: number): number | null {
  return lateMs > onTimeMs ? Math.round(lateMs) : null;
}

/** The input from which a component's slots are computed. */
interface Slots {
  venue: string;
  component: string;
  cadenceMs: number;
}

/** @returns milliseconds, less than the cadence: slot k is at k × cadence + phase */
type PhaseOf = (slots: Slots) => number;

/** Slots of two cadences with a smaller common divisor pass each other, whatever their phases. */
const smallestDivisorMs = 1000;

/** One endpoint in one region. */
interface Series {
  key: string;
  origin: string;
  cadenceMs: number;
}

/**
 * The phases of a region's slots. They are the same in every process that has the same registry and as many probes for
 * an address.
 *
 * All endpoints of an origin take turns across all regions, because probes may share an address, and a venue may limit
 * the requests per second. An alternative is asked right after the first address. Other components are spread by a
 * hash.
 */
export function makePhases({ venues, regions }: Registry, region: string): PhaseOf {
  const all = venues.flatMap(({ id, rest }) =>
    rest.flatMap(({ name, url, cadenceMs }) =>
      regions.map((one) => ({
        key: keyOf(one.id, { venue: id, component: `rest:${name}` }),
        origin: new URL(addressIn(one, url)).origin,
        cadenceMs,
      })),
    ),
  );
  const byOrigin = new Map<string, Series[]>();
  for (const one of all) byOrigin.set(one.origin, [...(byOrigin.get(one.origin) ?? []), one]);
  const spread = new Map([...byOrigin.values()].flatMap(spreadOut));
  return (slots) => {
    const key = keyOf(region, slots);
    return spread.get(key) ?? hashOf(key) % slots.cadenceMs;
  };
}

function keyOf(region: string, { venue, component }: Pick<Slots, "venue" | "component">): string {
  return `${region} ${venue} ${component}`;
}

/** Spreads what has these keys. It is the same after a restart, and in every process. */
export function hashOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0);
}

/** Phases with as much time between any two slots as the first fit finds. */
function spreadOut(ofOrigin: readonly Series[]): [key: string, phaseMs: number][] {
  const shortestFirst = ofOrigin.toSorted((a, b) => a.cadenceMs - b.cadenceMs);
  // otherwise all origins would be asked at the same instants
  const shiftMs = hashOf(ofOrigin[0]!.key);
  const meanMs = 1 / ofOrigin.reduce((perMs, { cadenceMs }) => perMs + 1 / cadenceMs, 0);
  for (let apartMs = meanMs; ; apartMs *= 0.95) {
    const phases = firstFit(shortestFirst, Math.floor(apartMs));
    if (phases) return shortestFirst.map(({ key, cadenceMs }, place) => [key, (phases[place]! + shiftMs) % cadenceMs]);
  }
}

/** The earliest phases that keep slots this far apart; null: there are none. */
function firstFit(ofOrigin: readonly Series[], apartMs: number): number[] | null {
  const phases: number[] = [];
  for (const { cadenceMs } of ofOrigin) {
    let phaseMs = 0;
    let shiftMs: number;
    do {
      const shifts = phases.map((other, place) =>
        neededShiftMs(phaseMs - other, cadenceMs, ofOrigin[place]!.cadenceMs, apartMs),
      );
      shiftMs = Math.max(...shifts, 0);
      phaseMs += shiftMs;
    } while (shiftMs > 0 && phaseMs < cadenceMs);
    if (shiftMs > 0) return null;
    phases.push(phaseMs);
  }
  return phases;
}

/** How much later slots would have to be, so that none is near one of another cadence. */
function neededShiftMs(laterMs: number, cadenceMs: number, otherCadenceMs: number, apartMs: number): number {
  const divisorMs = greatestCommonDivisor(cadenceMs, otherCadenceMs);
  if (divisorMs < smallestDivisorMs && cadenceMs !== otherCadenceMs) return 0;
  const sinceMs = ((laterMs % divisorMs) + divisorMs) % divisorMs;
  if (sinceMs < apartMs) return apartMs - sinceMs;
  return sinceMs > divisorMs - apartMs ? divisorMs - sinceMs + apartMs : 0;
}

// How many slots were measured, and why the others were not.

export type UnmeasuredCounts = { [reason in UnmeasuredReason]: number };

export interface SlotCounts {
  /** Samples since the start, including bad ones. */
  taken: number;
  /** Slots without a sample since the start, by reason. */
  unmeasured: UnmeasuredCounts;
  /** Scheduled time of the newest sample; null before the first. */
  newestSlotAt: Date | null;
}

const summaryEveryMs = 60_000;

/** Counts slots, and logs unmeasured ones once a minute: a line for each would drown the rest of the log. */
export function startSlotCounters(log: Log): {
  taken: (slotAt: Date) => void;
  unmeasured: (reason: UnmeasuredReason, slots: number) => void;
  status(): SlotCounts;
  close(): void;
} {
  let taken = 0;
  let newestSlotAt: Date | null = null;
  const unmeasured = noCounts();
  let sinceSummary = noCounts();
  const timer = setInterval(summarise, summaryEveryMs);

  function summarise() {
    const counts = Object.entries(sinceSummary).filter(([, slots]) => slots > 0);
    sinceSummary = noCounts();
    if (counts.length > 0) log.warn("slots not measured", Object.fromEntries(counts));
  }

  return {
    taken(slotAt) {
      taken += 1;
      newestSlotAt = slotAt;
    },
    unmeasured(reason, slots) {
      unmeasured[reason] += slots;
      sinceSummary[reason] += slots;
    },
    status: () => ({ taken, unmeasured: { ...unmeasured }, newestSlotAt }),
    close() {
      clearInterval(timer);
      summarise();
    },
  };
}

function noCounts(): UnmeasuredCounts {
  const zeros = unmeasuredReasons.map((reason) => [reason, 0]);
  return Object.fromEntries(zeros) as UnmeasuredCounts;
}
