/** Plays a script of faults on a cluster, and ends each. */
import type { Cluster } from "./cluster.js";
import type { Supervised } from "./supervised.js";
import type { Disks } from "./disk/disks.js";
import type { Period } from "./ledger.js";
import type { Network } from "./network/network.js";
import { closesWithinMs } from "./operator.js";
import { type Poison, poisons } from "./poison.js";
import { type FaultKind, type ScriptedFault, textOf } from "./script.js";
import { venueFaults } from "./venue.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Stage {
  time: VirtualTime;
  network: Network;
  disks: Disks;
  cluster: Cluster;
  write: (line: string) => void;
}

/** A process that is to die does so within as many events: a tick of the engine has about a hundred. */
const mostEvents = 211;

/** Everything has started by then. */
export const firstFaultMs = 60_000;

/** The faults that are on, by what they affect, oldest first. */
type Ongoing = Map<string, ScriptedFault[]>;

/** @throws Error that names a fault of something that does not exist */
export function scheduleScript(stage: Stage, script: readonly ScriptedFault[]): void {
  const ongoing: Ongoing = new Map();
  const startMs = stage.time.nowMs();
  for (const fault of script) {
    requireTargets(stage.cluster, fault);
    if (fault.atMs < firstFaultMs) throw new Error(`expected no fault in the first minute, got "${textOf(fault)}"`);
    stage.time.schedule(startMs + fault.atMs - stage.time.nowMs(), () => play(stage, fault, ongoing), null);
  }
}

function requireTargets(cluster: Cluster, fault: ScriptedFault): void {
  const { machines, channels, cores, database, chain } = cluster;
  const able: Partial<Record<FaultKind, readonly { name: string }[]>> = {
    ...{ freeze: cores, busy: [database.machine], stand: [chain], stop: [{ name: "service" }, ...programsOf(cluster)] },
  };
  const known = (able[fault.kind] ?? [...machines, ...channels]).map(({ name }) => name);
  for (const name of [fault.target, ...(fault.other ? [fault.other] : [])])
    if (!known.includes(name))
      throw new Error(`expected one of ${known.join(", ")} in "${textOf(fault)}", got ${name}`);
}

function play(stage: Stage, fault: ScriptedFault, ongoing: Ongoing): void {
  const { time, cluster, write } = stage;
  const { target, other, forMs } = fault;
  if (target === "service")
    return programsOf(cluster).forEach(({ name }) => play(stage, { ...fault, target: name }, ongoing));
  write(`-- ${textOf(fault)}\n`);
  // times that cannot be true excuse nothing
  const trouble = isPoison(fault.kind) ? `times of ${target}` : target;
  const affected = other ? [target, `${target} ${other}`] : [trouble];
  // a core that claims nothing is not frozen
  const periods = (fault.kind === "freeze" ? [] : affected).map((of) =>
    cluster.ledger.begin(of, periodOf(fault), time.nowMs()),
  );
  const key = affectedBy(fault);
  const others = ongoing.get(key) ?? [];
  ongoing.set(key, [...others, fault]);
  begin(stage, fault);
  if (fault.kind === "die") dieSoon(stage, fault, periods[0]!);
  time.schedule(
    forMs,
    () => {
      for (const period of periods) period.toMs = time.nowMs();
      const left = ongoing.get(key)!.filter((one) => one !== fault);
      ongoing.set(key, left);
      // a process stays dead until the last of them is over
      if (left.length > 0 && key.startsWith("process ")) return;
      end(stage, fault);
      if (!endsByItself(fault)) left.forEach((one) => begin(stage, one));
    },
    null,
  );
}

function endsByItself({ kind }: ScriptedFault): boolean {
  return ["pause", "freeze", "stall", "reconnect", "clock"].includes(kind);
}

/** The end of one fault does not end another of the same target. */
function affectedBy({ kind, target, other = "" }: ScriptedFault): string {
  if (["kill", "die", "stop", "power", "migrate"].includes(kind)) return `process ${target}`;
  if (["cut", "part"].includes(kind)) return `links ${target}`;
  if (isOfVenue(kind)) return `venue ${target}`;
  if (isPoison(kind)) return `times of ${target}`;
  if (["refuse", "hang", "reset"].includes(kind)) return `receiver ${target}`;
  return `${kind} ${target} ${other}`;
}

function isOfVenue(kind: FaultKind): boolean {
  return (venueFaults as readonly FaultKind[]).includes(kind);
}

function isPoison(kind: FaultKind): kind is Poison {
  return (poisons as readonly FaultKind[]).includes(kind);
}

function periodOf({ kind, target }: ScriptedFault): string {
  if (kind === "stop") return "restart";
  if (kind === "kill" || kind === "die") return "down";
  return target !== "database" && ["full", "broken", "stall"].includes(kind) ? "disk" : kind;
}

function begin(stage: Stage, fault: ScriptedFault): void {
  const { cluster, network, disks, time } = stage;
  const { kind, target, other } = fault;
  const machine = () => machineOf(cluster, target);
  switch (kind) {
    case "kill":
      return kill(stage, target);
    case "stop":
      return stop(stage, programOf(cluster, target)!);
    case "power":
      network.forgetConnections(machine());
      programOf(cluster, target)!.process()?.kill();
      return disks.of(machine()).crash();
    case "pause":
      return programOf(cluster, target)
        ?.process()
        ?.pause(time.nowMs() + fault.forMs);
    case "freeze":
      return cluster.cores.find(({ name }) => name === target)!.freezeAtClaim(time.nowMs() + fault.forMs);
    case "stall":
      if (target === "database") return cluster.database.stall(time.nowMs() + fault.forMs);
      return disks.of(machine()).stall(time.nowMs() + fault.forMs);
    case "busy":
      return cluster.database.setBusy(true);
    case "full":
      return disks.of(machine()).setCapacity(0);
    case "broken":
      return disks.of(machine()).fail("all", "EIO", 1);
    case "cut":
      return everyOtherThan(cluster, target).forEach((one) => network.partition(machine(), one));
    case "part":
      return network.partition(machine(), machineOf(cluster, other!));
    case "dns":
      return network.setNameService(machine(), "fails");
    case "reconnect":
      return network.resetConnections(machine(), machineOf(cluster, other!));
    case "clock":
      return void (machine().clock.errorMs += fault.byMs!);
    case "lossy":
      return setLoss(stage, target, 0.1);
    case "refuse":
    case "hang":
    case "reset":
      return channelOf(cluster, target).react(kind);
    case "stand":
      return cluster.chain.stand(true);
    case "die":
      return;
    case "migrate":
      cluster.operator.migrate();
      return cluster.operator.process()!.killAfter(eventsUntilDeath(fault), () => {});
    default:
      return isPoison(kind) ? cluster.servers.get(target)!.poison(kind) : cluster.servers.get(target)!.fault(kind);
  }
}

function end(stage: Stage, { kind, target, byMs }: ScriptedFault): void {
  const { cluster, network, disks } = stage;
  const machine = () => machineOf(cluster, target);
  switch (kind) {
    case "kill":
    case "die":
    case "stop":
    case "power":
    case "migrate":
      return restart(cluster, target);
    case "busy":
      return cluster.database.setBusy(false);
    case "full":
      return disks.of(machine()).setCapacity(Infinity);
    case "broken":
      return disks.of(machine()).fail("all", "EIO", 0);
    case "cut":
    case "part":
      return everyOtherThan(cluster, target).forEach((one) => network.heal(machine(), one));
    case "dns":
      return network.setNameService(machine(), "works");
    case "clock":
      return void (machine().clock.errorMs -= byMs!);
    case "lossy":
      return setLoss(stage, target, 0);
    case "stand":
      return cluster.chain.stand(false);
    case "refuse":
    case "hang":
    case "reset":
      return channelOf(cluster, target).react("accept");
    default:
      // the others end by themselves
      if (isOfVenue(kind)) cluster.servers.get(target)!.fault(null);
      if (isPoison(kind)) cluster.servers.get(target)!.poison(null);
  }
}

/** @param period begins with its death */
function dieSoon({ cluster, time }: Stage, fault: ScriptedFault, period: Period): void {
  period.fromMs += fault.forMs;
  programOf(cluster, fault.target)!
    .process()
    ?.killAfter(eventsUntilDeath(fault), () => (period.fromMs = Math.min(period.fromMs, time.nowMs())));
}

function eventsUntilDeath({ atMs }: ScriptedFault): number {
  return 1 + (atMs % mostEvents);
}

function kill({ cluster, time }: Stage, target: string): void {
  if (target !== "database") return programOf(cluster, target)!.process()?.kill();
  cluster.database.crash().catch((error: unknown) => time.crashes.push({ process: "database", error }));
}

function stop({ time }: Stage, program: Supervised): void {
  const process = program.process();
  program.stop();
  time.schedule(closesWithinMs, () => process?.kill(), null);
}

function restart(cluster: Cluster, target: string): void {
  if (target === "database") return cluster.database.start();
  const program = programOf(cluster, target)!;
  // it may still have to die
  program.process()?.kill();
  program.start();
}

function setLoss({ cluster, network }: Stage, target: string, lossShare: number): void {
  const machine = machineOf(cluster, target);
  for (const other of everyOtherThan(cluster, target)) {
    network.setLink(machine, other, { lossShare });
    network.setLink(other, machine, { lossShare });
  }
}

/** Those that the operator stops and starts. */
function programsOf({ probes, cores, webs }: Cluster): Supervised[] {
  return [...probes, ...cores, ...webs];
}

function programOf({ probes, cores, webs, operator, servers }: Cluster, name: string): Supervised | undefined {
  return [...probes, ...cores, ...webs, operator, ...servers.values()].find((one) => one.name === name);
}

function machineOf({ machines }: Cluster, name: string): Machine {
  return machines.find((one) => one.name === name)!;
}

function everyOtherThan({ machines }: Cluster, name: string): Machine[] {
  return machines.filter((one) => one.name !== name && one.name !== "observer");
}

function channelOf({ channels }: Cluster, name: string) {
  return channels.find((one) => one.name === name)!;
}
