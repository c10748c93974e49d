/** What continuous integration and the images fetch is named to the byte, so that nobody can replace it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

void t.test("pip installs only files whose hashes are listed", (t) => {
  const run = readFileSync(packagedFile(".ci/run"), "utf8");
  const installs = run.match(/pip"? install[^\n]*/g)!;
  t.equal(installs.length, 1);
  for (const install of installs) t.match(install, / --require-hashes --no-build-isolation /);
  const lists = [...run.matchAll(/--requirement (\S+\.txt)/g)].map(([, file]) => file!);
  t.same(lists, [".ci/build-requirements.txt", ".ci/requirements.txt"]);
  for (const list of lists) {
    const requirements = readFileSync(packagedFile(list), "utf8").replaceAll("\\\n", "").split("\n");
    const named = requirements.filter((line) => line !== "" && !line.startsWith("#"));
    t.ok(named.length > 0);
    for (const line of named) t.match(line, /^[\w.[\]-]+==\S+( ; [^-]+)?(\s+--hash=sha256:[0-9a-f]{64})+$/, list);
  }
  const listed = readFileSync(packagedFile(".ci/requirements.txt"), "utf8");
  for (const line of readFileSync(packagedFile(".ci/requirements.in"), "utf8").split("\n"))
    if (line !== "" && !line.startsWith("#"))
      t.match(listed.toLowerCase().replaceAll("_", "-"), `${line.toLowerCase().replaceAll("_", "-")} `);
  t.end();
});

void t.test("actions are named by their commit, with the tag beside it", (t) => {
  const folder = packagedFile(".github/workflows");
  const uses = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split("\n")
      .filter((line) => line.includes("uses:")),
  );
  t.ok(uses.length > 5);
  for (const line of uses) t.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  t.end();
});
