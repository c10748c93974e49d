/**
 * The real embedded TimescaleDB, whose clock is that of its machine. Its statements take real time, during which
 * virtual time stands still; then they take some virtual time, too.
 *
 * The process that serves clients can be killed at any time: open transactions roll back, and a statement may have been
 * committed without its client having the answer.
 */
import { type Backend, admit, openDatabase, owner, startService } from "@venuewatch/embedded-timescaledb";
import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "./seeded-random.js";
import type { Machine, Process, VirtualTime } from "./virtual-time.js";

export const databasePort = 5432;
const password = "of the simulation";

export interface SimulatedDatabase {
  /** The owner's URL, for programs on other machines. */
  url: string;
  machine: Machine;
  /** Null while it is down. */
  process: () => Process | null;
  start: () => void;
  /** Kills the process that serves clients. */
  crash: () => Promise<void>;
  /** Until then, in true time, no statement is executed. */
  stall: (untilMs: number) => void;
  /** While it is busy, each statement takes up to a fifth of a second, one after the other. */
  setBusy: (isBusy: boolean) => void;
  /** The number of statements so far. */
  statements: () => number;
  /** To be called at the end, outside of processes. */
  close: () => Promise<void>;
}

export interface SimulatedDatabaseOptions {
  time: VirtualTime;
  random: SeededRandom;
  machine: Machine;
  /** The host name by which other machines reach it. */
  host: string;
  /** A directory of the real disk with a database. */
  directory: string;
  /** Skips checkpoints that the program asks for sooner than this after the last; default: none. */
  checkpointEveryMs?: number;
  log: Parameters<typeof openDatabase>[0]["log"];
}

type Request = Parameters<Backend["request"]>[0];
type Reply = Awaited<ReturnType<Backend["request"]>>;

export async function openSimulatedDatabase(options: SimulatedDatabaseOptions): Promise<SimulatedDatabase> {
  const { time, random, machine, host, directory, log, checkpointEveryMs = 0 } = options;
  const wallClock = new SharedArrayBuffer(8);
  const wallMs = new Float64Array(wallClock);
  wallMs[0] = time.nowMs();
  const backend = await openDatabase({
    ...{ directory, log, wallClock, searchPath: "venuewatch, public", ownPrograms: /^venuewatch / },
  });
  await admit(backend, owner, password);
  let process: Process | null = null;
  let starts = 0;
  let statements = 0;
  let stalledUntilMs = -Infinity;
  let isBusy = false;
  let checkpoint: { reply: Reply; atMs: number } | null = null;
  /** Sessions of the clients that the current process serves. */
  let sessions = new Set<number>();

  /** The clients of each process get numbers of their own. */
  function renumbered<One extends Request>(request: One): One {
    return "client" in request ? { ...request, client: starts * 1_000_000 + request.client } : request;
  }

  function served(by: Process): Backend {
    // in order, although each takes a different time
    let last: Promise<unknown> = Promise.resolve();
    return {
      ...backend,
      // a statement takes its virtual time after it was executed, so nothing is left to cancel
      cancel: () => Promise.resolve(),
      request(given) {
        const request = renumbered(given);
        const isCheckpoint = request.kind === "checkpoint";
        if (isCheckpoint && checkpoint && time.nowMs() - checkpoint.atMs < checkpointEveryMs)
          return Promise.resolve(checkpoint.reply);
        const answer = last.then(() => execute(request, by));
        last = answer.catch(() => {});
        return answer;
      },
    };
  }

  async function execute(request: Request, by: Process) {
    while (stalledUntilMs > time.nowMs()) await sleep(stalledUntilMs - time.nowMs());
    if (request.kind === "open") sessions.add(request.client);
    if (request.kind === "leave") sessions.delete(request.client);
    statements += 1;
    wallMs[0] = by.wallMs();
    const reply = await time.waitFor(backend.request(request));
    if (request.kind === "checkpoint") checkpoint = { reply, atMs: time.nowMs() };
    await sleep(0.1 + random.next() * (isBusy || random.chance(0.02) ? 200 : 2));
    return reply;
  }

  return {
    url: `postgres://${owner}:${encodeURIComponent(password)}@${host}:${databasePort}/template1`,
    machine,
    process: () => process,
    start() {
      starts += 1;
      sessions = new Set();
      const started = time.startProcess("database", machine);
      process = started;
      const refused = { failed: () => {}, close: () => {} };
      void started.run(() =>
        startService(served(started), { port: databasePort, log, refused, decoySecret: password }),
      );
    },
    async crash() {
      process?.kill();
      process = null;
      // PostgreSQL rolls back the transactions of connections that are gone
      for (const client of sessions) await time.waitFor(backend.request({ kind: "leave", client }));
      sessions = new Set();
    },
    stall: (untilMs) => (stalledUntilMs = Math.max(stalledUntilMs, untilMs)),
    setBusy: (given) => void (isBusy = given),
    statements: () => statements,
    close: () => backend.close(),
  };
}
