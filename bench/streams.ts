/**
 * Measures how many frames per second one core processes from a venue's socket, against a bare client of the same
 * library that only counts them. The two take turns, and each is measured by the processor time that this process used.
 * Also measures the cost of as many frames as the registry's streams bring, where each arrives alone.
 *
 * The venue is another process that writes as fast as the client reads, or at the registry's rate. The frames are those
 * of the world's players.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import type { ChannelNumbers } from "../probe/measure/rest/checks.js";
import { makeSubscription } from "../probe/measure/stream/subscription.js";
import { startReconnectingSocket } from "../probe/measure/stream/reconnecting-socket.js";
import { compileFrameMatch, parsedFrame, withChannel } from "../probe/measure/stream/session.js";
import { makeResolver } from "../probe/network/resolver.js";
import { makeLog } from "../shared/log/log.js";
import { type Registry } from "../shared/registry/registry.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import { connect, send } from "../world/clients.js";
import { startWorld } from "../world/world.js";
import { type Figure, spreadOf } from "./figure.js";
import type { Said } from "./streams-server.js";

const kinds = [
  ["binance", "trades"],
  ["binance", "book"],
  ["coinbase", "ticker"],
  ["kraken", "trades"],
  ["okx", "ticker"],
  ["bitget", "book"],
  ["deribit", "ticker"],
  ["binance-futures", "book"],
  ["kucoin-futures", "book"],
  ["gate", "book"],
  ["bitfinex", "trades"],
  ["bitfinex", "book"],
  ["deribit", "book"],
] as const;

const turns = 7;
/**
 * A real socket is read for hours. Compilation takes a good part of its first tenth of a second, and more for much code
 * than for little.
 */
const turnMs = 500;
/** At the registry's rate, frames are few. */
const pacedTurnMs = 3000;
const differentFrames = 20;
/** Per cent of a core for all streams of the registry. */
const promisedPct = 2;

const unbounded = { burst: Infinity, perSecond: Infinity };
const quiet = makeLog("bench", "error", console.error);

export async function benchStreams(): Promise<Figure[]> {
  const registry = await loadRegistry("registry/exchanges.json");
  const figures: Figure[] = [];
  const ratios: number[] = [];
  const paced: { ours: number; bare: number }[] = [];
  const perSecond = framesPerSecond(registry);
  for (const [venue, stream] of kinds) {
    const said = await saidBy(registry, venue, stream);
    const { ours, bare, ratio, bytes } = await measure(registry, venue, said);
    paced.push(await pacedSeconds(registry, venue, said, perSecond));
    ratios.push(ratio);
    figures.push({
      what: `${venue} ${stream}, frames of ${bytes} bytes`,
      value: ours,
      unit: "a second of processor",
      floor: { value: bare, what: "a bare client that counts them" },
    });
  }
  const secondsOf = (rates: number[]) => rates.reduce((sum, perSecond) => sum + 1 / perSecond, 0);
  return [
    ...figures,
    {
      what: "as many frames of each kind, by their medians",
      value: secondsOf(figures.map(({ floor }) => floor!.value)) / secondsOf(figures.map(({ value }) => value)),
      unit: "",
    },
    {
      what: "the least of these ratios, each the median of its turns'",
      value: Math.min(...ratios),
      unit: "",
    },
    {
      what: `the registry's ${perSecond.toFixed(0)} frames a second, each alone`,
      value: pctOf(paced.map(({ ours }) => ours)),
      unit: "% of a core",
      floor: { value: promisedPct, what: "promised" },
    },
    {
      what: "what reading them takes beyond a bare client",
      value: pctOf(paced.map(({ ours }) => ours)) - pctOf(paced.map(({ bare }) => bare)),
      unit: "% of a core",
    },
  ];

  function pctOf(seconds: number[]) {
    return mean(seconds) * perSecond * 100;
  }
}

function framesPerSecond({ venues }: Registry): number {
  const rates = venues.flatMap(({ socket }) => (socket?.streams ?? []).map(({ typicalPerMinute }) => typicalPerMinute));
  return rates.reduce((sum, perMinute) => sum + perMinute, 0) / 60;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function measure(registry: Registry, id: string, said: Said) {
  const { server, url } = await serve(said);
  try {
    const ours: number[] = [];
    const bare: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [into, start] of [
        [bare, () => startBare(url)],
        [ours, () => startOurs(registry, id, said.stream, url)],
      ] as const) {
        const closed = once(server, "message");
        into.push(await perCpuSecond(start, turnMs));
        // What was sent before the end is still read, and must not count for the next client.
        await closed;
      }
    }
    return {
      ours: spreadOf(ours).p50,
      bare: spreadOf(bare).p50,
      // Other load on the machine affects both halves of a turn.
      ratio: spreadOf(ours.map((value, turn) => value / bare[turn]!)).p50,
      bytes: Buffer.byteLength(said.frames.at(-1)!),
    };
  } finally {
    server.disconnect();
  }
}

/**
 * Processor seconds per frame at that many frames per second. Most of it is the system's time, because it wakes for
 * each frame.
 */
async function pacedSeconds(registry: Registry, id: string, said: Said, perSecond: number) {
  const { server, url } = await serve({ ...said, perSecond });
  const startBoth = {
    bare: () => startBare(url),
    ours: () => startOurs(registry, id, said.stream, url),
  };
  try {
    const closed = once(server, "message");
    const bare = 1 / (await perCpuSecond(startBoth.bare, pacedTurnMs));
    await closed;
    const ours = 1 / (await perCpuSecond(startBoth.ours, pacedTurnMs));
    return { bare, ours };
  } finally {
    server.disconnect();
  }
}

async function serve(said: Said) {
  const server = fork(fileURLToPath(new URL("streams-server.js", import.meta.url)));
  server.send(said);
  const [port] = (await once(server, "message")) as [number];
  return { server, url: `ws://127.0.0.1:${port}` };
}

interface Client {
  counted(): number;
  close(): void;
}

/** Returns frames per second of this process's processor time. */
async function perCpuSecond(start: () => Promise<Client>, forMs: number): Promise<number> {
  const client = await start();
  const before = { cpu: process.cpuUsage(), counted: client.counted() };
  await new Promise((passed) => setTimeout(passed, forMs));
  const { user, system } = process.cpuUsage(before.cpu);
  const counted = client.counted() - before.counted;
  client.close();
  return counted / ((user + system) / 1e6);
}

async function startBare(url: string): Promise<Client> {
  const ws = new WebSocket(url, { perMessageDeflate: false });
  let counted = 0;
  ws.on("message", () => {
    counted += 1;
  });
  await once(ws, "open");
  ws.send("{}");
  await once(ws, "message");
  return { counted: () => counted, close: () => ws.terminate() };
}

/** Reads the socket as the probe does, but without the limit on what a venue may send. */
async function startOurs(registry: Registry, id: string, name: string, url: string): Promise<Client> {
  const { keepAlive, streams } = registry.venues.find((venue) => venue.id === id)!.socket!;
  const subscriptions = streams.map(makeSubscription);
  let counted = 0;
  const line = startReconnectingSocket({
    ...{ url, keepAlive, subscriptions, maxConnectionMs: null, openAfterMs: 0 },
    ...{ userAgent: "bench", resolver: makeResolver([]), log: quiet },
    flow: { frames: unbounded, chunks: unbounded, bytes: unbounded, parts: unbounded },
  });
  let readMs = performance.now();
  function count() {
    const nowMs = performance.now();
    for (const { meter } of subscriptions) counted += meter.read(nowMs, nowMs - readMs)?.messages ?? 0;
    readMs = nowMs;
    return counted;
  }
  // The client requests the streams one after the other; data that it did not request are not counted.
  const measured = subscriptions.find(({ stream }) => stream.name === name)!;
  while (!measured.meter.isSubscribed()) await new Promise((passed) => setTimeout(passed, 10));
  return { counted: count, close: () => line.close() };
}

/** Returns what the world's player of the venue sends on this stream. */
async function saidBy(registry: Registry, id: string, name: string): Promise<Said> {
  const venue = registry.venues.find((one) => one.id === id)!;
  const world = await startWorld({
    registry: { ...registry, venues: [{ ...venue, rest: [] }] },
    messagesPerMinuteCap: 1_000_000,
    timeScale: 20,
  });
  try {
    const { socket } = world.registry.venues[0]!;
    const stream = socket!.streams.find((one) => one.name === name)!;
    const client = await connect(stream.url ?? socket!.url);
    send(client, stream.subscribe);
    const said: Said = {
      ...{ stream: name, notices: [], frames: [], isBinary: false },
      perSecond: null,
    };
    const isDataOf = compileFrameMatch(stream);
    let channels: ChannelNumbers = new Map();
    client.ws.on("message", (frame: Buffer, isBinary) => {
      const text = frame.toString();
      const value = parsedFrame(frame);
      const isData = isDataOf(value, channels);
      if (isData) said.frames.push(text);
      // Frames between data are not part of the measurement.
      else if (said.frames.length === 0) said.notices.push(text);
      if (isData) said.isBinary = isBinary;
      else channels = withChannel(value, channels, 1);
    });
    while (said.frames.length <= differentFrames) await new Promise((passed) => setTimeout(passed, 10));
    client.ws.terminate();
    // The first frame may be a snapshot, which is sent once.
    return { ...said, frames: said.frames.slice(1) };
  } finally {
    await world.close();
  }
}
