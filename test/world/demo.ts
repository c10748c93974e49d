/** The world that the demo runs on. */
import { readFile } from "node:fs/promises";
import type { Registry } from "../../server/registry.js";
import { parseScript } from "./script.js";
import { startWorld, type World } from "./world.js";

/** Beside the sources: the compiler copies no text. */
const script = new URL("../../../test/world/demo.txt", import.meta.url);

/**
 * The script counts from the start. What is to survive a restart of the world, such as the addresses that the probes
 * were given, needs fixed `ports`, best below the range that the system hands out (32768 on Linux).
 */
export async function startDemoWorld(
  registry: Registry,
  ports?: Record<string, number>,
): Promise<World> {
  const startedAt = new Date();
  return startWorld({
    registry,
    faults: parseScript(await readFile(script, "utf8"), startedAt),
    // 141 streams in three regions: at their full rates they would keep a core busy.
    messagesPerMinuteCap: 30,
    latency: "plausible",
    ...(ports && { ports }),
  });
}
