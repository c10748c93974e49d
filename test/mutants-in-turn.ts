/**
 * Which changes of the engine a run tries: a quarter of each group of them, so that none is without. It is another
 * quarter whenever the engine is changed, and the same as long as it is not. `MUTANTS` names the quarter, or is `all`.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { packagedFile } from "../server/package.js";

const quarters = 4;

export const everyMutant = process.env.MUTANTS === "all";

const quarter = Number(
  everyMutant ? 0 : (process.env.MUTANTS ?? digestOfEngine() % quarters),
);
if (!(quarter >= 0 && quarter < quarters && Number.isInteger(quarter)))
  throw new Error(
    `MUTANTS: expected all, or a quarter from 0 to ${quarters - 1}, got ${process.env.MUTANTS}`,
  );

export const whichMutants = everyMutant ? "all" : `MUTANTS=${quarter}`;

export function inTurn<One>(
  all: readonly One[],
  groupOf: (one: One) => string,
): One[] {
  if (everyMutant) return [...all];
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const group = groupOf(one);
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) =>
    group.filter((_, i) => i % quarters === quarter % group.length),
  );
}

function digestOfEngine(): number {
  const hash = createHash("sha256");
  const folder = packagedFile("sql/engine");
  for (const name of readdirSync(folder).sort())
    hash.update(readFileSync(`${folder}/${name}`));
  return hash.digest().readUInt32BE();
}
