import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { Clock } from "./clock.js";
import type { PhaseOf } from "./phases.js";
import { fitted, isUnmeasured, type MeasurementOutcome } from "../rest/measurement.js";

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
    else onSample({ venue, component, slotAt, lateMs, ...fitted(outcome) });
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
