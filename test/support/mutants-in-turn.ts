/**
 * Chooses which mutants of the engine a run tests: an eighth of each group, so that no group is left out. A change of
 * the engine selects another eighth; without a change it stays the same. `MUTANTS` names the eighth, or is `all`.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";

const eighths = 8;

export const everyMutant = process.env.MUTANTS === "all";

const eighth = Number(everyMutant ? 0 : (process.env.MUTANTS ?? digestOfEngine() % eighths));
if (!(eighth >= 0 && eighth < eighths && Number.isInteger(eighth)))
  throw new Error(`MUTANTS: expected all, or an eighth from 0 to ${eighths - 1}, got ${process.env.MUTANTS}`);

export const whichMutants = everyMutant ? "all" : `MUTANTS=${eighth}`;

export function inTurn<One>(all: readonly One[], groupOf: (one: One) => string): One[] {
  if (everyMutant) return [...all];
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const group = groupOf(one);
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => group.filter((_, i) => i % eighths === eighth % group.length));
}

function digestOfEngine(): number {
  const hash = createHash("sha256");
  const folder = packagedFile("sql/engine");
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(`${folder}/${name}`));
  return hash.digest().readUInt32BE();
}
