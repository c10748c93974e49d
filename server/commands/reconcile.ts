import type { Given, Options } from "../cli/command.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect } from "../../shared/database/pool.js";
import { reconcileAll } from "../engine/reconcile-all.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { print } from "./print.js";

export const help = `Recomputes all roll-ups from the stored samples, by hour and venue, and repairs those that differ.
Core does the same continuously in small parts; use this after an upgrade of TimescaleDB, or when core has found a
difference. It can run beside core, and needs the rights of core. It prints the differences; normally there are none.`;

export const options = {
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

/**
 * Recomputing a day took at most six seconds. Without a limit, a statement on a server that vanished would wait for a
 * quarter of an hour.
 */
const statementTimeoutMs = 120_000;

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

/** Overwrites the same line, and clears it at the end. */
function showProgress(share: number): void {
  const percent = Math.floor(share * 100);
  process.stderr.write(`\r\x1b[K${percent < 100 ? `reconciling, ${percent} %` : ""}`);
}
