/** Anyone who relies on the engine's rules must be able to see when they changed. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import t from "tap";
import { engineRules } from "../../../../shared/rules/engine-rules.js";
import { packagedFile, version } from "../../../../shared/config/package.js";

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
