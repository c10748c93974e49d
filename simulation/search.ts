/**
 * Plays seed after seed for a time, on two cores, and prints those that failed, each shrunk to the few faults that it
 * takes: `node dist/simulation/search.js SECONDS [STEPS] [FIRST_SEED]`. A printed script can be replayed with
 * `make simulate SEED=… SCRIPT=file`.
 */
import { byTwo, type Outcome, playInChild } from "./child-history.js";
import { type ScriptedFault, textOf } from "./script.js";

const [seconds = "60", steps = "40", firstSeed = "1"] = process.argv.slice(2);
const endMs = performance.now() + Number(seconds) * 1000;
/** How long shrinking may go on after the time is over. */
const shrinkingMs = Number(seconds) * 500;
const failed: number[] = [];
let played = 0;
await byTwo(seedsUntilTheEnd(), search);
console.log(`${played} seeds, of which ${failed.length} failed${failed.length > 0 ? `: ${failed.join(", ")}` : ""}`);
process.exitCode = failed.length > 0 ? 1 : 0;

function* seedsUntilTheEnd(): Generator<number> {
  for (let seed = Number(firstSeed); performance.now() < endMs; seed += 1) yield seed;
}

async function search(seed: number): Promise<void> {
  const outcome = await playInChild({ seed, steps: Number(steps) });
  played += 1;
  console.log(outcome.summary);
  if (outcome.problem === null) return;
  failed.push(seed);
  console.log(`seed ${seed} failed: ${outcome.problem}`);
  const script = await shrink(seed, outcome);
  console.log(`seed ${seed} fails (${kindOf(outcome.problem)}) with these faults:`);
  for (const fault of script) console.log(`  ${textOf(fault)}`);
}

/** "blamed without a fault: venue-1 rest:ticker …" is "blamed without a fault". */
function kindOf(problem: string): string {
  return problem.split(":")[0]!.replace(/\d+/g, "N");
}

/** Leaves out pieces of the script, large ones first, as long as the same kind of problem remains (delta debugging). */
async function shrink(seed: number, { script, problem }: Outcome): Promise<ScriptedFault[]> {
  let left = script;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < left.length && performance.now() < endMs + shrinkingMs;) {
      const fewer = left.filter((_, place) => place < from || place >= from + size);
      const isEnough = fewer.length < left.length && (await failsAlike(seed, fewer, problem!));
      if (isEnough) left = fewer;
      else from += size;
    }
  return left;
}

async function failsAlike(seed: number, script: readonly ScriptedFault[], problem: string): Promise<boolean> {
  const again = await playInChild({ seed, steps: 0, script });
  return again.problem !== null && kindOf(again.problem) === kindOf(problem);
}
