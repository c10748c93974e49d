/** SQL that replaces the functions of a file by mutated ones. */
import { readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";
import { mutated } from "./hooks.js";
import type { Mutant } from "./mutant.js";

export function mutatedDefinitions(mutant: Mutant): string {
  const text = mutated(mutant, readFileSync(packagedFile(mutant.file), "utf8"));
  return text.replace(/^create (function|procedure|view) /gm, "create or replace $1 ");
}
