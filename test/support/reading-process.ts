/**
 * Reads hostile peers by one of our readers, in a process of its own: `node --expose-gc reading-process.js READER`.
 * Each line of standard input is a URL. For each it prints a line of JSON: what it took.
 */
import { createInterface } from "node:readline";
import { Venuewatch } from "@venuewatch/client";
import { makeResolver } from "../../probe/network/resolver.js";
import { makeRest } from "../../probe/measure/rest/rest.js";
import { openSocket } from "../../probe/measure/stream/socket.js";
import { parsedFrame } from "../../probe/measure/stream/session.js";
import { makePoster } from "../../server/core/alerts/post.js";
import { makeFeedReader } from "../../server/core/notices/reader.js";
import { endpointAt } from "./measured-endpoint.js";

export interface ReadingCost {
  /** The most memory of the process, above what it had when it was idle before. */
  peakMiB: number;
  /**
   * The longest time for which nothing else could run. Processor time, so that other work of the machine is not in it.
   * Absent of a reader that has a thread of its own.
   */
  blockedMs?: number;
}

const userAgent = "test";
const never = new AbortController().signal;
const deadlineMs = 1500;

/** Each resolves when it is done with the peer, and rejects only if it has a bug. */
const readers: Record<string, (url: string) => Promise<unknown>> = {
  async probe(url) {
    const rest = makeRest({ userAgent, resolver: makeResolver([]) });
    await rest.endpoint(endpointAt(url, { timeoutMs: deadlineMs }))(never);
    await rest.close();
  },
  socket: (url) =>
    new Promise<void>((resolve) => {
      const socket = openSocket({
        ...{ url, userAgent, resolver: makeResolver([]), onHeard() {}, onMessage: parsedFrame },
        onOpen: () => setTimeout(ended, deadlineMs),
        onDown: ended,
      });
      function ended() {
        socket.close();
        resolve();
      }
    }),
  feed: (url) => readFeed("statuspage", url),
  pushed: (url) => readFeed("gate-announcements", url),
  async alert(url) {
    const poster = makePoster({ allowLoopback: true, deadlineMs });
    await poster.post({ url: new URL(url), headers: {}, body: Buffer.from("{}") });
    await poster.close();
  },
  client: (url) => new Venuewatch({ url, timeoutMs: deadlineMs }).status().catch(() => {}),
};

async function readFeed(kind: "statuspage" | "gate-announcements", api: string) {
  const reader = makeFeedReader({ userAgent, pauseMs: 0, deadlineMs, quietMs: 1000 });
  await reader.read({ kind, api, page: null, readAt: null, feedAt: null }, new Date(), never);
  await reader.close();
}

const read = readers[process.argv[2]!]!;

/** Runs so often that what happens in between is one block, and no sum of many. */
const lookMs = 2;

async function costOf(url: string): Promise<ReadingCost> {
  globalThis.gc!();
  const idle = process.memoryUsage.rss();
  let [peak, blockedUs] = [idle, 0];
  let before = process.cpuUsage();
  const looking = setInterval(look, lookMs);
  await read(url);
  clearInterval(looking);
  look();
  return { peakMiB: Math.round((peak - idle) / 2 ** 20), blockedMs: Math.round(blockedUs / 1000) };

  function look() {
    const { user, system } = process.cpuUsage(before);
    blockedUs = Math.max(blockedUs, user + system);
    peak = Math.max(peak, process.memoryUsage.rss());
    before = process.cpuUsage();
  }
}

for await (const url of createInterface(process.stdin)) console.log(JSON.stringify(await costOf(url)));
