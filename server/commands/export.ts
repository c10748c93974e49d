import type { Given, Options } from "../cli/command.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect } from "../../shared/database/pool.js";
import { writeExport } from "../export/export.js";
import { exportFormats, type ExportFormatName } from "../export/format.js";
import { datasets, type DatasetName } from "../export/datasets.js";
import type { RecordFilter } from "../export/records.js";
import { instantExpected, parseInstant } from "../../shared/text/instant.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";
import { oneOf } from "./one-of.js";

export const help = `Writes what was measured or decided within a period, as CSV or as JSON by lines, with the columns of the views of schema
analytics: it needs the rights of vw_analyst, and reads DATABASE_READ_URL where that is set. The period is of the time of
the sample, the beginning of the minute or the day, or the start of the incident; it begins with --from, and ends before --to.
Samples are kept for eight days, minutes for 100, days and incidents for ever.

What was killed goes on by --resume, with the same options: until a file is finished they stand beside it, in one whose name
ends with .unfinished. What was written last is looked up in the file, and a record that was cut off is written anew. The file is then what it had been in one go, unless the database has got late samples since.`;

export const options = {
  what: {
    type: "string",
    help: `${Object.keys(datasets).join(", ")}`,
  },
  from: {
    type: "string",
    help: "where it begins: a day like 2026-01-31, or an instant like 2026-01-31T12:00:00Z; UTC",
  },
  to: { type: "string", help: "where it ends, exclusive" },
  venue: { type: "string", help: "this venue alone (default: all)" },
  format: { type: "string", help: "csv (default) or ndjson" },
  output: {
    type: "string",
    help: "the file to write (default: standard output)",
  },
  resume: { type: "boolean", help: "go on where the file ends" },
  retracted: {
    type: "boolean",
    help: "incidents: with those that were taken back",
  },
} satisfies Options;

/**
 * A window takes a fraction of a second. On a server that vanished, a statement would wait for a quarter of an hour.
 */
const statementTimeoutMs = 60_000;

type Texts = Partial<Record<keyof typeof options, string>>;

export async function run({ values }: Given): Promise<void> {
  const { output, format = "csv" } = values as Texts;
  const wanted = wantedBy(values);
  const form = oneOf("--format", Object.keys(exportFormats) as ExportFormatName[], format);
  const resume = values["resume"] === true;
  if (resume && output === undefined)
    throw new UserError("--resume: expected a file that is gone on with, by --output");
  const settings = readSettings();
  const log = makeLog("export", settings.logLevel);
  await runToEnd(log, async (life) => {
    const { databaseReadUrl } = settings;
    const url = databaseReadUrl ?? databaseUrlOf(settings);
    const pool = await connect(
      url,
      {
        ...{ applicationName: "export", log, max: 1, statementTimeoutMs },
        readOnly: databaseReadUrl !== null,
      },
      databaseReadUrl === null ? "DATABASE_URL" : "DATABASE_READ_URL",
    );
    life.onClose("database connection", pool.close);
    const stopping = new AbortController();
    const writing = writeExport(pool, wanted, {
      format: form,
      output: output ?? process.stdout,
      resume,
      log,
      signal: stopping.signal,
      ...(showsProgress(output) && { onProgress: showProgress(wanted.what) }),
    });
    life.onClose("export", async () => {
      stopping.abort();
      // what is wrong with it is told by whoever awaits it
      await writing.catch(() => {});
    });
    await writing.catch((error: unknown) => {
      if ((error as Error).name === "AbortError" && stopping.signal.aborted)
        return log.warn(output === undefined ? "stopped" : "stopped; go on by --resume");
      throw databaseFault(error, url) ?? error;
    });
  });
}

function wantedBy(values: Given["values"]): RecordFilter {
  const { what, from, to, venue } = values as Texts;
  const period = { from: timeOf("--from", from), to: timeOf("--to", to) };
  if (period.from >= period.to) throw new UserError(`export --to: expected a time after --from ${from}, got ${to}`);
  const kind = oneOf("--what", Object.keys(datasets) as DatasetName[], what);
  const retracted = values["retracted"] === true;
  if (retracted && kind !== "incidents") throw new UserError(`--retracted: only incidents are, not ${kind}`);
  return { what: kind, period, venue: venue ?? null, retracted };
}

function timeOf(option: string, text: string | undefined): Date {
  const day = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = parseInstant(day ? `${text}T00:00:00Z` : (text ?? ""));
  if (at) return at;
  throw new UserError(
    `export ${option}: expected a day like 2026-01-31 or ${instantExpected}, got ${text === undefined ? "nothing" : JSON.stringify(text)}`,
  );
}

/** Where the records themselves are not on the same screen. */
function showsProgress(output: string | undefined): boolean {
  return process.stderr.isTTY && !(output === undefined && process.stdout.isTTY);
}

/** A line that is written over, and gone at the end. */
function showProgress(what: DatasetName): (share: number) => void {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === shown) return;
    shown = percent;
    process.stderr.write(`\r\x1b[K${percent < 100 ? `exporting ${what}, ${percent} %` : ""}`);
  };
}
