import t from "tap";
import { playScenarios } from "../../support/play-scenarios.js";
import { parseScenario } from "../../support/scenario.js";

void t.test("the engine decides states as each scenario says", (t) => playScenarios(t, (chapter) => chapter < 6));

void t.test("an invalid line of a scenario is reported with file and line", (t) => {
  const refused = (line: string, message: string) =>
    t.throws(
      () =>
        parseScenario(`It shows.\n\nvenue okx, rest:ticker, every 5s, from 2026-01-15T12:00:00Z\n${line}\n`, "a.txt"),
      { message },
      line,
    );
  refused("eu-central", 'a.txt, line 4: a scenario has no line such as "eu-central"');
  refused("+10 rest:ticker outage", 'a.txt, line 4: a scenario has no line such as "+10 rest:ticker outage"');
  refused("rule: patience", 'a.txt, line 4: expected a number of rules.ts, not "patience"');
  refused("also seen: stars", 'a.txt, line 4: expected regions, venues, fleet, not "stars"');
  refused(
    "venue okx, rest:ticker, every 5s, from noon",
    'a.txt, line 4: expected "from" and a time like 2026-01-15T12:00:00Z, not "noon"',
  );
  refused(
    "eu-central .*3 q*2",
    'a.txt, line 4: expected samples like . or x*3 or 700ms*3 or x*3@90, not "q*2"; the letters are _ . s x h d l b c t u',
  );
  refused(
    "eu-central .*3x",
    'a.txt, line 4: expected samples like . or x*3 or 700ms*3 or x*3@90, not ".*3x"; the letters are _ . s x h d l b c t u',
  );
  t.throws(() => parseScenario("It shows.\n\neu-central .*3\n", "a.txt"), {
    message: 'a.txt, line 3: expected a line "venue …" above the first samples',
  });
  t.throws(() => parseScenario("It shows.\n", "a.txt"), {
    message: "a.txt: expected a line of samples, and found none",
  });
  t.end();
});
