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

/** As long as raw samples are kept (sql/upkeep.sql). */
export const mostDays = 8;

/** Nights and weekends are quieter than working hours, and belong to what is healthy. */
const usualDays = 7;

export const options = {
  days: {
    type: "string",
    help: `days to look back, 1 to ${mostDays} (default ${usualDays})`,
  },
  write: {
    type: "boolean",
    help: "put the proposed thresholds into the registry file",
  },
} satisfies Options;

export const help = `Reads off the samples how long each stream of the registry is silent when it is well, and proposes from when on silence is
a stall. It shows how many false stalls the present and the proposed thresholds would have given. Only --write changes
anything: the thresholds in the file that REGISTRY names. The database is only read; the rights of a web login suffice.`;

/** Statements take milliseconds; on a server that vanished without a word, one would wait for a quarter of an hour. */
const statementTimeoutMs = 60_000;

export async function run({ values }: Given): Promise<void> {
  const days = parseDays(values["days"] as string | undefined);
  const settings = readSettings();
  const log = makeLog("stalls", settings.logLevel);
  await runToEnd(log, async (life) => {
    const registry = await loadRegistry(settings.registry);
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
    say(reportText(reports));
    say(`\n${await keep(reports, settings.registry, values["write"] === true)}`);
  });
}

/** @returns what became of the proposals */
async function keep(reports: readonly StreamReport[], path: string, write: boolean): Promise<string> {
  const thresholds = reports.flatMap(({ venue, stream, proposal }) =>
    proposal === null ? [] : [{ venue, stream: stream.name, stall: proposal }],
  );
  const proposed = `Proposals for ${thresholds.length} of ${reports.length} streams`;
  if (thresholds.length === 0) return `${proposed}; there is nothing to write.`;
  if (!write) return `${proposed}; nothing is written. --write puts them into ${path}`;
  await writeThresholds(path, thresholds);
  return `${proposed}; they are in ${path} now. Probes judge by them from their next start, pages show them after the next venuewatch migrate.`;
}

function parseDays(text: string | undefined): number {
  if (text === undefined) return usualDays;
  const days = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (days >= 1 && days <= mostDays) return days;
  throw new UserError(
    `--days: expected a whole number from 1 to ${mostDays}, as samples are kept for ${mostDays} days, got ${JSON.stringify(text)}`,
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
