/**
 * Reads one Statuspage in a separate process, and reports the cost: the peak memory of a shared process would say
 * nothing about a single test.
 *
 * Argument: the API's address. Output: {@link Load} as JSON.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeFeedReader } from "../../server/core/notices/reader.js";

export interface Load {
  problem: string | null;
  notices: number;
  cpuMs: number;
  /** Peak of the whole process, including its start. */
  peakBytes: number;
  /** Additional memory after the reading, compared with before it. */
  heldBytes: number;
}

const reader = makeFeedReader({ userAgent: "load", pauseMs: 0 });
const api = process.argv[2]!;
const source = { kind: "statuspage", api, page: null, readAt: null, feedAt: null } as const;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

collectGarbage();
const heapBefore = process.memoryUsage().heapUsed;
const cpuBefore = process.cpuUsage();
const at = new Date("2026-09-04T12:00:00Z");
const { signal } = new AbortController();
const { problem, lists } = await reader.read(source, at, signal);
const { user, system } = process.cpuUsage(cpuBefore);
collectGarbage();
const load: Load = {
  problem,
  notices: lists.reduce((sum, { notices }) => sum + notices.length, 0),
  cpuMs: (user + system) / 1000,
  peakBytes: peakBytes(),
  heldBytes: process.memoryUsage().heapUsed - heapBefore,
};
await reader.close();
process.stdout.write(JSON.stringify(load));

/** Linux includes the parent's memory in the child's `maxRSS`, but not here. */
function peakBytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}
