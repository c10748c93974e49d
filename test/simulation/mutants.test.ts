/** Mutants of the simulation are hunted by hand: a change of the code that they replace would go unnoticed. */
import { readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { mutants } from "../../simulation/mutants/mutants.js";

void t.test("the code that each mutant replaces exists exactly once", (t) => {
  for (const { name, file, from } of mutants) {
    const text = readFileSync(packagedFile(file.endsWith(".js") ? `dist/${file}` : file), "utf8");
    t.equal(text.split(from).length - 1, 1, `${name}: ${file}`);
  }
  t.end();
});
