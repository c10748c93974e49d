/**
 * Measures `venuewatch export` of a day of samples by the command itself, with the peak memory of the process. Half of
 * the rows show whether memory grows with them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packagedFile } from "../shared/config/package.js";
import { sql } from "../shared/database/pool.js";
import type { Figure } from "./figure.js";
import { openStage, type Stage } from "./stage.js";

const rows = Number(process.env.EXPORT_ROWS ?? 800_000);
const dayMs = 86_400_000;
/** A day that is over. */
const from = new Date(Math.floor(Date.now() / dayMs) * dayMs - dayMs);

export async function benchExport(): Promise<Figure[]> {
  const stage = await openStage();
  const folder = await mkdtemp(join(tmpdir(), "venuewatch-bench-export-"));
  try {
    const to = await record(stage);
    const half = new Date(+from + (+to - +from) / 2);
    const whole = await exported(stage, folder, to);
    const less = await exported(stage, folder, half);
    return [
      {
        what: `export of ${whole.rows} samples as Parquet`,
        value: whole.rows / whole.seconds,
        unit: "rows/s",
      },
      { what: "size", value: whole.bytes / whole.rows, unit: "bytes a row" },
      {
        what: "most memory",
        value: whole.mostMiB,
        unit: "MiB",
        floor: { value: less.mostMiB, what: `of ${less.rows}` },
      },
    ];
  } finally {
    await rm(folder, { recursive: true });
    await stage.close();
  }
}

/** Records the fleet's samples of as much of a day as makes that many rows, and returns its end. */
async function record({ pool }: Stage): Promise<Date> {
  const text = await readFile(packagedFile("bench/history.sql"), "utf8");
  const [found] = await pool.query<{ perSecond: number }>(sql`
    select sum(1000.0 / c.cadence_ms) * (select count(*) from region g where g.published) as "perSecond"
    from component c join venue v using (venue_id) where c.published and v.published
  `);
  const to = new Date(+from + Math.min((rows / found!.perSecond) * 1000, dayMs));
  for (let at = from; at < to; at = new Date(+at + 600_000))
    await pool.text(text, [at, new Date(Math.min(+at + 600_000, +to))]);
  await pool.script("analyze");
  return to;
}

interface Exported {
  rows: number;
  bytes: number;
  seconds: number;
  mostMiB: number;
}

/** Runs the command, which reports its peak memory at the end. */
async function exported({ url, pool }: Stage, folder: string, to: Date): Promise<Exported> {
  const output = join(folder, String(+to));
  const program = packagedFile("dist/server/cli.js");
  const args = ["--what", "samples", "--output", output];
  const source = `
    process.on("exit", () => console.log("kilobytes", process.resourceUsage().maxRSS));
    process.argv.splice(1, 0, ${JSON.stringify(program)});
    await import(${JSON.stringify(program)});
  `;
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...["--input-type=module", "--eval", source, "export", ...args],
      ...["--from", from.toISOString(), "--to", to.toISOString()],
    ],
    { env: { PATH: process.env.PATH, DATABASE_URL: url }, stdio: ["ignore", "pipe", "inherit"] },
  );
  let said = "";
  child.stdout.on("data", (piece: Buffer) => (said += piece.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = (performance.now() - startMs) / 1000;
  const kilobytes = /kilobytes (\d+)/.exec(said)?.[1];
  if (code !== 0 || kilobytes === undefined) throw new Error(`the export ended with ${code}: ${said}`);
  const [counted] = await pool.query<{ count: number }>(
    sql`select count(*) from sample where ts >= ${from} and ts < ${to}`,
  );
  const files = (await readdir(output, { recursive: true })).filter((name) => name.endsWith(".parquet"));
  const sizes = await Promise.all(files.map((file) => stat(join(output, file))));
  return {
    rows: counted!.count,
    bytes: sizes.reduce((sum, { size }) => sum + size, 0),
    seconds,
    mostMiB: Number(kilobytes) / 1024,
  };
}
