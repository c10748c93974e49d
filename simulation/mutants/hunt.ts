/**
 * Plays seeds with each mutant until one finds it, and prints those that no seed has found: `node
 * dist/simulation/mutants/hunt.js [SEEDS] [pattern of names]`.
 */
import { byTwo, playDaysInChild, playInChild } from "../child-history.js";
import { readScript } from "../script.js";
import { type Mutant, mutants } from "./mutants.js";

const [seeds = "3", part = ""] = process.argv.slice(2);
const survivors: string[] = [];
const hunted = mutants.filter(({ name }) => name.match(part));
await byTwo(hunted, hunt);
console.log(`${hunted.length - survivors.length} of ${hunted.length} mutants were found`);
for (const name of survivors) console.log(`not found: ${name}`);
process.exitCode = survivors.length > 0 ? 1 : 0;

async function hunt({ name, profile = "usual", shape = "small", faults, days }: Mutant): Promise<void> {
  const startedMs = performance.now();
  const script = faults === undefined ? undefined : readScript(faults);
  for (let seed = 1; seed <= Number(seeds); seed += 1) {
    const settings = { SHAPE: shape, PROFILE: profile, MUTANT: name };
    const { problem, hasEnded } = days
      ? await playDaysInChild(days, settings)
      : await playInChild({ seed, steps: 20, settings, ...(script && { script }) });
    if (!hasEnded) throw new Error(`${name}: the history did not end: ${problem}`);
    if (problem === null) continue;
    const tookS = Math.round((performance.now() - startedMs) / 1000);
    return console.log(`${name}: found by seed ${seed} in ${tookS} s: ${problem.slice(0, 160)}`);
  }
  survivors.push(name);
}
