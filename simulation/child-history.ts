/** Plays histories in processes of their own, several at a time: a history replaces the clock of its process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packagedFile } from "../shared/config/package.js";
import { readScript, type ScriptedFault, textOf } from "./script.js";

/** A history that takes longer hangs. */
const limitMs = { simulate: 20 * 60_000, days: 120 * 60_000 };

export interface ChildHistory {
  seed: number;
  steps: number;
  /** Replaces the faults of the seed. */
  script?: readonly ScriptedFault[];
  /** Further settings of simulate.ts. */
  settings?: { SHAPE?: string; PROFILE?: string; MUTANT?: string };
}

export interface Outcome {
  script: ScriptedFault[];
  /** The figures of the history, or the last line if it did not end. */
  summary: string;
  /** The first problem; null: all checks passed. */
  problem: string | null;
  /** False: the program failed before its checks, or took too long. */
  hasEnded: boolean;
}

export async function playInChild({ seed, steps, script, settings }: ChildHistory): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-history-"));
  const file = join(directory, "script.txt");
  if (script) await writeFile(file, script.map((one) => `${textOf(one)}\n`).join(""));
  const outcome = await runInChild("simulate", [seed, steps], { ...settings, SCRIPT: script ? file : "" });
  await rm(directory, { recursive: true });
  return outcome;
}

/**
 * Simulates days of upkeep.
 *
 * @param onLine receives each line of output as it comes
 */
export function playDaysInChild(
  days: number,
  settings: { MUTANT?: string },
  onLine?: (line: string) => void,
): Promise<Outcome> {
  return runInChild("days", [days], settings, onLine);
}

async function runInChild(
  program: "simulate" | "days",
  values: readonly number[],
  settings: Record<string, string>,
  onLine: (line: string) => void = () => {},
): Promise<Outcome> {
  const command = ["--enable-source-maps", packagedFile(`dist/simulation/${program}.js`), ...values.map(String)];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...settings, LOG: "" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs[program],
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", (line) => {
      if (line === "") return;
      lines.push(line);
      onLine(line);
    });
  const [code] = (await once(child, "close")) as [number | null];
  const problem = lines.find((line) => line.startsWith("problem: "))?.replace(/^problem: /, "");
  return {
    script: readScript(lines.filter((line) => /^\d+:\d\d:/.test(line)).join("\n")),
    summary: lines.find((line) => line.startsWith("seed ")) ?? `seed ${values[0]}: ${lines.at(-1) ?? "no output"}`,
    problem: code === 0 ? null : (problem ?? lines.at(-1)) || "no output",
    hasEnded: lines.some((line) => line.startsWith("seed ")) || problem?.includes(" crashed: ") === true,
  };
}

/** Plays two at a time: each takes one core. */
export async function byTwo<Item>(items: Iterable<Item>, play: (item: Item) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const playOn = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await play(next.value);
  };
  await Promise.all([playOn(), playOn()]);
}
