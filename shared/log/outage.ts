/**
 * Logs a lasting fault that makes many tasks fail, such as a lost database: one line when it begins, one a minute while
 * tasks keep failing, and one when it is over. With a line for each failure, a rotated log would lose the lines that
 * explain the fault.
 */

export type LogFields = Record<string, unknown>;

export interface Outage {
  /**
   * @param task what failed, in plural: it is logged with a count
   * @param fields of this failure; those of the first and of the latest in a minute are logged
   */
  failed: (task: string, fields?: LogFields) => void;
  /** To be called when a task succeeds that would fail during an outage. Costs nothing while there is no outage. */
  succeeded: () => void;
  isOn: () => boolean;
  /** Ends it without a log line, because its subject is gone. */
  close: () => void;
}

export interface OutageOptions {
  clock?: OutageClock | undefined;
  /** The level of all lines but the last; `error` when not given. */
  level?: "warn" | "error";
  /** Fields for each line. */
  of?: LogFields;
  /** Successes are not reported: it is over when nothing has failed for a while. */
  endsByItself?: boolean;
}

export interface OutageWords {
  begins: string;
  /** Once a minute. */
  lasts: string;
  over: string;
}

/** The clock of an outage: monotonic milliseconds of any origin. Its timers keep no process alive. */
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
 * An outage is over when nothing has failed for this long after a success. A database that restarts, or whose disk is
 * full, serves some tasks and refuses others, and no task waits longer than 15 s before it retries.
 */
export const steadyMs = 20_000;

interface Course {
  startedMs: number;
  since: Date;
  /** Failures since the latest line, by task. */
  counts: Map<string, number>;
  total: number;
  lineAtMs: number;
  /** The first success since the latest failure. */
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
    log[level](words.begins, { ...of, task, ...fields });
    const nowMs = clock.now();
    return {
      startedMs: nowMs,
      since: new Date(),
      counts: new Map(),
      total: 1,
      lineAtMs: nowMs,
      succeededMs: null,
      cancelEnd: () => {},
    };
  }

  function continueOutage(course: Course, task: string, fields: LogFields): void {
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
    const { startedMs, succeededMs, total } = course!;
    course = null;
    const lastedS = Math.round((succeededMs! - startedMs) / 100) / 10;
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
      if (course) continueOutage(course, task, fields);
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
