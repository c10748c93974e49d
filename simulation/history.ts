/** One history: a cluster, a script of faults, some quiet time, and the checks. Seed and script determine it. */
import { createHash } from "node:crypto";
import { checkAlerts } from "./checkers/alerts.js";
import { checkBlame } from "./checkers/blame.js";
import { checkBodies } from "./checkers/bodies.js";
import { checkBounds } from "./checkers/bounds.js";
import { checkCoverage } from "./checkers/coverage.js";
import { checkDeliveries } from "./checkers/deliveries.js";
import { checkEngine } from "./checkers/engine.js";
import { checkGreen } from "./checkers/green.js";
import { checkPauses } from "./checkers/pauses.js";
import { checkLeader } from "./checkers/leader.js";
import { checkMigrations } from "./checkers/migrations.js";
import { checkMinorities } from "./checkers/minorities.js";
import { checkNotices } from "./checkers/notices.js";
import { checkRollups } from "./checkers/rollups.js";
import { checkSamples } from "./checkers/samples.js";
import { checkSecondOpinion } from "./checkers/second-opinion.js";
import { type Cluster, startCluster } from "./cluster.js";
import { installVirtualDisk } from "./disk/disks.js";
import { installVirtualNetwork } from "./network/network.js";
import { scheduleScript } from "./play.js";
import { startMs } from "./prepared-database.js";
import { drawScript, type Profile, type ScriptedFault, type Targets } from "./script.js";
import { makeSeededRandom } from "./seeded-random.js";
import type { ClusterShape } from "./shape.js";
import { installVirtualGlobals } from "./virtual-globals.js";
import { makeVirtualTime, type VirtualTime } from "./virtual-time.js";

export interface HistoryOptions {
  seed: string;
  shape: ClusterShape;
  /** The number of faults to draw from the seed, or the faults. */
  faults: number | readonly ScriptedFault[];
  /** Determines which faults are drawn. */
  profile: Profile;
  write: (line: string) => void;
  /** SQL that replaces functions of the database. */
  definitions?: string | undefined;
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
  crashes: number;
  partitions: number;
  /** How often the lease of the engine changed its holder. */
  failovers: number;
  /** A hash of all log lines: the same for the same history. */
  digest: string;
}

/** All work that the faults delayed is done by then: samples delivered, incidents closed, alerts sent. */
function quietMsAfter(script: readonly ScriptedFault[]): number {
  const longestMs = Math.max(0, ...script.map(({ forMs }) => forMs));
  // late samples are rolled up every ten minutes
  return (longestMs > 180_000 ? 13 : longestMs > 30_000 ? 8 : 2.5) * 60_000;
}

/** While all programs run; then the cores stop, so that the engine's records stay as they are. */
const checksOfRunning = [checkBounds, checkRollups, checkMigrations, checkNotices];
const checks = [
  ...[checkSamples, checkCoverage, checkBlame, checkGreen, checkPauses, checkMinorities],
  ...[checkAlerts, checkDeliveries, checkLeader, checkEngine, checkSecondOpinion, checkBodies],
];

/** To be called once in a program: it replaces the program's clock, timers, network and disk. */
export async function playHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, shape, faults, profile } = options;
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
  const cluster = await startCluster(shape, {
    ...{ time, random: random.branch("cluster"), network, write },
    definitions: options.definitions,
  });
  const script =
    typeof faults === "number" ? drawScript(random.branch("faults"), targetsOf(cluster), faults, profile) : faults;
  options.onScript(script);
  scheduleScript({ time, network, disks, cluster, write }, script);
  const endMs = Math.max(0, ...script.map(({ atMs, forMs }) => atMs + forMs));
  await time.pass(time.nowMs() + endMs + quietMsAfter(script));
  const problems: string[] = [];
  for (const check of checksOfRunning) problems.push(...(await check(cluster)));
  cluster.cores.forEach((core) => core.process()?.kill());
  for (const check of checks) problems.push(...(await check(cluster)));
  problems.unshift(...time.crashes.map(crashText));
  const result = {
    ...{ problems, simulatedMs: time.nowMs() - startMs, events: time.events() },
    ...{ statements: cluster.database.statements(), samples: cluster.ledger.taken.size },
    alerts: cluster.ledger.arrivals.length,
    crashes: script.filter((fault) => isCrash(fault, cluster)).length,
    partitions: script.filter(({ kind }) => ["cut", "part"].includes(kind)).length,
    failovers: new Set(cluster.ledger.decisions.map(({ fence }) => fence)).size - 1,
    digest: hash.digest("hex").slice(0, 12),
  };
  await cluster.close();
  return result;
}

/** Whether the fault is a crash of our own programs, the database or their machines. */
function isCrash({ kind, target }: ScriptedFault, { servers }: Cluster): boolean {
  return ["kill", "die", "power", "migrate"].includes(kind) && !servers.has(target);
}

export function crashText({ process, error }: VirtualTime["crashes"][number]): string {
  return `${process} crashed: ${String((error as Error).stack ?? error)}`;
}

function targetsOf({ probes, cores, webs, largerRegistry, chain, statusPages, channels }: Cluster): Targets {
  const namesOf = (of: readonly { name: string }[]) => of.map(({ name }) => name);
  return {
    ...{ probes: namesOf(probes), cores: namesOf(cores), webs: namesOf(webs) },
    venues: largerRegistry.venues.map(({ id }) => id),
    chains: [chain.name],
    statusPages: statusPages.map(({ venue }) => `${venue}-status`),
    channels: namesOf(channels),
  };
}
