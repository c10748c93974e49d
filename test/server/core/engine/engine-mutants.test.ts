import t from "tap";
import { type Db, type Pool, sql } from "../../../../shared/database/pool.js";
import { readDefinitions, sqlFolder } from "../../../../shared/database/sql-files.js";
import { migratedDatabase } from "../../../support/database.js";
import type { Mutant } from "../../../support/engine-mutants/mutant.js";
import { everyMutant, inTurn, whichMutants } from "../../../support/mutants-in-turn.js";
import { goesAsExpected, play } from "../../../support/scenario-play.js";
import { readScenarios, type Scenario } from "../../../support/scenario.js";
import { ofImpairedRegions } from "../../../support/engine-mutants/impaired-regions.js";
import { ofIncidentLives } from "../../../support/engine-mutants/incident-lives.js";
import { ofIncidentOpenings } from "../../../support/engine-mutants/incident-openings.js";
import { ofInstants } from "../../../support/engine-mutants/instants.js";
import { ofOutliers } from "../../../support/engine-mutants/outliers.js";
import { ofQuorum } from "../../../support/engine-mutants/quorum.js";
import { ofRegionVerdicts } from "../../../support/engine-mutants/region-verdicts.js";
import { ofUnjudged } from "../../../support/engine-mutants/unjudged.js";
import { ofTypicalLatency } from "../../../support/engine-mutants/typical-latency.js";

/** All mutants, by chapter of the rule book. */
const mutants = [
  ...[ofInstants, ofTypicalLatency, ofRegionVerdicts, ofImpairedRegions],
  ...[ofOutliers, ofUnjudged, ofQuorum, ofIncidentLives, ofIncidentOpenings],
];

void t.test("a scenario fails if any clause of the rule book is removed", async (t) => {
  const { pool } = await migratedDatabase(t);
  const scenarios = await readScenarios();
  const before = await definitions(pool);
  const { text } = await readDefinitions(sqlFolder);

  // before any scenario runs, so that a change of the engine is reported at once
  const originals = mutants.map((chapter) =>
    Object.entries(chapter).map(([breaks, mutant]) => ({
      breaks,
      ...mutant,
      original: originalOf(text, breaks, mutant),
    })),
  );

  const tried = originals.flatMap(inTurn);
  t.comment(`${tried.length} of ${originals.flat().length} mutants, ${whichMutants}`);
  for (const { breaks, original, ...mutant } of tried) {
    const { clause, becomes = "", noticedBy } = mutant;
    await pool.script(original.replace(clause, () => becomes));
    for (const name of everyMutant ? noticedBy : noticedBy.slice(0, 1)) {
      const scenario = scenarios.find(({ file }) => file === `${name}.txt`);
      if (!scenario) throw new Error(`there is no scenario ${name}.txt`);
      t.ok(await goesOtherwise(pool, scenario, mutant), `${name} notices it when ${breaks}`);
    }
    await pool.script(original);
  }

  t.strictSame(await definitions(pool), before, "the definitions are restored");
});

/** The function that contains a mutant's clause, as in its file. */
function originalOf(text: string, breaks: string, { clause }: Mutant): string {
  // definitions are separated by empty lines, and no empty line within one precedes unindented text
  const definition = text.split(/\n\n(?=\S)/).find((one) => one.includes(clause) && /^create function/m.test(one));
  const times = text.split(clause).length - 1;
  if (!definition || times !== 1)
    throw new Error(
      `expected the SQL to hold once, in a function, what the mutant "${breaks}" replaces; got ${times}: ${clause}`,
    );
  return definition.replace(/^create function/m, "create or replace function");
}

async function goesOtherwise(db: Pool, scenario: Scenario, { refusedBy }: Mutant): Promise<boolean> {
  try {
    if (!refusedBy) return !(await goesAsExpected(db, scenario));
    await play(db, scenario);
    return false;
  } catch (error) {
    const { constraint } = error as { constraint?: string };
    if (refusedBy && constraint === refusedBy) return true;
    throw error;
  }
}

async function definitions(db: Db): Promise<string[]> {
  const rows = await db.query<{ definition: string }>(sql`
    select coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as definition
    from pg_proc p
    where p.pronamespace in ('engine'::regnamespace, 'api'::regnamespace) and p.prokind = 'f'
    order by p.oid
  `);
  return rows.map(({ definition }) => definition);
}
