import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { type AcknowledgedOptions, makeAcknowledged } from "./acknowledged.js";
import { stackOf } from "../../shared/process/user-error.js";
import { makeQuarantine } from "./quarantine.js";
import type { Batch } from "./backlog.js";
import type { Spool, SpoolStatus } from "./spool.js";

/** Stores samples, each once however often it is handed in. Rejects when nothing of it is certain. */
export type RecordSamples = (samples: readonly Sample[]) => Promise<{
  stored: number;
  duplicates: number;
  refused: number;
  /** Not stored, since the database does not know their components yet; none where it is not given. */
  unknown?: readonly Sample[];
  /**
   * Of the database, which begins another one when it is failed over; where it is not given, nothing is sent again
   * after that.
   */
  timeline?: string;
}>;

export interface ShipOptions {
  /** What is to be delivered. The ship closes it. */
  spool: Spool;
  record: RecordSamples;
  log: Log;
  /** A sample waits so long for others at the most; absent: until the engine's next instant is decided. */
  flushEveryMs?: number;
  /** After the first failure; it doubles with each that follows. */
  firstRetryMs?: number;
  /** How often that is tried again which the database did not know. */
  tryUnknownEveryMs?: number;
  acknowledged?: AcknowledgedOptions;
}

export interface ShipStatus extends SpoolStatus {
  /** In the database, for all we know: new ones and ones that were there already. */
  shipped: number;
  duplicates: number;
  /** Acknowledged before a failover, lost by the database in it, and stored after it. */
  restored: number;
  /** Not taken by the database, for good: too old, ahead of its clock, or with a value that it cannot hold. */
  refused: number;
}

export interface Ship {
  add(sample: Sample): void;
  status(): ShipStatus;
  /** Delivers what waits, for as long as `withinMs`; what is left then stays in the spool. */
  close(withinMs?: number): Promise<void>;
}

/**
 * A statement costs as much as some hundred rows: of a plain insert's rate five hundred at once reach 0.65, so many
 * 0.77.
 */
export const batchSize = 1000;

const longestRetryMs = 15_000;

const closeWithinMs = 250;

/** Carries samples from the spool to the database in batches, in order, one batch at a time. */
export function startShip({
  spool,
  record,
  log,
  flushEveryMs,
  firstRetryMs = 500,
  tryUnknownEveryMs = 60_000,
  acknowledged: keeping,
}: ShipOptions): Ship {
  const counts = { shipped: 0, duplicates: 0, restored: 0, refused: 0 };
  const acknowledged = makeAcknowledged(keeping);
  const aside = makeQuarantine(spool, log, tryUnknownEveryMs);
  const stopped = new AbortController();
  /** Halved on the way to samples that spoil their batch, doubled on the way back. */
  let size = batchSize;
  let delivery: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  spool.onMore(more);
  // also what was put aside before the last start
  void deliver();

  function more() {
    if (spool.status().waiting >= batchSize) void deliver();
    else deliverSoon();
  }

  function deliverSoon() {
    if (waiting() > 0 && !stopped.signal.aborted)
      timer ??= setTimeout(() => void deliver(), flushEveryMs ?? untilWantedMs(Date.now()));
  }

  function deliver(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    delivery ??= deliverAll().finally(() => {
      delivery = null;
      // what came to its end
      deliverSoon();
    });
    return delivery;
  }

  async function deliverAll() {
    let failures = 0;
    while (!stopped.signal.aborted) {
      try {
        const some = await deliverBatch(await spool.next(size));
        // by turns, since there may be days of either
        const more = await deliverBatch(await aside.next(size));
        const again = await deliverBatch(acknowledged.next(size), true);
        if (!some && !more && !again) return;
        failures = 0;
      } catch (error) {
        if (isDatabaseAway(error))
          log.database.failed("deliveries of samples", {
            error,
            waiting: waiting(),
          });
        else
          log.error("samples not recorded, will be tried again", {
            stack: stackOf(error),
            waiting: waiting(),
          });
        await pause(retryMs(firstRetryMs, failures++), stopped.signal);
      }
    }
  }

  /**
   * @param isAgain it was acknowledged, and counted, before a failover
   * @returns false where nothing waits
   */
  async function deliverBatch(batch: Batch | null, isAgain = false): Promise<boolean> {
    if (!batch) return false;
    try {
      const { stored, duplicates, refused, unknown = [], timeline } = await record(batch.samples);
      size = Math.min(size * 2, batchSize);
      if (isAgain) {
        counts.restored += stored;
        if (stored > 0) log.warn("stored again what a failover had lost", { stored });
      } else {
        counts.shipped += stored + duplicates;
        counts.duplicates += duplicates;
        counts.refused += refused;
      }
      if (timeline !== undefined) remember(batch.samples, timeline);
      if (refused > 0) log.warn("samples refused by the database", { refused });
      if (unknown.length > 0) await aside.put(unknown, batch.done);
      else batch.done();
    } catch (error) {
      if (!isDataError(error)) throw error;
      narrowDown(batch, error);
    }
    return true;
  }

  function remember(samples: readonly Sample[], timeline: string) {
    const again = acknowledged.add(samples, timeline);
    if (again > 0)
      log.warn("the database was failed over; what it acknowledged lately is sent again", { timeline, samples: again });
  }

  /** Tried again as it is, such a batch would hold up all others for good. */
  function narrowDown({ samples, done }: Batch, error: unknown) {
    if (samples.length > 1) {
      size = Math.ceil(samples.length / 2);
      return;
    }
    done();
    counts.refused += 1;
    log.error("the database cannot hold a sample; this is a bug of the probe", {
      sample: samples[0],
      error,
    });
  }

  function waiting(): number {
    return sumOf(({ waiting }) => waiting) - aside.twice();
  }

  function sumOf(what: (status: SpoolStatus) => number): number {
    return spools().reduce((sum, one) => sum + what(one.status()), 0);
  }

  function spools(): Spool[] {
    return [spool, aside.spool()].filter((one) => one !== null);
  }

  async function closeSpools(): Promise<number> {
    const lost = await Promise.all(spools().map((one) => one.close()));
    return lost.reduce((sum, one) => sum + one, 0);
  }

  async function emptySpool() {
    await spool.flush();
    // one that was under way may not have seen the last of them
    await deliver();
    await deliver();
  }

  return {
    add: spool.add,
    status: () => ({
      ...counts,
      ...spool.status(),
      waiting: waiting(),
      dropped: sumOf(({ dropped }) => dropped),
      corrupt: sumOf(({ corrupt }) => corrupt),
      spoolBytes: sumOf(({ spoolBytes }) => spoolBytes),
      trouble:
        spools()
          .find((one) => one.status().trouble)
          ?.status().trouble ?? null,
    }),
    async close(withinMs = 2500) {
      const deadline = setTimeout(() => stopped.abort(), withinMs);
      await Promise.race([emptySpool(), aborted(stopped.signal)]);
      clearTimeout(deadline);
      stopped.abort();
      clearTimeout(timer);
      // a disk that hangs keeps nobody from ending
      const lost = await Promise.race([closeSpools(), sleep(closeWithinMs)]);
      if (lost !== 0)
        log.error("samples lost at the end: neither the database nor the disk took them", { lost: lost ?? waiting() });
    },
  };
}

/**
 * The engine decides an instant every two seconds, half a second after it. What was measured by then comes to it in one
 * batch: a statement more between two instants shows nobody anything sooner, and costs the embedded database 5 ms. Sent
 * any later, a batch that is slow is late.
 */
const stepMs = 2000;
const wantedAtMs = 250;

function untilWantedMs(nowMs: number): number {
  return stepMs - ((nowMs - wantedAtMs) % stepMs);
}

/** SQLSTATE class 22 (a value out of its type's range, for one) or 23 (a broken constraint). */
function isDataError(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" && /^2[23]...$/.test(code);
}

/** Grows to a quarter of a minute; up to half of it is chance, so that probes do not come back all at once. */
function retryMs(firstRetryMs: number, failures: number): number {
  const fullMs = Math.min(firstRetryMs * 2 ** failures, longestRetryMs);
  return fullMs * (1 - Math.random() / 2);
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(delayMs, undefined, { signal }).catch(() => {
    // Woken early: the end has come.
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
