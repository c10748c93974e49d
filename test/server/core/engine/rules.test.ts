/**
 * Anyone who relies on the engine's rules must be able to see when they changed. A replay takes other rules as options.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import t from "tap";
import { packagedFile, version } from "../../../../shared/config/package.js";
import { engineRules } from "../../../../shared/rules/engine-rules.js";
import { runCli } from "../../../support/run-script.js";

/**
 * The rules of each version. Append only: when a rule changes, raise the version in package.json, describe it in
 * CHANGELOG.md under that version in a line that begins with "Rules, <date>:", and add the hash that this test prints.
 */
const rulesSince = [["1.0.0", "a96ffd4a1c6a"]] as const;

const hash = createHash("sha256")
  .update(JSON.stringify(engineRules.map(({ name, value, unit }) => [name, value, unit])))
  .digest("hex")
  .slice(0, 12);

void t.test("a change of the rules has a version and a date", async (t) => {
  const [newest, known] = rulesSince.at(-1)!;
  t.equal(hash, known, "the rules equal those of the newest version in this file; if not, see its comment");
  t.ok(version.localeCompare(newest, "en", { numeric: true }) >= 0, `version ${version} is not older than ${newest}`);
  const hashes = rulesSince.map(([, hash]) => hash);
  t.equal(new Set(hashes).size, hashes.length, "each version has its own rules");
  const changelog = await readFile(packagedFile("CHANGELOG.md"), "utf8");
  for (const [version] of rulesSince) {
    const [, section] = changelog.split(new RegExp(`^## ${version.replaceAll(".", "\\.")}\\b.*$`, "m"));
    t.match(
      section?.split(/^## /m)[0],
      /^- Rules, \d{4}-\d{2}-\d{2}: \S/m,
      `CHANGELOG.md dates the rules of ${version}`,
    );
  }
});

void t.test("each rule has a unique name and a reason", (t) => {
  const names = engineRules.map(({ name }) => name);
  t.equal(new Set(names).size, names.length, "no name is used twice");
  for (const { name, reason } of engineRules) t.match(reason, /^[A-Z].{40,}[.]$/, `${name} has a reason`);
  t.end();
});

void t.test("the rule book names every rule, and no other", async (t) => {
  const book = await readFile(packagedFile("docs/rulebook.md"), "utf8");
  const named = new Set(
    [
      ...book.matchAll(
        /`([a-z]+(?:_[a-z]+)*_(?:ms|share|samples|cadences|run|days|hours|multiple|venues|openings|windows|regions|vantages|failed))`/g,
      ),
    ].map(([, name]) => name!),
  );
  t.strictSame([...named].sort(), engineRules.map(({ name }) => name).sort());
});

// The options that a replay refuses before it begins, and its own tables.

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
