import type { Options, Given } from "../../cli/command.js";
import { databaseFault } from "../../../shared/database/fault.js";
import { connect } from "../../../shared/database/pool.js";
import { runToEnd } from "../../process/lifecycle.js";
import { makeLog } from "../../../shared/log/log.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { databaseUrlOf, readSettings } from "../../../shared/config/settings.js";
import { measureStalls, type StreamReport } from "../../stalls/measure.js";
import { reportText } from "../../stalls/report.js";
import { writeThresholds } from "../../stalls/write.js";
import { UserError } from "../../../shared/process/user-error.js";

/** How long raw samples are kept (sql/upkeep/010-retention-periods.sql). */
export const mostDays = 8;

/** A week, because nights and weekends are quieter than working hours, and are healthy all the same. */
const defaultDays = 7;

export const options = {
  days: {
    type: "string",
    help: `days to look back, 1 to ${mostDays} (default ${defaultDays})`,
  },
  write: {
    type: "boolean",
    help: "write the proposed thresholds into the registry file",
  },
} satisfies Options;

export const help = `Measures from the samples how long each stream of the registry is silent while it works, and
proposes stall thresholds. It shows how many false stalls the present and the proposed thresholds would have caused. It
only reads the database, for which the rights of a web login suffice. With --write it writes the thresholds into the
file REGISTRY, for venues of the catalogue as overrides. A new release replaces the packaged lists, so write into your own.`;

/** Statements take milliseconds. Without a limit, one on a server that vanished would wait for a quarter of an hour. */
const statementTimeoutMs = 60_000;

export async function run({ values }: Given): Promise<void> {
  const days = parseDays(values["days"] as string | undefined);
  const settings = readSettings();
  const log = makeLog("stalls", settings.logLevel);
  await runToEnd(log, async (life) => {
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    const url = databaseUrlOf(settings);
    const pool = await connect(url, {
      applicationName: "stalls",
      log,
      max: 1,
      statementTimeoutMs,
    });
    life.onClose("database connection", pool.close);
    log.info("reading samples", { days, registry: settings.registry });
    const reports = await measureStalls(pool, registry, {
      days,
      now: new Date(),
    }).catch((error: unknown) => {
      throw databaseFault(error, url) ?? error;
    });
    print(reportText(reports));
    print(`\n${await applyProposals(reports, settings.registry, values["write"] === true)}`);
  });
}

/** @returns a sentence about the result */
async function applyProposals(reports: readonly StreamReport[], path: string, write: boolean): Promise<string> {
  const thresholds = reports.flatMap(({ venue, stream, proposal }) =>
    proposal === null ? [] : [{ venue, stream: stream.name, stall: proposal }],
  );
  const proposed = `Proposals for ${thresholds.length} of ${reports.length} streams`;
  if (thresholds.length === 0) return `${proposed}; there is nothing to write.`;
  if (!write) return `${proposed}; nothing was changed. --write writes them into ${path}`;
  await writeThresholds(path, thresholds);
  return `${proposed}, written into ${path}. Restart probes to apply them, and run venuewatch migrate to publish them.`;
}

function parseDays(text: string | undefined): number {
  if (text === undefined) return defaultDays;
  const days = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (days >= 1 && days <= mostDays) return days;
  throw new UserError(
    `--days: expected a whole number from 1 to ${mostDays}, as samples are kept for ${mostDays} days, got ${JSON.stringify(text)}`,
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
