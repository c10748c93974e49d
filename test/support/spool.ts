/** Spools for tests, each in a separate directory. */
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { startShip } from "../../probe/delivery/ship.js";
import { openSpool, type Spool, type SpoolOptions } from "../../probe/delivery/spool.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { until } from "./until.js";

const quiet = makeLog("test", "error", () => {});

/** Delivers what remains below the directory when its probes have ended. @throws Error where some of it is broken */
export async function deliverRest(directory: string, pool: Pool, region: string): Promise<void> {
  const log = makeLog("test", "error");
  const spool = await openSpool({ directory, log, adoptAfterMs: 20 });
  const ship = startShip({ spool, log, record: (samples) => recordSamples(pool, region, samples) });
  await until(() => ship.status().waiting === 0 && isEmpty(directory), 60_000);
  const { corrupt } = ship.status();
  await ship.close();
  if (corrupt > 0) throw new Error(`expected whole lines, ${corrupt} are broken`);
}

/** Our own spool keeps its file until we close it. */
function isEmpty(directory: string): boolean {
  const others = readdirSync(directory).filter((place) => place !== "1");
  const files = others.flatMap((place) => readdirSync(join(directory, place)).map((name) => join(place, name)));
  return files.every((name) => !name.endsWith(".samples") || statSync(join(directory, name)).size === 0);
}

/** The directory is removed when the test ends. */
export async function spoolDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-spool-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The caller must close it. */
export async function someSpool(t: Test, options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const directory = options.directory ?? (await spoolDirectory(t));
  return openSpool({ log: quiet, ...options, directory });
}
