import t from "tap";
import { playScenarios } from "../../../support/play-scenarios.js";
import { parseScenario } from "../../../support/scenario.js";

void t.test("the engine decides states as each scenario says", (t) => playScenarios(t, (chapter) => chapter < 6));

void t.test("an invalid line of a scenario is reported with file and line", (t) => {
  const samples = "samples like . or x*3 or 700ms*3 or x*3@90";
  const letters = "the letters are _ . s x h d l b c t o u v";
  for (const [line, message] of [
    ["eu-central", 'a scenario has no line such as "eu-central"'],
    ["+10 rest:ticker outage", 'a scenario has no line such as "+10 rest:ticker outage"'],
    ["rule: patience", 'expected a number of rules.ts, not "patience"'],
    ["also seen: stars", 'expected regions, venues, fleet, not "stars"'],
    ["venue okx, rest:ticker, every 5s, from noon", 'expected "from" and a time like 2026-01-15T12:00:00Z, not "noon"'],
    ["eu-central .*3 q*2", `expected ${samples}, not "q*2"; ${letters}`],
    ["eu-central .*3x", `expected ${samples}, not ".*3x"; ${letters}`],
  ] as const) {
    const text = `It shows.\n\nvenue okx, rest:ticker, every 5s, from 2026-01-15T12:00:00Z\n${line}\n`;
    t.throws(() => parseScenario(text, "a.txt"), { message: `a.txt, line 4: ${message}` }, line);
  }
  t.throws(() => parseScenario("It shows.\n\neu-central .*3\n", "a.txt"), {
    message: 'a.txt, line 3: expected a line "venue …" above the first samples',
  });
  t.throws(() => parseScenario("It shows.\n", "a.txt"), {
    message: "a.txt: expected a line of samples, and found none",
  });
  t.end();
});
