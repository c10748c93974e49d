/**
 * The long run: a hundred days of upkeep, and ten thousand crashes and a thousand failovers and partitions in
 * histories of the service, on two cores. `node dist/simulation/long.js [SHARE]`; a share of 0.1 plays a tenth.
 */
import { byTwo, playDaysInChild, playInChild } from "./child-history.js";
import type { Profile } from "./script.js";

interface Batch {
  shape: "small" | "usual";
  profile: Profile;
  histories: number;
  steps: number;
}

const batches: readonly Batch[] = [
  { shape: "small", profile: "crashes", histories: 24, steps: 640 },
  { shape: "small", profile: "partitions", histories: 6, steps: 210 },
  { shape: "small", profile: "gaps", histories: 2, steps: 10 },
  { shape: "usual", profile: "usual", histories: 2, steps: 40 },
];

const days = 100;
/** What the whole run promises. */
const least = { crashes: 10_000, partitions: 1_000, failovers: 1_000 };

const [share = "1"] = process.argv.slice(2);
const startedMs = performance.now();
const sums = { minutes: 0, crashes: 0, partitions: 0, failovers: 0 };
const failed: string[] = [];
const histories = batches.flatMap(({ histories, ...batch }) =>
  Array.from({ length: Math.ceil(histories * Number(share)) }, (_, place) => ({ ...batch, seed: place + 1 })),
);
await byTwo([playDays, ...histories.map((history) => () => play(history))], (task) => task());
const tookMinutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
const figures = Object.entries(sums).map(([what, sum]) => `${sum} ${what}`);
console.log(`${histories.length} histories in ${tookMinutes} minutes: ${figures.join(", ")}`);
for (const [what, count] of Object.entries(least))
  if (sums[what as keyof typeof sums] < count * Number(share)) failed.push(`fewer than ${count} ${what}`);
for (const line of failed) console.log(`failed: ${line}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function playDays(): Promise<void> {
  const { summary, problem } = await playDaysInChild(Math.ceil(days * Number(share)), {}, (line) => {
    if (line.startsWith("day ")) console.log(line);
  });
  console.log(`days, ${summary}`);
  if (problem !== null) failed.push(`days: ${problem}`);
}

async function play({ shape, profile, steps, seed }: (typeof histories)[number]): Promise<void> {
  const { summary, problem } = await playInChild({ seed, steps, settings: { SHAPE: shape, PROFILE: profile } });
  console.log(`${profile}, ${summary}`);
  for (const what of Object.keys(sums) as (keyof typeof sums)[])
    sums[what] += Number(new RegExp(`(\\d+) ${what}`).exec(summary)?.[1] ?? 0);
  if (problem !== null) failed.push(`SHAPE=${shape} PROFILE=${profile} SEED=${seed} STEPS=${steps}: ${problem}`);
}
