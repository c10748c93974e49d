/**
 * The databases that benchmarks run on: the embedded database in a separate process, or a new database on the server of
 * DATABASE_URL, both with this build's schema.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { openPool, type Pool, sql } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import { migrate } from "../server/database/migrate.js";
import { packagedFile } from "../shared/config/package.js";
import { recordSamples } from "../server/database/record-samples.js";
import { componentsOf } from "../shared/registry/components.js";
import type { Registry } from "../shared/registry/registry.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import type { Sample } from "../shared/measurement/sample.js";
import { makeHistory } from "../world/history.js";

export const log = makeLog("bench", "warn");

export interface Stage {
  url: string;
  registry: Registry;
  pool: Pool;
  /**
   * Embedded only: `down` ends its host, `up` resolves when a new host has read the newest sample. The pool cannot be
   * used afterwards.
   */
  host: { down: () => Promise<void>; up: () => Promise<void> } | null;
  close: () => Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const { url, host, end } = process.env.DATABASE_URL ? await onServer(process.env.DATABASE_URL) : await embedded();
  const pool = openPool(url, { applicationName: "bench", log });
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  await migrate(pool, registry, log);
  return {
    url,
    registry,
    pool,
    host,
    async close() {
      await pool.close();
      await end();
    },
  };
}

interface Database {
  url: string;
  host: Stage["host"];
  end: () => Promise<void>;
}

async function onServer(server: string): Promise<Database> {
  const name = `venuewatch_bench_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client(server);
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    host: null,
    async end() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

async function embedded(): Promise<Database> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-"));
  let host = await startHost(directory);
  const down = async () => {
    host.child.kill("SIGTERM");
    await host.exited;
  };
  return {
    url: host.url,
    host: {
      down,
      async up() {
        host = await startHost(directory);
        const client = new pg.Client(host.url);
        await client.connect();
        await client.query("select max(ts) from sample");
        await client.end();
      },
    },
    async end() {
      await down();
      await rm(directory, { recursive: true });
    },
  };
}

async function startHost(directory: string) {
  const child = spawn(process.execPath, [packagedFile("dist/test/support/embedded-process.js"), directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, exited, url };
}

/** Records the demo's ninety days, and a last quarter of an hour at the real cadences. */
export async function recordHistory(stage: Stage): Promise<void> {
  const now = Date.now();
  const liveFrom = new Date(now - 15 * 60_000);
  await makeHistory(stage.pool, { days: 90, now: liveFrom, log });
  await recordLive(stage, liveFrom, new Date(now));
  await stage.pool.query(sql`call upkeep.refresh_all(${liveFrom}, ${new Date(now)})`);
  await stage.pool.script("analyze");
}

/** Records good samples of every component from every region, at their cadences. */
export async function recordLive({ pool, registry }: Stage, from: Date, to: Date): Promise<void> {
  for (const { id: region } of registry.regions) {
    const samples = samplesOf(registry, from, to);
    for (let i = 0; i < samples.length; i += 500) await recordSamples(pool, region, samples.slice(i, i + 500));
  }
}

function samplesOf({ venues }: Registry, from: Date, to: Date): Sample[] {
  const samples: Sample[] = [];
  for (const venue of venues)
    for (const { id, cadenceMs } of componentsOf(venue))
      for (let at = +from; at < +to; at += cadenceMs) samples.push(goodSample(venue.id, id, new Date(at)));
  return samples;
}

export function goodSample(venue: string, component: string, slotAt: Date): Sample {
  const isRest = component.startsWith("rest:");
  return {
    venue,
    component,
    slotAt,
    lateMs: null,
    good: true,
    fault: null,
    refusal: null,
    unserved: null,
    latencyUs: isRest ? 50_000 + Math.floor(Math.random() * 50_000) : null,
    dnsUs: null,
    connectUs: null,
    tlsUs: null,
    firstByteUs: isRest ? 45_000 : null,
    fresh: isRest ? false : null,
    certificateExpiresAt: null,
    httpStatus: isRest ? 200 : null,
    head: null,
    clockErrorMs: null,
    clockErrorWithinMs: null,
    messages: isRest ? null : 40,
    quietMs: isRest ? null : 900,
    eventAgeMs: isRest ? null : 60,
    sequenceGaps: null,
  };
}
