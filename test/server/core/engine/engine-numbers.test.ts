import t from "tap";
import { type Db, sql } from "../../../../shared/database/pool.js";
import { engineRules, type RulesRow, rulesRow } from "../../../../shared/rules/engine-rules.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { migratedDatabase } from "../../../support/database.js";
import { inTurn, whichMutants } from "../../../support/mutants-in-turn.js";
import { goesAsExpected } from "../../../support/scenario-play.js";
import { readScenarios } from "../../../support/scenario.js";

/** The changed values of each number: one less and one more. */
const others: RulesRow extends infer Row ? { [Name in keyof Row]: [number, number] } : never = {
  step_ms: [1_000, 5_000],
  window_ms: [50_000, 70_000],
  window_cadences: [5, 7],
  min_samples: [2, 4],
  gap_room_samples: [2, 4],
  degraded_bad_share: [0.15, 0.25],
  degraded_min_failed: [1, 3],
  outage_bad_share: [0.4, 0.6],
  slow_multiple: [2, 4],
  slow_floor_ms: [400, 600],
  slow_untypical_ms: [2_000, 4_000],
  typical_days: [6, 8],
  typical_min_hours: [5, 7],
  opening_bad_run: [2, 4],
  partial_windows: [2, 4],
  vote_max_age_ms: [50_000, 70_000],
  vote_max_age_cadences: [1, 3],
  quorum_min_regions: [1, 3],
  blocked_min_vantages: [1, 3],
  refusal_pause_ms: [100_000, 150_000],
  impaired_min_venues: [3, 5],
  impaired_venue_share: [0.4, 0.8],
  impaired_within_ms: [100_000, 130_000],
  outlier_after_ms: [500_000, 700_000],
  recovery_hold_ms: [50_000, 70_000],
  flap_openings: [2, 4],
  flap_within_ms: [3_400_000, 3_700_000],
  flap_hold_ms: [500_000, 700_000],
  unmeasured_close_ms: [80_000_000, 90_000_000],
  retraction_ms: [500_000, 700_000],
  retraction_every_ms: [4_000, 20_000],
  late_sample_ms: [10_000, 20_000],
  late_alert_ms: [50_000, 75_000],
  catch_up_ms: [12 * 3_600_000, 30 * 3_600_000],
  silent_after_ms: [200_000, 400_000],
};

void t.test("a scenario fails if any number of the rule book changes", async (t) => {
  const { pool } = await migratedDatabase(t);
  const scenarios = await readScenarios();

  const played = engineRules.filter(({ name }) => name !== "silent_after_ms");
  const restingOn = (rule: string) => scenarios.filter((scenario) => scenario.rules.includes(rule));
  for (const { name } of played) t.ok(restingOn(name).length > 0, `a scenario says "rule: ${name}"`);

  const tried = inTurn(played);
  t.comment(`${tried.length} of ${played.length} numbers, ${whichMutants}`);
  for (const { name, value } of tried) {
    const resting = restingOn(name);
    const noticed = new Set<string>();
    for (const other of others[name]) {
      const changed = { ...rulesRow, [name]: other };
      let red = false;
      for (const scenario of resting) {
        if (red && noticed.has(scenario.file)) continue;
        if (await goesAsExpected(pool, scenario, changed)) continue;
        red = true;
        noticed.add(scenario.file);
      }
      t.ok(red, `a scenario changes with ${name} ${other} instead of ${value}`);
    }
    for (const { file } of resting) t.ok(noticed.has(file), `${file} depends on ${name}, as it says`);
  }

  await t.test("silent_after_ms decides in the views", async (t) => {
    t.strictSame(await freshAfter(pool, rulesRow), [true, false]);
    const [sooner, later] = others.silent_after_ms;
    for (const silent_after_ms of [sooner, later])
      t.strictNotSame(await freshAfter(pool, { ...rulesRow, silent_after_ms }), [true, false], `${silent_after_ms}`);
  });
});

/** Whether an engine counts as alive 250 s and 350 s after its last instant. */
async function freshAfter(db: Db, rules: RulesRow): Promise<boolean[]> {
  const fresh = [];
  for (const agoMs of [250_000, 350_000]) {
    await db.script("truncate engine_clock");
    accepted(await tick(db, new Date(Date.now() - agoMs), { rules }));
    const [clock] = await db.query<{ engine_fresh: boolean }>(sql`select engine_fresh from api.clock`);
    fresh.push(clock!.engine_fresh);
  }
  return fresh;
}
