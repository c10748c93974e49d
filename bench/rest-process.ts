/**
 * One process of the benchmark of REST measurements: the server, the bare loop, or the probe. It does one job and
 * reports the result.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { Client } from "undici";
import { makeClockWatch } from "../probe/measure/clock-error.js";
import { systemClock } from "../shared/process/clock.js";
import { freshEvery, restTasks } from "../probe/schedule/tasks.js";
import { startEventLoopWatch } from "../shared/process/event-loop-watch.js";
import { makeResolver } from "../probe/network/resolver.js";
import { makePhases, makeSchedule, type Task } from "../probe/schedule/schedule.js";
import { makeRest } from "../probe/measure/rest/rest.js";
import { makeLog } from "../shared/log/log.js";
import type { Registry, RestEndpoint, Venue } from "../shared/registry/registry.js";
import type { Sample } from "../shared/measurement/sample.js";

export type Job =
  | { does: "serve" }
  | { does: "bare" | "probe"; port: number; requests: number }
  | { does: "slots" | "echo"; port: number; perSecond: number; forMs: number };

export interface Report {
  serve: { port: number };
  /** Per request. */
  bare: { cpuUs: number };
  probe: { cpuUs: number };
  slots: {
    perSecond: number;
    /** Slots that were unmeasured because this machine was too busy. */
    unmeasured: number;
    lateP99Ms: number;
    cpuMsPerSecond: number;
    biasMs: number;
    freshBiasMs: number;
  };
  /** The same figures for a loop that only waits, writes and reads. */
  echo: { lateP99Ms: number; biasMs: number };
}

const userAgent = "venuewatch/bench (+http://localhost; region=bench)";
const region = "bench";
const at = Math.floor;

/** Concurrent requests: as many as a region of a large fleet has in flight. */
const concurrent = 10;
const venuesEndpoints = 4;

process.once("message", (job: Job) => {
  void done(job).then((report) => process.send!(report));
});
process.once("disconnect", () => process.exit());

function done(job: Job): Promise<Report[keyof Report]> {
  switch (job.does) {
    case "serve":
      return serve();
    case "bare":
      return bareLoop(job.port, job.requests);
    case "probe":
      return probeLoop(job.port, job.requests);
    case "slots":
      return slots(job);
    case "echo":
      return echo(job);
  }
}

/**
 * Answers `/<anything>/<delay>` after that many milliseconds, and states the duration by its own clock, in
 * microseconds.
 */
async function serve(): Promise<Report["serve"]> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (head) => {
      const cameMs = performance.now();
      const [, delay] = /^[A-Z]+ \/[^/ ]*\/(\d+)/.exec(head.toString("latin1"))!;
      const answer = () => {
        const date = new Date().toUTCString();
        const tookUs = Math.round((performance.now() - cameMs) * 1000);
        const body = JSON.stringify({
          symbol: "BTCUSD",
          price: "64123.50",
          volume: "1234.5678",
          tookUs,
        });
        socket.write(
          `HTTP/1.1 200 OK\r\nDate: ${date}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`,
        );
      };
      if (delay === "0") answer();
      else setTimeout(answer, Number(delay));
    });
  });
  server.listen(0, "0.0.0.0");
  await new Promise((listening) => server.once("listening", listening));
  return { port: (server.address() as AddressInfo).port };
}

/** The least that undici does for an answer's bytes. It opens as many connections as a probe does. */
function bareLoop(port: number, requests: number): Promise<Report["bare"]> {
  const origin = `http://127.0.0.1:${port}`;
  const headers = {
    "user-agent": userAgent,
    accept: "application/json",
    "accept-encoding": "identity",
  };
  function ask(place: number) {
    let client = new Client(origin);
    const path = `/${place}/0`;
    return async (turn: number) => {
      if (turn % freshEvery === 0) {
        await client.close();
        client = new Client(origin);
      }
      await new Promise<Buffer>((resolve, reject) => {
        const chunks: Buffer[] = [];
        client.dispatch(
          { method: "GET", path, headers },
          {
            onRequestStart() {},
            onResponseData: (_, chunk) => void chunks.push(chunk),
            onResponseEnd: () => resolve(Buffer.concat(chunks)),
            onResponseError: (_, error) => reject(error),
          },
        );
      });
    };
  }
  return cpuOf(
    Array.from({ length: concurrent }, (_, i) => ask(i)),
    requests,
  );
}

function probeLoop(port: number, requests: number): Promise<Report["probe"]> {
  const { tasks } = makeProbe(port, concurrent, 1000, () => 0);
  const { signal } = new AbortController();
  return cpuOf(
    tasks.map((task) => async (turn) => {
      const outcome = await task.measure(new Date(turn * task.cadenceMs), signal);
      // a busy machine withholds the sample, but the request was measured all the same
      const isMeasured = "good" in outcome ? outcome.good : outcome.unmeasured === "starved";
      if (!isMeasured) throw new Error(`not good: ${JSON.stringify(outcome)}`);
    }),
    requests,
  );
}

async function cpuOf(asks: ((turn: number) => Promise<void>)[], requests: number): Promise<{ cpuUs: number }> {
  async function run(turns: number) {
    await Promise.all(
      asks.map(async (ask) => {
        for (let turn = 0; turn < turns; turn += 1) await ask(turn);
      }),
    );
  }
  await run(500);
  const turns = at(requests / asks.length);
  const before = process.cpuUsage();
  await run(turns);
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / (turns * asks.length) };
}

/** Runs the schedule of a region with that many measurements per second. */
async function slots({ port, perSecond, forMs }: Extract<Job, { perSecond: number }>): Promise<Report["slots"]> {
  const cadenceMs = 5000;
  const count = perSecond * (cadenceMs / 1000);
  const probe = makeProbe(port, count, cadenceMs, (place) => 5 + (place % 60));
  const samples: Sample[] = [];
  let lateMs: number[] = [];
  let unmeasured = 0;
  const schedule = makeSchedule({
    phaseOf: makePhases(probe.registry, region),
    clock: systemClock,
    log: makeLog("bench", "warn"),
    onSample: (sample) => samples.push(sample),
    onUnmeasured: (_reason, slots) => (unmeasured += slots),
    onTurn: (late) => lateMs.push(late),
  });
  schedule.begin(probe.tasks);
  // the first round opens all connections
  await new Promise((resolve) => setTimeout(resolve, cadenceMs + 1000));
  samples.length = 0;
  unmeasured = 0;
  lateMs = [];
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, forMs));
  const { user, system } = process.cpuUsage(before);
  const measured = [...samples];
  const withheld = unmeasured;
  const late = lateMs.sort((a, b) => a - b);
  await schedule.close();
  await probe.close();
  const biasesMs = (fresh: boolean) =>
    measured
      .filter((sample) => sample.fresh === fresh)
      .map(({ latencyUs, head }) => (latencyUs! - head!) / 1000)
      .sort((a, b) => a - b);
  const median = (sorted: number[]) => sorted[at(sorted.length / 2)]!;
  return {
    perSecond: measured.length / (forMs / 1000),
    unmeasured: withheld,
    lateP99Ms: late[at(late.length * 0.99)]!,
    cpuMsPerSecond: (user + system) / 1000 / (forMs / 1000),
    biasMs: median(biasesMs(false)),
    freshBiasMs: median(biasesMs(true)),
  };
}

/**
 * Makes as many requests per second over bare sockets and timers. No instrument in such a process can be more punctual
 * or more accurate.
 */
async function echo({ port, perSecond, forMs }: Extract<Job, { perSecond: number }>): Promise<Report["echo"]> {
  const count = 10;
  const everyMs = (1000 * count) / perSecond;
  const lateMs: number[] = [];
  const biasMs: number[] = [];
  const untilMs = performance.now() + forMs;
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      await once(socket, "connect");
      let dueMs = performance.now() + (everyMs * i) / count;
      while (dueMs < untilMs) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
        lateMs.push(Math.max(0, performance.now() - dueMs));
        const answered = once(socket, "data");
        const sentMs = performance.now();
        socket.write(`GET /${i}/5 HTTP/1.1\r\n\r\n`);
        const [answer] = (await answered) as [Buffer];
        const tookUs = Number(/"tookUs":(\d+)/.exec(answer.toString("latin1"))![1]);
        biasMs.push(performance.now() - sentMs - tookUs / 1000);
        dueMs = Math.max(dueMs + everyMs, performance.now());
      }
      socket.destroy();
    }),
  );
  const sorted = (values: number[]) => values.sort((a, b) => a - b);
  return {
    lateP99Ms: sorted(lateMs)[at(lateMs.length * 0.99)]!,
    biasMs: sorted(biasMs)[at(biasMs.length / 2)]!,
  };
}

/** Makes a probe with that many endpoints, four per venue and origin. */
function makeProbe(
  port: number,
  count: number,
  cadenceMs: number,
  delayMs: (place: number) => number,
): { registry: Registry; tasks: Task[]; close(): Promise<void> } {
  const endpoints = Array.from(
    { length: count },
    (_, place) =>
      ({
        name: `e${place % venuesEndpoints}`,
        label: "E",
        method: "GET",
        url: `http://127.0.${at(place / venuesEndpoints / 250)}.${1 + (at(place / venuesEndpoints) % 250)}:${port}/${place}/${delayMs(place)}`,
        expectStatus: 200,
        proof: "$.price",
        head: { path: "$.tookUs", encoding: "integer" },
        cadenceMs,
        timeoutMs: 2000,
      }) satisfies RestEndpoint,
  );
  const rest = makeRest({
    userAgent,
    resolver: makeResolver([]),
    clock: makeClockWatch(),
  });
  const watch = startEventLoopWatch();
  const venues = Array.from(
    { length: Math.ceil(count / venuesEndpoints) },
    (_, n) =>
      ({
        id: `v${n}`,
        rest: endpoints.slice(n * venuesEndpoints, (n + 1) * venuesEndpoints),
      }) as Venue,
  );
  return {
    registry: { probeIntervalMs: cadenceMs, regions: [{ id: region, name: region }], venues },
    tasks: venues.flatMap((venue) => restTasks(venue, rest, watch)),
    async close() {
      watch.close();
      await rest.close();
    },
  };
}
