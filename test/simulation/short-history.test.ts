/** A history of one busy minute, with fixed faults and a fixed seed; `history.test.ts` plays longer ones. */
import { readFileSync } from "node:fs";
import t from "tap";
import { playInChild } from "../../simulation/child-history.js";
import { readScript } from "../../simulation/script.js";
import { packagedFile } from "../../shared/config/package.js";

const script = readScript(readFileSync(packagedFile("test/simulation/busy-minute.txt"), "utf8"));

void t.test("a small service survives a busy minute", async (t) => {
  const { summary, problem } = await playInChild({ seed: 1, steps: 0, script, settings: { SHAPE: "small" } });
  t.equal(problem, null);
  t.match(summary, /[1-9]\d* alerts, 6 crashes, .* [1-9]\d* failovers/);
});
