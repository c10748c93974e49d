import { readdir, readFile } from "node:fs/promises";
import t from "tap";
import { packagedFile } from "../server/package.js";
import { migratedDatabase } from "./database.js";
import { parseScenario, play } from "./scenario.js";

const folder = packagedFile("test/scenarios");

void t.test("the engine, scenario by scenario", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const file of (await readdir(folder)).sort()) {
    const scenario = parseScenario(await readFile(`${folder}/${file}`, "utf8"));
    const seen = await play(pool, scenario);
    t.strictSame(seen, scenario.expected, `${file}: ${scenario.shows}`);
  }
});
