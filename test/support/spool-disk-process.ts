/**
 * Runs a spool on a disk that is full, read-only, or limited in file size, for tests that prepare one. Arguments: the
 * scenario and the directory. Prints the result.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startShip } from "../../probe/delivery/ship.js";
import { openSpool } from "../../probe/delivery/spool.js";
import { makeLog } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { madeSample } from "./made-sample.js";
import { until } from "./until.js";

export interface DiskReport {
  added: number;
  /** Each counted once. */
  delivered: number;
  dropped: number;
  corrupt: number;
  inOrder: boolean;
  newestCame: boolean;
  troubleMeanwhile: string | null;
  /** The expected value of `troubleMeanwhile`. */
  expected: string;
  trouble: string | null;
}

const [scenario = "", directory = ""] = process.argv.slice(2);
const ballast = join(directory, "ballast");
const delivered: number[] = [];
let added = 0;
let away = false;
// the trouble as first reported: where space becomes free, the spool is well again after its next attempt
let troubleMeanwhile: string | null = null;

// the error counts, not the signal that comes with it
process.on("SIGXFSZ", () => {});
if (scenario === "read-only") {
  mkdirSync(join(directory, "spool", "1"), { recursive: true });
  remount("ro");
}
const spool = await openSpool({
  directory: join(directory, "spool"),
  log: makeLog("spool", "error"),
  ...{ segmentBytes: 32_768, maxInMemory: 2_000, writeEveryMs: 5 },
});
const ship = startShip({ spool, record, log: makeLog("ship", "error"), flushEveryMs: 5 });

const scenarios: Record<string, () => Promise<string>> = {
  /** The spool itself fills the disk while the database is away. */
  async full() {
    away = true;
    await add(8_000);
    return "ENOSPC|is full";
  },
  /** Other files fill the disk while the database is well. */
  async crowded() {
    await add(100);
    await emptied();
    for (let round = 0; round < 15; round += 1) {
      // other files take the space that the spool frees meanwhile
      fill();
      await add(100);
    }
    await emptied();
    return "ENOSPC";
  },
  async "read-only"() {
    await add(1_500);
    await emptied();
    return "EROFS";
  },
  /** No file may exceed a part of a write. */
  async limited() {
    away = true;
    await add(900);
    return "EFBIG";
  },
};

const expected = await scenarios[scenario]!();
away = false;
if (scenario === "read-only") remount("rw");
rmSync(ballast, { force: true });
await emptied(30_000);
// and later samples are stored on disk again
await until(
  async () => {
    await add(1);
    return spool.flush();
  },
  30_000,
  50,
);
await ship.close();
const { dropped, corrupt, trouble } = spool.status();
// A disk that recovers while its samples are sent from memory makes the probe send them twice. The database's key makes
// that harmless.
const once = [...new Set(delivered)];
const report: DiskReport = {
  ...{ added, delivered: once.length, dropped, corrupt, troubleMeanwhile, expected },
  inOrder: once.every((n, i) => i === 0 || n > once[i - 1]!),
  newestCame: once.at(-1) === added - 1,
  // samples dropped within the last minute are still reported
  trouble: /is full/.test(trouble ?? "") ? null : trouble,
};
process.stdout.write(JSON.stringify(report));

async function add(samples: number): Promise<void> {
  for (let i = 0; i < samples; i += 1) {
    ship.add(madeSample({ slotAt: new Date(added++) }));
    if (i % 100 === 99) await flush();
  }
  await flush();
}

function emptied(withinMs?: number): Promise<void> {
  return until(() => spool.status().waiting === 0, withinMs);
}

async function flush(): Promise<void> {
  await spool.flush();
  if (!troubleMeanwhile) troubleMeanwhile = spool.status().trouble;
}

function record(samples: readonly Sample[]) {
  if (away) return Promise.reject(new Error("the database is away"));
  delivered.push(...samples.map(({ slotAt }) => +slotAt));
  return Promise.resolve({ stored: samples.length, duplicates: 0, refused: 0 });
}

function remount(mode: "ro" | "rw"): void {
  execFileSync("mount", ["-o", `remount,${mode}`, directory]);
}

function fill(): void {
  try {
    appendFileSync(ballast, Buffer.alloc(2 ** 20));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
