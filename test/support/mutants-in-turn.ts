/**
 * Chooses which mutants of the engine a run tests: an eighth of each chapter, so that none is left out. A change of the
 * engine selects another eighth; without a change it stays the same. `MUTANTS` names the eighth, or is `all`.
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

export function inTurn<One>(all: readonly One[]): One[] {
  return all.filter((_, i) => everyMutant || i % eighths === eighth % all.length);
}

function digestOfEngine(): number {
  const hash = createHash("sha256");
  const folder = packagedFile("sql/engine");
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(`${folder}/${name}`));
  return hash.digest().readUInt32BE();
}
