/**
 * A fault that lasts and fails many tasks at once, such as a lost database: one line when it begins, one a minute while
 * tasks go on failing, one when it is over. A line for each failure would push out of a rotated log what led to it.
 */
import type { LogFields } from "./log-fields.js";

export interface Outage {
  /**
   * @param task what failed, in plural: a count of them stands beside it
   * @param fields of this failure; the first and the newest of a minute are logged with theirs
   */
  failed: (task: string, fields?: LogFields) => void;
  /** Something succeeded that fails during the outage. Costs nothing while there is none. */
  succeeded: () => void;
  isOn: () => boolean;
  /** Its subject is gone: its end is not logged. */
  close: () => void;
}

export interface OutageOptions {
  clock?: OutageClock | undefined;
  /** Of its lines but the last; `error` when not given. */
  level?: "warn" | "error";
  /** What it is about, in each of its lines. */
  of?: LogFields;
  /** Nobody reports successes: it is over when nothing has failed for a while. */
  endsByItself?: boolean;
}

export interface OutageWords {
  begun: string;
  /** Once a minute. */
  lasts: string;
  over: string;
}

/** The clock of an outage: milliseconds of any origin that never jump. Its timers keep no process alive. */
export interface OutageClock {
  now: () => number;
  /** Calls back once; the returned function cancels it. */
  after: (delayMs: number, callback: () => void) => () => void;
}

const monotonicClock: OutageClock = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

export const lastsEveryMs = 60_000;

/**
 * An outage is over when nothing has failed for so long after a success. A database that restarts, or whose disk is
 * full, serves some tasks and refuses others, and no task waits for longer than 15 s before it tries again.
 */
export const steadyMs = 20_000;

interface Course {
  begunMs: number;
  since: Date;
  /** Since the newest line, by task. */
  counts: Map<string, number>;
  total: number;
  lineAtMs: number;
  /** The first success since the newest failure. */
  succeededMs: number | null;
  cancelEnd: () => void;
}

export function makeOutage(
  log: Record<"error" | "warn" | "info", (message: string, fields?: LogFields) => void>,
  words: OutageWords,
  { clock = monotonicClock, level = "error", of = {}, endsByItself = false }: OutageOptions = {},
): Outage {
  let course: Course | null = null;

  function begin(task: string, fields: LogFields): Course {
    log[level](words.begun, { ...of, task, ...fields });
    const nowMs = clock.now();
    return {
      begunMs: nowMs,
      since: new Date(),
      counts: new Map(),
      total: 1,
      lineAtMs: nowMs,
      succeededMs: null,
      cancelEnd: () => {},
    };
  }

  function goOn(course: Course, task: string, fields: LogFields): void {
    course.succeededMs = null;
    course.cancelEnd();
    course.total += 1;
    course.counts.set(task, (course.counts.get(task) ?? 0) + 1);
    const nowMs = clock.now();
    if (nowMs - course.lineAtMs < lastsEveryMs) return;
    log[level](words.lasts, {
      ...of,
      since: course.since,
      failed: Object.fromEntries(course.counts),
      ...fields,
    });
    course.lineAtMs = nowMs;
    course.counts.clear();
  }

  function end(): void {
    const { begunMs, succeededMs, total } = course!;
    course = null;
    const lastedS = Math.round((succeededMs! - begunMs) / 100) / 10;
    const until = new Date(Date.now() - (clock.now() - succeededMs!));
    log.info(words.over, { ...of, until, lastedS, failedInAll: total });
  }

  function succeeded(): void {
    if (course === null || course.succeededMs !== null) return;
    course.succeededMs = clock.now();
    course.cancelEnd = clock.after(steadyMs, end);
  }

  return {
    failed(task, fields = {}) {
      if (course) goOn(course, task, fields);
      else course = begin(task, fields);
      if (endsByItself) succeeded();
    },
    succeeded,
    isOn: () => course !== null,
    close() {
      course?.cancelEnd();
      course = null;
    },
  };
}
