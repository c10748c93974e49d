/**
 * Replays one history and prints its problems: `node dist/simulation/simulate.js SEED [STEPS]`. `SCRIPT=file` plays the
 * faults of a file instead of those of the seed; `LOG=file` keeps the log of the history; `MUTANT=name` injects a fault
 * of ours into the production code; `SHAPE=small` takes fewer programs, and `PROFILE=gaps`, `crashes` or `partitions`
 * draws more faults of one kind.
 */
import { openSync, readFileSync, writeSync } from "node:fs";
import { register } from "node:module";
import { mutantNamed } from "./mutants/mutants.js";
import { mutatedDefinitions } from "./mutants/definitions.js";
import { type Profile, profiles, readScript, textOf } from "./script.js";
import { currentProcess } from "./virtual-time.js";

const [seed = "1", steps = "40"] = process.argv.slice(2);
const { SCRIPT, LOG, MUTANT, SHAPE = "usual", PROFILE = "usual" } = process.env;
const mutant = mutantNamed(MUTANT);
const isInSql = mutant?.file.endsWith(".sql") === true;
if (mutant && !isInSql) register("./mutants/hooks.js", import.meta.url, { data: mutant });
// after the hook, so that it sees every module of the production code
const { crashText, playHistory } = await import("./history.js");
const { shapes } = await import("./shape.js");
if (mutant && !isInSql && !("isMutated" in globalThis))
  throw new Error(`the module of the mutant was not loaded: ${MUTANT}`);
const shape = shapes[SHAPE];
if (!shape) throw new Error(`expected SHAPE to be one of ${Object.keys(shapes).join(", ")}, got ${SHAPE}`);
if (!(PROFILE in profiles))
  throw new Error(`expected PROFILE to be one of ${Object.keys(profiles).join(", ")}, got ${PROFILE}`);
const log = LOG ? openSync(LOG, "w") : null;
const startedMs = performance.now();
for (const event of ["unhandledRejection", "uncaughtException"])
  process.on(event, (error: unknown) => {
    // a program would have ended
    const crash = { process: currentProcess()?.name ?? "a program", error };
    console.log(`problem: ${crashText(crash)}`);
    process.exit(1);
  });
const result = await playHistory({
  ...{ seed, shape, profile: PROFILE as Profile },
  faults: SCRIPT ? readScript(readFileSync(SCRIPT, "utf8")) : Number(steps),
  write: (line) => void (log === null || writeSync(log, line)),
  definitions: mutant && isInSql ? mutatedDefinitions(mutant) : undefined,
  onScript: (script) => script.forEach((fault) => console.log(textOf(fault))),
});
const { problems, simulatedMs, events, statements, samples, alerts, digest } = result;
const { crashes, partitions, failovers } = result;
const tookS = Math.round((performance.now() - startedMs) / 1000);
console.log(
  `seed ${seed}: ${Math.round(simulatedMs / 60_000)} minutes in ${tookS} s; ${events} events, ` +
    `${statements} statements, ${samples} samples, ${alerts} alerts, ${crashes} crashes, ${partitions} partitions, ` +
    `${failovers} failovers, digest ${digest}`,
);
for (const problem of problems.slice(0, 50)) console.log(`problem: ${problem}`);
console.log(problems.length === 0 ? "all checks passed" : `${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
