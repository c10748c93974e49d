import { readdir, readFile } from "node:fs/promises";
import t from "tap";
import { packagedFile } from "../server/package.js";
import { migratedDatabase } from "./database.js";
import { parseScenario } from "./scenario.js";
import { play } from "./scenario-play.js";

const folder = packagedFile("test/scenarios");

void t.test("the engine, scenario by scenario", async (t) => {
  const { pool } = await migratedDatabase(t);
  const files = await readdir(folder);
  for (const file of files.filter((file) => file.endsWith(".txt")).sort()) {
    const text = await readFile(`${folder}/${file}`, "utf8");
    const scenario = parseScenario(text, `test/scenarios/${file}`);
    const seen = await play(pool, scenario);
    t.strictSame(seen, scenario.expected, `${file}: ${scenario.shows}`);
  }
});

void t.test("what a scenario cannot say is told by file and line", (t) => {
  const refused = (line: string, message: string) =>
    t.throws(
      () =>
        parseScenario(
          `It shows.\n\nvenue okx, rest:ticker, every 5s, from 2026-01-15T12:00:00Z\n${line}\n`,
          "a.txt",
        ),
      { message },
      line,
    );
  refused(
    "eu-central",
    'a.txt, line 4: there is no such line in a scenario: "eu-central"',
  );
  refused(
    "+10 rest:ticker outage",
    'a.txt, line 4: there is no such line in a scenario: "+10 rest:ticker outage"',
  );
  refused(
    "rule: patience",
    'a.txt, line 4: expected a number of rules.ts, not "patience"',
  );
  refused(
    "also seen: stars",
    'a.txt, line 4: expected regions, venues, fleet, not "stars"',
  );
  refused(
    "venue okx, rest:ticker, every 5s, from noon",
    'a.txt, line 4: expected "from" and a time like 2026-01-15T12:00:00Z, not "noon"',
  );
  refused(
    "eu-central .*3 q*2",
    'a.txt, line 4: expected samples like . or x*3 or 700ms*3 or x*3@90, not "q*2"; the letters are _ . s x h d l b c t',
  );
  refused(
    "eu-central .*3x",
    'a.txt, line 4: expected samples like . or x*3 or 700ms*3 or x*3@90, not ".*3x"; the letters are _ . s x h d l b c t',
  );
  t.throws(() => parseScenario("It shows.\n\neu-central .*3\n", "a.txt"), {
    message: 'a.txt, line 3: expected a line "venue …" above the first samples',
  });
  t.throws(() => parseScenario("It shows.\n", "a.txt"), {
    message: "a.txt: expected a line of samples, and found none",
  });
  t.end();
});
