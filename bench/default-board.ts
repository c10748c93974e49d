/**
 * Measures what `make start` costs with the venues of registry/default.json, which the world plays, and how long the
 * larger board takes: with as few frames as the demo plays, and with as many as the venues send.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packagedFile } from "../shared/config/package.js";
import { watchedVenues } from "../shared/registry/chain-venues.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import { readBoard } from "../test/support/board.js";
import { freePort } from "../test/support/free-port.js";
import { startWorld } from "../world/world.js";
import { figuresOfRunning } from "./demo.js";
import { type Figure, spreadOf, timesMs } from "./figure.js";

/** With as few frames as in the demo, whose budget this one extends. */
const promised = { cores: 0.25, memoryMiB: 900 };
const framesPerMinuteInDemo = 30;
/** V8 interprets programs that do little for minutes. */
const settlesInSeconds = 240;
const giveUpMs = 3 * 60_000;

export async function benchDefaultBoard(): Promise<Figure[]> {
  const few = await measure(framesPerMinuteInDemo, `at most ${framesPerMinuteInDemo} frames a minute`, promised);
  return [...few, ...(await measure(Infinity, "the venues' own frames", null))];
}

async function measure(messagesPerMinuteCap: number, frames: string, limits: typeof promised | null) {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-"));
  const registry = await loadRegistry(packagedFile("registry/default.json"), 3);
  const world = await startWorld({ registry, latency: "plausible", messagesPerMinuteCap });
  const file = join(directory, "registry.json");
  await writeFile(file, JSON.stringify(world.registry));
  const port = await freePort();
  const up = spawn(process.execPath, ["--enable-source-maps", packagedFile("dist/server/cli.js"), "up"], {
    env: {
      ...{ PATH: process.env["PATH"], REGISTRY: file, DATA_DIR: join(directory, "data"), PORT: String(port) },
      ...{ HEALTH_PORT: "0", EMBEDDED_PORT: String(await freePort()), RATE_LIMIT: "0" },
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    const url = `http://localhost:${port}`;
    const venues = watchedVenues(world.registry).length;
    await mostAreKnown(url, venues);
    await sleep(settlesInSeconds * 1000);
    const what = `${venues} venues, three regions, ${frames}`;
    return [...(await figuresOfRunning(up.pid!, what, limits)), ...(await figuresOfBoard(url, what))];
  } finally {
    if (up.exitCode === null) {
      up.kill("SIGTERM");
      await once(up, "exit");
    }
    await world.close();
    await rm(directory, { recursive: true });
  }
}

/** Some venues are asked every five minutes only. */
async function mostAreKnown(url: string, expected: number): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const known = await readBoard(url).then(
      ({ venues }) => venues.filter(({ state }) => state !== "unknown").length,
      // it does not listen yet
      () => 0,
    );
    if (known >= 0.9 * expected) return;
    if (performance.now() - startMs > giveUpMs)
      throw new Error(
        `expected nine tenths of ${expected} venues with a known state within ${giveUpMs} ms, got ${known}`,
      );
    await sleep(500);
  }
}

/** A tick changes the board every two seconds; in between it is the same body. */
async function figuresOfBoard(url: string, what: string): Promise<Figure[]> {
  const nextTick = () => sleep(2_100);
  const { p50 } = spreadOf(await timesMs(20, () => readBoard(url), nextTick));
  return [{ what: `${what}: /v1/status of a new tick, p50`, value: p50, unit: "ms" }];
}
