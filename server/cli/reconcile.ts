import { setTimeout as sleep } from "node:timers/promises";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect, type Pool } from "../../shared/database/pool.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { reconcile, type RollupDifference, spansToReconcile, underWayElsewhere } from "../core/rollups/reconcile.js";
import { runToEnd } from "../process/lifecycle.js";
import type { Given, Options } from "./command.js";
import { print } from "./print.js";

export const help = `Recomputes all roll-ups from the stored samples, by hour and venue, and repairs those that differ.
Core does the same with samples before it drops them; use this after an upgrade of TimescaleDB, or when core has found a
difference. It can run beside core, and needs the rights of core. It prints the differences; normally there are none.`;

export const options = {
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

/**
 * Recomputing a day took at most six seconds. Without a limit, a statement on a server that vanished would wait for a
 * quarter of an hour.
 */
const statementTimeoutMs = 120_000;
const retryMs = 1_000;

export async function run({ values }: Given): Promise<void> {
  const settings = readSettings();
  const log = makeLog("reconcile", settings.logLevel);
  await runToEnd(log, async (life) => {
    const url = databaseUrlOf(settings);
    const pool = await connect(url, {
      applicationName: "reconcile",
      log,
      max: 1,
      statementTimeoutMs,
    });
    life.onClose("database connection", pool.close);
    const stopping = new AbortController();
    const reconciling = reconcileAll(pool, log, {
      signal: stopping.signal,
      ...(process.stderr.isTTY && { onProgress: showProgress }),
    });
    life.onClose("reconciling", async () => {
      stopping.abort();
      // its error is reported where it is awaited
      await reconciling.catch(() => {});
    });
    const done = await reconciling.catch((error: unknown) => {
      throw databaseFault(error, url) ?? error;
    });
    if (stopping.signal.aborted) return;
    const { hours, differences } = done;
    print(
      values["json"],
      done,
      differences.length === 0
        ? `${hours} hours of venues were recomputed; all roll-ups agree with their samples\n`
        : `${hours} hours of venues were recomputed; these roll-ups differed and were repaired:\n${differences
            .map(
              ({ venue, rollup, rows, from, to }) =>
                `  ${rollup} of ${venue}: ${rows} rows, buckets ${from} to ${to}\n`,
            )
            .join("")}`,
    );
  });
}

interface Reconciled {
  /** Counted by venue: an hour of fifteen venues counts as fifteen. */
  hours: number;
  /** Each was repaired. */
  differences: (RollupDifference & { venue: string })[];
}

/** Compares everything whose samples are kept, once. Stops early when the signal is aborted. */
async function reconcileAll(
  pool: Pool,
  log: Log,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: (share: number) => void },
): Promise<Reconciled> {
  const spans = await spansToReconcile(pool, new Date(), { expiring: false });
  const done: Reconciled = { hours: 0, differences: [] };
  for (const [i, span] of spans.entries()) {
    if (signal.aborted) break;
    const { venue, level } = span;
    const metrics = {
      compared() {},
      differs: (one: RollupDifference) => done.differences.push({ ...one, venue }),
    };
    await untilAlone(() => reconcile(pool, log, span, metrics));
    if (level === "hour") done.hours += 1;
    onProgress?.((i + 1) / spans.length);
  }
  return done;
}

/** A refresh that runs elsewhere ends soon. */
async function untilAlone(work: () => Promise<void>): Promise<void> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!underWayElsewhere(error)) throw error;
      await sleep(retryMs);
    }
}

/** Overwrites the same line, and clears it at the end. */
function showProgress(share: number): void {
  const percent = Math.floor(share * 100);
  process.stderr.write(`\r\x1b[K${percent < 100 ? `reconciling, ${percent} %` : ""}`);
}
