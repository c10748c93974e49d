/**
 * Plays seed after seed for a time, on two cores, and prints those that failed, each shrunk to the few faults that it
 * takes: `node dist/simulation/search.js SECONDS [STEPS] [FIRST_SEED]`. A printed script can be replayed with
 * `make simulate SEED=… SCRIPT=file`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packagedFile } from "../shared/config/package.js";
import { readScript, type ScriptedFault, textOf } from "./script.js";

/** A history that takes longer hangs. */
const historyLimitMs = 15 * 60_000;

interface Outcome {
  script: ScriptedFault[];
  /** The first problem without its particulars; null: all checks passed. */
  problem: string | null;
  lines: string[];
}

const [seconds = "60", steps = "40", firstSeed = "1"] = process.argv.slice(2);
const endMs = performance.now() + Number(seconds) * 1000;
const directory = await mkdtemp(join(tmpdir(), "venuewatch-search-"));
/** How long shrinking may go on after the time is over. */
const shrinkingMs = Number(seconds) * 500;
let nextSeed = Number(firstSeed);
const failed: number[] = [];
let played = 0;
await Promise.all([searchOn(), searchOn()]);
await rm(directory, { recursive: true });
console.log(`${played} seeds, of which ${failed.length} failed${failed.length > 0 ? `: ${failed.join(", ")}` : ""}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function searchOn(): Promise<void> {
  while (performance.now() < endMs) {
    const seed = nextSeed++;
    const outcome = await play(seed, null);
    played += 1;
    console.log(outcome.lines.find((line) => line.startsWith("seed ")) ?? `seed ${seed}: ${outcome.lines.at(-1)}`);
    if (outcome.problem === null) continue;
    failed.push(seed);
    const script = await shrink(seed, outcome);
    console.log(`seed ${seed} fails (${outcome.problem}) with these faults:`);
    for (const fault of script) console.log(`  ${textOf(fault)}`);
  }
}

async function play(seed: number, script: readonly ScriptedFault[] | null): Promise<Outcome> {
  const file = join(directory, `${seed}.txt`);
  if (script) await writeFile(file, script.map((one) => `${textOf(one)}\n`).join(""));
  const child = spawn(process.execPath, [packagedFile("dist/simulation/simulate.js"), String(seed), steps], {
    env: { ...process.env, SCRIPT: script ? file : "" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: historyLimitMs,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const lines = output.trim().split("\n");
  const problem = lines.find((line) => line.startsWith("problem: "))?.replace(/^problem: /, "");
  return {
    script: readScript(lines.filter((line) => /^\d+:\d\d:/.test(line)).join("\n")),
    problem: code === 0 ? null : kindOf((problem ?? lines.at(-1)) || "no output"),
    lines,
  };
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
      const isEnough = fewer.length < left.length && (await play(seed, fewer)).problem === problem;
      if (isEnough) left = fewer;
      else from += size;
    }
  return left;
}
