/**
 * Virtual time and the processes that live in it. Nothing happens between two events, so hours pass in seconds, and a
 * seed always gives the same history.
 *
 * A process is an asynchronous context (AsyncLocalStorage): what it starts runs in its context, up to timers and
 * sockets. Killing it drops its events, so that it stops at whatever it awaits, as after SIGKILL.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A machine's clock differs from true time. */
export interface MachineClock {
  /** Wall time minus true time. */
  errorMs: number;
  /** Seconds on this clock in a true second. */
  rate: number;
}

export interface Machine {
  readonly name: string;
  readonly clock: MachineClock;
}

export interface Process {
  readonly name: string;
  readonly pid: number;
  readonly machine: Machine;
  isAlive: () => boolean;
  /** Nothing of it runs after that. */
  kill: () => void;
  /** Kills it after this many of its events: at whatever it awaits then. */
  killAfter: (events: number, then: () => void) => void;
  /** Nothing of it runs until the given true time, as after SIGSTOP; sockets and timers wait. */
  pause: (untilMs: number) => void;
  /** Runs something in the process, at once. */
  run: <Result>(work: () => Result) => Result;
  /** Called when it is killed, outside the process. */
  onKill: (then: () => void) => void;
  /** Wall time on its machine, milliseconds since 1970. */
  wallMs: () => number;
  /** Monotonic time on its machine, milliseconds since its boot. */
  monotonicMs: () => number;
}

export interface VirtualTime {
  /** True time, milliseconds since 1970. */
  nowMs: () => number;
  /**
   * Calls back in the process, unless it is dead by then; null: in no process.
   *
   * @param afterMs by the clock of the process's machine
   * @param isTimer after a pause, node runs all timers that are due before it reads what has arrived
   * @returns a function that cancels it
   */
  schedule: (afterMs: number, callback: () => void, process: Process | null, isTimer?: boolean) => () => void;
  startProcess: (name: string, machine: Machine) => Process;
  /** Waits with the next event until work outside of virtual time is done, such as a statement of the database. */
  waitFor: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Passes time until `untilMs`, or until `isDone` after an event. */
  pass: (untilMs: number, isDone?: () => boolean) => Promise<void>;
  /** Errors that a process did not catch. They would have ended it, so each is a defect. */
  crashes: { process: string; error: unknown }[];
  /** The number of events so far. */
  events: () => number;
  /** The number of timers and other events that the process waits for. */
  pending: (process: Process) => number;
}

interface Event {
  atMs: number;
  number: number;
  callback: () => void;
  process: Process | null;
  isTimer: boolean;
  isCancelled: boolean;
}

/** How much later than timers a process reads after a pause. */
const readsLaterMs = 0.001;

interface StartedProcess extends Process {
  pausedUntilMs: number;
  doom: { events: number; then: () => void } | null;
}

const outsideOfProcesses = { pausedUntilMs: -Infinity, doom: null };

const context = new AsyncLocalStorage<Process>();
const realImmediate = setImmediate;

/** The process in which the caller runs; undefined outside of the simulation. */
export function currentProcess(): Process | undefined {
  return context.getStore();
}

export function makeVirtualTime(startMs: number): VirtualTime {
  const queue = makeQueue();
  const crashes: { process: string; error: unknown }[] = [];
  let nowMs = startMs;
  let scheduled = 0;
  let ran = 0;
  let outside = 0;
  let started = 0;
  let onBack = () => {};

  function schedule(afterMs: number, callback: () => void, process: Process | null, isTimer = false): () => void {
    const rate = process?.machine.clock.rate ?? 1;
    const event = {
      atMs: nowMs + Math.max(0, afterMs) / rate,
      number: scheduled++,
      callback,
      process,
      isTimer,
      isCancelled: false,
    };
    queue.add(event);
    return () => (event.isCancelled = true);
  }

  function startProcess(name: string, machine: Machine): Process {
    let isAlive = true;
    const onKill: (() => void)[] = [];
    const process: StartedProcess = {
      ...{ name, machine, pid: ++started, pausedUntilMs: -Infinity, doom: null },
      isAlive: () => isAlive,
      kill() {
        if (!isAlive) return;
        isAlive = false;
        context.exit(() => onKill.forEach((then) => then()));
      },
      killAfter: (events, then) => (process.doom = { events, then }),
      pause: (untilMs) => (process.pausedUntilMs = Math.max(process.pausedUntilMs, untilMs)),
      run: (work) => context.run(process, work),
      onKill: (then) => void onKill.push(then),
      wallMs: () => nowMs + machine.clock.errorMs,
      monotonicMs: () => (nowMs - startMs) * machine.clock.rate,
    };
    return process;
  }

  function runEvent(event: Event): void {
    const { process, callback } = event;
    if (process && !process.isAlive()) return;
    const { pausedUntilMs, doom } = (process ?? outsideOfProcesses) as StartedProcess;
    if (pausedUntilMs > nowMs) {
      event.atMs = pausedUntilMs + (event.isTimer ? 0 : readsLaterMs);
      // they come here in the order in which they were due, and keep it
      event.number = scheduled++;
      return queue.add(event);
    }
    ran += 1;
    try {
      if (process) process.run(callback);
      else callback();
    } catch (error) {
      if (!process) throw error;
      crashes.push({ process: process.name, error });
    }
    if (doom) doom.events -= 1;
    if (doom?.events === 0) {
      process!.kill();
      doom.then();
    }
  }

  /** Until nothing is left to do now: promises, `process.nextTick`, and work outside of virtual time. */
  async function settle(): Promise<void> {
    do {
      if (outside > 0) await new Promise<void>((resolve) => (onBack = resolve));
      await new Promise((resolve) => realImmediate(resolve));
    } while (outside > 0);
  }

  return {
    nowMs: () => nowMs,
    schedule,
    startProcess,
    async waitFor(work) {
      outside += 1;
      try {
        return await work;
      } finally {
        outside -= 1;
        if (outside === 0) onBack();
      }
    },
    async pass(untilMs, isDone = () => false) {
      await settle();
      for (let next = queue.first(); next && next.atMs <= untilMs && !isDone(); next = queue.first()) {
        queue.removeFirst();
        if (next.isCancelled) continue;
        nowMs = Math.max(nowMs, next.atMs);
        runEvent(next);
        await settle();
      }
      if (!isDone()) nowMs = Math.max(nowMs, untilMs);
    },
    crashes,
    events: () => ran,
    pending: (process) => queue.count((event) => event.process === process && !event.isCancelled),
  };
}

/** A binary heap: earliest first, and in the order of scheduling. */
function makeQueue() {
  const heap: Event[] = [];
  const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
  const swap = (a: number, b: number) => ([heap[a], heap[b]] = [heap[b]!, heap[a]!]);

  return {
    first: (): Event | undefined => heap[0],
    count: (isCounted: (event: Event) => boolean): number => heap.filter(isCounted).length,
    add(event: Event): void {
      let place = heap.push(event) - 1;
      for (let above = (place - 1) >> 1; place > 0 && isBefore(heap[place]!, heap[above]!); above = (place - 1) >> 1) {
        swap(place, above);
        place = above;
      }
    },
    removeFirst(): void {
      const last = heap.pop()!;
      if (heap.length === 0) return;
      heap[0] = last;
      for (let place = 0; ;) {
        let least = place;
        for (const below of [2 * place + 1, 2 * place + 2])
          if (below < heap.length && isBefore(heap[below]!, heap[least]!)) least = below;
        if (least === place) return;
        swap(place, least);
        place = least;
      }
    },
  };
}
