/** The simulated world of the demo. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Registry } from "../shared/registry/registry.js";
import { readHistoryNote } from "./history-note.js";
import { pastPosts } from "./notices/past-posts.js";
import { checkPosts, type ScriptedPost } from "./notices/posts.js";
import { openRuns } from "./notices/runs.js";
import { parseScript } from "./script.js";
import { startWorld, type World } from "./world.js";

/** Relative to the sources, because the compiler does not copy text files. */
export const script = new URL("../../world/demo.txt", import.meta.url);

export interface DemoWorldOptions {
  /**
   * Fixed ports, for addresses that must survive a restart of the world, such as those given to the probes. They are
   * best chosen below the range from which the system assigns ports (32768 on Linux).
   */
  ports?: Record<string, number>;
  /**
   * The directory that stores when the world ran, and the note that says when the history ends. Absent: the demo has no
   * past.
   */
  dir?: string;
}

/**
 * The script's times count from a probe's first request: a history is made between the start of the world and the start
 * of the probes, and how long that takes depends on the machine. Permanent faults apply from the start.
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
    // There are 141 streams in three regions; at their full rates they would keep a core busy.
    messagesPerMinuteCap: 30,
    latency: "plausible",
    ...(ports && { ports }),
  });
  const waiting = setInterval(playOnceVisited, 200);
  let started = Promise.resolve();

  function playOnceVisited() {
    if (world.requests() === 0) return;
    clearInterval(waiting);
    const now = new Date();
    for (const fault of parseScript(text, now).faults) if (fault.from) world.fault(fault);
    started = runs.begin(now);
  }

  /** A feed is read only after the history was made. */
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
      await started;
      await runs.end(new Date());
    },
  };
}

/** Past faults and the venues' posts about them must end at the same instant. Null: no history was started. */
function pastPostsOf(dir: string): ScriptedPost[] | null {
  const note = readHistoryNote(dir);
  return note && pastPosts(note.now);
}
