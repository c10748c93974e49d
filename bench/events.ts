/**
 * Measures what open event streams cost: the memory of ten thousand idle listeners against that of a bare server with
 * as many, and how soon a change arrives at listeners of two web programs after it was written.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { packagedFile } from "../shared/config/package.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { tick } from "../server/core/engine/tick.js";
import { type Figure, spreadOf } from "./figure.js";
import { openStage } from "./stage.js";

const idleListeners = 10_000;
const changes = 200;
/** Not a multiple of the interval at which web programs look for changes. */
const changeEveryMs = 137;

export async function benchEvents(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    await tick(stage.pool, new Date());
    const bare = await idleMemory("bare");
    const ours = await idleMemory(stage.url);
    return [
      {
        what: `a web program with ${idleListeners} idle listeners`,
        value: ours.allMiB,
        unit: "MiB",
        floor: { value: 400, what: "promised" },
      },
      {
        what: "memory of a listener",
        value: ours.eachKiB,
        unit: "KiB",
        floor: { value: bare.eachKiB, what: "a bare server that answers and never ends" },
      },
      ...(await delays(stage.url, stage.pool)),
    ];
  } finally {
    await stage.close();
  }
}

/** @param database the address, or `bare` for a server without one */
async function idleMemory(database: string): Promise<{ allMiB: number; eachKiB: number }> {
  const web = await start("bench/event-server.js", database);
  const before = await memoryOf(web.process);
  const clients = await start("bench/event-client.js", String(web.port), String(idleListeners), "0");
  // the heap settles, and heartbeats go out
  await sleep(20_000);
  const after = await memoryOf(web.process);
  clients.process.kill();
  web.process.kill();
  return { allMiB: after / 2 ** 20, eachKiB: (after - before) / idleListeners / 1024 };
}

async function delays(url: string, pool: Pool): Promise<Figure[]> {
  const webs = await Promise.all([start("bench/event-server.js", url), start("bench/event-server.js", url)]);
  const clients = await Promise.all(
    webs.map(({ port }) => start("bench/event-client.js", String(port), "50", String(changes))),
  );
  const arrived = clients.map(({ process }) => once(process, "message") as Promise<[Arrivals]>);
  const written = new Map<number, number>();
  for (let nth = 0; nth < changes; nth++) {
    await sleep(changeEveryMs);
    const [row] = await pool.query<{ id: number }>(sql`
      insert into change_event (at, recorded_at, kind, venue_id, state)
      select now(), now(), 'venue', (select min(venue_id) from venue where published), 'degraded'
      returning change_id::float8 as id
    `);
    written.set(row!.id, performance.timeOrigin + performance.now());
  }
  const tookMs = (await Promise.all(arrived)).flatMap(([arrivals]) =>
    arrivals.map(([id, atMs]) => atMs - written.get(id)!),
  );
  for (const { process } of [...clients, ...webs]) process.kill();
  const { p50, p95 } = spreadOf(tookMs);
  const what = "a change arrives after its commit, two web programs";
  return [
    { what: `${what}, p50`, value: p50, unit: "ms", floor: { value: 50, what: "half the interval of looking" } },
    { what: `${what}, p95`, value: p95, unit: "ms", floor: { value: 300, what: "promised" } },
  ];
}

/** The id of each event, and when it arrived, in milliseconds since 1970. */
export type Arrivals = [id: number, atMs: number][];

interface Started {
  process: ChildProcess;
  port: number;
}

async function start(path: string, ...args: string[]): Promise<Started> {
  const process = fork(packagedFile(`dist/${path}`), args);
  const [{ port }] = (await once(process, "message")) as [{ port: number }];
  return { process, port };
}

async function memoryOf(process: ChildProcess): Promise<number> {
  process.send("memory");
  const [bytes] = (await once(process, "message")) as [number];
  return bytes;
}
