import type { Given, Options } from "../cli/command.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect } from "../../shared/database/pool.js";
import { reconcileAll } from "../engine/reconcile-all.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { print } from "./print.js";

export const help = `Recomputes all roll-ups from the samples that are kept, hour by hour and venue by venue, and makes again what differs.
Core does the same all the time, a small part at a time; this is for after an upgrade of TimescaleDB, or when core has found something. It may
run beside core. Prints what was wrong; nothing is to be expected. With the rights of core.`;

export const options = {
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

/**
 * Making a day again took six seconds at the most. On a server that vanished, a statement would wait for a quarter of
 * an hour.
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
      // what is wrong with it is told by whoever awaits it
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
        ? `${hours} hours of venues were recomputed, and all roll-ups are what their samples say\n`
        : `${hours} hours of venues were recomputed; what differed was made again:\n${differences
            .map(
              ({ venue, rollup, rows, from, to }) =>
                `  ${rollup} of ${venue}: ${rows} rows, buckets ${from} to ${to}\n`,
            )
            .join("")}`,
    );
  });
}

/** A line that is written over, and gone at the end. */
function showProgress(share: number): void {
  const percent = Math.floor(share * 100);
  process.stderr.write(`\r\x1b[K${percent < 100 ? `reconciling, ${percent} %` : ""}`);
}
