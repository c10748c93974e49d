/** Whole histories of the service with faults, from fixed seeds; `make simulate` plays others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

void t.test("a small service survives random faults, and the same seed gives the same history", async (t) => {
  const [first, second] = await Promise.all([simulate(1), simulate(1)]);
  t.equal(first.code, 0, problemsIn(first.lines).join("\n"));
  t.equal(first.lines.at(-1), "all checks passed");
  t.match(figuresIn(first.lines), /digest [0-9a-f]{12}$/);
  t.equal(figuresIn(second.lines), figuresIn(first.lines));
});

void t.test("the checkers notice samples and alerts that are lost", async (t) => {
  const script = join(t.testdir({ "faults.txt": faults }), "faults.txt");
  const [samples, alerts] = await Promise.all([
    simulate(1, { SCRIPT: script, MUTANT: "a failed delivery is not repeated" }),
    simulate(1, { SCRIPT: script, MUTANT: "every attempt counts as delivered" }),
  ]);
  t.match(problemsIn(samples.lines)[0], /taken by .*, but not stored/);
  t.match(problemsIn(alerts.lines)[0], /never received event/);
});

const faults = `
00:01:00.000 stall database for 40000 ms
00:01:40.000 kill database for 3000 ms
00:01:50.000 refuse channel-1 for 300000 ms
00:02:00.000 errors venue-1 for 90000 ms
`;

async function simulate(seed: number, more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [packagedFile("dist/simulation/simulate.js"), String(seed), "12"], {
    env: { ...process.env, SHAPE: "small", SCRIPT: "", LOG: "", MUTANT: "", ...more },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, lines: output.trim().split("\n") };
}

function problemsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("problem: "));
}

/** Without the time that it took. */
function figuresIn(lines: readonly string[]): string {
  return lines.find((line) => line.startsWith("seed "))!.replace(/ in \d+ s/, "");
}
