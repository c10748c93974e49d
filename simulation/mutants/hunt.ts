/**
 * Plays seeds with each mutant until one finds it, and that history without the mutant: it must pass, or it would find
 * any mutant. Prints the mutants that no seed has found: `node dist/simulation/mutants/hunt.js [SEEDS] [pattern of
 * names]`.
 */
import { byTwo, playDaysInChild, playInChild } from "../child-history.js";
import { readScript } from "../script.js";
import type { Mutant } from "./mutant.js";
import { mutants } from "./mutants.js";

type History = Pick<Mutant, "profile" | "shape" | "faults" | "days"> & { seed: number };

const [seeds = "3", part = ""] = process.argv.slice(2);
const failed: string[] = [];
/** Problems of histories without a mutant. Several mutants are found by the same history. */
const unmutated = new Map<string, Promise<string | null>>();
const hunted = mutants.filter(({ name }) => name.match(part));
await byTwo(hunted, hunt);
console.log(`${hunted.length - failed.length} of ${hunted.length} mutants were found`);
for (const line of failed) console.log(line);
process.exitCode = failed.length > 0 ? 1 : 0;

async function hunt({ name, profile, shape, faults, days }: Mutant): Promise<void> {
  const startedMs = performance.now();
  for (let seed = 1; seed <= Number(seeds); seed += 1) {
    const history = { profile, shape, faults, days, seed };
    const problem = await problemOf(history, name);
    if (problem === null) continue;
    const tookS = Math.round((performance.now() - startedMs) / 1000);
    console.log(`${name}: found by seed ${seed} in ${tookS} s: ${problem.slice(0, 160)}`);
    const own = await problemWithoutMutant(history);
    if (own !== null) failed.push(`found by a history that fails without it, too: ${name}: ${own}`);
    return;
  }
  failed.push(`not found: ${name}`);
}

function problemWithoutMutant(history: History): Promise<string | null> {
  const key = JSON.stringify(history);
  const known = unmutated.get(key) ?? problemOf(history, "");
  unmutated.set(key, known);
  return known;
}

async function problemOf({ profile = "usual", shape = "small", faults, days, seed }: History, mutant: string) {
  const settings = { SHAPE: shape, PROFILE: profile, MUTANT: mutant };
  const script = faults === undefined ? undefined : readScript(faults);
  const { problem, hasEnded } = days
    ? await playDaysInChild(days, settings)
    : await playInChild({ seed, steps: 20, settings, ...(script && { script }) });
  if (!hasEnded) throw new Error(`${mutant || "no mutant"}: the history did not end: ${problem}`);
  return problem;
}
