/** Measures how soon the demo shows a measured board, and what it costs to run, against what the project promises. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { packagedFile } from "../shared/config/package.js";
import { readHistoryNote } from "../world/history-note.js";
import { get, readBoard } from "../test/support/board.js";
import { freePort } from "../test/support/free-port.js";
import { childrenOf } from "../test/support/processes.js";
import type { Figure } from "./figure.js";
import { machineSpeed } from "./machine-speed.js";

const run = promisify(execFile);

const promised = { seconds: 30, cores: 0.12, memoryMiB: 700 };
const watchedSeconds = 60;
/**
 * Seconds after the history is complete. Until then core rolls up and drops what the history left over, once, and
 * programs that do this little run in V8's interpreter for minutes: a probe took 0.020 of a core two minutes after its
 * start, and 0.018 after five.
 */
const settlesInSeconds = 240;
const giveUpMs = 5 * 60_000;
/** The unit of /proc/<pid>/stat: a hundred on every Linux that Node runs on. */
const ticksPerSecond = 100;

export async function benchDemo(): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-"));
  try {
    const installSeconds = await installAndBuild(join(directory, "clone"));
    const port = await freePort();
    const startMs = performance.now();
    const dataDir = join(directory, "data");
    const demo = await startDemo(dataDir, port);
    try {
      const boardSeconds = await secondsToBoard(demo, port, startMs);
      await historyIsComplete(join(dataDir, "demo"));
      const historySeconds = (performance.now() - startMs) / 1000;
      await sleep(settlesInSeconds * 1000);
      return [
        ...figuresOfStart(installSeconds, boardSeconds, historySeconds),
        machineSpeed(),
        ...(await figuresOfRunning(demo.pid!, "the whole demo without the world", promised)),
      ];
    } finally {
      if (isRunning(demo)) {
        demo.kill("SIGTERM");
        await once(demo, "exit");
      }
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Does what `make demo` does first, in a clone of the committed state. Returns null where this is no repository. */
async function installAndBuild(clone: string): Promise<number | null> {
  const root = packagedFile("");
  if (!existsSync(join(root, ".git"))) return null;
  await run("git", ["clone", "--quiet", root, clone]);
  const startMs = performance.now();
  await run("make", ["product"], { cwd: clone });
  return (performance.now() - startMs) / 1000;
}

async function startDemo(dataDir: string, port: number): Promise<ChildProcess> {
  const ports = {
    PORT: String(port),
    HEALTH_PORT: "0",
    EMBEDDED_PORT: String(await freePort()),
    // the benchmark polls the board until it is measured
    RATE_LIMIT: "0",
  };
  return spawn(process.execPath, ["--enable-source-maps", packagedFile("dist/server/cli.js"), "demo"], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir, ...ports },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function secondsToBoard(demo: ChildProcess, port: number, startMs: number): Promise<number> {
  while (!(await isMeasured(`http://localhost:${port}`))) {
    if (!isRunning(demo)) throw new Error(`the demo ended with ${demo.signalCode ?? `code ${demo.exitCode}`}`);
    if (performance.now() - startMs > giveUpMs) throw new Error(`expected a measured board within ${giveUpMs} ms`);
    await sleep(250);
  }
  return (performance.now() - startMs) / 1000;
}

async function isMeasured(url: string): Promise<boolean> {
  try {
    const { venues } = await readBoard(url);
    const { regions } = await get<{ regions: { reporting: boolean }[] }>(`${url}/v1/regions`);
    return (
      venues.length === 15 &&
      venues.every(
        // today's uptime from before the start arrives a little later
        (venue) => venue.state !== "unknown" && venue.measuredDays >= 89,
      ) &&
      regions.filter(({ reporting }) => reporting).length === 3
    );
  } catch {
    return false; // it does not listen yet
  }
}

/**
 * Waits for the separate program that fills in the rest of the history beside the service and records its end. Its cost
 * is not part of the cost of running the demo.
 */
async function historyIsComplete(dir: string): Promise<void> {
  const startMs = performance.now();
  while (!readHistoryNote(dir)?.isComplete) {
    if (performance.now() - startMs > giveUpMs) throw new Error(`expected the whole history within ${giveUpMs} ms`);
    await sleep(250);
  }
}

function figuresOfStart(installSeconds: number | null, boardSeconds: number, historySeconds: number): Figure[] {
  const floor = {
    value: promised.seconds,
    what: "promised, with a warm package cache",
  };
  const start: Figure = {
    what: "demo: start to the first measured board",
    value: boardSeconds,
    unit: "s",
  };
  const history: Figure = {
    what: "demo: start to the whole history",
    value: historySeconds,
    unit: "s",
  };
  if (installSeconds === null) return [{ ...start, floor }, history];
  return [
    {
      what: "demo: install and compile in a clean clone",
      value: installSeconds,
      unit: "s",
    },
    start,
    {
      what: "demo: both",
      value: installSeconds + boardSeconds,
      unit: "s",
      floor,
    },
    history,
  ];
}

/**
 * The processor time and memory of a supervisor and its programs over a minute, without the world.
 *
 * @param what names them together
 */
export async function figuresOfRunning(
  pid: number,
  what: string,
  promised: { cores: number; memoryMiB: number } | null,
): Promise<Figure[]> {
  if (process.platform !== "linux") {
    console.log("skipped processor and memory, which are read from /proc (Linux only)\n");
    return [];
  }
  const programs = programsOf(pid);
  const cpuBefore = programs.map(cpuSecondsOf);
  const most = programs.map(() => 0);
  const startMs = performance.now();
  while (performance.now() - startMs < watchedSeconds * 1000) {
    await sleep(1000);
    programs.forEach((program, i) => {
      most[i] = Math.max(most[i]!, memoryMiBOf(program));
    });
  }
  const seconds = (performance.now() - startMs) / 1000;
  const cores = programs.map((program, i) => (cpuSecondsOf(program) - cpuBefore[i]!) / seconds);
  return [
    {
      what: `${what}: processor, mean of ${watchedSeconds} s`,
      value: sumOf(cores),
      unit: "cores",
      ...(promised && { floor: { value: promised.cores, what: "promised" } }),
    },
    ...programs.map(({ name }, i) => ({
      what: `${name}: processor`,
      value: cores[i]!,
      unit: "cores",
    })),
    {
      what: `${what}: memory, sum of the peaks`,
      value: sumOf(most),
      unit: "MiB",
      ...(promised && { floor: { value: promised.memoryMiB, what: "promised" } }),
    },
    ...programs.map(({ name }, i) => ({
      what: `${name}: memory`,
      value: most[i]!,
      unit: "MiB",
    })),
  ];
}

interface RunningProgram {
  pid: number;
  name: string;
}

/** Returns a supervisor's programs, without the world: it plays the venues, which others run. */
function programsOf(pid: number): RunningProgram[] {
  const children = childrenOf(pid)
    .map(({ pid, args }) => ({ pid, name: args.split("cli.js ").at(-1)! }))
    .filter(({ name }) => !name.endsWith("world"));
  return [{ pid, name: "supervisor" }, ...children];
}

function cpuSecondsOf({ pid }: RunningProgram): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // the fields from the third on, because the name before them may hold spaces
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Counts each page that several programs share in equal parts for them. */
function memoryMiBOf({ pid }: RunningProgram): number {
  const smaps = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kiB = /^Pss:\s+(\d+)/m.exec(smaps)?.[1];
  if (kiB === undefined) throw new Error(`expected Pss in /proc/${pid}/smaps_rollup, got ${smaps}`);
  return Number(kiB) / 1024;
}

function sumOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
