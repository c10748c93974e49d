import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import { type CopiedWindow, isTimed, type Part, windowsOf, windowCondition } from "./parts.js";

/** A part that is the same on both sides. */
export interface Verified {
  part: string;
  rows: number;
  /** 64 bits in hexadecimal: the sum of the hashes of all rows' texts. The order of the rows does not change a sum. */
  checksum: string;
}

/**
 * Compares the row counts and checksums of parts. Each database computes its own.
 *
 * @param onWindow called before each window, as in `copyByTime`
 * @throws UserError if the two sides differ. It names the first differing window of each part
 */
export async function compareParts(
  source: Db,
  target: Db,
  parts: Part[],
  onWindow: (part: string, share: number) => void = () => {},
): Promise<Verified[]> {
  const verified: Verified[] = [];
  const differing: string[] = [];
  for (const part of parts) {
    const windows = isTimed(part) ? await windowsOf(source, part) : [null];
    let [rows, sum] = [0, 0n];
    let differs = false;
    for (const [i, window] of windows.entries()) {
      onWindow(part.part, i / windows.length);
      const [here, there] = await Promise.all([sumOf(source, part, window), sumOf(target, part, window)]);
      if (!differs && (here.rows !== there.rows || here.sum !== there.sum)) {
        differs = true;
        differing.push(differenceText(part, window, here.rows, there.rows));
      }
      rows += here.rows;
      sum += BigInt(here.sum);
    }
    if (isTimed(part)) differing.push(...(await rowsBeyondSource(target, part, rows)));
    verified.push({ part: part.part, rows, checksum: checksumOf(sum) });
  }
  if (differing.length > 0)
    throw new UserError(
      `the copy differs from the source:\n  ${differing.join("\n  ")}\n` +
        "Either another program has written to one of the two databases, or this is a bug of venuewatch. The source has lost nothing: " +
        "drop and create the target database, and start over while nothing else uses it",
    );
  return verified;
}

/** The results of the comparison, as they were recorded. */
export function verifiedParts(target: Db): Promise<Verified[]> {
  return target.query<Verified>(sql`select part, rows, checksum from moving.verified order by place`);
}

async function sumOf(db: Db, part: Part, window: CopiedWindow | null) {
  const [condition, values] = windowCondition(part, window);
  const [row] = await db.text<{ rows: number; sum: string }>(
    `select count(*) as rows, coalesce(sum(hashtextextended(row(${part.columns})::text, 0)), 0)::text as sum
     from ${part.reads} where ${condition}`,
    values,
  );
  return row!;
}

/** Rows of the target at times at which the source has none. */
async function rowsBeyondSource(target: Db, part: Part, expected: number) {
  const [row] = await target.text<{ rows: number }>(`select count(*) as rows from ${part.reads}`, []);
  return row!.rows > expected ? [`${part.part}: ${row!.rows} rows instead of ${expected}`] : [];
}

function differenceText({ part }: Part, window: CopiedWindow | null, here: number, there: number): string {
  const when = window ? ` from ${window.from.toISOString()}` : "";
  return here === there
    ? `${part}${when}: ${here} rows on both sides, but they differ`
    : `${part}${when}: ${here} rows in the source, ${there} in the target`;
}

function checksumOf(sum: bigint): string {
  return BigInt.asUintN(64, sum).toString(16).padStart(16, "0");
}
