/** Plays scenarios of some chapters of the rule book, one after the other, on a separate database. */
import type { Test } from "tap";
import { migratedDatabase } from "./database.js";
import { play } from "./scenario-play.js";
import { readScenarios } from "./scenario.js";

/** Otherwise every sixteenth scenario is played: all of them take minutes. */
const isAll = process.env.SCENARIOS === "all";

export async function playScenarios(t: Test, isPlayed: (chapter: number) => boolean): Promise<void> {
  const { pool } = await migratedDatabase(t);
  const ofChapters = (await readScenarios()).filter(({ file }) => isPlayed(Number.parseInt(file)));
  const played = ofChapters.filter((_, i) => isAll || i % 16 === 0);
  t.ok(played.length > 0, "there are scenarios");
  for (const scenario of played) {
    const { file, shows, expected } = scenario;
    t.strictSame(await play(pool, scenario), expected, `${file}: ${shows}`);
  }
}
