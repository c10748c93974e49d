/**
 * The faults of a history: drawn from a seed, or read from a text that someone kept. One line is one fault:
 *
 *     00:12:03.250 kill core-1 for 4000 ms
 */
import { poisons } from "./poison.js";
import type { SeededRandom } from "./seeded-random.js";
import { venueFaults } from "./venue.js";

/**
 * - `kill` the process dies, and its supervisor starts it again after the duration
 * - `stop` it ends as after SIGTERM, and is started again after the duration; `service` is all probes, cores and web
 *   servers
 * - `die` the same, but not at once: after some of its events, at whatever it awaits then
 * - `pause` it stands still, as after SIGSTOP
 * - `freeze` a core stands still until the end of the duration once it has claimed alerts and before it sends them
 * - `stall` the database executes nothing; of a probe: its disk does not answer
 * - `busy` the database takes up to a fifth of a second for each statement, one after the other
 * - `cut` the machine has no network
 * - `dns` its name server fails
 * - `reconnect` all connections between two machines are reset
 * - `lossy` a tenth of its segments is lost
 * - `part` two machines cannot reach each other
 * - `full`, `broken` the disk takes no writes, or fails every operation
 * - `clock` the machine's clock is wrong
 * - `power` the machine loses its power: processes, and what the disk had not synced
 * - `errors`, `silent`, `slow`, `nonsense` faults of a venue, or of its status page
 * - `limit`, `ban`, `halt`, `lag`, `quiet stream`, `quiet market` faults of a venue (simulation/venue.ts)
 * - `stand` a chain makes no blocks: each of its providers goes on naming the last
 * - `time …` a venue, or its status page, says times that cannot be true (simulation/poison.ts)
 * - `refuse`, `hang`, `reset` a receiver's reactions to alerts
 * - `migrate` the operator migrates to another build with a larger registry, dies after some events, and is started
 *   again after the duration
 */
export const faultKinds = [
  ...(["kill", "die", "stop", "pause", "freeze", "stall", "busy", "cut", "dns", "reconnect", "lossy", "part"] as const),
  ...(["full", "broken", "power", "clock"] as const),
  ...venueFaults,
  ...poisons,
  ...(["stand", "refuse", "hang", "reset", "migrate"] as const),
];

export type FaultKind = (typeof faultKinds)[number];

export interface ScriptedFault {
  /** Since the start. */
  atMs: number;
  kind: FaultKind;
  target: string;
  /** The other machine of `part`. */
  other?: string;
  /** How far the clock is ahead in `clock`; negative: behind. */
  byMs?: number;
  forMs: number;
}

/** Names of what can fail. */
export interface Targets {
  probes: readonly string[];
  cores: readonly string[];
  webs: readonly string[];
  venues: readonly string[];
  chains: readonly string[];
  statusPages: readonly string[];
  channels: readonly string[];
}

/** Which faults are drawn, and the average time between two of them. */
export const profiles = {
  usual: { everyMs: 15_000 },
  /** Programs or the whole service are down for up to an hour, while venues fail, are quiet, or say odd times. */
  gaps: { everyMs: 90_000 },
  /** One of our processes dies every two seconds; other faults fall in between. */
  crashes: { everyMs: 1_000 },
  /** Machines lose each other, and the leader loses its lease. */
  partitions: { everyMs: 6_000 },
};

export type Profile = keyof typeof profiles;

type Draw = () => Omit<ScriptedFault, "atMs">;

export function drawScript(random: SeededRandom, targets: Targets, steps: number, profile: Profile): ScriptedFault[] {
  const drawsOf = { usual: usualDraws, gaps: gapDraws, crashes: crashDraws, partitions: partitionDraws };
  const draws = drawsOf[profile](random, targets);
  let atMs = 60_000;
  return Array.from({ length: steps }, () => {
    atMs += Math.ceil(-Math.log(1 - random.next()) * profiles[profile].everyMs);
    return { atMs, ...random.pick(draws)() };
  });
}

function gapDraws(random: SeededRandom, { probes, cores, venues, statusPages }: Targets): Draw[] {
  const gapMs = () => Math.round(1_000 * 3_600 ** random.next());
  const long = () => 30_000 + Math.round(random.next() * 60_000);
  return [
    () => ({ kind: "stop", target: "service", forMs: gapMs() }),
    () => ({ kind: random.pick(["kill", "stop"] as const), target: random.pick(probes), forMs: gapMs() }),
    () => ({ kind: random.pick(["kill", "stop"] as const), target: random.pick(cores), forMs: gapMs() }),
    () => ({ kind: random.pick(["errors", "quiet market"] as const), target: random.pick(venues), forMs: long() }),
    poisonDraw(random, venues),
    poisonDraw(random, statusPages),
  ];
}

/** As long as a cadence, so that each endpoint states such a time about once to each region. */
function poisonDraw(random: SeededRandom, targets: readonly string[]): Draw {
  const forMs = () => (random.chance(0.5) ? 5_000 : 30_000 + Math.round(random.next() * 90_000));
  return () => ({ kind: random.pick(poisons), target: random.pick(targets), forMs: forMs() });
}

function crashDraws(random: SeededRandom, { probes, cores, webs, venues, channels }: Targets): Draw[] {
  const forMs = () => 100 + Math.round(random.next() * 3_000);
  const long = () => 20_000 + Math.round(random.next() * 10_000);
  return [
    () => ({ kind: "die", target: random.pick(probes), forMs: forMs() }),
    () => ({ kind: "die", target: random.pick(cores), forMs: forMs() }),
    () => ({ kind: "die", target: random.pick([...cores, ...webs]), forMs: forMs() }),
    () => ({ kind: "kill", target: random.pick([...probes, ...cores]), forMs: forMs() }),
    () => ({ kind: "kill", target: "database", forMs: forMs() }),
    () => ({ kind: "kill", target: random.pick(venues), forMs: forMs() }),
    () => ({ kind: "power", target: random.pick(probes), forMs: forMs() }),
    // so that there is something to alert
    () => ({ kind: "errors", target: random.pick(venues), forMs: long() }),
    () => ({ kind: random.pick(["refuse", "hang", "reset"] as const), target: random.pick(channels), forMs: forMs() }),
  ];
}

function partitionDraws(random: SeededRandom, { probes, cores, webs, venues }: Targets): Draw[] {
  const forMs = () => 500 + Math.round(random.next() * 15_000);
  return [
    () => ({ kind: "part", target: random.pick(cores), other: "database", forMs: forMs() }),
    () => ({ kind: "pause", target: random.pick(cores), forMs: forMs() }),
    () => ({ kind: "cut", target: random.pick([...probes, ...cores]), forMs: forMs() }),
    () => ({ kind: "part", target: random.pick([...probes, ...webs]), other: "database", forMs: forMs() }),
    () => ({ kind: "part", target: random.pick(probes), other: random.pick(venues), forMs: forMs() }),
  ];
}

function usualDraws(random: SeededRandom, targets: Targets): Draw[] {
  const { probes, cores, webs, venues, chains, statusPages, channels } = targets;
  const short = () => 100 + Math.round(random.next() * 8_000);
  const long = () => 5_000 + Math.round(random.next() * 90_000);
  return [
    () => ({ kind: "kill", target: random.pick(probes), forMs: short() }),
    () => ({ kind: "kill", target: random.pick([...cores, ...webs]), forMs: short() }),
    () => ({ kind: "die", target: random.pick([...probes, ...cores, ...webs]), forMs: short() }),
    () => ({ kind: "kill", target: "database", forMs: short() }),
    () => ({ kind: "kill", target: random.pick([...venues, ...statusPages]), forMs: long() }),
    () => ({
      kind: "pause",
      target: random.pick([...probes, ...cores, ...webs]),
      forMs: random.chance(0.5) ? short() : long(),
    }),
    () => ({ kind: "freeze", target: random.pick(cores), forMs: 30_000 + long() }),
    () => ({ kind: "stall", target: "database", forMs: short() }),
    () => ({ kind: "busy", target: "database", forMs: long() }),
    () => ({ kind: "cut", target: random.pick([...probes, ...cores]), forMs: long() }),
    () => ({ kind: "dns", target: random.pick([...probes, ...cores]), forMs: long() }),
    () => ({ kind: "reconnect", target: random.pick([...probes, ...cores]), other: "database", forMs: 1 }),
    () => ({ kind: "lossy", target: random.pick([...probes, ...cores, "database"]), forMs: long() }),
    () => ({ kind: "part", target: random.pick([...probes, ...cores, ...webs]), other: "database", forMs: long() }),
    () => ({ kind: "part", target: random.pick(probes), other: random.pick(venues), forMs: long() }),
    // samples that come this late are rolled up later than others
    () => ({
      kind: "part",
      target: random.pick(probes),
      other: "database",
      forMs: random.chance(0.2) ? 240_000 + long() : long(),
    }),
    () => ({ kind: random.pick(["full", "broken", "stall"] as const), target: random.pick(probes), forMs: long() }),
    () => ({ kind: "power", target: random.pick(probes), forMs: short() }),
    () => ({
      kind: "clock",
      target: random.pick([...probes, ...cores, ...webs]),
      byMs: random.pick([-1, 1]) * (5_000 + Math.round(random.next() * 40_000)),
      forMs: long(),
    }),
    () => ({
      kind: random.pick(venueFaults),
      target: random.pick(venues),
      forMs: long() + 20_000,
    }),
    () => ({
      kind: random.pick(["errors", "silent", "slow", "nonsense"] as const),
      target: random.pick(statusPages),
      forMs: long(),
    }),
    poisonDraw(random, venues),
    poisonDraw(random, statusPages),
    // a head is stale after half a minute
    () => ({ kind: "stand", target: random.pick(chains), forMs: 40_000 + 2 * long() }),
    () => ({ kind: "stop", target: "service", forMs: random.chance(0.5) ? short() : long() }),
    () => ({ kind: random.pick(["refuse", "hang", "reset"] as const), target: random.pick(channels), forMs: long() }),
    () => ({ kind: "migrate", target: "operator", forMs: short() }),
  ];
}

export function textOf({ atMs, kind, target, other, byMs, forMs }: ScriptedFault): string {
  const [minutes, milliseconds] = [Math.floor(atMs / 60_000), atMs % 60_000];
  const time = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
  const seconds = (milliseconds / 1000).toFixed(3).padStart(6, "0");
  const more = `${other ? ` from ${other}` : ""}${byMs ? ` by ${byMs} ms` : ""}`;
  return `${time}:${seconds} ${kind} ${target}${more} for ${forMs} ms`;
}

const line = /^(\d+):(\d\d):(\d\d\.\d{3}) (.+?) (\S+?)(?: from (\S+))?(?: by (-?\d+) ms)? for (\d+) ms$/;

/** @throws Error that names the line */
export function readScript(text: string): ScriptedFault[] {
  const lines = text.split("\n").filter((one) => one.trim() !== "");
  return lines.map((one) => {
    const [, hours, minutes, seconds, kind, target, other, byMs, forMs] = line.exec(one.trim()) ?? [];
    if (!target || !(faultKinds as readonly string[]).includes(kind!))
      throw new Error(`expected a line such as "00:12:03.250 kill core-1 for 4000 ms", got "${one}"`);
    return {
      atMs: Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000),
      ...{ kind: kind as FaultKind, target, forMs: Number(forMs) },
      ...(other && { other }),
      ...(byMs && { byMs: Number(byMs) }),
    };
  });
}
