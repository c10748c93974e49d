/**
 * Which changes of the engine a run tries: a third of each group of them, so that none is without. It is another third
 * whenever the engine is changed, and the same as long as it is not. `MUTANTS` names the third, or is `all`.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { packagedFile } from "../server/package.js";

const thirds = 3;

export const everyMutant = process.env.MUTANTS === "all";

const third = Number(
  everyMutant ? 0 : (process.env.MUTANTS ?? digestOfEngine() % thirds),
);
if (!(third >= 0 && third < thirds && Number.isInteger(third)))
  throw new Error(
    `MUTANTS: expected all, or a third from 0 to ${thirds - 1}, got ${process.env.MUTANTS}`,
  );

export const whichMutants = everyMutant ? "all" : `MUTANTS=${third}`;

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
    group.filter((_, i) => i % thirds === third % group.length),
  );
}

function digestOfEngine(): number {
  const hash = createHash("sha256");
  const folder = packagedFile("sql/engine");
  for (const name of readdirSync(folder).sort())
    hash.update(readFileSync(`${folder}/${name}`));
  return hash.digest().readUInt32BE();
}
