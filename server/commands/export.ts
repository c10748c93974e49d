import type { Given, Options } from "../cli/command.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect } from "../../shared/database/pool.js";
import { datasets, type DatasetName } from "../export/datasets.js";
import type { RecordFilter } from "../export/records.js";
import { writeDataset } from "../export/write-dataset.js";
import { instantExpected, parseInstant } from "../../shared/text/instant.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";
import { oneOf } from "./one-of.js";

export const help = `Writes a dataset of a period as Parquet files, with the columns of the views in schema analytics. It
needs the rights of vw_analyst, and reads DATABASE_READ_URL if that is set. The time of a record is that of the sample,
the beginning of the minute or day, or the start of the incident; --from is inclusive, --to exclusive. Samples are kept
for eight days, minutes for 100 days, days and incidents forever.

--output is a new folder. It gets a file for each day of samples or minutes, and for each month of days or incidents, in
folders by date or month, and datapackage.json, which describes them. Until all of it is written, its name ends with
.unfinished. For CSV, use \\copy of psql (docs/analysts.md).`;

export const options = {
  what: {
    type: "string",
    help: `${Object.keys(datasets).join(", ")}`,
  },
  from: {
    type: "string",
    help: "start of the period: a day like 2026-01-31, or an instant like 2026-01-31T12:00:00Z; UTC",
  },
  to: { type: "string", help: "end of the period, exclusive" },
  venue: { type: "string", help: "only this venue (default: all)" },
  output: { type: "string", help: "the folder to write, which must not exist" },
  retracted: {
    type: "boolean",
    help: "incidents: include retracted ones",
  },
} satisfies Options;

/**
 * A window takes a fraction of a second. Without a limit, a statement on a server that vanished would wait for a
 * quarter of an hour.
 */
const statementTimeoutMs = 60_000;

type Texts = Partial<Record<keyof typeof options, string>>;

export async function run({ values }: Given): Promise<void> {
  const { output } = values as Texts;
  const wanted = wantedBy(values);
  if (output === undefined) throw new UserError("export --output: expected a folder that does not exist, got nothing");
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
    const writing = writeDataset(pool, wanted, {
      ...{ output, log, signal: stopping.signal },
      ...(process.stderr.isTTY && { onProgress: showProgress(wanted.what) }),
    });
    life.onClose("export", async () => {
      stopping.abort();
      // its error is reported where it is awaited
      await writing.catch(() => {});
    });
    await writing.catch((error: unknown) => {
      if ((error as Error).name === "AbortError" && stopping.signal.aborted)
        return log.warn(`stopped; nothing of ${output} was kept`);
      throw databaseFault(error, url) ?? error;
    });
  });
}

function wantedBy(values: Given["values"]): RecordFilter {
  const { what, from, to, venue } = values as Texts;
  const period = { from: timeOf("--from", from), to: timeOf("--to", to) };
  if (period.from >= period.to) throw new UserError(`export --to: expected a time after --from ${from}, got ${to}`);
  const dataset = oneOf("--what", Object.keys(datasets) as DatasetName[], what);
  const retracted = values["retracted"] === true;
  if (retracted && dataset !== "incidents")
    throw new UserError(`--retracted: only for --what incidents, got ${dataset}`);
  return { what: dataset, period, venue: venue ?? null, retracted };
}

function timeOf(option: string, text: string | undefined): Date {
  const day = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = parseInstant(day ? `${text}T00:00:00Z` : (text ?? ""));
  if (at) return at;
  throw new UserError(
    `export ${option}: expected a day like 2026-01-31 or ${instantExpected}, got ${text === undefined ? "nothing" : JSON.stringify(text)}`,
  );
}

/** Overwrites the same line, and clears it at the end. */
function showProgress(what: DatasetName): (share: number) => void {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === shown) return;
    shown = percent;
    process.stderr.write(`\r\x1b[K${percent < 100 ? `exporting ${what}, ${percent} %` : ""}`);
  };
}
