import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { type AcknowledgedOptions, makeAcknowledged } from "./acknowledged.js";
import { stackOf } from "../../shared/process/user-error.js";
import { makeQuarantine } from "./quarantine.js";
import type { Batch } from "./backlog.js";
import type { Spool, SpoolStatus } from "./spool.js";

/** Stores samples. It is idempotent: a sample is stored once. Rejects if the outcome of the whole batch is unknown. */
export type RecordSamples = (samples: readonly Sample[]) => Promise<{
  stored: number;
  duplicates: number;
  refused: number;
  /** Not stored, because the database does not know their components yet; default: none. */
  unknown?: readonly Sample[];
  /**
   * The database's timeline, which changes with a failover. If it is absent, nothing is sent again after a failover.
   */
  timeline?: string;
}>;

export interface ShipOptions {
  /** Holds the samples to deliver. The ship closes it. */
  spool: Spool;
  record: RecordSamples;
  log: Log;
  /** Maximum time that a sample waits for others; absent: until shortly before the engine's next decision. */
  flushEveryMs?: number;
  /** Delay after the first failure; it doubles with each further failure. */
  firstRetryMs?: number;
  /** How often quarantined samples are retried. */
  tryUnknownEveryMs?: number;
  acknowledged?: AcknowledgedOptions;
}

export interface ShipStatus extends SpoolStatus {
  /** Acknowledged by the database: newly stored samples and duplicates. */
  shipped: number;
  duplicates: number;
  /** Acknowledged before a failover, lost by the database in it, and stored after it. */
  restored: number;
  /** Refused by the database for good: too old, ahead of its clock, or with a value that it cannot hold. */
  refused: number;
}

export interface Ship {
  add(sample: Sample): void;
  status(): ShipStatus;
  /** Delivers waiting samples for up to `withinMs`; the rest stays in the spool. */
  close(withinMs?: number): Promise<void>;
}

/**
 * A statement costs as much as some hundred rows. Batches of 500 reach 0.65 of a plain insert's rate, batches of 1000
 * reach 0.77.
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
  /** Halved to find samples that make their batch fail, and doubled again after each success. */
  let size = batchSize;
  let delivery: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  spool.onMore(more);
  // also for samples that were quarantined before the last start
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
      // for samples that arrived as the delivery ended
      deliverSoon();
    });
    return delivery;
  }

  async function deliverAll() {
    let failures = 0;
    while (!stopped.signal.aborted) {
      try {
        const some = await deliverBatch(await spool.next(size));
        // in turn, because each queue may hold days of samples
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
          log.error("cannot record samples: this probe will retry", {
            stack: stackOf(error),
            waiting: waiting(),
          });
        await pause(retryMs(firstRetryMs, failures++), stopped.signal);
      }
    }
  }

  /**
   * @param isAgain the batch was acknowledged and counted before a failover
   * @returns false if nothing waits
   */
  async function deliverBatch(batch: Batch | null, isAgain = false): Promise<boolean> {
    if (!batch) return false;
    try {
      const { stored, duplicates, refused, unknown = [], timeline } = await record(batch.samples);
      size = Math.min(size * 2, batchSize);
      if (isAgain) {
        counts.restored += stored;
        if (stored > 0) log.warn("stored samples again that a failover had lost", { stored });
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
      log.warn("the database failed over: sending again the samples that it acknowledged recently", {
        timeline,
        samples: again,
      });
  }

  /** Retrying such a batch unchanged would block all others forever. */
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
    // a delivery that was already running may have missed the newest samples
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
      // a hanging disk must not block the shutdown
      const lost = await Promise.race([closeSpools(), sleep(closeWithinMs)]);
      if (lost !== 0)
        log.error("samples lost at shutdown: neither the database nor the disk took them", { lost: lost ?? waiting() });
    },
  };
}

/**
 * The engine decides an instant every two seconds, half a second after it. All samples for an instant are delivered in
 * one batch: a second statement between two instants would make nothing visible sooner, and costs the embedded database
 * 5 ms. If batches were sent any later, a slow one would arrive after the decision.
 */
const stepMs = 2000;
const wantedAtMs = 250;

function untilWantedMs(nowMs: number): number {
  return stepMs - ((nowMs - wantedAtMs) % stepMs);
}

/** SQLSTATE class 22 (such as a value out of its type's range) or 23 (a violated constraint). */
function isDataError(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" && /^2[23]...$/.test(code);
}

/** Exponential backoff up to 15 s. Up to half of it is random, so that probes do not all reconnect at once. */
function retryMs(firstRetryMs: number, failures: number): number {
  const fullMs = Math.min(firstRetryMs * 2 ** failures, longestRetryMs);
  return fullMs * (1 - Math.random() / 2);
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(delayMs, undefined, { signal }).catch(() => {
    // Aborted by the shutdown.
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
