/** The options that a replay refuses before it begins, and its own tables. */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { runCli } from "../../../support/run-script.js";

void t.test("a replay with invalid options is refused", async (t) => {
  const folder = t.testdir({
    "wrong.json":
      '{ "openingBadRun": "2", "opening_bad_run": -1, "outageBadShare": 1.5, "stepMs": 0, "minSamples": 2.5, "speed": 1 }',
    "list.json": "[3]",
    "cut.json": '{ "openingBadRun": ',
  });
  const from = ["--from", "2026-01-15T12:00:00Z"];
  const expected = "expected an instant in ISO 8601 and UTC, like 2026-01-31T12:00:00Z, got";
  const rulesIn = (file: string) => [...from, "--rules", `${folder}/${file}`];
  const number = "expected a whole number from 0 to 2147483647, got";
  for (const [args, ...messages] of [
    [[], `replay --from: ${expected} nothing`],
    [["--from", "yesterday"], `replay --from: ${expected} "yesterday"`],
    [["--from", "2026-02-30T12:00:00Z"], `replay --from: ${expected} "2026-02-30T12:00:00Z"`],
    [[...from, "--to", "2026-01-15"], `replay --to: ${expected} "2026-01-15"`],
    [rulesIn("none.json"), /The rules file .*none\.json cannot be read: there is no such file/],
    [rulesIn("cut.json"), /The rules file .*cut\.json is not JSON: line 1, column 20: expected a value/],
    [rulesIn("list.json"), 'must contain an object such as {"openingBadRun": 2}, or a response of /v1/thresholds'],
    [
      rulesIn("wrong.json"),
      ...[`openingBadRun: ${number} "2"`, `opening_bad_run: ${number} -1`, `minSamples: ${number} 2.5`],
      "outageBadShare: expected a number from 0 to 1, got 1.5",
      "stepMs: expected a whole number from 1 to 2147483647, got 0",
      "speed: unknown rule",
      /The known rules are stepMs, windowMs, .*silentAfterMs/,
    ],
  ] satisfies [string[], ...(string | RegExp)[]][]) {
    const script = runCli(t, ["replay", ...args]);
    t.equal(await script.ended, 2, args.join(" "));
    for (const message of messages) t.match(script.output(), message);
    t.notMatch(script.output(), /^ +at /m, "no stack");
  }
});

void t.test("a replay has its own copy of each table that the engine writes", (t) => {
  const folder = packagedFile("sql/engine");
  const texts = readdirSync(folder)
    .filter((name) => /^\d/.test(name))
    .map((name) => readFileSync(`${folder}/${name}`, "utf8").replace(/--.*/g, ""));
  const found = (pattern: RegExp) =>
    [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, table]) => table!)))].sort();
  const written = found(/\b(?:insert into|delete from|update(?! set)|truncate) ([a-z_.]+)/g);
  const made = found(/create unlogged table ([a-z_]+)/g);
  t.ok(written.includes("incident") && written.includes("engine_clock"));
  t.strictSame(
    written.filter((table) => !made.includes(table)),
    // only the live engine leads, and reaches a new timeline
    ["leader", "timeline"],
  );
  t.end();
});
