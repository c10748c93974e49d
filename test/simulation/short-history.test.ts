/** A history of one busy minute, with fixed faults and seeds. */
import { readFileSync } from "node:fs";
import t from "tap";
import { playInChild } from "../../simulation/child-history.js";
import { readScript } from "../../simulation/script.js";
import { packagedFile } from "../../shared/config/package.js";

const script = readScript(readFileSync(packagedFile("test/simulation/busy-minute.txt"), "utf8"));

for (const seed of [1, 2])
  void t.test(`a small service survives a busy minute, seed ${seed}`, async (t) => {
    const { summary, problem } = await playInChild({ seed, steps: 0, script, settings: { SHAPE: "small" } });
    t.equal(problem, null);
    t.match(summary, /[1-9]\d* alerts, 5 crashes, .* [1-9]\d* failovers/);
  });
