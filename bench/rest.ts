/**
 * Measures what a measurement costs beyond its request: the processor time per REST measurement against a bare undici
 * loop that makes the same requests, how late slots are at five hundred measurements a second, and how far recorded
 * latencies are from the server's own.
 *
 * The server, the loop and the probe are separate processes, each on one core where `taskset` is available.
 */
import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { cpus } from "node:os";
import type { Figure } from "./figure.js";
import type { Job, Report } from "./rest-process.js";

const rounds = 5;
const perSecond = 500;

export async function benchRest(): Promise<Figure[]> {
  const server = start();
  try {
    const { port } = await asked(server, { does: "serve" });
    const cost = await costs(port);
    const paced = await pacedRounds(port);
    const of = <R>(all: R[], figure: (round: R) => number) => median(all.map(figure));
    const { slots, echo } = paced;
    const rate = `at ${Math.round(of(slots, ({ perSecond }) => perSecond))} measurements a second`;
    const echoBiasMs = of(echo, ({ biasMs }) => biasMs);
    return [
      {
        what: "processor time per measurement with its checks (schedule and spool: below), median of rounds",
        value: median(cost.probe),
        unit: "µs",
        floor: {
          value: median(cost.bare),
          what: "a bare loop on undici's dispatch",
        },
      },
      ...against(
        `lateness of a slot ${rate}, p99`,
        of(slots, ({ lateP99Ms }) => lateP99Ms),
        {
          promised: 50,
          "bare timers": of(echo, ({ lateP99Ms }) => lateP99Ms),
        },
      ),
      ...against(
        `bias of latencies ${rate}, median, kept connections`,
        of(slots, ({ biasMs }) => biasMs),
        { promised: 0.5, "bare sockets": echoBiasMs },
      ),
      ...against(
        `bias of latencies ${rate}, median, fresh connections`,
        of(slots, ({ freshBiasMs }) => freshBiasMs),
        { promised: 0.5, "bare sockets": echoBiasMs },
      ),
      {
        what: `slots unmeasured ${rate}, of six seconds`,
        value: of(slots, ({ unmeasured }) => unmeasured),
        unit: "",
      },
      {
        what: `processor time of a second ${rate}`,
        value: of(slots, ({ cpuMsPerSecond }) => cpuMsPerSecond),
        unit: "ms",
        floor: { value: 1000, what: "one core" },
      },
    ];
  } finally {
    server.kill();
  }
}

function against(what: string, value: number, floors: Record<string, number>): Figure[] {
  return Object.entries(floors).map(([name, floor]) => ({
    what,
    value,
    unit: "ms",
    floor: { value: floor, what: name },
  }));
}

async function costs(port: number): Promise<{ bare: number[]; probe: number[] }> {
  const cost = { bare: [] as number[], probe: [] as number[] };
  // the two take turns, so that other load on the machine affects both
  for (let round = 0; round < rounds; round += 1)
    for (const what of ["bare", "probe"] as const) {
      const { cpuUs } = await inProcess({ does: what, port, requests: 20_000 });
      cost[what].push(cpuUs);
    }
  return cost;
}

async function pacedRounds(port: number): Promise<{ slots: Report["slots"][]; echo: Report["echo"][] }> {
  const load = { port, perSecond, forMs: 6000 };
  const reports: Awaited<ReturnType<typeof pacedRounds>> = {
    slots: [],
    echo: [],
  };
  for (let round = 0; round < 3; round += 1) {
    reports.echo.push(await inProcess({ does: "echo", ...load }));
    reports.slots.push(await inProcess({ does: "slots", ...load }));
  }
  return reports;
}

async function inProcess<J extends Job>(job: J): Promise<Report[J["does"]]> {
  const child = start();
  try {
    return await asked(child, job);
  } finally {
    child.kill();
  }
}

/** Assigns the machine's cores to processes in turn. */
let started = 0;

function start(): ChildProcess {
  const child = fork(new URL("./rest-process.js", import.meta.url), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const core = started === 0 ? 0 : 1;
  started += 1;
  if (cpus().length > 1) spawnSync("taskset", ["-a", "-cp", String(core), String(child.pid)]);
  return child;
}

function asked<J extends Job>(child: ChildProcess, job: J): Promise<Report[J["does"]]> {
  return new Promise((resolve, reject) => {
    child.once("message", (report) => resolve(report as Report[J["does"]]));
    child.once("exit", (code) => reject(new Error(`the process for ${job.does} ended with ${code}`)));
    child.send(job);
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
