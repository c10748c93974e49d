import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseAway } from "../../shared/database/fault.js";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { stackOf } from "../../shared/process/user-error.js";
import {
  batchSize,
  makeQuarantine,
  makeRecorder,
  type RecordedCounts,
  type RecordSamples,
  makeAcknowledged,
  type AcknowledgedOptions,
} from "./recorder.js";
import type { Spool, SpoolStatus } from "./spool.js";

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

export type ShipStatus = SpoolStatus & RecordedCounts;

export interface Ship {
  add(sample: Sample): void;
  status(): ShipStatus;
  /** Delivers waiting samples for up to `withinMs`; the rest stays in the spool. */
  close(withinMs?: number): Promise<void>;
}

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
  const acknowledged = makeAcknowledged(keeping);
  const quarantine = makeQuarantine(spool, log, tryUnknownEveryMs);
  const recorder = makeRecorder(record, acknowledged, quarantine, log);
  const stopped = new AbortController();
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
        const some = await recorder.record(await spool.next(recorder.size()));
        // in turn, because each queue may hold days of samples
        const more = await recorder.record(await quarantine.next(recorder.size()));
        const again = await recorder.record(acknowledged.next(recorder.size()), true);
        if (!some && !more && !again) return;
        failures = 0;
      } catch (error) {
        if (isDatabaseAway(error)) log.database.failed("deliveries of samples", { error, waiting: waiting() });
        else log.error("cannot record samples: this probe will retry", { stack: stackOf(error), waiting: waiting() });
        await pauseUnlessAborted(retryMs(firstRetryMs, failures++), stopped.signal);
      }
    }
  }

  function waiting(): number {
    return sumOf(({ waiting }) => waiting) - quarantine.twice();
  }

  function sumOf(what: (status: SpoolStatus) => number): number {
    return spools().reduce((sum, one) => sum + what(one.status()), 0);
  }

  function spools(): Spool[] {
    return [spool, quarantine.spool()].filter((one) => one !== null);
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
      ...recorder.counts(),
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
      await Promise.race([emptySpool(), abortOf(stopped.signal)]);
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

/** Exponential backoff up to 15 s. Up to half of it is random, so that probes do not all reconnect at once. */
function retryMs(firstRetryMs: number, failures: number): number {
  const fullMs = Math.min(firstRetryMs * 2 ** failures, longestRetryMs);
  return fullMs * (1 - Math.random() / 2);
}

function pauseUnlessAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(delayMs, undefined, { signal }).catch(() => {
    // Aborted by the shutdown.
  });
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
