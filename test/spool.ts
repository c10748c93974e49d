/** Spools of tests, each in a directory of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { openSpool, type Spool, type SpoolOptions } from "../probe/spool.js";
import { makeLog } from "../server/log.js";

const quiet = makeLog("test", "error", () => {});

/** Gone when the test ends. */
export async function spoolDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-spool-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** To be closed by whoever ships from it. */
export async function someSpool(
  t: Test,
  options: Partial<SpoolOptions> = {},
): Promise<Spool> {
  const directory = options.directory ?? (await spoolDirectory(t));
  return openSpool({ log: quiet, ...options, directory });
}
