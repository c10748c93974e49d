import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../server/log.js";
import type { Sample } from "../server/sample.js";

/** Stores samples, each once however often it is handed in. Rejects when nothing of it is certain. */
export type RecordSamples = (
  samples: readonly Sample[],
) => Promise<{ stored: number; duplicates: number; refused: number }>;

export interface ShipOptions {
  record: RecordSamples;
  log: Log;
  /** What waits at most; beyond it the oldest go. 200,000 samples are about an hour of a region of 2,500 components. */
  maxWaiting?: number;
  flushEveryMs?: number;
}

export interface ShipStatus {
  /** In the database, for all we know: new ones and ones that were there already. */
  shipped: number;
  duplicates: number;
  /** Not taken by the database: too old, ahead of its clock, or with a value that it cannot hold. */
  refused: number;
  waiting: number;
  dropped: number;
}

export interface Ship {
  add(sample: Sample): void;
  status(): ShipStatus;
  /** Delivers what waits, for as long as `withinMs`; what is left then is lost, and counted. */
  close(withinMs?: number): Promise<void>;
}

const batchSize = 500;

const firstRetryMs = 500;
const longestRetryMs = 15_000;

/** Carries samples to the database in batches, in order, one batch at a time, and keeps them while it is away. */
export function startShip({
  record,
  log,
  maxWaiting = 200_000,
  flushEveryMs = 1000,
}: ShipOptions): Ship {
  const counts = { shipped: 0, duplicates: 0, refused: 0, dropped: 0 };
  const stopped = new AbortController();
  const queue: Sample[] = [];
  /** How many at the head of the queue are just being recorded. */
  let flying = 0;
  /** Halved on the way to samples that spoil their batch, doubled on the way back. */
  let size = batchSize;
  let delivery: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  function add(sample: Sample) {
    queue.push(sample);
    if (queue.length > maxWaiting) dropOldest();
    if (queue.length >= batchSize) void deliver();
    else timer ??= setTimeout(() => void deliver(), flushEveryMs);
  }

  function dropOldest() {
    // In pieces, since each one moves the whole queue. What flies may be arriving: it stays.
    const dropped = queue.splice(flying, Math.ceil(maxWaiting / 100)).length;
    counts.dropped += dropped;
    log.warn("samples dropped: the database is away for too long", {
      dropped,
      waiting: queue.length,
    });
  }

  function deliver(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    delivery ??= deliverAll().finally(() => (delivery = null));
    return delivery;
  }

  async function deliverAll() {
    let failures = 0;
    while (queue.length > 0 && !stopped.signal.aborted) {
      try {
        await deliverBatch();
        failures = 0;
      } catch (error) {
        if (isDataError(error)) {
          narrowDown(error);
          continue;
        }
        log.warn("samples not recorded, will be tried again", {
          error,
          waiting: queue.length,
        });
        await pause(retryMs(failures++), stopped.signal);
      }
    }
  }

  async function deliverBatch() {
    const batch = queue.slice(0, size);
    flying = batch.length;
    try {
      const { stored, duplicates, refused } = await record(batch);
      queue.splice(0, batch.length);
      size = Math.min(size * 2, batchSize);
      counts.shipped += stored + duplicates;
      counts.duplicates += duplicates;
      counts.refused += refused;
      if (refused > 0) log.warn("samples refused by the database", { refused });
    } finally {
      flying = 0;
    }
  }

  /** Tried again as it is, such a batch would hold up all others for ever. */
  function narrowDown(error: unknown) {
    const tried = Math.min(size, queue.length);
    if (tried > 1) {
      size = Math.ceil(tried / 2);
      return;
    }
    const [guilty] = queue.splice(0, 1);
    counts.refused += 1;
    log.error("the database cannot hold a sample; this is a bug of the probe", {
      sample: guilty,
      error,
    });
  }

  return {
    add,
    status: () => ({ ...counts, waiting: queue.length }),
    async close(withinMs = 2500) {
      const deadline = setTimeout(() => stopped.abort(), withinMs);
      await Promise.race([deliver(), aborted(stopped.signal)]);
      clearTimeout(deadline);
      stopped.abort();
      counts.dropped += queue.length;
      if (queue.length > 0)
        log.error("samples lost at the end: the database did not take them", {
          lost: queue.length,
        });
      queue.length = 0;
    },
  };
}

/** SQLSTATE class 22 (a value out of its type's range, for one) or 23 (a broken constraint). */
function isDataError(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" && /^2[23]...$/.test(code);
}

/** Grows to a quarter of a minute; up to half of it is chance, so that probes do not come back all at once. */
function retryMs(failures: number): number {
  const fullMs = Math.min(firstRetryMs * 2 ** failures, longestRetryMs);
  return fullMs * (1 - Math.random() / 2);
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(delayMs, undefined, { signal }).catch(() => {
    // Woken early: the end has come.
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
