/** The world that the demo runs on. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Registry } from "../shared/registry/registry.js";
import { readHistoryNote } from "./history-note.js";
import { pastPosts } from "./notices/past-posts.js";
import { checkPosts } from "./notices/post-check.js";
import type { ScriptedPost } from "./notices/posts.js";
import { openRuns } from "./notices/runs.js";
import { parseScript } from "./script.js";
import { startWorld, type World } from "./world.js";

/** Beside the sources: the compiler copies no text. */
const script = new URL("../../simulator/demo.txt", import.meta.url);

export interface DemoWorldOptions {
  /**
   * What is to survive a restart of the world, such as the addresses that the probes were given, needs fixed ones, best
   * below the range that the system hands out (32768 on Linux).
   */
  ports?: Record<string, number>;
  /** Where it is kept when it ran, and where it is written when the history ends. Absent: nothing was before. */
  dir?: string;
}

/**
 * The script counts from the first request of a probe, since between the world's start and the probes' a history is
 * made, which takes as long as the machine wants. What lasts for ever is there from the start.
 */
export async function startDemoWorld(registry: Registry, { ports, dir }: DemoWorldOptions = {}): Promise<World> {
  const text = await readFile(script, "utf8");
  const atStart = parseScript(text, new Date());
  checkPosts(atStart.posts, registry);
  const runs = openRuns(dir === undefined ? null : join(dir, "runs.json"));
  let past: ScriptedPost[] | null = null;
  const world = await startWorld({
    registry,
    faults: atStart.faults.filter(({ from }) => !from),
    posts,
    // 141 streams in three regions: at their full rates they would keep a core busy.
    messagesPerMinuteCap: 30,
    latency: "plausible",
    ...(ports && { ports }),
  });
  const waiting = setInterval(playOnceVisited, 200);
  let begun = Promise.resolve();

  function playOnceVisited() {
    if (world.requests() === 0) return;
    clearInterval(waiting);
    const now = new Date();
    for (const fault of parseScript(text, now).faults) if (fault.from) world.fault(fault);
    begun = runs.begin(now);
  }

  /** Who reads a feed does so after the history was made. */
  function posts() {
    past ??= dir === undefined ? [] : pastPostsOf(dir);
    const ofRuns = runs
      .all()
      .flatMap(({ from, to }) => parseScript(text, from).posts.map((post) => (to ? { ...post, until: to } : post)));
    return [...(past ?? []), ...ofRuns];
  }

  return {
    ...world,
    async close() {
      clearInterval(waiting);
      await world.close();
      await begun;
      await runs.end(new Date());
    },
  };
}

/**
 * What went wrong before the history ends, and what the venues posted about it, go together. Null: no history was
 * begun.
 */
function pastPostsOf(dir: string): ScriptedPost[] | null {
  const note = readHistoryNote(dir);
  return note && pastPosts(note.now);
}
