/** One history: a cluster, a script of faults, some quiet time, and the checks. Seed and script determine it. */
import { createHash } from "node:crypto";
import { checkAlerts } from "./checkers/alerts.js";
import { checkBlame } from "./checkers/blame.js";
import { checkBounds } from "./checkers/bounds.js";
import { checkCoverage } from "./checkers/coverage.js";
import { checkEngine, checkRollups } from "./checkers/engine.js";
import { checkSamples } from "./checkers/samples.js";
import { type Cluster, type ClusterShape, startCluster } from "./cluster.js";
import { installVirtualDisk } from "./disk/disks.js";
import { installVirtualNetwork } from "./network/network.js";
import { scheduleScript } from "./play.js";
import { startMs } from "./prepared-database.js";
import { drawScript, type ScriptedFault } from "./script.js";
import { makeSeededRandom } from "./seeded-random.js";
import { installVirtualGlobals } from "./virtual-globals.js";
import { makeVirtualTime, type VirtualTime } from "./virtual-time.js";

export interface HistoryOptions {
  seed: string;
  shape: ClusterShape;
  /** The number of faults to draw from the seed, or the faults. */
  faults: number | readonly ScriptedFault[];
  /** The average time between two faults that are drawn. */
  everyMs: number;
  write: (line: string) => void;
  /** Called before the first fault. */
  onScript: (script: readonly ScriptedFault[]) => void;
}

export interface HistoryResult {
  /** Empty: all checks have passed. */
  problems: string[];
  simulatedMs: number;
  events: number;
  statements: number;
  samples: number;
  alerts: number;
  /** Of all log lines: the same for the same history. */
  digest: string;
}

/** `small` takes a minute. */
export const shapes: Record<string, ClusterShape> = {
  usual: { regions: 3, probesPerRegion: 2, venues: 4, cores: 2, channels: 2, cadenceMs: 5_000 },
  small: { regions: 2, probesPerRegion: 1, venues: 2, cores: 2, channels: 1, cadenceMs: 5_000 },
};

/** All work that the faults delayed is done by then: samples delivered, incidents closed, alerts sent. */
const quietMs = 8 * 60_000;

const checks = [checkBounds, checkSamples, checkCoverage, checkBlame, checkAlerts, checkEngine, checkRollups];

/** To be called once in a program: it replaces the program's clock, timers, network and disk. */
export async function playHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, shape, faults, everyMs } = options;
  const hash = createHash("sha256");
  const write = (line: string) => {
    hash.update(line);
    options.write(line);
  };
  const random = makeSeededRandom(seed);
  const time = makeVirtualTime(startMs);
  const timers = random.branch("timers");
  // the event loop is busy now and then
  const latenessMs = () => timers.next() * (timers.chance(0.01) ? 80 : 1);
  installVirtualGlobals(time, random.branch("programs"), latenessMs);
  const network = installVirtualNetwork(time, random.branch("network"));
  const disks = installVirtualDisk(time, random.branch("disks"));
  network.useDisks(disks);
  const cluster = await startCluster(shape, { time, random: random.branch("cluster"), network, write });
  const script =
    typeof faults === "number" ? drawScript(random.branch("faults"), targetsOf(cluster), faults, everyMs) : faults;
  options.onScript(script);
  scheduleScript({ time, network, disks, cluster, write }, script);
  const endMs = Math.max(0, ...script.map(({ atMs, forMs }) => atMs + forMs));
  await time.pass(time.nowMs() + endMs + quietMs);
  const problems: string[] = [];
  for (const check of checks) problems.push(...(await check(cluster)));
  problems.unshift(...time.crashes.map(crashText));
  const result = {
    ...{ problems, simulatedMs: time.nowMs() - startMs, events: time.events() },
    ...{ statements: cluster.database.statements(), samples: cluster.ledger.taken.size },
    alerts: cluster.ledger.arrivals.length,
    digest: hash.digest("hex").slice(0, 12),
  };
  await cluster.close();
  return result;
}

export function crashText({ process, error }: VirtualTime["crashes"][number]): string {
  return `${process} crashed: ${String((error as Error).stack ?? error)}`;
}

function targetsOf({ probes, cores, venues, channels }: Cluster) {
  const namesOf = (of: readonly { name: string }[]) => of.map(({ name }) => name);
  return {
    ...{ probes: namesOf(probes), cores: namesOf(cores) },
    ...{ venues: [...venues.keys()], channels: namesOf(channels) },
  };
}
