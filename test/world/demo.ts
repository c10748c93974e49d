/** The world that the demo runs on. */
import { readFile } from "node:fs/promises";
import type { Registry } from "../../server/registry.js";
import { parseScript } from "./script.js";
import { startWorld, type World } from "./world.js";

/** Beside the sources: the compiler copies no text. */
const script = new URL("../../../test/world/demo.txt", import.meta.url);

/**
 * The script counts from the first request, since between the world's start and the probes' a history is made, which
 * takes as long as the machine wants. What is to survive a restart of the world, such as the addresses that the probes
 * were given, needs fixed `ports`, best below the range that the system hands out (32768 on Linux).
 */
export async function startDemoWorld(
  registry: Registry,
  ports?: Record<string, number>,
): Promise<World> {
  const text = await readFile(script, "utf8");
  const world = await startWorld({
    registry,
    // 141 streams in three regions: at their full rates they would keep a core busy.
    messagesPerMinuteCap: 30,
    latency: "plausible",
    ...(ports && { ports }),
  });
  const waiting = setInterval(playOnceVisited, 200);

  function playOnceVisited() {
    if (world.requests() === 0) return;
    clearInterval(waiting);
    for (const fault of parseScript(text, new Date())) world.fault(fault);
  }

  return {
    ...world,
    close() {
      clearInterval(waiting);
      return world.close();
    },
  };
}
